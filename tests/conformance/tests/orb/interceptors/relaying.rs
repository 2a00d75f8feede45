//! Interceptors whose own calls fail after the servant has run.

use std::sync::{Arc, OnceLock};

use punctual::{Completion, SystemException, interceptors::*};
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::NOBODY,
    recorder::resolve,
    server::{client, reference},
};

use super::{refused, server};

/// Calls another object before each reply to `twice`, and passes on its exception.
#[derive(Clone, Default)]
struct Auditor(Arc<OnceLock<ProbeRef>>);

impl ServerRequestInterceptor for Auditor {
    fn name(&self) -> &str {
        "auditor"
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        match self.0.get() {
            Some(dead) if info.operation() == "twice" => dead.twice(1).map(|_| ()),
            _ if info.operation() == "invert" => Err(refused()),
            _ => Ok(()),
        }
    }
}

impl OrbInitializer for Auditor {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        info.add_server_request_interceptor(Arc::new(self.clone()))
            .unwrap();
    }
}

#[test]
fn the_servant_has_run_although_the_interceptors_call_has_not() {
    let auditor = Auditor::default();
    let server = server(&auditor);
    let dead = resolve(&server.orb, &reference([1, 2], NOBODY, b"dead", &[]));
    auditor.0.set(dead).expect("set once");
    let own = auditor.0.get().unwrap().twice(1).unwrap_err();
    assert_eq!(own.completed, Completion::No);
    let client = client();
    let probe = server.reference_for(&client);
    let relayed = own.with_completion(Completion::Maybe);
    assert_eq!(probe.twice(21), Err(relayed));
    assert_eq!(server.probe.twice(21), Err(relayed), "in the same ORB");
    assert_eq!(probe.invert(true), Err(refused()), "what it says itself stays");
}

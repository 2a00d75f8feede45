//! Policies of user-defined types: set on adapters, references, threads and ORBs, read by interceptors.

use std::{
    mem,
    sync::{Arc, Mutex},
};

use punctual::{Orb, PolicyOverrides, SystemException, interceptors::*};
use punctual_fixtures::server::Server;

use super::{client, orb};

/// Caller for whom a call is made.
struct Account(u32);
/// How much it may cost.
struct Budget(u32);
/// Site of an object.
struct Site(u32);

/// A point of an interceptor, with the account, budget and site that it found.
type Found = (&'static str, [Option<u32>; 3]);

/// Policies that interceptors found, in order.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Found>>>);

impl Seen {
    fn of_client(&self, point: &'static str, info: &ClientRequestInfo<'_>) {
        let account = info.policy().map(|Account(number)| *number);
        let budget = info.policy().map(|Budget(number)| *number);
        let site = info.policy().map(|Site(number)| *number);
        self.0.lock().unwrap().push((point, [account, budget, site]));
    }

    fn of_server(&self, point: &'static str, info: &ServerRequestInfo<'_>) {
        let site = info.policy().map(|Site(number)| *number);
        self.0.lock().unwrap().push((point, [None, None, site]));
    }

    fn take(&self) -> Vec<Found> {
        mem::take(&mut *self.0.lock().unwrap())
    }
}

impl ClientRequestInterceptor for Seen {
    fn name(&self) -> &str {
        "seen"
    }

    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        self.of_client("send_request", info);
        Ok(())
    }

    fn receive_reply(&self, info: &ClientRequestInfo<'_>) -> Result<(), SystemException> {
        self.of_client("receive_reply", info);
        Ok(())
    }
}

impl ServerRequestInterceptor for Seen {
    fn name(&self) -> &str {
        "seen"
    }

    fn receive_request_service_contexts(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        self.of_server("receive_request_service_contexts", info);
        Ok(())
    }

    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        self.of_server("receive_request", info);
        Ok(())
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        self.of_server("send_reply", info);
        Ok(())
    }
}

impl OrbInitializer for Seen {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        info.add_client_request_interceptor(Arc::new(self.clone()))
            .unwrap();
        info.add_server_request_interceptor(Arc::new(self.clone()))
            .unwrap();
    }
}

/// A server whose adapter has a policy.
fn server(seen: &Seen) -> Server {
    let orb: Orb = orb().initializer(seen).build().unwrap();
    let pool = orb.threadpool().build().unwrap();
    let probes = orb.root_poa().child("probes").threadpool(&pool).policy(Site(3));
    let poa = probes.build().unwrap();
    Server::with_poa(orb, pool, poa)
}

const SERVED: [Found; 3] = [
    ("receive_request_service_contexts", [None; 3]),
    ("receive_request", [None, None, Some(3)]),
    ("send_reply", [None, None, Some(3)]),
];

#[test]
fn server_interceptors_see_those_of_the_adapter() {
    let seen = Seen::default();
    let server = server(&seen);
    let (_client, probe) = client(&super::Registered::default(), &server);
    assert_eq!(probe.twice(1), Ok(2));
    assert_eq!(seen.take(), SERVED);
    // Within the ORB, those of the call are beside them.
    assert_eq!(server.probe.twice(1), Ok(2));
    let mut expected = SERVED.to_vec();
    expected.insert(0, ("send_request", [None; 3]));
    expected.push(("receive_reply", [None; 3]));
    assert_eq!(seen.take(), expected);
}

#[test]
fn client_interceptors_see_those_of_the_nearest_scope() {
    let (seen, unseen) = (Seen::default(), Seen::default());
    let server = server(&unseen);
    let (orb, probe) = client(&seen, &server);
    let expect = |account, budget| {
        let policies = [account, budget, None];
        assert_eq!(
            seen.take(),
            [("send_request", policies), ("receive_reply", policies)]
        );
    };
    probe.twice(1).unwrap();
    expect(None, None);
    orb.replace_policies(PolicyOverrides::new().policy(Account(1)).policy(Budget(10)));
    probe.twice(1).unwrap();
    expect(Some(1), Some(10));
    let of_reference = PolicyOverrides::new().policy(Account(7)).policy(Account(3));
    let own: punctual_fixtures::conformance::ProbeRef = probe.with_policies(of_reference).unchecked();
    own.twice(1).unwrap();
    expect(Some(3), Some(10));
    let current = orb.current();
    current.replace_policies(PolicyOverrides::new().policy(Account(2)).policy(Budget(20)));
    own.twice(1).unwrap();
    expect(Some(3), Some(20));
    probe.twice(1).unwrap();
    expect(Some(2), Some(20));
    current.replace_policies(PolicyOverrides::new());
    probe.twice(1).unwrap();
    expect(Some(1), Some(10));
}

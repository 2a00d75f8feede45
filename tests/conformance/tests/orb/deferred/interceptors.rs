//! Interceptors of requests that are answered later: one ending point, when the upcall ends; what the
//! starting points have added goes with the answer.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use punctual::Interface as _;
use punctual::{Limits, SystemException, interceptors::*};
use punctual_fixtures::{peer::Peer, real_time::ordinary, server::Profile, wire::DIALECTS};

use super::Office;

const CONTEXT: u32 = 0x5000_0001;

#[derive(Clone, Default)]
struct Watch(Arc<Mutex<Vec<Seen>>>);

/// A point, and what it knew of the reply.
type Seen = (&'static str, Option<ReplyStatus>);

impl Watch {
    fn note(&self, point: &'static str, info: &ServerRequestInfo<'_>) {
        self.0.lock().unwrap().push((point, info.reply_status()));
    }
}

impl ServerRequestInterceptor for Watch {
    fn name(&self) -> &str {
        "watch"
    }

    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        info.add_reply_service_context(CONTEXT, &[1, 2, 3])?;
        self.note("request", info);
        Ok(())
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        self.note("reply", info);
        Ok(())
    }

    fn send_other(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        self.note("other", info);
        // Too late to change anything.
        Err(SystemException::new(
            punctual::SystemExceptionKind::NoPermission,
            0,
            punctual::Completion::No,
        )
        .into())
    }
}

impl OrbInitializer for Watch {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        info.add_server_request_interceptor(Arc::new(self.clone()))
            .unwrap();
    }
}

#[test]
fn each_sees_one_end_and_its_contexts_are_sent() {
    let watch = Watch::default();
    let orb = ordinary()
        .listen("iiop://127.0.0.1:0")
        .initializer(&watch)
        .build()
        .unwrap();
    let office = Office::of(orb, |pool| pool);
    let profile = Profile::of(office.own.as_object());
    for dialect in DIALECTS {
        let mut peer = Peer::connect(profile.port);
        peer.send(&dialect.request(5, &profile.key, "twice", |body| body.i32(21)));
        let (value, response) = office.pile.one();
        assert!(response.respond(Ok(2 * value)));
        let message = peer.receive().unwrap();
        let mut reply = message.reply();
        let contexts = reply.contexts.clone();
        assert_eq!(contexts, [(CONTEXT, vec![1, 2, 3])], "{dialect:?}");
        assert_eq!((reply.status, reply.body.i32()), (0, 42));
        punctual_fixtures::eventually("the upcall has ended", || watch.0.lock().unwrap().len() == 2);
        let seen = std::mem::take(&mut *watch.0.lock().unwrap());
        assert_eq!(seen, [("request", None), ("other", Some(ReplyStatus::Unknown))]);
    }
}

/// The end of the request of a collocated caller, which waits, does not keep the object in use until then.
#[test]
fn a_collocated_request_leaves_its_object_before_it_is_answered() {
    let watch = Watch::default();
    let limits = Limits::default().deactivation(Duration::from_secs(5));
    let orb = ordinary().limits(limits).initializer(&watch).build().unwrap();
    let office = Office::of(orb, |pool| pool);
    let desks = office.orb.root_poa().find("desks").unwrap();
    thread::scope(|scope| {
        let call = scope.spawn(|| office.own.twice(4));
        let (value, response) = office.pile.one();
        // It would be in use until the time is over if it waited.
        desks.deactivate(&office.own).unwrap();
        desks.destroy().unwrap();
        assert!(response.respond(Ok(2 * value)));
        assert_eq!(call.join().unwrap(), Ok(8));
    });
    let seen = std::mem::take(&mut *watch.0.lock().unwrap());
    assert_eq!(
        seen,
        [("request", None), ("reply", Some(ReplyStatus::Successful))]
    );
}

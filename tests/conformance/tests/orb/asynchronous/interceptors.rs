//! Interceptors of asynchronous calls: they see the request when it is sent, and each poll for the reply.

use std::sync::{Arc, Mutex};

use punctual::{
    Completion, Orb, PolicyOverrides, SystemException, SystemExceptionKind as Kind, ThreadPool,
    interceptors::{
        CallKind, ClientRequestInfo, ClientRequestInterceptor, Interrupt, OrbInitInfo, OrbInitializer,
        Raised, ReplyStatus,
    },
};
use punctual_cdr::Decode;
use punctual_fixtures::{
    conformance::{Refused, probe::GreetError},
    peer::Listener,
    real_time::ordinary,
    recorder::resolve,
    server::{Server, reference},
};

use super::{Count, answer, block_on, poll_with, requests};

const CONTEXT: u32 = 0x7e57;

/// A point, the request's id, and the status it ended with.
type Seen = (&'static str, u32, Option<ReplyStatus>);

#[derive(Clone, Default)]
struct Watch(Arc<Watched>);

#[derive(Default)]
struct Watched {
    seen: Mutex<Vec<Seen>>,
    refuses_polls: Mutex<Option<SystemException>>,
}

impl Watch {
    fn note(&self, point: &'static str, info: &ClientRequestInfo<'_>) {
        assert_eq!(info.kind(), CallKind::Asynchronous);
        let mut seen = self.0.seen.lock().unwrap();
        seen.push((point, info.request_id(), info.reply_status()));
    }

    /// Returns the calls seen since the last time, with ids counted from the first of these.
    fn take(&self) -> Vec<Seen> {
        let mut seen = std::mem::take(&mut *self.0.seen.lock().unwrap());
        let first = seen.first().map_or(0, |(_, id, _)| *id);
        seen.iter_mut().for_each(|(_, id, _)| *id -= first);
        seen
    }
}

impl ClientRequestInterceptor for Watch {
    fn name(&self) -> &str {
        "watch"
    }

    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        self.note("send_request", info);
        let is_twice = info.operation() == "twice";
        // Where the request is sent again and its caller has gone on, they may be kept in another character
        // set: never wrong ones.
        if let Ok(mut arguments) = info.arguments() {
            assert!(!is_twice || i32::decode(&mut arguments) == Ok(1));
        }
        Ok(info.add_request_service_context(CONTEXT, b"here")?)
    }

    fn send_poll(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        self.note("send_poll", info);
        match *self.0.refuses_polls.lock().unwrap() {
            Some(refused) => Err(refused.into()),
            None => Ok(()),
        }
    }

    fn receive_reply(&self, info: &ClientRequestInfo<'_>) -> Result<(), SystemException> {
        self.note("receive_reply", info);
        Ok(())
    }

    fn receive_exception(&self, info: &ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        self.note("receive_exception", info);
        let raised = info.exception().unwrap();
        if let Raised::User(id) = raised {
            assert_eq!(id, "IDL:conformance/Refused:1.0");
        }
        Ok(())
    }

    fn receive_other(&self, info: &ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        self.note("receive_other", info);
        Ok(())
    }
}

impl OrbInitializer for Watch {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        info.add_client_request_interceptor(Arc::new(self.clone()))
            .unwrap();
    }
}

/// An ORB that is watched.
struct Client {
    orb: Orb,
    _pool: ThreadPool,
    watch: Watch,
}

impl Client {
    fn start() -> Self {
        let watch = Watch::default();
        let orb = ordinary()
            .listen("iiop://127.0.0.1:0")
            .initializer(&watch)
            .build()
            .unwrap();
        let pool = orb.threadpool().build().unwrap();
        orb.set_reply_threadpool(&pool).unwrap();
        let policies = PolicyOverrides::new().roundtrip_timeout(std::time::Duration::from_secs(60));
        orb.add_policies(policies);
        Self {
            orb,
            _pool: pool,
            watch,
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.orb.shutdown_and_wait().unwrap();
    }
}

const SENT: [Seen; 2] = [
    ("send_request", 0, None),
    ("receive_other", 0, Some(ReplyStatus::Successful)),
];

fn sent_and(rest: &[Seen]) -> Vec<Seen> {
    [&SENT, rest].concat()
}

#[test]
fn sending_and_waiting_are_seen_apart() {
    let (server, client) = (Server::start(), Client::start());
    let probe = server.reference_for(&client.orb);
    let call = probe.twice_async(1);
    assert_eq!(client.watch.take(), SENT);
    assert_eq!(call.wait(), Ok(2));
    let waited = [("send_poll", 0), ("receive_reply", 0)];
    let ids: Vec<_> = client
        .watch
        .take()
        .iter()
        .map(|(point, id, _)| (*point, *id))
        .collect();
    assert_eq!(ids, waited);

    let Err(GreetError::Refused(Refused { .. })) = probe.greet_async("").wait() else {
        panic!("it has no name")
    };
    let raised = Some(ReplyStatus::UserException);
    let expected = sent_and(&[("send_poll", 0, None), ("receive_exception", 0, raised)]);
    assert_eq!(client.watch.take(), expected);
    drop(probe.twice_async(1));
    assert_eq!(client.watch.take(), SENT, "its result was not collected");
}

#[test]
fn each_poll_is_seen_and_ends() {
    let client = Client::start();
    let listener = Listener::open();
    let probe = resolve(&client.orb, &reference([1, 2], listener.port, b"played", &[]));
    let (count, waker) = Count::new();
    let mut call = probe.twice_async(1);
    assert!(poll_with(&mut call, &waker).is_pending());
    assert!(!call.is_ready());
    let unknown = Some(ReplyStatus::Unknown);
    let nothing = [("send_poll", 0, None), ("receive_other", 0, unknown)];
    assert_eq!(client.watch.take(), sent_and(&[nothing, nothing].concat()));
    assert!(poll_with(&mut call, &waker).is_pending());
    client.watch.take();
    let mut peer = listener.accept();
    let due = requests(&mut peer, 1);
    assert_eq!(due[0].request().contexts, [(CONTEXT, b"here".to_vec())]);
    peer.send(&answer(&due[0]));
    punctual_fixtures::eventually("it is woken", || count.get() == 1);
    assert_eq!(block_on(call), Ok(2));
    let good = Some(ReplyStatus::Successful);
    assert_eq!(
        client.watch.take(),
        [("send_poll", 0, None), ("receive_reply", 0, good)]
    );
}

#[test]
fn a_forward_is_another_request() {
    let client = Client::start();
    let (first, second) = (Listener::open(), Listener::open());
    let probe = resolve(&client.orb, &reference([1, 2], first.port, b"played", &[]));
    let call = probe.twice_async(1);
    let mut peer = first.accept();
    let due = requests(&mut peer, 1);
    let ior = reference([1, 2], second.port, b"there", &[]);
    peer.send(&due[0].dialect.reply(due[0].request().id, 3, |body| {
        let body = body.string(ior.type_id.as_bytes()).u32(1);
        body.u32(0).sequence(&ior.profiles[0].data)
    }));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut peer = second.accept();
            let due = requests(&mut peer, 1);
            assert_eq!(due[0].request().contexts, [(CONTEXT, b"here".to_vec())]);
            peer.send(&answer(&due[0]));
        });
        assert_eq!(call.wait(), Ok(2));
    });
    let forwarded = Some(ReplyStatus::LocationForward);
    let good = Some(ReplyStatus::Successful);
    let expected = sent_and(&[
        ("send_poll", 0, None),
        ("receive_other", 0, forwarded),
        ("send_request", 1, None),
        ("receive_other", 1, good),
        ("send_poll", 1, None),
        ("receive_reply", 1, good),
    ]);
    assert_eq!(client.watch.take(), expected);
}

#[test]
fn a_call_inside_one_orb_is_over_at_once() {
    let client = Client::start();
    let server = Server::with_poa(client.orb.clone(), client._pool.clone(), client.orb.root_poa());
    assert_eq!(server.probe.twice_async(1).wait(), Ok(2));
    let good = Some(ReplyStatus::Successful);
    let expected = [("send_request", 0, None), ("receive_reply", 0, good)];
    assert_eq!(client.watch.take(), expected);
}

/// The caller gets what the interceptor raises, and the call is abandoned.
#[test]
fn a_poll_can_be_refused() {
    let (server, client) = (Server::start(), Client::start());
    let probe = server.reference_for(&client.orb);
    let refused = SystemException::new(Kind::NoPermission, 0, Completion::Maybe);
    let call = probe.twice_async(1);
    *client.watch.0.refuses_polls.lock().unwrap() = Some(refused);
    assert_eq!(call.wait(), Err(refused));
    assert_eq!(client.watch.take(), sent_and(&[("send_poll", 0, None)]));
    *client.watch.0.refuses_polls.lock().unwrap() = None;
    assert_eq!(probe.twice_async(1).wait(), Ok(2));
}

//! Service contexts that interceptors add to requests, and see in them.

use std::sync::{Arc, Mutex};

use punctual::{
    ConnectionMode, Interface as _, Minor, Orb, PolicyOverrides, Priority, SystemException,
    SystemExceptionKind as Kind, interceptors::*,
};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    peer::{Listener, Peer},
    recorder::resolve,
    server::{Server, reference},
    wire::{COMMON, DIALECTS, Message},
};

use super::{client, orb, server};

/// Id and data of each.
pub(super) type List = Vec<(u32, Vec<u8>)>;

/// Adds contexts to requests and replies, and notes those of `LOOK_FOR` in them.
#[derive(Clone, Default)]
pub(super) struct Courier {
    pub(super) to_requests: Arc<Mutex<List>>,
    pub(super) to_replies: Arc<Mutex<List>>,
    /// Added to replies before the servant is called.
    pub(super) early: Arc<Mutex<List>>,
    pub(super) in_requests: Arc<Mutex<List>>,
    pub(super) in_replies: Arc<Mutex<List>>,
}

pub(super) const FIRST: u32 = 0x5a5a_0001;
pub(super) const SECOND: u32 = 0x5a5a_0002;
const LOOK_FOR: [u32; 3] = [10, FIRST, SECOND];

impl Courier {
    fn request(self, list: List) -> Self {
        *self.to_requests.lock().unwrap() = list;
        self
    }

    pub(super) fn reply(self, list: List) -> Self {
        *self.to_replies.lock().unwrap() = list;
        self
    }

    pub(super) fn seen_in_requests(&self) -> List {
        std::mem::take(&mut self.in_requests.lock().unwrap())
    }

    pub(super) fn seen_in_replies(&self) -> List {
        std::mem::take(&mut self.in_replies.lock().unwrap())
    }
}

fn look<'d>(find: impl Fn(u32) -> Option<&'d [u8]>) -> List {
    let found = LOOK_FOR.map(|id| find(id).map(|data| (id, data.to_vec())));
    found.into_iter().flatten().collect()
}

impl ClientRequestInterceptor for Courier {
    fn name(&self) -> &str {
        "courier"
    }

    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        for (id, data) in &*self.to_requests.lock().unwrap() {
            info.add_request_service_context(*id, data)?;
            assert_eq!(info.get_request_service_context(*id), Some(&data[..]));
        }
        Ok(())
    }

    fn receive_reply(&self, info: &ClientRequestInfo<'_>) -> Result<(), SystemException> {
        self.in_replies
            .lock()
            .unwrap()
            .extend(look(|id| info.get_reply_service_context(id)));
        Ok(())
    }

    fn receive_exception(&self, info: &ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(self.receive_reply(info)?)
    }

    fn receive_other(&self, info: &ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(self.receive_reply(info)?)
    }
}

impl ServerRequestInterceptor for Courier {
    fn name(&self) -> &str {
        "courier"
    }

    fn receive_request_service_contexts(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        for (id, data) in &*self.early.lock().unwrap() {
            info.add_reply_service_context(*id, data)?;
        }
        self.in_requests
            .lock()
            .unwrap()
            .extend(look(|id| info.get_request_service_context(id)));
        Ok(())
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        for (id, data) in &*self.to_replies.lock().unwrap() {
            info.add_reply_service_context(*id, data)?;
            assert_eq!(info.get_reply_service_context(*id), Some(&data[..]));
        }
        Ok(())
    }

    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(self.send_reply(info)?)
    }

    fn send_other(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(self.send_reply(info)?)
    }
}

impl OrbInitializer for Courier {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        info.add_client_request_interceptor(Arc::new(self.clone()))
            .unwrap();
        info.add_server_request_interceptor(Arc::new(self.clone()))
            .unwrap();
    }
}

/// The first `count` requests that calls of an ORB send to a server of GIOP 1.`minor`, who answers each.
fn requests(minor: u8, count: usize, initializer: &Courier, calls: impl FnOnce(&ProbeRef)) -> Vec<Message> {
    let listener = Listener::open();
    let orb = orb().initializer(initializer).build().unwrap();
    let probe = resolve(&orb, &reference([1, minor], listener.port, b"played", &[]));
    std::thread::scope(|scope| {
        let served = scope.spawn(move || {
            let mut peer = listener.accept();
            let mut serve = || {
                let message = peer.receive().expect("a request");
                let request = message.request();
                if request.response != 0 {
                    peer.send(&message.dialect.reply(request.id, 0, |body| body.i32(42)));
                }
                message
            };
            (0..count).map(|_| serve()).collect()
        });
        calls(&probe);
        served.join().unwrap()
    })
}

#[test]
fn a_request_octet_by_octet() {
    let courier = Courier::default().request(vec![(0x5a5a_0001, b"radar".to_vec())]);
    let requests = requests(2, 1, &courier, |probe| assert_eq!(probe.twice(21), Ok(42)));
    let [request] = &requests[..] else {
        panic!("one request")
    };
    if cfg!(target_endian = "big") {
        return;
    }
    let id = request.request().id.to_le_bytes();
    let expected = [
        &b"GIOP\x01\x02\x01\x00"[..],
        &[64, 0, 0, 0],
        &id,
        // A reply is wanted; the target is a key.
        &[3, 0, 0, 0, 0, 0, 0, 0],
        &[6, 0, 0, 0],
        b"played\0\0",
        &[6, 0, 0, 0],
        b"twice\0\0\0",
        // One context: its id, its length, its data; then padding up to the arguments.
        &[1, 0, 0, 0],
        &[1, 0, 0x5a, 0x5a],
        &[5, 0, 0, 0],
        b"radar\0\0\0\0\0\0\0",
        &[21, 0, 0, 0],
    ];
    assert_eq!(request.octets, expected.concat());
}

#[test]
fn requests_have_the_contexts_of_their_own_call() {
    for minor in [0, 1, 2] {
        let courier = Courier::default();
        let lists = [
            vec![],
            vec![(FIRST, b"a".to_vec())],
            vec![(FIRST, b"another".to_vec())],
            vec![],
            vec![],
            vec![(SECOND, Vec::new()), (FIRST, vec![7; 1000])],
            vec![],
        ];
        let requests = requests(minor, 2 * lists.len(), &courier, |probe| {
            for list in &lists {
                *courier.to_requests.lock().unwrap() = list.clone();
                assert_eq!(probe.twice(21), Ok(42));
                probe.note(5).unwrap();
            }
        });
        for (requests, list) in requests.chunks(2).zip(&lists) {
            for (message, (operation, value)) in requests.iter().zip([("twice", 21), ("note", 5)]) {
                let mut request = message.request();
                assert_eq!(
                    (request.operation, &request.contexts),
                    (operation.as_bytes(), list)
                );
                assert_eq!((request.body.i32(), request.body.rest().len()), (value, 0));
            }
        }
    }
}

/// Written by hand, in each version and byte order.
#[test]
fn servers_see_contexts_of_every_dialect() {
    let courier = Courier::default();
    let server = server(&courier);
    for dialect in DIALECTS {
        let mut peer = Peer::connect(server.port());
        // The second request of a kind is recognised by its octets.
        for data in [&b"one"[..], b"one", b"two", b""] {
            let list = vec![
                (FIRST, data.to_vec()),
                (0x5a5a_9999, vec![1]),
                (SECOND, vec![2; 9]),
            ];
            let request = dialect.request_with(5, 3, &server.key(), "twice", &list, |body| body.i32(21));
            peer.send(&request);
            assert_eq!(peer.receive().unwrap().reply().body.i32(), 42, "{dialect:?}");
            let seen = courier.seen_in_requests();
            assert_eq!(seen, [list[0].clone(), list[2].clone()], "{dialect:?}");
        }
    }
}

#[test]
fn clients_see_contexts_of_replies_of_every_dialect() {
    for dialect in DIALECTS {
        let courier = Courier::default();
        let listener = Listener::open();
        let orb = orb().initializer(&courier).build().unwrap();
        let probe = resolve(
            &orb,
            &reference([1, dialect.minor], listener.port, b"played", &[]),
        );
        let list = vec![(FIRST, b"left".to_vec()), (SECOND, b"right".to_vec())];
        std::thread::scope(|scope| {
            let sent = list.clone();
            scope.spawn(move || {
                let mut peer = listener.accept();
                for status in [0, 2] {
                    let id = peer.receive().unwrap().request().id;
                    let reply = dialect.message(1, |message| {
                        let body = |body: punctual_fixtures::wire::Octets| match status {
                            0 => body.i32(42),
                            _ => body
                                .string(Kind::NoPermission.repository_id().as_bytes())
                                .u32(4)
                                .u32(1),
                        };
                        if dialect.minor >= 2 {
                            message.u32(id).u32(status).contexts(&sent).body(body)
                        } else {
                            body(message.contexts(&sent).u32(id).u32(status))
                        }
                    });
                    peer.send(&reply);
                }
            });
            assert_eq!(probe.twice(21), Ok(42));
            assert_eq!(courier.seen_in_replies(), list, "{dialect:?}");
            assert_eq!(probe.twice(21).unwrap_err().kind, Kind::NoPermission);
            assert_eq!(courier.seen_in_replies(), list, "{dialect:?}");
        });
    }
}

/// From interceptor to interceptor, both ways.
fn assert_carried(probe: &ProbeRef, ours: &Courier, theirs: &Courier) {
    for data in [&b"there"[..], b"and there", b""] {
        let there = vec![(FIRST, data.to_vec())];
        let back = vec![(SECOND, [data, b" and back"].concat())];
        *ours.to_requests.lock().unwrap() = there.clone();
        *theirs.to_replies.lock().unwrap() = back.clone();
        for _ in 0..3 {
            assert_eq!(probe.twice(21), Ok(42));
            assert_eq!(theirs.seen_in_requests(), there);
            assert_eq!(ours.seen_in_replies(), back);
            assert!(probe.greet("").is_err());
            assert_eq!(theirs.seen_in_requests(), there);
            assert_eq!(ours.seen_in_replies(), back);
            assert_eq!(probe.reverse(&[1, 2, 3]).unwrap(), [3, 2, 1]);
            assert_eq!(theirs.seen_in_requests(), there);
            assert_eq!(ours.seen_in_replies(), back);
        }
    }
}

#[test]
fn there_and_back_over_a_connection() {
    let (ours, theirs) = (Courier::default(), Courier::default());
    let server = server(&theirs);
    let (_orb, probe) = client(&ours, &server);
    assert_carried(&probe, &ours, &theirs);
}

#[test]
fn there_and_back_over_a_shared_connection() {
    let (ours, theirs) = (Courier::default(), Courier::default());
    let server = server(&theirs);
    let (orb, probe) = client(&ours, &server);
    let pool = orb.threadpool().build().unwrap();
    orb.set_reply_threadpool(&pool).unwrap();
    let shared = PolicyOverrides::new().connection_mode(ConnectionMode::Shared);
    let probe: ProbeRef = probe.as_object().with_policies(shared).unchecked();
    assert_carried(&probe, &ours, &theirs);
    orb.shutdown_and_wait().unwrap();
}

#[test]
fn there_and_back_within_the_orb() {
    let both = Courier::default();
    let server = server(&both);
    assert_carried(&server.probe, &both, &both);
}

/// The ORB's own stand before: priority, code sets and deadlines.
#[test]
fn beside_those_of_the_orb() {
    let (ours, theirs) = (
        Courier::default().request(vec![(FIRST, b"mine".to_vec())]),
        Courier::default(),
    );
    let orb = orb().initializer(&theirs).build().unwrap();
    let model = client_propagated(Priority::MIN);
    let pool = orb.threadpool().default_priority(Priority::MAX).build().unwrap();
    let poa = orb
        .root_poa()
        .child("probes")
        .threadpool(&pool)
        .priority_model(model)
        .build()
        .unwrap();
    // So that the pool echoes the priority: a reply has contexts of both.
    let server = Server::with_poa(orb, pool, poa);
    *theirs.to_replies.lock().unwrap() = vec![(SECOND, b"theirs".to_vec())];
    let (client, probe) = client(&ours, &server);
    client
        .current()
        .set_priority(Priority::new(4711).unwrap())
        .unwrap();
    let policies = PolicyOverrides::new()
        .roundtrip_timeout(std::time::Duration::from_secs(60))
        .sends_deadlines(true);
    let probe: ProbeRef = probe.as_object().with_policies(policies).unchecked();
    let priority = COMMON.encapsulation(|data| data.u16(4711));
    for _ in 0..3 {
        assert_eq!(probe.corba_priority(), Ok(4711));
        let expected = vec![(10, priority.clone()), (FIRST, b"mine".to_vec())];
        assert_eq!(theirs.seen_in_requests(), expected);
        let expected = vec![(10, priority.clone()), (SECOND, b"theirs".to_vec())];
        assert_eq!(ours.seen_in_replies(), expected);
    }
}

/// Runs in `send_request`.
#[derive(Clone)]
struct Adding(fn(&mut ClientRequestInfo<'_>) -> Result<(), SystemException>);

impl ClientRequestInterceptor for Adding {
    fn name(&self) -> &str {
        "adding"
    }

    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok((self.0)(info)?)
    }
}

impl OrbInitializer for Adding {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        info.add_client_request_interceptor(Arc::new(self.clone()))
            .unwrap();
    }
}

#[test]
fn what_may_not_be_added() {
    let theirs = Courier::default();
    let server = server(&theirs);
    let call = |add: fn(&mut ClientRequestInfo<'_>) -> Result<(), SystemException>| {
        let (_orb, probe): (Orb, ProbeRef) = client(&Adding(add), &server);
        probe.twice(21).map_err(|error| (error.kind, error.minor))
    };
    let there = Err((Kind::BadInvOrder, Minor::OMG_SERVICE_CONTEXT_EXISTS));
    let twice = call(|info| {
        info.add_request_service_context(FIRST, b"once")?;
        info.add_request_service_context(FIRST, b"twice")
    });
    assert_eq!(twice, there);
    assert_eq!(
        call(|info| info.add_request_service_context(10, &[1, 0, 0, 1])),
        there,
        "the ORB's own"
    );
    assert_eq!(
        call(|info| info.replace_request_service_context(1, b"")),
        there,
        "the ORB's own"
    );
    let sixteen =
        call(|info| (0..16).try_for_each(|id| info.add_request_service_context(0x5a5a_0000 + id, &[7])));
    assert_eq!(sixteen, Ok(42));
    theirs.seen_in_requests();
    let seventeen =
        call(|info| (0..17).try_for_each(|id| info.add_request_service_context(0x5a5a_0000 + id, &[7])));
    assert_eq!(seventeen, Err((Kind::ImpLimit, Minor::TOO_MANY_SERVICE_CONTEXTS)));
    assert_eq!(theirs.seen_in_requests(), [], "nothing has been sent");
    let replaced = call(|info| {
        info.add_request_service_context(FIRST, b"once")?;
        info.replace_request_service_context(FIRST, b"in its place")?;
        info.replace_request_service_context(SECOND, b"new")
    });
    assert_eq!(replaced, Ok(42));
    let expected = vec![(FIRST, b"in its place".to_vec()), (SECOND, b"new".to_vec())];
    assert_eq!(theirs.seen_in_requests(), expected);
}

//! Requests that arrive while a thread reads the one before them, over the same connection.

use std::{
    io,
    sync::{
        Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use punctual::{
    Completion, ObjectRef, SystemException, SystemExceptionKind as Kind,
    any::Any,
    dynamic::{DynamicServant, RequestError, Upcall},
    transport::{Layer, Layered, Side, Stream, Tcp, WrappedStream},
};
use punctual_fixtures::{
    peer::Peer,
    real_time::ordinary,
    server::Profile,
    wire::{COMMON, REPLY},
};

/// Time that each read of the server takes, in which another thread is woken.
const READ: Duration = Duration::from_millis(50);

struct SlowReads;

struct Slow(Box<dyn Stream>);

impl Layer for SlowReads {
    fn wrap(&self, stream: Box<dyn Stream>, _: Side) -> io::Result<Box<dyn Stream>> {
        Ok(Box::new(Slow(stream)))
    }
}

impl WrappedStream for Slow {
    fn inner(&self) -> &dyn Stream {
        &*self.0
    }

    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner().read(buffer)?;
        thread::sleep(READ);
        Ok(count)
    }
}

/// The operation `wait` returns after a call of `go`.
struct Pair(Mutex<Receiver<()>>, Mutex<Sender<()>>);

impl DynamicServant for Pair {
    fn repository_id(&self) -> String {
        "IDL:Pair:1.0".into()
    }

    fn invoke(&self, request: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
        let done = match request.operation() {
            "wait" => self
                .0
                .lock()
                .unwrap()
                .recv_timeout(Duration::from_secs(10))
                .is_ok(),
            _ => self.1.lock().unwrap().send(()).is_ok(),
        };
        match done {
            true => Ok(Vec::new()),
            false => Err(SystemException::new(Kind::Timeout, 0, Completion::Yes).into()),
        }
    }
}

#[test]
fn another_thread_serves_what_arrives_during_a_read() {
    let orb = ordinary()
        .transport(Layered::new(Tcp, SlowReads))
        .listen("iiop://127.0.0.1:0")
        .build()
        .unwrap();
    let pool = orb.threadpool().threads(2).build().unwrap();
    let poa = orb.root_poa().child("pair").threadpool(&pool).build().unwrap();
    let (sender, receiver) = channel();
    let object: ObjectRef = poa
        .activate(Pair(Mutex::new(receiver), Mutex::new(sender)))
        .unwrap();
    let profile = Profile::of(&object);
    let mut peer = Peer::connect(profile.port);
    peer.send(&COMMON.request(1, &profile.key, "wait", |body| body));
    thread::sleep(READ / 2);
    peer.send(&COMMON.request(2, &profile.key, "go", |body| body));
    for _ in 0..2 {
        let reply = peer.receive().expect("a reply");
        assert_eq!(reply.message_type, REPLY);
        assert_eq!(
            reply.reply().status,
            0,
            "the request waited for the end of the upcall"
        );
    }
    orb.shutdown_and_wait().unwrap();
}

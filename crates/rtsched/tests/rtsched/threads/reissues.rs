//! Requests that are sent several times in one call: the head leaves and returns with each attempt, and
//! executes at one host.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use punctual_fixtures::eventually;
use punctual_os::PiMutex;
use punctual_rtsched::{RtScheduling, SchedulingError, ThreadStatus, storage::WordKey};
use punctual_stub::rt::Interface as _;
use punctual_types::{DistributableThreadId, SystemExceptionKind};

use super::hosts::{Host, WorkerRef, await_status, importance};

const LONG: Duration = Duration::from_secs(30);
const REPLY: u8 = 1;
const CLOSE_CONNECTION: u8 = 5;
const LOCATION_FORWARD: u32 = 3;

/// A server that the test simulates, octet by octet.
struct Played {
    listener: TcpListener,
    /// The host that the head should have left while a request is here.
    caller: RtScheduling,
}

impl Played {
    fn by(client: &Host) -> (Self, WorkerRef) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let reference = reference(listener.local_addr().unwrap().port());
        let worker: WorkerRef = client.orb.resolve(&reference).unwrap();
        let caller = client.scheduling.clone();
        (Self { listener, caller }, worker.within(LONG))
    }

    fn accept(&self) -> TcpStream {
        let (stream, _) = self.listener.accept().unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }

    /// Receives the next request, which has brought the head of `thread`.
    fn receive(&self, stream: &mut TcpStream, thread: DistributableThreadId) -> [u8; 4] {
        let mut header = [0; 12];
        stream.read_exact(&mut header).unwrap();
        let size: [u8; 4] = header[8..].try_into().unwrap();
        let is_little = header[6] & 1 == 1;
        let size = if is_little {
            u32::from_le_bytes(size)
        } else {
            u32::from_be_bytes(size)
        };
        let mut body = vec![0; size as usize];
        stream.read_exact(&mut body).unwrap();
        let id = thread.0.to_be_bytes();
        let named = body.windows(16).filter(|octets| *octets == id).count();
        assert_eq!(named, 1, "each attempt has one context");
        await_status(&self.caller, "track", ThreadStatus::Away);
        let mut id: [u8; 4] = body[..4].try_into().unwrap();
        if is_little {
            id.reverse();
        }
        id
    }

    fn close(mut stream: TcpStream) {
        stream.write_all(&message(CLOSE_CONNECTION, false, &[])).unwrap();
    }

    fn forward(stream: &mut TcpStream, mut request: [u8; 4], to: &WorkerRef) {
        let ior = to.as_object().to_ior();
        let digits = ior.strip_prefix("IOR:").unwrap().as_bytes();
        let octet = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        let ior: Vec<u8> = digits.chunks(2).map(octet).collect();
        let is_little = ior[0] == 1;
        let mut status = LOCATION_FORWARD.to_be_bytes();
        if is_little {
            request.reverse();
            status.reverse();
        }
        // The id, the status, no contexts; the reference begins at a multiple of eight, as in its text
        // without the byte order.
        let body = [&request[..], &status[..], &[0; 4], &ior[4..]].concat();
        stream.write_all(&message(REPLY, is_little, &body)).unwrap();
    }
}

fn message(kind: u8, is_little: bool, body: &[u8]) -> Vec<u8> {
    let size = body.len() as u32;
    let size = if is_little {
        size.to_le_bytes()
    } else {
        size.to_be_bytes()
    };
    [b"GIOP", &[1, 2, is_little.into(), kind][..], &size, body].concat()
}

/// An IIOP 1.2 profile, big endian, without components.
fn reference(port: u16) -> String {
    let text = |text: &[u8]| [&(text.len() as u32).to_be_bytes()[..], text].concat();
    let profile = [
        &[0, 1, 2, 0][..],
        &text(b"127.0.0.1\0"),
        &port.to_be_bytes(),
        &text(b"play"),
        &[0; 4],
    ]
    .concat();
    // Fifteen octets of text, and one of padding.
    let ior = [
        &[0; 4],
        &text(b"IDL:Worker:1.0\0")[..],
        &[0, 0, 0, 0, 1],
        &[0; 4],
        &text(&profile),
    ]
    .concat();
    ior.iter()
        .fold("IOR:".to_owned(), |text, octet| format!("{text}{octet:02x}"))
}

/// An object that counts the threads that call it.
struct Visited {
    worker: WorkerRef,
    visits: Arc<AtomicU32>,
    by: Arc<PiMutex<Option<DistributableThreadId>>>,
}

impl Visited {
    fn at(host: &Host) -> Self {
        let (visits, by) = (Arc::new(AtomicU32::new(0)), Arc::new(PiMutex::new(None)));
        let (count, seen, scheduling) = (Arc::clone(&visits), Arc::clone(&by), host.scheduling.clone());
        let worker = host.serve(move |value| {
            count.fetch_add(1, Ordering::SeqCst);
            *seen.lock() = Some(scheduling.current().id()?);
            Ok(value + 1)
        });
        Self { worker, visits, by }
    }
}

/// Makes one call from a segment while `play` is the server.
fn called(
    client: &Host,
    played: Played,
    worker: &WorkerRef,
    play: impl FnOnce(Played, DistributableThreadId) + Send,
) -> (DistributableThreadId, Result<i32, SystemExceptionKind>) {
    let current = client.scheduling.current();
    let stored = WordKey::<u32>::new().unwrap();
    let called = current.segment("track", importance(5), |segment| {
        stored.set(7).unwrap();
        let id = current.id()?;
        let result = thread::scope(|scope| {
            let player = scope.spawn(move || play(played, id));
            let result = worker.work(41).map_err(|told| told.kind);
            player.join().unwrap();
            result
        });
        // The head has returned with all its state.
        assert_eq!(client.scheduling.snapshot()[0].status, ThreadStatus::Running);
        assert_eq!((current.id()?, stored.get().unwrap()), (id, Some(7)));
        assert_eq!(current.current_scheduling_segment_names()?, ["track"]);
        assert_eq!(current.scheduling_parameter()?, importance(5));
        segment.update(importance(4))?;
        Ok::<_, SchedulingError>((id, result))
    });
    assert_eq!(client.scheduling.threads(), 0);
    called.unwrap()
}

#[test]
fn a_forwarded_call_executes_at_one_host() {
    let (client, server) = (Host::new(), Host::new());
    let visited = Visited::at(&server);
    let (played, worker) = Played::by(&client);
    let (id, result) = called(&client, played, &worker, |played, id| {
        let mut stream = played.accept();
        let request = played.receive(&mut stream, id);
        Played::forward(&mut stream, request, &visited.worker);
    });
    assert_eq!(result, Ok(42));
    assert_eq!(
        (visited.visits.load(Ordering::SeqCst), *visited.by.lock()),
        (1, Some(id))
    );
    eventually("it has left", || server.scheduling.threads() == 0);
}

#[test]
fn a_forward_to_the_callers_own_host_is_the_same_thread() {
    let client = Host::new();
    let visited = Visited::at(&client);
    let (played, worker) = Played::by(&client);
    let (id, result) = called(&client, played, &worker, |played, id| {
        let mut stream = played.accept();
        let request = played.receive(&mut stream, id);
        Played::forward(&mut stream, request, &visited.worker);
    });
    assert_eq!(result, Ok(42));
    assert_eq!(
        (visited.visits.load(Ordering::SeqCst), *visited.by.lock()),
        (1, Some(id))
    );
}

#[test]
fn after_an_orderly_close_the_head_leaves_again() {
    let (client, server) = (Host::new(), Host::new());
    let visited = Visited::at(&server);
    let (played, worker) = Played::by(&client);
    let (id, result) = called(&client, played, &worker, |played, id| {
        let mut stream = played.accept();
        played.receive(&mut stream, id);
        Played::close(stream);
        let mut stream = played.accept();
        let request = played.receive(&mut stream, id);
        Played::forward(&mut stream, request, &visited.worker);
    });
    assert_eq!(result, Ok(42));
    assert_eq!(
        (visited.visits.load(Ordering::SeqCst), *visited.by.lock()),
        (1, Some(id))
    );
    eventually("it has left", || server.scheduling.threads() == 0);
}

#[test]
fn the_thread_returns_from_a_server_that_always_closes() {
    let client = Host::new();
    let (played, worker) = Played::by(&client);
    let attempts = AtomicU32::new(0);
    let (_, result) = called(&client, played, &worker, |played, id| {
        // The request is sent exactly this often.
        for _ in 0..4 {
            let mut stream = played.accept();
            played.receive(&mut stream, id);
            Played::close(stream);
            attempts.fetch_add(1, Ordering::SeqCst);
        }
    });
    assert_eq!(result, Err(SystemExceptionKind::Transient));
    assert_eq!(attempts.load(Ordering::SeqCst), 4);
}

#[test]
fn a_thread_cancelled_between_two_attempts_is_not_sent() {
    let (client, server) = (Host::new(), Host::new());
    let visited = Visited::at(&server);
    let (played, worker) = Played::by(&client);
    let current = client.scheduling.current();
    let ended = current.segment("track", importance(5), |_| {
        let id = current.id()?;
        let told = thread::scope(|scope| {
            let visited = &visited;
            scope.spawn(move || {
                let mut stream = played.accept();
                let request = played.receive(&mut stream, id);
                played.caller.lookup(id).unwrap().cancel().unwrap();
                Played::forward(&mut stream, request, &visited.worker);
            });
            worker.work(41).unwrap_err()
        });
        assert_eq!(told.kind, SystemExceptionKind::ThreadCancelled);
        Ok::<_, SchedulingError>(())
    });
    assert!(ended.unwrap_err().is_cancellation());
    assert_eq!(visited.visits.load(Ordering::SeqCst), 0);
    assert_eq!((client.scheduling.threads(), server.scheduling.threads()), (0, 0));
}

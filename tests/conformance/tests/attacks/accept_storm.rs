//! Accept storms: processes that connect and close without a pause. What they get is a share of the lane's
//! time; its clients, lower lanes and its shutdown continue.

use std::{
    io::{self, Write},
    mem::ManuallyDrop,
    net::TcpStream,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
    path::Path,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use punctual::{
    CpuSet, NativePriority, SchedulingClass,
    transport::{CdrError, Decoder, Encoder, Listener, ProtocolProperties, SocketStream, Stream, Transport},
};
use punctual_fixtures::{
    Missing, client_propagated,
    conformance::ProbeRef,
    priorities::{HIGH, LOW},
    priority,
    real_time::{orb_of_class, ordinary},
    realtime_or_skip,
    server::{self, Server, Setup},
    skip,
    waiting::holds_within,
    wire::Reader,
};
use punctual_os::{Scheduling, affinity, scheduling};

/// CPU of the server; attackers run elsewhere.
const CPU: usize = 0;
const SECOND: Duration = Duration::from_secs(1);

/// A transport that always has another connection, whose peer has gone, once its storm has begun.
struct Endless(Arc<Storm>);

#[derive(Default)]
struct Storm {
    /// Address and one end of each listener, written to when the storm begins.
    begin: Mutex<Vec<(String, UnixStream)>>,
    begun: OnceLock<Instant>,
    accepted: AtomicUsize,
}

impl Storm {
    /// Begins at the listeners whose addresses end in this way.
    fn begin(&self, suffix: &str) {
        self.begun.get_or_init(Instant::now);
        for (address, end) in self.begin.lock().unwrap().iter_mut() {
            if address.ends_with(suffix) {
                end.write_all(&[1]).unwrap();
            }
        }
    }
}

impl Transport for Endless {
    fn scheme(&self) -> &str {
        "endless"
    }

    fn profile_tag(&self) -> u32 {
        0x454e_444c
    }

    fn listen(
        &self,
        address: &str,
        _published: Option<&str>,
        _properties: &ProtocolProperties,
    ) -> io::Result<Box<dyn Listener>> {
        let (begin, ready) = UnixStream::pair()?;
        self.0.begin.lock().unwrap().push((address.to_owned(), begin));
        Ok(Box::new(EndlessListener {
            ready,
            address: address.to_owned(),
            storm: Arc::clone(&self.0),
        }))
    }

    fn connect(&self, _: &str, _: &ProtocolProperties, _: Duration) -> io::Result<Box<dyn Stream>> {
        Err(io::ErrorKind::ConnectionRefused.into())
    }

    fn lane_address(&self, address: &str, lane: &str) -> String {
        format!("{address}.{lane}")
    }

    fn encode_address(&self, _: &str, _: &mut Encoder<'_>) -> Result<(), CdrError> {
        Ok(())
    }

    fn decode_address(&self, _: &mut Decoder<'_>) -> Result<String, CdrError> {
        Ok(String::new())
    }
}

struct EndlessListener {
    ready: UnixStream,
    address: String,
    storm: Arc<Storm>,
}

impl Listener for EndlessListener {
    fn accept(&self) -> io::Result<Option<Box<dyn Stream>>> {
        // So that a server which does not survive it ends nevertheless.
        let rages = |begun: &Instant| begun.elapsed() < 15 * SECOND;
        if !self.storm.begun.get().is_some_and(rages) {
            return Ok(None);
        }
        self.storm.accepted.fetch_add(1, Ordering::SeqCst);
        let (own, _gone) = UnixStream::pair()?;
        own.set_nonblocking(true)?;
        Ok(Some(Box::new(SocketStream::new(own))))
    }

    fn shutdown(&self) {}

    fn address(&self) -> &str {
        &self.address
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }
}

/// Drops the server on another thread; returns whether it ends.
fn ends(server: Server) -> bool {
    let ending = thread::spawn(move || drop(server));
    holds_within(Duration::from_secs(20), || ending.is_finished())
}

#[test]
fn a_lane_whose_queue_of_connections_never_ends_serves_its_clients_and_shuts_down() {
    let storm = Arc::new(Storm::default());
    let orb = ordinary()
        .transport(Endless(Arc::clone(&storm)))
        .listen("iiop://127.0.0.1:0")
        .listen("endless://here")
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    let poa = orb.root_poa().child("probes").threadpool(&pool).build().unwrap();
    // A test that fails leaves it: it may never end.
    let server = ManuallyDrop::new(Server::with_poa(orb, pool, poa));
    let client = server::client();
    let probe = server.reference_for(&client);
    let probe: ProbeRef = probe.with_timeout(Duration::from_secs(10)).unchecked();
    assert_eq!(probe.twice(1), Ok(2));
    storm.begin("");
    for value in 0..200 {
        assert_eq!(probe.twice(value), Ok(2 * value), "after the storm has begun");
    }
    let accepted = storm.accepted.load(Ordering::SeqCst);
    let enough = || storm.accepted.load(Ordering::SeqCst) > accepted + 100;
    assert!(
        holds_within(Duration::from_secs(20), enough),
        "others still get in"
    );
    // A new client gets its turn, too.
    let another = server::client();
    assert_eq!(server.reference_for(&another).twice(21), Ok(42));
    assert!(
        ends(ManuallyDrop::into_inner(server)),
        "the lane does not see that it is to stop"
    );
}

/// Attackers, each of which connects and closes as fast as it can, until the result is dropped.
struct Attackers {
    stop: Arc<AtomicBool>,
    connections: Arc<AtomicUsize>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Attackers {
    fn start(number: usize, connect: impl Fn() + Clone + Send + 'static) -> Self {
        let (stop, connections) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let threads = (0..number).map(|_| {
            let (stop, connections, connect) = (Arc::clone(&stop), Arc::clone(&connections), connect.clone());
            thread::spawn(move || {
                affinity::set_current(&CpuSet::single(CPU + 1)).expect("a second CPU");
                // So that other load of the machine does not weaken the storm.
                let _ = scheduling::set_current(Scheduling::fifo(NativePriority(1)));
                while !stop.load(Ordering::Relaxed) {
                    connect();
                    connections.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        Self {
            threads: threads.collect(),
            stop,
            connections,
        }
    }
}

impl Drop for Attackers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking());
        }
    }
}

fn through_tcp(port: u16) -> impl Fn() + Clone + Send + 'static {
    move || {
        let address = ([127, 0, 0, 1], port).into();
        drop(TcpStream::connect_timeout(&address, Duration::from_millis(20)));
    }
}

/// A Unix socket, where memory is asked for that is never used.
fn through_shared_memory(path: &str) -> impl Fn() + Clone + Send + 'static {
    let path = path.to_owned();
    move || drop(UnixStream::connect(Path::new(&path)))
}

/// Number of calls of an established client within this time.
fn calls_in(time: Duration, probe: &ProbeRef) -> u32 {
    let start = Instant::now();
    let mut calls = 0;
    while start.elapsed() < time {
        assert_eq!(probe.twice(21), Ok(42));
        calls += 1;
    }
    calls
}

fn on_one_cpu(listen: &'static [&'static str]) -> Server {
    let setup = Setup {
        listen,
        pool: |pool| pool.affinity(CpuSet::single(CPU)),
        ..Setup::default()
    };
    setup.start()
}

fn has_two_cpus() -> bool {
    let two = thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1);
    if !two {
        skip(Missing::Machine, "the attackers need a CPU of their own");
    }
    two
}

/// An established client during a storm on its own lane.
fn assert_progress_during_a_storm(server: Server, attack: impl Fn() + Clone + Send + 'static) {
    let client = server::client();
    let probe = server.reference_for(&client);
    let (mut alone, mut attacked, mut connections) = (0, 0, 0);
    // Alternating, because the load of other programs changes.
    for _ in 0..5 {
        alone += calls_in(SECOND / 5, &probe);
        let attackers = Attackers::start(2, attack.clone());
        attacked += calls_in(SECOND / 5, &probe);
        connections += attackers.connections.load(Ordering::Relaxed);
    }
    println!("{alone} calls alone, {attacked} beside {connections} connections");
    // Without bounds on a wake-up there is none; the attackers' share of the CPU counts, too.
    assert!(
        attacked > 0 && attacked * 50 >= alone,
        "{attacked} calls of {alone}"
    );
    assert!(ends(server), "during the storm");
}

#[test]
fn an_established_client_continues_during_a_storm_over_tcp() {
    if has_two_cpus() {
        let server = on_one_cpu(&["iiop://127.0.0.1:0"]);
        let port = server.port();
        assert_progress_during_a_storm(server, through_tcp(port));
    }
}

#[test]
fn an_established_client_continues_during_a_storm_over_shared_memory() {
    if has_two_cpus() {
        let server = on_one_cpu(&["shmiop://"]);
        let path = shared_memory_path(&server.probe, 0);
        assert_progress_during_a_storm(server, through_shared_memory(&path));
    }
}

/// Path of the socket in a profile of a shared-memory endpoint.
fn shared_memory_path(probe: &ProbeRef, profile: usize) -> String {
    let profile = &probe.ior().profiles[profile].data;
    let mut reader = Reader::encapsulation(profile);
    reader.raw(2);
    let address = String::from_utf8(reader.string().to_vec()).unwrap();
    address.split('?').next().unwrap().to_owned()
}

/// Lanes below the one that is attacked, on the same CPU.
#[test]
fn lower_lanes_continue_during_a_storm_on_the_highest() {
    if !realtime_or_skip() {
        return;
    }
    let storm = Arc::new(Storm::default());
    let orb = orb_of_class(SchedulingClass::Fifo)
        .transport(Endless(Arc::clone(&storm)))
        .listen("iiop://127.0.0.1:0")
        .listen("endless://here")
        .build()
        .unwrap();
    let pool = orb.threadpool().lane(priority(LOW), 1).lane(priority(HIGH), 1);
    let pool = pool.affinity(CpuSet::single(CPU)).build().unwrap();
    let model = client_propagated(priority(LOW));
    let poa = orb.root_poa().child("probes").threadpool(&pool);
    let poa = poa.priority_model(model).build().unwrap();
    let server = ManuallyDrop::new(Server::with_poa(orb, pool, poa));
    affinity::set_current(&CpuSet::single(CPU)).unwrap();
    let client = orb_of_class(SchedulingClass::Fifo).build().unwrap();
    client.current().set_priority(priority(LOW)).unwrap();
    let probe = server.reference_for(&client);
    let alone = calls_in(SECOND, &probe);
    storm.begin(&format!("-{HIGH}"));
    let attacked = calls_in(SECOND, &probe);
    let accepted = storm.accepted.load(Ordering::SeqCst);
    println!("{alone} calls alone, {attacked} beside {accepted} connections to the highest lane");
    assert!(accepted > 20, "the highest lane is not attacked");
    assert!(
        attacked > 0 && attacked * 3 >= alone,
        "{attacked} calls of {alone}"
    );
    assert!(ends(ManuallyDrop::into_inner(server)), "during the storm");
}

//! The thread that answers inspections.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    os::fd::AsFd,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_os::{Doorbell, PiMutex, Thread, ThreadSpec};
use punctual_transport::PrivateSocket;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::{
    InspectError, InspectedAt, Inspection, Snapshot,
    session::{Next, Session, TIMEOUT},
    snapshot::UptimeSnapshot,
};

/// Inspection of an ORB: its socket, and the thread that answers.
///
/// ```
/// use std::{io::{BufRead, BufReader, Read, Write}, net::TcpStream, os::unix::net::UnixStream};
///
/// use punctual_inspect::{Inspection, Inspector, Snapshot};
///
/// let socket = std::env::temp_dir().join(format!("radar-{}.inspect", std::process::id()));
/// let inspector = Inspector::open(&Inspection::at(&socket).metrics_at("127.0.0.1:0"))?;
/// let nothing = || Some(Snapshot { late_replies: 7, ..Snapshot::default() });
/// inspector.start(Box::new(nothing))?;
///
/// // The request of `punctual top`.
/// let mut stream = UnixStream::connect(&socket)?;
/// stream.write_all(b"snapshot\n")?;
/// let mut snapshot = String::new();
/// BufReader::new(stream).read_line(&mut snapshot)?;
/// assert!(snapshot.contains(r#""late_replies":7"#));
///
/// // The request of Prometheus.
/// let mut stream = TcpStream::connect(inspector.place().metrics.expect("an address"))?;
/// stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
/// let mut metrics = String::new();
/// stream.read_to_string(&mut metrics)?;
/// assert!(metrics.contains("# TYPE punctual_lane_requests_total counter"));
///
/// inspector.stop();
/// assert!(!socket.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Inspector {
    shared: Arc<Shared>,
    spec: ThreadSpec,
    thread: PiMutex<Option<Thread<()>>>,
}

/// Takes a snapshot; `None` once the ORB has ended.
pub type SnapshotSource = Box<dyn Fn() -> Option<Snapshot> + Send>;

/// Part that the thread uses, too.
struct Shared {
    socket: PrivateSocket,
    metrics: Option<(TcpListener, SocketAddr)>,
    /// Rings when inspection ends.
    bell: Doorbell,
    stopping: AtomicBool,
    began: Instant,
}

/// Lower priority than that of other ordinary threads.
const NICENESS: i32 = 10;
/// Sessions at a time at each of the two listeners; others wait to be accepted.
const MAX_SESSIONS: usize = 8;
/// More connections than any listener's queue holds.
const MAX_BACKLOG: usize = 4096;
/// Pause after accepting failed, for example because descriptors are exhausted.
const PAUSE: Duration = Duration::from_millis(200);

punctual_types::debug_as_display!(InspectError);

impl Inspector {
    /// Name of the thread.
    pub const THREAD: &str = "orb-inspect";

    /// Opens the listeners. They are served from [`Self::start`] on.
    ///
    /// # Errors
    /// [`InspectError`] if a listener cannot be opened.
    ///
    /// ```
    /// use punctual_inspect::{Inspection, Inspector};
    ///
    /// let inspector = Inspector::open(&Inspection::new())?;
    /// assert!(inspector.place().socket.starts_with(Inspection::default_folder()));
    /// # Ok::<(), punctual_inspect::InspectError>(())
    /// ```
    pub fn open(settings: &Inspection) -> Result<Self, InspectError> {
        let failed = |address: String| move |source| InspectError { address, source };
        let path = settings
            .socket()
            .map_err(failed("a socket for inspection".to_owned()))?;
        let socket = PrivateSocket::listen(&path).map_err(failed(path.display().to_string()))?;
        let listen = |address: io::Result<SocketAddr>| {
            let listener = TcpListener::bind(address?)?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        let metrics = settings.metrics().map(listen).transpose();
        Ok(Self {
            shared: Arc::new(Shared {
                socket,
                metrics: metrics.map_err(failed(settings.metrics_text().to_owned()))?,
                bell: Doorbell::new().map_err(failed("a doorbell".to_owned()))?,
                stopping: AtomicBool::new(false),
                began: Instant::now(),
            }),
            spec: ThreadSpec::new(Self::THREAD).affinity(settings.affinity.clone()),
            thread: PiMutex::new(None),
        })
    }

    /// Starts to answer with snapshots from `source`.
    ///
    /// # Errors
    /// An error of the system, which refuses the thread.
    pub fn start(&self, source: SnapshotSource) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let thread = self.spec.clone().spawn(move || {
            // It may always be nicer than it was.
            let _ = rustix::process::setpriority_process(None, NICENESS);
            shared.answer(&source);
        });
        *self.thread.lock() = Some(thread?);
        Ok(())
    }

    /// Returns the socket, and the address of metrics.
    pub fn place(&self) -> InspectedAt {
        InspectedAt {
            socket: self.shared.socket.path().to_owned(),
            metrics: self.shared.metrics.as_ref().map(|(_, address)| *address),
        }
    }

    /// Removes the socket and makes the thread end.
    pub fn stop(&self) {
        self.shared.socket.remove();
        self.shared.stopping.store(true, Ordering::SeqCst);
        let _ = self.shared.bell.ring();
    }

    /// Waits for the thread to end.
    pub fn join(&self) {
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

/// An ORB whose construction fails is not shut down explicitly.
impl Drop for Inspector {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn answer(&self, source: &SnapshotSource) {
        let take = || {
            Some(UptimeSnapshot {
                snapshot: source()?,
                uptime: self.began.elapsed(),
            })
        };
        let mut acceptors = vec![Acceptor::new(Listener::Unix(&self.socket))];
        acceptors.extend(
            self.metrics
                .iter()
                .map(|(listener, _)| Acceptor::new(Listener::Tcp(listener))),
        );
        while !self.stopping.load(Ordering::SeqCst) {
            if self.wait(&acceptors).is_err() {
                return;
            }
            let now = Instant::now();
            for acceptor in &mut acceptors {
                acceptor.accept(now);
                acceptor
                    .sessions
                    .retain_mut(|session| session.advance(now, &take) == Next::Continue);
            }
        }
        // Clients that wait to be accepted would wait as long as the listener stays open. There is at most a
        // backlog of them.
        for acceptor in &acceptors {
            for _ in 0..MAX_BACKLOG {
                if acceptor.listener.accept(Instant::now()).is_err() {
                    break;
                }
            }
        }
    }

    /// Waits for the doorbell, a new session, progress of a session, or the timeout of one.
    fn wait(&self, acceptors: &[Acceptor<'_>]) -> io::Result<()> {
        let now = Instant::now();
        let mut watched = vec![PollFd::new(&self.bell, PollFlags::IN)];
        let mut deadline = None;
        let mut not_after =
            |end: Instant| deadline = Some(deadline.map_or(end, |deadline: Instant| deadline.min(end)));
        for acceptor in acceptors {
            match acceptor.paused_until.filter(|end| *end > now) {
                Some(end) => not_after(end),
                None if acceptor.sessions.len() < MAX_SESSIONS => {
                    watched.push(PollFd::from_borrowed_fd(acceptor.listener.as_fd(), PollFlags::IN));
                }
                None => {}
            }
            for session in &acceptor.sessions {
                let flags = if session.is_sending() {
                    PollFlags::OUT
                } else {
                    PollFlags::IN
                };
                watched.push(PollFd::from_borrowed_fd(session.as_fd(), flags));
                not_after(session.deadline());
            }
        }
        let timeout = deadline.map(|deadline| deadline.saturating_duration_since(now).min(TIMEOUT));
        // Rather once after the timeout of a session than many times just before it.
        let timeout = timeout.map(|timeout| timeout + Duration::from_millis(1));
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        match poll(&mut watched, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// A listener with its sessions: those of one listener cannot exclude those of another.
struct Acceptor<'s> {
    listener: Listener<'s>,
    sessions: Vec<Session>,
    paused_until: Option<Instant>,
}

enum Listener<'s> {
    Unix(&'s PrivateSocket),
    Tcp(&'s TcpListener),
}

impl<'s> Acceptor<'s> {
    fn new(listener: Listener<'s>) -> Self {
        Self {
            listener,
            sessions: Vec::new(),
            paused_until: None,
        }
    }

    fn accept(&mut self, now: Instant) {
        if self.paused_until.is_some_and(|end| end > now) {
            return;
        }
        self.paused_until = None;
        while self.sessions.len() < MAX_SESSIONS {
            match self.listener.accept(now) {
                Ok(session) => self.sessions.push(session),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.paused_until = Some(now + PAUSE);
                    return;
                }
            }
        }
    }
}

impl Listener<'_> {
    fn accept(&self, now: Instant) -> io::Result<Session> {
        match self {
            Self::Unix(socket) => {
                let (stream, _) = socket.listener().accept()?;
                stream.set_nonblocking(true)?;
                Ok(Session::new(Box::new(stream), true, now))
            }
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                Ok(Session::new(Box::new(stream), false, now))
            }
        }
    }
}

impl AsFd for Listener<'_> {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        match self {
            Self::Unix(socket) => socket.listener().as_fd(),
            Self::Tcp(listener) => listener.as_fd(),
        }
    }
}

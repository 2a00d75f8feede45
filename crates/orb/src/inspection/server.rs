use std::{
    io,
    net::{SocketAddr, TcpListener},
    os::fd::AsFd,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_os::{Doorbell, PiMutex, Thread, ThreadSpec};
use punctual_transport::PrivateSocket;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{
    InspectedAt, Inspection,
    snapshot::Snapshot,
    visitor::{Next, PATIENCE, Visitor},
};
use crate::{OrbError, orb_core::OrbCore};

/// What lets look into an ORB: its socket, and the thread that answers there.
pub(crate) struct Inspector {
    shared: Arc<Shared>,
    spec: ThreadSpec,
    thread: PiMutex<Option<Thread<()>>>,
}

/// What the thread has, too.
struct Shared {
    socket: PrivateSocket,
    metrics: Option<(TcpListener, SocketAddr)>,
    /// Rings when it is over.
    bell: Doorbell,
    stopping: AtomicBool,
    began: Instant,
}

/// Of the thread.
const NAME: &str = "orb-inspect";
/// Lower than what other ordinary threads start with.
const NICENESS: i32 = 10;
/// Visitors at a time at each of the two places; others wait to be accepted.
const MAX_VISITORS: usize = 8;
/// More than any listener's queue holds.
const MAX_BACKLOG: usize = 4096;
/// How long nobody is accepted where that failed: descriptors are missing, say.
const PAUSE: Duration = Duration::from_millis(200);

impl Inspector {
    /// Opens the places where it answers. Nobody does so before [`Self::start`].
    pub(crate) fn open(settings: &Inspection) -> Result<Self, OrbError> {
        let failed = |address: String| move |source| OrbError::Listen { address, source };
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
                bell: Doorbell::new()?,
                stopping: AtomicBool::new(false),
                began: Instant::now(),
            }),
            spec: ThreadSpec::new(NAME).affinity(settings.affinity.clone()),
            thread: PiMutex::new(None),
        })
    }

    /// Starts answering.
    pub(crate) fn start(&self, core: &Arc<OrbCore>) -> Result<(), OrbError> {
        let (shared, core) = (Arc::clone(&self.shared), Arc::downgrade(core));
        let thread = self.spec.clone().spawn(move || {
            // It may always be nicer than it was.
            let _ = rustix::process::setpriority_process(None, NICENESS);
            shared.answer(&core);
        });
        let name = NAME.to_owned();
        let thread = thread.map_err(|source| OrbError::Thread { name, source })?;
        *self.thread.lock() = Some(thread);
        Ok(())
    }

    pub(crate) fn place(&self) -> InspectedAt {
        InspectedAt {
            socket: self.shared.socket.path().to_owned(),
            metrics: self.shared.metrics.as_ref().map(|(_, address)| *address),
        }
    }

    /// Lets the thread end; nobody finds the socket any more.
    pub(crate) fn stop(&self) {
        self.shared.socket.remove();
        self.shared.stopping.store(true, Ordering::SeqCst);
        let _ = self.shared.bell.ring();
    }

    /// Waits for the thread, which waits for nobody.
    pub(crate) fn join(&self) {
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

/// An ORB that could not be completed is not shut down either.
impl Drop for Inspector {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn answer(&self, core: &Weak<OrbCore>) {
        let look = || Some(Snapshot::of(&*core.upgrade()?, self.began.elapsed()));
        let mut places = vec![Place::new(Listener::Unix(&self.socket))];
        places.extend(
            self.metrics
                .iter()
                .map(|(listener, _)| Place::new(Listener::Tcp(listener))),
        );
        while !self.stopping.load(Ordering::SeqCst) {
            if self.wait(&places).is_err() {
                return;
            }
            let now = Instant::now();
            for place in &mut places {
                place.accept(now);
                place
                    .visitors
                    .retain_mut(|visitor| visitor.go_on(now, &look) == Next::Stays);
            }
        }
        // Who has come and was not let in yet would wait for as long as the listener stays open. No more than a backlog of them.
        for place in &places {
            for _ in 0..MAX_BACKLOG {
                if place.listener.accept(Instant::now()).is_err() {
                    break;
                }
            }
        }
    }

    /// Waits for the bell, a visitor who comes or goes on, or the end of one's time.
    fn wait(&self, places: &[Place<'_>]) -> io::Result<()> {
        let now = Instant::now();
        let mut watched = vec![PollFd::new(&self.bell, PollFlags::IN)];
        let mut until = None;
        let mut not_after = |end: Instant| until = Some(until.map_or(end, |until: Instant| until.min(end)));
        for place in places {
            match place.paused_until.filter(|end| *end > now) {
                Some(end) => not_after(end),
                None if place.visitors.len() < MAX_VISITORS => {
                    watched.push(PollFd::from_borrowed_fd(place.listener.as_fd(), PollFlags::IN));
                }
                None => {}
            }
            for visitor in &place.visitors {
                let flags = if visitor.is_being_answered() {
                    PollFlags::OUT
                } else {
                    PollFlags::IN
                };
                watched.push(PollFd::from_borrowed_fd(visitor.as_fd(), flags));
                not_after(visitor.until());
            }
        }
        let timeout = until.map(|until| until.saturating_duration_since(now).min(PATIENCE));
        // Not before the end of anybody's time, rather than many times just before it.
        let timeout = timeout.map(|timeout| timeout + Duration::from_millis(1));
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        match poll(&mut watched, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// One of the places where visitors come, with those who are there. Those of one cannot keep out those of the other.
struct Place<'s> {
    listener: Listener<'s>,
    visitors: Vec<Visitor>,
    paused_until: Option<Instant>,
}

enum Listener<'s> {
    Unix(&'s PrivateSocket),
    Tcp(&'s TcpListener),
}

impl<'s> Place<'s> {
    fn new(listener: Listener<'s>) -> Self {
        Self {
            listener,
            visitors: Vec::new(),
            paused_until: None,
        }
    }

    fn accept(&mut self, now: Instant) {
        if self.paused_until.is_some_and(|end| end > now) {
            return;
        }
        self.paused_until = None;
        while self.visitors.len() < MAX_VISITORS {
            match self.listener.accept(now) {
                Ok(visitor) => self.visitors.push(visitor),
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
    fn accept(&self, now: Instant) -> io::Result<Visitor> {
        match self {
            Self::Unix(socket) => {
                let (stream, _) = socket.listener().accept()?;
                stream.set_nonblocking(true)?;
                Ok(Visitor::new(Box::new(stream), true, now))
            }
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                Ok(Visitor::new(Box::new(stream), false, now))
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

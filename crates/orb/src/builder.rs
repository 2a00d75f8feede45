use std::{sync::Arc, time::Duration};

use punctual_os::SchedulingClass;
use punctual_sched::PriorityMapping;
use punctual_transport::Transport;

use crate::{Limits, Orb, OrbError, orb_core::OrbCore};

/// Makes an [`Orb`].
///
/// ```
/// use std::{sync::Arc, time::Duration};
///
/// use punctual_orb::{Limits, Orb};
/// use punctual_os::SchedulingClass;
///
/// let orb = Orb::builder()
///     .listen("iiop://localhost")
///     .limits(Limits::default())
///     .scheduling_class(SchedulingClass::RoundRobin)
///     .lock_memory(false)
///     .call_timeout(Duration::from_secs(2))
///     .build()?;
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
pub struct OrbBuilder {
    pub(crate) transports: Vec<Arc<dyn Transport>>,
    /// Endpoints, and what clients are told where that is something else.
    pub(crate) listen: Vec<(String, Option<String>)>,
    pub(crate) limits: Limits,
    pub(crate) mapping: Option<Box<dyn PriorityMapping>>,
    pub(crate) class: SchedulingClass,
    pub(crate) lock_memory: bool,
    pub(crate) call_timeout: Option<Duration>,
}

impl OrbBuilder {
    pub(crate) fn new() -> Self {
        Self {
            transports: Vec::new(),
            listen: Vec::new(),
            limits: Limits::default(),
            mapping: None,
            class: SchedulingClass::Fifo,
            lock_memory: true,
            call_timeout: None,
        }
    }

    /// Adds a place where it listens: `iiop://HOST:PORT`, `uiop://PATH`, or an endpoint of a transport of your own.
    ///
    /// References name all places of all protocols. Default: `iiop://localhost:0`, opened when the first object needs it.
    /// Lanes listen beside each place: at free ports of the same host, at the path with the lane's name behind it.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// let first = Orb::builder().listen("iiop://127.0.0.1").build()?;
    /// let doubler: DoublerRef = first.root_poa().activate(Doubler)?;
    /// let url = first.publish("Doubler", &doubler)?;
    /// let address = url.trim_start_matches("corbaloc:iiop:1.2@").trim_end_matches("/Doubler");
    /// let second = Orb::builder().listen(&format!("iiop://{address}")).build();
    /// assert!(matches!(second, Err(OrbError::Listen { .. })), "the first one is there");
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn listen(mut self, endpoint: &str) -> Self {
        self.listen.push((endpoint.to_owned(), None));
        self
    }

    /// As [`Self::listen`], for a place that clients reach under another address: behind a gateway that translates addresses,
    /// or on a machine with several names. References say `published`; with port 0, or none, the port that is bound.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// let orb = Orb::builder().listen_as("iiop://0.0.0.0:0", "iiop://radar.example:2809").build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// assert_eq!(orb.publish("Doubler", &doubler)?, "corbaloc:iiop:1.2@radar.example:2809/Doubler");
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn listen_as(mut self, endpoint: &str, published: &str) -> Self {
        self.listen
            .push((endpoint.to_owned(), Some(published.to_owned())));
        self
    }

    /// Adds a transport, for [`Self::listen`] and for references that name it; TCP and Unix domain sockets are there.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// use punctual_transport::Unix;
    ///
    /// // One with the scheme or tag of another takes its place.
    /// let orb = Orb::builder().transport(Unix).build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn transport(mut self, transport: impl Transport + 'static) -> Self {
        self.transports.push(Arc::new(transport));
        self
    }

    /// The limits in force.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Limits, Orb};
    /// use punctual_types::{Minor, SystemExceptionKind};
    ///
    /// let mut limits = Limits::default();
    /// limits.max_nested_calls = 0;
    /// let orb = Orb::builder().limits(limits).build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// let error = doubler.twice(3).unwrap_err();
    /// assert_eq!((error.kind, error.minor), (SystemExceptionKind::ImpLimit, Minor::NESTING_OF_CALLS_TOO_DEEP));
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How CORBA priorities become native ones. Default: linear over the scheduling class.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// use punctual_sched::LinearMapping;
    /// use punctual_types::Priority;
    ///
    /// // Leaves the native priorities above 80 to others.
    /// let orb = Orb::builder().priority_mapping(LinearMapping::new(1..=80)).build()?;
    /// orb.current().set_priority(Priority::MAX)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn priority_mapping(mut self, mapping: impl PriorityMapping + 'static) -> Self {
        self.mapping = Some(Box::new(mapping));
        self
    }

    /// The scheduling class of pools and of threads that set a priority. Default: SCHED_FIFO.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// use punctual_os::SchedulingClass;
    ///
    /// let orb = Orb::builder().scheduling_class(SchedulingClass::Other).build()?;
    /// assert!(!orb.threadpool().build()?.is_realtime());
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn scheduling_class(mut self, class: SchedulingClass) -> Self {
        self.class = class;
        self
    }

    /// Whether to lock the process's memory when it first asks for real-time scheduling, where that is allowed. Default: yes.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// // For a process with more memory than may be locked.
    /// let orb = Orb::builder().lock_memory(false).build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn lock_memory(mut self, lock: bool) -> Self {
        self.lock_memory = lock;
        self
    }

    /// The deadline of each call, counted from its start, unless its reference has another; TIMEOUT when it passes.
    ///
    /// Default: none, so a call waits for ever for a server that is connected and does not answer. A call to an object of the
    /// same ORB runs on the calling thread, and no deadline ends it.
    ///
    /// ```
    /// # use punctual_orb::{Orb, ResolveError};
    /// use std::{net::TcpListener, time::Duration};
    ///
    /// use punctual_types::SystemExceptionKind;
    ///
    /// // Lets connect, and never answers.
    /// let silent = TcpListener::bind("127.0.0.1:0")?;
    /// let url = format!("corbaloc::127.0.0.1:{}/Tracker", silent.local_addr()?.port());
    /// let orb = Orb::builder().call_timeout(Duration::from_millis(20)).build()?;
    /// match orb.resolve_object(&url) {
    ///     Err(ResolveError::Call(late)) => assert_eq!(late.kind, SystemExceptionKind::Timeout),
    ///     _ => unreachable!("nobody answers"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = Some(timeout);
        self
    }

    /// Makes the ORB. Fails where the endpoint is malformed or taken.
    ///
    /// ```
    /// # use punctual_orb::{Orb, OrbError};
    /// let error = Orb::builder().listen("localhost:2809").build().err().expect("it has no scheme");
    /// assert!(error.to_string().contains("write `iiop://HOST:PORT`"));
    /// ```
    pub fn build(self) -> Result<Orb, OrbError> {
        Ok(Orb::of(OrbCore::new(self)?))
    }
}

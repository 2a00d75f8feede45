//! Settings of an ORB, with a setter for each.

use std::{sync::Arc, time::Duration};

use punctual_cdr::{CharSet, ValueType};
use punctual_os::SchedulingClass;
use punctual_sched::{NetworkPriorityMapping, PriorityMapping, PriorityTransform, StandardMapping};
use punctual_transport::{ProtocolPolicy, Transport};
use punctual_types::{Priority, PriorityBand};

use super::{
    Orb,
    initializer::{OrbInitInfo, OrbInitializer},
};
use crate::{
    BidirectionalRule, Endpoint, Inspection, Limits, OnExcess, OrbError, Peers, PriorityModel, WaitStrategy,
    config::{
        initial_references::InitialReferences,
        settings::{MappingSetting, OrbSettings},
    },
    notice,
    orb_core::OrbCore,
};

/// Builder of an [`Orb`].
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_os::*}; }
/// use std::{sync::Arc, time::Duration};
///
/// use punctual::{Limits, Orb, SchedulingClass};
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
    settings: OrbSettings,
    initial_references: InitialReferences,
    initializers: Vec<Box<dyn OrbInitializer>>,
}

impl OrbBuilder {
    pub(crate) fn new() -> Self {
        Self {
            settings: OrbSettings::default(),
            initial_references: InitialReferences::default(),
            initializers: Vec::new(),
        }
    }

    /// Adds an endpoint: `iiop://HOST:PORT`, `uiop://PATH`, `shmiop://PATH`, or one of a user-defined
    /// transport. An [`Endpoint`] can advertise another address and limit the priority of requests.
    ///
    /// References name all endpoints of all protocols. Default: `iiop://localhost:0`, opened when the first
    /// object needs it. Lanes listen beside each endpoint: at free ports of the same host, or at the path
    /// followed by the name of the lane.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// let first = Orb::builder().listen("iiop://127.0.0.1").build()?;
    /// let doubler: DoublerRef = first.root_poa().activate(Doubler)?;
    /// let url = first.publish("Doubler", &doubler)?;
    /// let address = url.trim_start_matches("corbaloc:iiop:1.2@").trim_end_matches("/Doubler");
    /// let second = Orb::builder().listen(format!("iiop://{address}")).build();
    /// assert!(matches!(second, Err(OrbError::Listen { .. })), "the address is in use");
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn listen(mut self, endpoint: impl Into<Endpoint>) -> Self {
        self.settings.listen.push(endpoint.into());
        self
    }

    /// Adds a transport for [`Self::listen`] and for references that name it. TCP, Unix domain sockets and
    /// shared memory are built in.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_transport as transport; }
    /// # use punctual_orb::Orb;
    /// use punctual::transport::Unix;
    ///
    /// // One with the scheme or tag of another takes its place.
    /// let orb = Orb::builder().transport(Unix).build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn transport(mut self, transport: impl Transport + 'static) -> Self {
        self.settings.transports.push(Arc::new(transport));
        self
    }

    /// Sets `RTCORBA::ServerProtocolPolicy` (42): the protocols that references name, in order of preference,
    /// and the properties of accepted connections. Default: all protocols of the ORB's endpoints, in the
    /// order of [`Self::listen`].
    ///
    /// An ORB without endpoints listens over each of these protocols. An adapter may have its own policy,
    /// which selects and orders protocols; the properties of connections are the ORB's, because all adapters
    /// of a pool share its connections.
    ///
    /// ```
    /// # use punctual_giop as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// # use punctual_stub::Interface;
    /// use punctual::{Protocol, ProtocolPolicy};
    ///
    /// let protocols = ProtocolPolicy::new([Protocol::UIOP, Protocol::IIOP]);
    /// let orb = Orb::builder().server_protocols(protocols.clone()).build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// let tags = doubler.as_object().ior().profiles.iter().map(|profile| profile.tag);
    /// assert!(tags.eq([Protocol::UIOP.profile_tag, Protocol::IIOP.profile_tag]));
    ///
    /// // Nothing listens over Unix sockets here.
    /// let orb = Orb::builder().listen("iiop://localhost").server_protocols(protocols).build();
    /// assert!(matches!(orb, Err(OrbError::InvalidPolicy { .. })));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn server_protocols(mut self, protocols: ProtocolPolicy) -> Self {
        self.settings.server_protocols = protocols;
        self
    }

    /// Sets `RTCORBA::ClientProtocolPolicy` (43): the protocols that calls may use, in order of preference,
    /// and the properties of the connections that they open. Default: all protocols in the order of the
    /// reference, but those within this host first.
    ///
    /// Calls fail with INV_POLICY if the reference has none of the protocols, or names protocols itself.
    ///
    /// ```
    /// # mod punctual { pub use {punctual_giop::*, punctual_types::*}; }
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// # use punctual_stub::Interface;
    /// use punctual::{Protocol, ProtocolPolicy, SystemExceptionKind};
    ///
    /// let server = Orb::builder().listen("iiop://localhost").build()?;
    /// let doubler: DoublerRef = server.root_poa().activate(Doubler)?;
    /// let only_unix = ProtocolPolicy::new([Protocol::UIOP]);
    /// let client = Orb::builder().client_protocols(only_unix).build()?;
    /// let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior())?;
    /// assert_eq!(doubler.twice(3).unwrap_err().kind, SystemExceptionKind::InvPolicy);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn client_protocols(mut self, protocols: ProtocolPolicy) -> Self {
        self.settings.policies = self.settings.policies.client_protocols(protocols);
        self
    }

    /// Sets the limits of the ORB.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Limits, Orb};
    /// use punctual::{Minor, SystemExceptionKind};
    ///
    /// let limits = Limits::default().max_nested_calls(0);
    /// let orb = Orb::builder().limits(limits).build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// let error = doubler.twice(3).unwrap_err();
    /// assert_eq!(error.kind, SystemExceptionKind::ImpLimit);
    /// assert_eq!(error.minor, Minor::NESTING_OF_CALLS_TOO_DEEP);
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Sets the mapping from CORBA to native priorities. Default: linear over the scheduling class.
    ///
    /// ```
    /// # mod punctual { pub use {punctual_sched::*, punctual_types::*}; }
    /// # use punctual_orb::Orb;
    /// use punctual::{LinearMapping, Priority};
    ///
    /// // Leaves the native priorities above 80 to others.
    /// let orb = Orb::builder().priority_mapping(LinearMapping::new(1..=80)).build()?;
    /// orb.current().set_priority(Priority::MAX)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn priority_mapping(mut self, mapping: impl PriorityMapping + 'static) -> Self {
        self.settings.mapping = MappingSetting::Own(Box::new(mapping));
        self
    }

    /// Sets the mapping from CORBA to network priorities, which the packets of requests and replies carry. It
    /// applies to protocols whose properties have `enable_network_priority`. Default:
    /// [`LinearNetworkMapping`](punctual_sched::LinearNetworkMapping).
    ///
    /// ```
    /// # mod punctual { pub use {punctual_giop::*, punctual_sched::*, punctual_types::*}; }
    /// # use punctual_orb::Orb;
    /// use punctual::{
    ///     NetworkPriority, NetworkPriorityMapping, Priority, Protocol, ProtocolPolicy, ProtocolProperties,
    /// };
    ///
    /// /// The network prefers all traffic above the lowest priority.
    /// struct TwoClasses;
    ///
    /// impl NetworkPriorityMapping for TwoClasses {
    ///     fn to_network(&self, priority: Priority) -> NetworkPriority {
    ///         match priority {
    ///             Priority::MIN => NetworkPriority::BEST_EFFORT,
    ///             _ => NetworkPriority::EXPEDITED,
    ///         }
    ///     }
    /// }
    ///
    /// let mut properties = ProtocolProperties::default();
    /// properties.enable_network_priority = true;
    /// let protocols = ProtocolPolicy::new([Protocol::IIOP.with(properties)]);
    /// let orb = Orb::builder()
    ///     .network_priority_mapping(TwoClasses)
    ///     .client_protocols(protocols.clone())
    ///     .server_protocols(protocols)
    ///     .build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn network_priority_mapping(mut self, mapping: impl NetworkPriorityMapping + 'static) -> Self {
        self.settings.network_mapping = Box::new(mapping);
        self
    }

    /// Sets the mapping from CORBA to native priorities by name, over the whole scheduling class. Default:
    /// linear.
    ///
    /// ```
    /// # mod punctual { pub use {punctual_sched::*, punctual_types::*}; }
    /// # use punctual_orb::Orb;
    /// use punctual::{Minor, Priority, StandardMapping};
    ///
    /// // From a configuration, say.
    /// let orb = Orb::builder().standard_mapping("continuous".parse()?).build()?;
    /// orb.current().set_priority(Priority::new(40)?)?;
    /// // SCHED_FIFO has no 32768th priority.
    /// let error = orb.current().set_priority(Priority::MAX).unwrap_err();
    /// assert_eq!(error.minor, Minor::OMG_PRIORITY_UNMAPPABLE);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn standard_mapping(mut self, mapping: StandardMapping) -> Self {
        self.settings.mapping = MappingSetting::Standard(mapping);
        self
    }

    /// Sets the default priority model of adapters that set none; see [`crate::PoaBuilder::priority_model`].
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, PriorityModel};
    /// use punctual::Priority;
    ///
    /// let model = PriorityModel::ServerDeclared(Priority::new(20_000)?);
    /// let orb = Orb::builder().priority_model(model).build()?;
    /// let alarms = orb.root_poa().child("alarms").build()?;
    /// let urgent: DoublerRef = alarms.object(Doubler).priority(Priority::MAX).activate()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn priority_model(mut self, model: PriorityModel) -> Self {
        self.settings.poa_defaults.model = Some(model);
        self
    }

    /// Sets the default bands of adapters that set none; see [`crate::PoaBuilder::priority_bands`].
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # use punctual_orb::{InvalidPolicy, Orb, OrbError};
    /// use punctual::{Priority, PriorityBand};
    ///
    /// let all = PriorityBand::new(Priority::MIN, Priority::MAX);
    /// let orb = Orb::builder().priority_bands([all]).build()?;
    /// let invalid = orb.root_poa().child("plain").build().err().expect("there is no model for the bands");
    /// let OrbError::InvalidPolicy { of, conflict } = invalid else { panic!("{invalid}") };
    /// assert_eq!((&of[..], conflict), ("adapter `plain`", InvalidPolicy::BandsWithoutModel));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn priority_bands(mut self, bands: impl IntoIterator<Item = PriorityBand>) -> Self {
        self.settings.poa_defaults.bands = Some(bands.into_iter().collect());
        self
    }

    /// Sets the default priority transform of adapters that set none;
    /// [`crate::PoaBuilder::priority_transform`] has an example.
    pub fn priority_transform(mut self, transform: impl PriorityTransform + 'static) -> Self {
        self.settings.poa_defaults.transform = Some(Arc::new(transform));
        self
    }

    /// Sets the highest priority that these peers may propagate to adapters without a rule for them;
    /// [`Peers`] has an example.
    pub fn accept_priorities(mut self, peers: Peers, up_to: Priority) -> Self {
        self.settings.poa_defaults.accepted.push((peers, up_to));
        self
    }

    /// Sets the highest priority that clients may propagate to adapters that set none; see
    /// [`crate::PoaBuilder::highest_priority`].
    pub fn highest_priority(mut self, priority: Priority) -> Self {
        self.settings.poa_defaults.highest_accepted = Some(priority);
        self
    }

    /// Sets the action on requests above the highest accepted priority, for adapters that set none. Default:
    /// they are refused.
    pub fn on_excess(mut self, action: OnExcess) -> Self {
        self.settings.poa_defaults.on_excess = Some(action);
        self
    }

    /// Sets the scheduling class of pools and of threads that set a priority. Default: SCHED_FIFO.
    ///
    /// ```
    /// # use punctual_os as punctual;
    /// # use punctual_orb::Orb;
    /// use punctual::SchedulingClass;
    ///
    /// let orb = Orb::builder().scheduling_class(SchedulingClass::Other).build()?;
    /// assert!(!orb.threadpool().build()?.is_realtime());
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn scheduling_class(mut self, class: SchedulingClass) -> Self {
        self.settings.class = class;
        self
    }

    /// Sets the code set of `char` and `string` that references state as the server's native one; UTF-8 and
    /// ISO-8859-1 are conversion code sets, unless one of them is the native one. Default: none; then each
    /// client uses its own code set, and no character is lost. See `docs/interoperability.md`.
    ///
    /// Clients convert to a native code set if they can. UTF-8 loses the characters beyond ASCII of TAO
    /// clients, which convert them incorrectly; ISO-8859-1, or another code set of one octet for each
    /// character, loses characters of UTF-8 clients that it does not contain, and permits a `char` beyond
    /// ASCII, which UTF-8 does not. Clients of Punctual always use UTF-8.
    ///
    /// ```
    /// # use punctual_cdr as punctual;
    /// # use punctual_orb::Orb;
    /// use punctual::CharSet;
    ///
    /// // For clients that require one.
    /// let orb = Orb::builder().native_code_set(Some(CharSet::Utf8)).build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn native_code_set(mut self, code_set: Option<CharSet>) -> Self {
        self.settings.native_code_set = code_set;
        self
    }

    /// Sets whether the memory of the process is locked, if allowed, when the ORB first requests real-time
    /// scheduling. Default: yes.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// // For a process with more memory than may be locked.
    /// let orb = Orb::builder().lock_memory(false).build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn lock_memory(mut self, lock: bool) -> Self {
        self.settings.lock_memory = lock;
        self
    }

    /// Sets the timeout of each call, measured from its start, unless its reference or thread has another
    /// one. The call fails with TIMEOUT when it expires.
    ///
    /// Default: none; a call to a server that is connected and does not reply waits forever. This is the only
    /// client policy with a setter here; [`Orb::add_policies`] sets all of them, and
    /// [`roundtrip_timeout`](punctual_stub::PolicyOverrides::roundtrip_timeout) has the details.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # use punctual_orb::{Orb, ResolveError};
    /// use std::{net::TcpListener, time::Duration};
    ///
    /// use punctual::SystemExceptionKind;
    ///
    /// // Lets connect, and never answers.
    /// let silent = TcpListener::bind("127.0.0.1:0")?;
    /// let url = format!("corbaloc::127.0.0.1:{}/Tracker", silent.local_addr()?.port());
    /// let orb = Orb::builder().call_timeout(Duration::from_millis(20)).build()?;
    /// match orb.resolve_object(&url) {
    ///     Err(ResolveError::Call { exception: late, .. }) => {
    ///         assert_eq!(late.kind, SystemExceptionKind::Timeout);
    ///     }
    ///     _ => unreachable!("no server answers"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.settings.policies = self.settings.policies.roundtrip_timeout(timeout);
        self
    }

    /// Sets how lane threads wait for the replies to their own calls. Default: [`WaitStrategy::Blocking`].
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// # use punctual_orb::Orb;
    /// use punctual::WaitStrategy;
    ///
    /// // Its objects may be called back by those they call, with one thread.
    /// let orb = Orb::builder().wait_strategy(WaitStrategy::Serving).build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn wait_strategy(mut self, strategy: WaitStrategy) -> Self {
        self.settings.policies = self.settings.policies.wait_strategy(strategy);
        self
    }

    /// Permits the peers of this rule, and of rules added earlier, to make their connections bidirectional:
    /// calls to the addresses that these peers state use their connections, if the policies of the calls are
    /// [bidirectional](punctual_stub::PolicyOverrides::bidirectional). Default: no peer.
    ///
    /// The caller must belong to the lane of the connection: a servant of the lane, or any other thread if
    /// the lane is in the reply pool. The first peer that states an address keeps it. [`BidirectionalRule`]
    /// has an example.
    pub fn accept_bidirectional(mut self, rule: BidirectionalRule) -> Self {
        self.settings.bidirectional.push(rule);
        self
    }

    /// Registers `V`, and the types of its generated code that inherit from it, so that they can be received
    /// where a parameter or member is declared with a base from other generated code
    /// (`punctual_build::Builder::extern_path`). Types of the same generated code as their base need no
    /// registration.
    ///
    /// Source: CORBA 3.3 part 1, 8.5.5 (`register_value_factory`).
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// # use punctual_cdr::{ValueFactory, ValueType};
    /// # enum Alarm {}
    /// # impl ValueType for Alarm {
    /// #     const REPOSITORY_ID: &'static str = "IDL:Alarm:1.0";
    /// #     fn factories() -> &'static [ValueFactory] {
    /// #         &[]
    /// #     }
    /// # }
    /// let orb = punctual::Orb::builder().value_type::<Alarm>().build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn value_type<V: ValueType>(mut self) -> Self {
        let factories = V::factories().iter().map(|factory| (factory.id, factory));
        self.settings.value_factories.extend(factories);
        self
    }

    /// Enables inspection of the running ORB by `punctual top` and Prometheus. Off by default, unless the
    /// environment variable [`Inspection::ENVIRONMENT`] names a folder.
    ///
    /// Adds a thread `orb-inspect` in the ordinary class at nice 10, which takes no lock of a lane. Each
    /// request is then timed with two readings of the clock and three relaxed atomic operations; the heap is
    /// not used.
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// use std::{io::{BufRead, BufReader, Read, Write}, net::TcpStream, os::unix::net::UnixStream};
    ///
    /// use punctual::{Inspection, Orb};
    ///
    /// let socket = std::env::temp_dir().join(format!("radar-{}.inspect", std::process::id()));
    /// let inspection = Inspection::at(&socket).metrics_at("127.0.0.1:0");
    /// let orb = Orb::builder().inspection(inspection).build()?;
    ///
    /// // The request of `punctual top`.
    /// let mut stream = UnixStream::connect(&socket)?;
    /// stream.write_all(b"snapshot\n")?;
    /// let mut snapshot = String::new();
    /// BufReader::new(stream).read_line(&mut snapshot)?;
    /// assert!(snapshot.contains(r#""late_replies":0"#));
    ///
    /// // The request of Prometheus.
    /// let address = orb.inspected_at().and_then(|at| at.metrics).expect("metrics have an address");
    /// let mut stream = TcpStream::connect(address)?;
    /// stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    /// let mut metrics = String::new();
    /// stream.read_to_string(&mut metrics)?;
    /// assert!(metrics.contains("# TYPE punctual_lane_requests_total counter"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inspection(mut self, inspection: Inspection) -> Self {
        self.settings.inspection = Some(inspection);
        self
    }

    /// Sets the URL of an initial reference, for `corbaloc:rir:/NAME`; under the name `NameService` also for
    /// `corbaname:rir:#NAME`: `-ORBInitRef`. It is resolved whenever it is used, not here.
    ///
    /// Without this, the environment variable `PUNCTUAL_INITIAL_REFERENCES` applies: `NAME=URL`, several
    /// separated by white space.
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// use punctual::Orb;
    ///
    /// let server = Orb::builder().listen("iiop://127.0.0.1").build()?;
    /// let pool = server.threadpool().build()?;
    /// let poa = server.root_poa().child("numbers").threadpool(&pool).build()?;
    /// let doubler: DoublerRef = poa.activate(Doubler)?;
    /// # use punctual_stub::Interface;
    /// let ior = doubler.as_object().to_ior();
    ///
    /// let client = Orb::builder().initial_reference("Doubler", ior).build()?;
    /// let doubler: DoublerRef = client.resolve("corbaloc:rir:/Doubler")?;
    /// assert_eq!(doubler.twice(21)?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn initial_reference(mut self, name: impl Into<String>, url: impl Into<String>) -> Self {
        self.initial_references.set(name.into(), url.into());
        self
    }

    /// Sets the start of the URL of all initial references without a URL of their own, to which `/NAME` is
    /// appended: `-ORBDefaultInitRef`. Without this, the environment variable
    /// `PUNCTUAL_DEFAULT_INITIAL_REFERENCE` applies.
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// use punctual::{Orb, ResolveError};
    ///
    /// // `corbaname:rir:#radar` means `corbaname::192.0.2.1:2809/NameService#radar`.
    /// let orb = Orb::builder().default_initial_reference("corbaloc::192.0.2.1:2809").build()?;
    ///
    /// let orb = Orb::builder().initial_reference("A", "corbaloc:rir:/A").build()?;
    /// assert!(matches!(orb.resolve_object("corbaloc:rir:/A"), Err(ResolveError::TooManySteps(_))));
    /// # Ok::<(), punctual::OrbError>(())
    /// ```
    pub fn default_initial_reference(mut self, url: impl Into<String>) -> Self {
        self.initial_references.set_default(url.into());
        self
    }

    /// Adds an initializer, which registers interceptors with the ORB after those added earlier;
    /// [`OrbInitializer`] has an example.
    ///
    /// [`Self::build`] calls a clone of the initializer, and then drops it.
    pub fn initializer(mut self, initializer: &(impl OrbInitializer + Clone + 'static)) -> Self {
        self.initializers.push(Box::new(initializer.clone()));
        self
    }

    /// Builds the ORB. Fails if an endpoint is malformed or in use.
    ///
    /// If the environment variable `PUNCTUAL_FLIGHT_RECORDER` names a folder, the threads of this process
    /// record all calls there from now on: the flight recorder. `punctual trace` sets the variable and reads
    /// the records.
    ///
    /// ```
    /// # use punctual_orb::{Orb, OrbError};
    /// let error = Orb::builder().listen("localhost:2809").build().err().expect("it has no scheme");
    /// assert!(error.to_string().contains("use `iiop://HOST:PORT`"));
    /// ```
    pub fn build(mut self) -> Result<Orb, OrbError> {
        self.settings.limits.check()?;
        notice::start_flight_recorder();
        let initializers = std::mem::take(&mut self.initializers);
        for initializer in &initializers {
            initializer.pre_init(&mut OrbInitInfo::new(&mut self.settings.interceptors));
        }
        let orb = Orb::of(OrbCore::new(
            self.settings,
            self.initial_references.and_environment(),
        )?);
        initializers
            .iter()
            .for_each(|initializer| initializer.post_init(&orb));
        Ok(orb)
    }
}

use std::time::Duration;

use punctual_giop::ProtocolPolicy;
use punctual_types::{Minor, PriorityBand};

use crate::{ConnectionMode, WaitStrategy};

/// Client policies that are set for an ORB, a thread or a reference: what `CORBA::PolicyList` says there, as one typed value.
///
/// What is not set comes from the scope around: a reference's go before those of the calling thread, and these before
/// the ORB's. The policies of a server (priority model, thread pool, its protocols) have no place here, so that overriding
/// them, which other ORBs answer with NO_PERMISSION, cannot be written down.
///
/// ```
/// use std::time::Duration;
///
/// use punctual_stub::PolicyOverrides;
/// use punctual_types::{Priority, PriorityBand};
///
/// let middle = Priority::new(10_000)?;
/// let overrides = PolicyOverrides::new()
///     .priority_bands([
///         PriorityBand::new(Priority::MIN, middle),
///         PriorityBand::new(Priority::new(10_001)?, Priority::MAX),
///     ])
///     .private_connection(true)
///     .roundtrip_timeout(Duration::from_millis(100));
/// assert_ne!(overrides, PolicyOverrides::new());
/// # Ok::<(), punctual_types::OutOfRange>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PolicyOverrides {
    priority_bands: Option<Vec<PriorityBand>>,
    private_connection: Option<bool>,
    client_protocols: Option<ProtocolPolicy>,
    roundtrip_timeout: Option<Option<Duration>>,
    request_timeout: Option<Option<Duration>>,
    connection_timeout: Option<Option<Duration>>,
    sends_deadlines: Option<bool>,
    binds_bands: Option<bool>,
    wait_strategy: Option<WaitStrategy>,
    connection_mode: Option<ConnectionMode>,
}

impl PolicyOverrides {
    /// Overrides nothing.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// assert_eq!(PolicyOverrides::new(), PolicyOverrides::default());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// `RTCORBA::PriorityBandedConnectionPolicy` (45): each band of priorities has connections of its own.
    ///
    /// The band that holds the caller's priority, or the object's where the server declares it, also chooses the lane. Calls
    /// fail with INV_POLICY where the reference has bands itself or no priority model, where a band's ends are swapped, and
    /// where no band holds the priority. An empty list takes the bands of the scopes around away. Calls to objects of the same
    /// ORB have no connection, and need no band.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// use punctual_types::{Priority, PriorityBand};
    ///
    /// let all = PriorityBand::new(Priority::MIN, Priority::MAX);
    /// let in_force = PolicyOverrides::new().priority_bands([all]).in_force();
    /// assert_eq!(in_force.priority_bands, [all]);
    /// ```
    pub fn priority_bands(mut self, bands: impl Into<Vec<PriorityBand>>) -> Self {
        self.priority_bands = Some(bands.into());
        self
    }

    /// `RTCORBA::PrivateConnectionPolicy` (44): no other reference shares the connections. They close with the reference, those
    /// that other threads hold for it when these next connect anywhere, or end.
    ///
    /// Clones of a reference are one reference; what `with_policies` returns is another.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// assert!(PolicyOverrides::new().private_connection(true).in_force().private_connection);
    /// ```
    pub fn private_connection(mut self, private: bool) -> Self {
        self.private_connection = Some(private);
        self
    }

    /// `RTCORBA::ClientProtocolPolicy` (43): the protocols that may be used, the preferred one first, and how they are set up.
    ///
    /// Calls fail with INV_POLICY where the reference has none of them, or says itself which to use. None allows all. A
    /// connection that calls with other properties share stays as the first of them set it up.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// use punctual_giop::{Protocol, ProtocolPolicy};
    ///
    /// let tcp = ProtocolPolicy::new([Protocol::IIOP]);
    /// assert_eq!(PolicyOverrides::new().client_protocols(tcp.clone()).in_force().client_protocols, tcp);
    /// ```
    pub fn client_protocols(mut self, protocols: ProtocolPolicy) -> Self {
        self.client_protocols = Some(protocols);
        self
    }

    /// `Messaging::RelativeRoundtripTimeoutPolicy` (32): how long a call may take from its start to its reply; TIMEOUT when it
    /// passes. `None` waits for ever.
    ///
    /// From 50 ms on, waiting costs nothing extra and ends up to two kernel ticks late; below, one system call more.
    /// A call to an object of the same ORB runs on the calling thread: nothing ends it, and TIMEOUT with COMPLETED_YES is
    /// what its caller gets where it took longer.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// use std::time::Duration;
    ///
    /// let prompt = PolicyOverrides::new().roundtrip_timeout(Duration::from_millis(20));
    /// assert_eq!(prompt.clone().in_force().roundtrip_timeout, Some(Duration::from_millis(20)));
    /// assert_eq!(prompt.clone().in_force().roundtrip_timeout, Some(Duration::from_millis(20)));
    /// assert_eq!(prompt.roundtrip_timeout(None).in_force().roundtrip_timeout, None);
    /// ```
    pub fn roundtrip_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.roundtrip_timeout = Some(timeout.into());
        self
    }

    /// `Messaging::RelativeRequestTimeoutPolicy` (31): how long it may take to deliver the request; the reply may take longer.
    ///
    /// It ends connecting and sending here, and with [`Self::sends_deadlines`] tells the server when the request is stale.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// use std::time::Duration;
    ///
    /// let fresh = PolicyOverrides::new().request_timeout(Duration::from_millis(20));
    /// assert_eq!(fresh.in_force().request_timeout, Some(Duration::from_millis(20)));
    /// ```
    pub fn request_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.request_timeout = Some(timeout.into());
        self
    }

    /// How long making a connection may take, in place of the ORB's `Limits::connect_timeout` (TAO's policy 0x54410008).
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// use std::time::Duration;
    ///
    /// let near = PolicyOverrides::new().connection_timeout(Duration::from_millis(20));
    /// assert_eq!(near.in_force().connection_timeout, Some(Duration::from_millis(20)));
    /// ```
    pub fn connection_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.connection_timeout = Some(timeout.into());
        self
    }

    /// Whether requests carry their time-outs to the server, which may then drop what comes too late: service context
    /// INVOCATION_POLICIES. Costs up to 100 octets per request, and a look at the clock. Default: no.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// assert!(PolicyOverrides::new().sends_deadlines(true).in_force().sends_deadlines);
    /// ```
    pub fn sends_deadlines(mut self, sends: bool) -> Self {
        self.sends_deadlines = Some(sends);
        self
    }

    /// Whether each banded connection is bound to its band at the server before its first request: the implicit operation
    /// `_bind_priority_band` with service context RTCorbaPriorityRange (11). Default: no.
    ///
    /// The server then refuses what comes over it with a priority outside the band, whoever sends it. It costs a round trip for
    /// each connection: in its first call, a oneway one included, or in `validate_connection`. Where the server refuses, calls
    /// fail with its exception, not completed: INV_POLICY where it has no such band, or no lane for it. A server that does not
    /// know the operation is asked once, and then used as without this policy. Never sent to TAO, whose references say what
    /// they are: it does not know it.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// use punctual_types::{Priority, PriorityBand};
    ///
    /// let all = PriorityBand::new(Priority::MIN, Priority::MAX);
    /// let bound = PolicyOverrides::new().priority_bands([all]).binds_bands(true);
    /// assert!(bound.in_force().binds_bands);
    /// ```
    pub fn binds_bands(mut self, binds: bool) -> Self {
        self.binds_bands = Some(binds);
        self
    }

    /// How threads that serve a lane wait for the replies to such calls. Default: [`WaitStrategy::Blocking`].
    ///
    /// ```
    /// use punctual_stub::{PolicyOverrides, WaitStrategy};
    ///
    /// let with_callbacks = PolicyOverrides::new().wait_strategy(WaitStrategy::Serving);
    /// assert_eq!(with_callbacks.in_force().wait_strategy, WaitStrategy::Serving);
    /// ```
    pub fn wait_strategy(mut self, strategy: WaitStrategy) -> Self {
        self.wait_strategy = Some(strategy);
        self
    }

    /// Whether calls share connections with those of other threads. Default: [`ConnectionMode::Exclusive`].
    ///
    /// ```
    /// use punctual_stub::{ConnectionMode, PolicyOverrides};
    ///
    /// let many_callers = PolicyOverrides::new().connection_mode(ConnectionMode::Shared);
    /// assert_eq!(many_callers.in_force().connection_mode, ConnectionMode::Shared);
    /// ```
    pub fn connection_mode(mut self, mode: ConnectionMode) -> Self {
        self.connection_mode = Some(mode);
        self
    }

    /// These, and where they say nothing those of the scope around, `outer`.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// use std::time::Duration;
    ///
    /// let outer = PolicyOverrides::new().private_connection(true).roundtrip_timeout(Duration::from_secs(1));
    /// let merged = PolicyOverrides::new().private_connection(false).within(&outer).in_force();
    /// assert!(!merged.private_connection);
    /// assert_eq!(merged.roundtrip_timeout, Some(Duration::from_secs(1)));
    /// ```
    pub fn within(self, outer: &Self) -> Self {
        Self {
            priority_bands: self.priority_bands.or_else(|| outer.priority_bands.clone()),
            private_connection: self.private_connection.or(outer.private_connection),
            client_protocols: self.client_protocols.or_else(|| outer.client_protocols.clone()),
            roundtrip_timeout: self.roundtrip_timeout.or(outer.roundtrip_timeout),
            request_timeout: self.request_timeout.or(outer.request_timeout),
            connection_timeout: self.connection_timeout.or(outer.connection_timeout),
            sends_deadlines: self.sends_deadlines.or(outer.sends_deadlines),
            binds_bands: self.binds_bands.or(outer.binds_bands),
            wait_strategy: self.wait_strategy.or(outer.wait_strategy),
            connection_mode: self.connection_mode.or(outer.connection_mode),
        }
    }

    /// What they come to where no scope is around them.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// let defaults = PolicyOverrides::new().in_force();
    /// assert!(defaults.priority_bands.is_empty() && !defaults.private_connection);
    /// ```
    pub fn in_force(self) -> PoliciesInForce {
        PoliciesInForce {
            priority_bands: self.priority_bands.unwrap_or_default(),
            private_connection: self.private_connection.unwrap_or_default(),
            client_protocols: self.client_protocols.unwrap_or_default(),
            roundtrip_timeout: self.roundtrip_timeout.flatten(),
            request_timeout: self.request_timeout.flatten(),
            connection_timeout: self.connection_timeout.flatten(),
            sends_deadlines: self.sends_deadlines.unwrap_or_default(),
            binds_bands: self.binds_bands.unwrap_or_default(),
            wait_strategy: self.wait_strategy.unwrap_or_default(),
            connection_mode: self.connection_mode.unwrap_or_default(),
        }
    }
}

/// The client policies that a call is under, all scopes merged; each as the method of [`PolicyOverrides`] with its name says.
///
/// ```
/// use punctual_stub::{PoliciesInForce, PolicyOverrides};
///
/// let in_force: PoliciesInForce = PolicyOverrides::new().in_force();
/// assert_eq!(in_force.request_timeout, None);
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct PoliciesInForce {
    /// Empty: none.
    pub priority_bands: Vec<PriorityBand>,
    /// Whether connections serve this reference alone.
    pub private_connection: bool,
    /// Without protocols: all are allowed.
    pub client_protocols: ProtocolPolicy,
    /// From the start of a call to its reply.
    pub roundtrip_timeout: Option<Duration>,
    /// From the start of a call until its request is delivered.
    pub request_timeout: Option<Duration>,
    /// For each connection; `None`: the ORB's limit.
    pub connection_timeout: Option<Duration>,
    /// Whether requests say when they are stale.
    pub sends_deadlines: bool,
    /// Whether banded connections are bound at the server.
    pub binds_bands: bool,
    /// How threads that serve a lane wait for replies.
    pub wait_strategy: WaitStrategy,
    /// Whose connections calls go over.
    pub connection_mode: ConnectionMode,
}

/// Why a policy in force lets no call through, each of which would end with INV_POLICY.
///
/// ```
/// use punctual_stub::PolicyConflict;
/// use punctual_types::Minor;
///
/// let conflict = PolicyConflict { policy_type: 45, reason: Minor::PRIORITY_OUTSIDE_BANDS };
/// assert!(conflict.to_string().starts_with("PriorityBandedConnectionPolicy: the priority"));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PolicyConflict {
    /// The id of the policy, such as 45 for PriorityBandedConnectionPolicy.
    pub policy_type: u32,
    /// What is wrong: the minor code of the INV_POLICY, whose text says what to try.
    pub reason: Minor,
}

impl std::fmt::Display for PolicyConflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let policy = match self.policy_type {
            40 => "PriorityModelPolicy",
            43 => "ClientProtocolPolicy",
            45 => "PriorityBandedConnectionPolicy",
            _ => return write!(f, "policy {}: minor {}", self.policy_type, self.reason),
        };
        match self.reason.text() {
            Some(text) => write!(f, "{policy}: {text}"),
            None => write!(f, "{policy}: minor {}", self.reason),
        }
    }
}

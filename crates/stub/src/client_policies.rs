//! Client policies.

use std::{any::Any, time::Duration};

use punctual_giop::ProtocolPolicy;
use punctual_types::{Minor, PriorityBand, PriorityModel};

use crate::{ConnectionMode, ContextProperties, SyncScope, UserPolicies, WaitStrategy};

/// Client policies of an ORB, a thread or a reference: the typed form of a `CORBA::PolicyList`.
///
/// A policy that is not set comes from the enclosing scope: reference, then calling thread, then ORB. Server
/// policies (priority model, thread pool, protocols) are excluded by the type, so that overriding them
/// (NO_PERMISSION in other ORBs) is impossible.
///
/// ```
/// # mod punctual { pub use {punctual_stub::*, punctual_types::*}; }
/// use std::time::Duration;
///
/// use punctual::{PolicyOverrides, Priority, PriorityBand};
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
    bidirectional: Option<bool>,
    sync_scope: Option<SyncScope>,
    remote_only: Option<bool>,
    context_properties: Option<ContextProperties>,
    user: UserPolicies,
}

impl PolicyOverrides {
    /// Creates overrides without any policy.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// assert_eq!(PolicyOverrides::new(), PolicyOverrides::default());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `RTCORBA::PriorityBandedConnectionPolicy` (45): each priority band has its own connections.
    ///
    /// The band of the caller's priority, or of the server-declared one, also selects the lane: of several in
    /// the band, that of the caller's priority, else the most urgent one below it, else the first one. Calls
    /// fail with INV_POLICY if the reference has bands itself or no priority model, if the ends of a band are
    /// swapped, or if no band contains the priority. An empty list removes the bands of the enclosing scopes.
    /// Calls to objects of the same ORB have no connection and need no band.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # use punctual_stub::PolicyOverrides;
    /// use punctual::{Priority, PriorityBand};
    ///
    /// let all = PriorityBand::new(Priority::MIN, Priority::MAX);
    /// let in_force = PolicyOverrides::new().priority_bands([all]).in_force();
    /// assert_eq!(in_force.priority_bands, [all]);
    /// ```
    pub fn priority_bands(mut self, bands: impl Into<Vec<PriorityBand>>) -> Self {
        self.priority_bands = Some(bands.into());
        self
    }

    /// Sets `RTCORBA::PrivateConnectionPolicy` (44): no other reference shares the connections. They close
    /// with the reference; those of other threads close when these threads next connect, or end.
    ///
    /// Clones are the same reference; `with_policies` returns another one.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// assert!(PolicyOverrides::new().private_connection(true).in_force().private_connection);
    /// ```
    pub fn private_connection(mut self, private: bool) -> Self {
        self.private_connection = Some(private);
        self
    }

    /// Sets `RTCORBA::ClientProtocolPolicy` (43): the permitted protocols, the preferred one first, with
    /// their properties.
    ///
    /// Calls fail with INV_POLICY if the reference has none of them, or names protocols itself. An empty list
    /// permits all. A connection shared by calls with different properties has those of the first call.
    ///
    /// ```
    /// # use punctual_giop as punctual;
    /// # use punctual_stub::PolicyOverrides;
    /// use punctual::{Protocol, ProtocolPolicy};
    ///
    /// let tcp = ProtocolPolicy::new([Protocol::IIOP]);
    /// assert_eq!(PolicyOverrides::new().client_protocols(tcp.clone()).in_force().client_protocols, tcp);
    /// ```
    pub fn client_protocols(mut self, protocols: ProtocolPolicy) -> Self {
        self.client_protocols = Some(protocols);
        self
    }

    /// Sets `Messaging::RelativeRoundtripTimeoutPolicy` (32): the time from the start of a call to its reply,
    /// after which it fails with TIMEOUT. `None` waits without limit.
    ///
    /// Timeouts of 50 ms or more cost nothing and expire up to three kernel ticks late (12 ms at 250 Hz);
    /// shorter ones need an additional system call and expire on the high-resolution timer.
    /// A call to an object of the same ORB runs on the calling thread and is not interrupted: if it takes
    /// longer, its caller receives TIMEOUT with COMPLETED_YES.
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

    /// Sets `Messaging::RelativeRequestTimeoutPolicy` (31): the time to deliver the request; the reply may
    /// take longer.
    ///
    /// It limits connecting and sending, and with [`Self::sends_deadlines`] informs the server when the
    /// request is stale.
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

    /// Sets the time to establish a connection, instead of the ORB's `Limits::connect_timeout` (TAO's policy
    /// 0x54410008).
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

    /// Sets whether requests state their timeouts to the server, which may then discard stale requests:
    /// service context INVOCATION_POLICIES. Costs up to 100 octets per request and a clock query. Default:
    /// no.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// assert!(PolicyOverrides::new().sends_deadlines(true).in_force().sends_deadlines);
    /// ```
    pub fn sends_deadlines(mut self, sends: bool) -> Self {
        self.sends_deadlines = Some(sends);
        self
    }

    /// Sets whether each banded connection is bound to its band at the server before its first request: the
    /// implicit operation `_bind_priority_band` with service context RTCorbaPriorityRange (11). Default: no.
    ///
    /// The server then refuses requests on the connection with a priority outside the band. It costs a round
    /// trip for each connection: in its first call (also a oneway call), or in `validate_connection`. If the
    /// server refuses, calls fail with its exception, not completed: INV_POLICY if it has no such band, or no
    /// lane for it. A server that does not support the operation is queried once, and then used without this
    /// policy. TAO, which its references identify, is never queried: it does not support the operation.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # use punctual_stub::PolicyOverrides;
    /// use punctual::{Priority, PriorityBand};
    ///
    /// let all = PriorityBand::new(Priority::MIN, Priority::MAX);
    /// let bound = PolicyOverrides::new().priority_bands([all]).binds_bands(true);
    /// assert!(bound.in_force().binds_bands);
    /// ```
    pub fn binds_bands(mut self, binds: bool) -> Self {
        self.binds_bands = Some(binds);
        self
    }

    /// Sets how lane threads wait for the replies to such calls. Default: [`WaitStrategy::Blocking`].
    ///
    /// ```
    /// # use punctual_stub as punctual;
    /// use punctual::{PolicyOverrides, WaitStrategy};
    ///
    /// let with_callbacks = PolicyOverrides::new().wait_strategy(WaitStrategy::Serving);
    /// assert_eq!(with_callbacks.in_force().wait_strategy, WaitStrategy::Serving);
    /// ```
    pub fn wait_strategy(mut self, strategy: WaitStrategy) -> Self {
        self.wait_strategy = Some(strategy);
        self
    }

    /// Sets whether calls share connections with other threads. Default: [`ConnectionMode::Exclusive`].
    ///
    /// ```
    /// # use punctual_stub as punctual;
    /// use punctual::{ConnectionMode, PolicyOverrides};
    ///
    /// let many_callers = PolicyOverrides::new().connection_mode(ConnectionMode::Shared);
    /// assert_eq!(many_callers.in_force().connection_mode, ConnectionMode::Shared);
    /// ```
    pub fn connection_mode(mut self, mode: ConnectionMode) -> Self {
        self.connection_mode = Some(mode);
        self
    }

    /// Sets `BiDirPolicy::BidirectionalPolicy` (37), BOTH: calls go over shared connections
    /// ([`ConnectionMode::Shared`]) over which the server may call objects of this ORB, too, and which this
    /// ORB uses to call peers that have opened such connections. Only GIOP 1.2 over TCP.
    ///
    /// Requests of the server are served by the lane that reads the replies, so the adapters of callback
    /// objects use the pool for replies.
    ///
    /// ```
    /// # use punctual_stub::{ConnectionMode, PolicyOverrides};
    /// let called_back = PolicyOverrides::new().bidirectional(true).in_force();
    /// assert!(called_back.bidirectional && called_back.connection_mode == ConnectionMode::Shared);
    /// ```
    pub fn bidirectional(mut self, both: bool) -> Self {
        self.bidirectional = Some(both);
        self
    }

    /// Sets `Messaging::SyncScopePolicy` (24): the point until which oneway calls wait. Default:
    /// [`SyncScope::Transport`].
    ///
    /// ```
    /// # use punctual_stub as punctual;
    /// use punctual::{PolicyOverrides, SyncScope};
    ///
    /// let executed = PolicyOverrides::new().sync_scope(SyncScope::Target);
    /// assert_eq!(executed.in_force().sync_scope, SyncScope::Target);
    /// ```
    pub fn sync_scope(mut self, scope: SyncScope) -> Self {
        self.sync_scope = Some(scope);
        self
    }

    /// Sets whether calls to objects of the same ORB go over a connection, too, and so are executed by the
    /// object's lane, at its priority and within its limits. Such an object needs an address. Default: no;
    /// the calling thread executes them, through the object's adapter (TAO: `-ORBCollocation`, `no` for
    /// this).
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// assert!(PolicyOverrides::new().remote_only(true).in_force().remote_only);
    /// ```
    pub fn remote_only(mut self, remote: bool) -> Self {
        self.remote_only = Some(remote);
        self
    }

    /// Sets the context properties of calls: each operation with a `context` clause sends those that the
    /// clause names, as CORBA's operations do with a `Context`. They replace those of the enclosing scopes;
    /// none removes them. The servant reads them from `Current::context_properties`.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// let properties = [("user", "anna"), ("app.name", "radar")];
    /// let in_force = PolicyOverrides::new().context_properties(properties).in_force();
    /// assert_eq!(in_force.context_properties.get("user"), Some("anna"));
    /// ```
    pub fn context_properties<'p>(
        mut self,
        properties: impl IntoIterator<Item = (&'p str, &'p str)>,
    ) -> Self {
        self.context_properties = Some(properties.into_iter().collect());
        self
    }

    /// Sets a policy of a user-defined type, which client interceptors read. It replaces one of the same
    /// type. The ORB does not send it: an interceptor may, in a service context.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// /// Customer for which a call is made.
    /// struct Account(u32);
    ///
    /// let in_force = PolicyOverrides::new().policy(Account(7)).in_force();
    /// assert!(in_force.policy().is_some_and(|Account(number)| *number == 7));
    /// ```
    pub fn policy(mut self, policy: impl Any + Send + Sync) -> Self {
        self.user.set(policy);
        self
    }

    /// Adds the policies of the enclosing scope `outer` that are not set here.
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
            bidirectional: self.bidirectional.or(outer.bidirectional),
            sync_scope: self.sync_scope.or(outer.sync_scope),
            remote_only: self.remote_only.or(outer.remote_only),
            context_properties: self
                .context_properties
                .or_else(|| outer.context_properties.clone()),
            user: self.user.within(&outer.user),
        }
    }

    /// Returns the policies in force without an enclosing scope.
    ///
    /// ```
    /// # use punctual_stub::PolicyOverrides;
    /// let defaults = PolicyOverrides::new().in_force();
    /// assert!(defaults.priority_bands.is_empty() && !defaults.private_connection);
    /// ```
    pub fn in_force(self) -> PoliciesInForce {
        let bidirectional = self.bidirectional.unwrap_or_default();
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
            connection_mode: if bidirectional {
                ConnectionMode::Shared
            } else {
                self.connection_mode.unwrap_or_default()
            },
            bidirectional,
            sync_scope: self.sync_scope.unwrap_or_default(),
            remote_only: self.remote_only.unwrap_or_default(),
            context_properties: self.context_properties.unwrap_or_default(),
            user: self.user,
        }
    }
}

/// The client policies of a call, merged from all scopes; each is documented at the method of
/// [`PolicyOverrides`] with its name.
///
/// ```
/// # use punctual_stub as punctual;
/// use punctual::{PoliciesInForce, PolicyOverrides};
///
/// let in_force: PoliciesInForce = PolicyOverrides::new().in_force();
/// assert_eq!(in_force.request_timeout, None);
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct PoliciesInForce {
    /// Priority bands; empty for none.
    pub priority_bands: Vec<PriorityBand>,
    /// Whether the reference has its own connections.
    pub private_connection: bool,
    /// Permitted protocols; empty for all.
    pub client_protocols: ProtocolPolicy,
    /// Timeout from the start of a call to its reply.
    pub roundtrip_timeout: Option<Duration>,
    /// Timeout from the start of a call to the delivery of its request.
    pub request_timeout: Option<Duration>,
    /// Timeout to establish a connection; `None` for the ORB's limit.
    pub connection_timeout: Option<Duration>,
    /// Whether requests state their timeouts.
    pub sends_deadlines: bool,
    /// Whether banded connections are bound at the server.
    pub binds_bands: bool,
    /// How lane threads wait for replies.
    pub wait_strategy: WaitStrategy,
    /// Whether calls share connections.
    pub connection_mode: ConnectionMode,
    /// Whether the server may call back over the connection.
    pub bidirectional: bool,
    /// Point until which oneway calls wait.
    pub sync_scope: SyncScope,
    /// Whether calls to objects of the same ORB go over a connection, too.
    pub remote_only: bool,
    /// Names and values for operations with a `context` clause.
    pub context_properties: ContextProperties,
    user: UserPolicies,
}

impl PoliciesInForce {
    /// Returns the policy of this user-defined type: see [`PolicyOverrides::policy`].
    pub fn policy<T: 'static>(&self) -> Option<&T> {
        self.user.get()
    }
}

/// Policies that a server exposes in a reference: the results of `CORBA::Object::_get_policy` for them.
///
/// ```
/// # mod punctual { pub use {punctual_stub::*, punctual_types::*}; }
/// use punctual::{ExposedPolicies, Priority, PriorityModel};
///
/// let mut exposed = ExposedPolicies::default();
/// exposed.priority_model = Some(PriorityModel::ServerDeclared(Priority::MAX));
/// let priority = exposed.priority_model.map(PriorityModel::server_priority);
/// assert_eq!(priority, Some(Priority::MAX));
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ExposedPolicies {
    /// `RTCORBA::PriorityModelPolicy` (40), with the server's priority: the declared one, or that of requests
    /// that carry none.
    pub priority_model: Option<PriorityModel>,
    /// `RTCORBA::PriorityBandedConnectionPolicy` (45); empty: none. Malformed bands are left out.
    pub priority_bands: Vec<PriorityBand>,
    /// `RTCORBA::ClientProtocolPolicy` (43): the protocols that the server permits; empty: any.
    pub client_protocols: ProtocolPolicy,
}

/// A policy in force that makes every call fail with INV_POLICY.
///
/// ```
/// # mod punctual { pub use {punctual_stub::*, punctual_types::*}; }
/// use punctual::{Minor, PolicyConflict};
///
/// let conflict = PolicyConflict { policy_type: 45, reason: Minor::PRIORITY_OUTSIDE_BANDS };
/// assert!(conflict.to_string().starts_with("PriorityBandedConnectionPolicy: the priority"));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PolicyConflict {
    /// Id of the policy, such as 45 for PriorityBandedConnectionPolicy.
    pub policy_type: u32,
    /// Minor code of the INV_POLICY; its text contains advice.
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

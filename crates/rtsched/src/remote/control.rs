//! The control of an endsystem: the object that other hosts query.

use std::{sync::Arc, time::Duration};

use punctual_orb::{LaneSpec, Orb, OrbError, PriorityModel};
use punctual_transport::Peer;
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{
    CancellationPolicy, LocalThreads, ThreadControlRef, Whereabouts, control_reference,
    search::{MAX_HOSTS, follow},
    thread_control::{Control, Query},
};

/// Configuration of an endsystem's control.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_orb::*, punctual_rtsched as rtscheduling, punctual_types::*}; }
/// use std::time::Duration;
///
/// use punctual::{LaneSpec, Peers, Priority, rtscheduling::remote::{CancellationPolicy, ThreadControlSpec}};
///
/// let spec = ThreadControlSpec::default()
///     .lane(LaneSpec::new(Priority::new(30_000)?).threads(4))
///     .max_query_time(Duration::from_millis(200))
///     .policy(CancellationPolicy::default().allow(Peers::network("10.1.0.0".parse()?, 16)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ThreadControlSpec {
    lane: LaneSpec,
    max_query_time: Duration,
    policy: CancellationPolicy,
}

/// Two threads at the highest priority, because a cancellation must not wait for the work that it is to end.
impl Default for ThreadControlSpec {
    fn default() -> Self {
        Self {
            lane: LaneSpec::new(Priority::MAX).threads(2),
            max_query_time: Duration::from_secs(1),
            policy: CancellationPolicy::default(),
        }
    }
}

impl ThreadControlSpec {
    /// Sets the lane of the control, whose threads serve nothing else. Default: two threads at the highest
    /// priority.
    ///
    /// A thread that queries another host is busy until the reply arrives; the others continue to serve.
    pub fn lane(mut self, lane: LaneSpec) -> Self {
        self.lane = lane;
        self
    }

    /// Sets the maximum duration of a query, even if the peer allows a longer timeout. Default 1 s.
    pub fn max_query_time(mut self, max_query_time: Duration) -> Self {
        self.max_query_time = max_query_time;
        self
    }

    /// Sets which peers are permitted. Default: [`CancellationPolicy::default`].
    pub fn policy(mut self, policy: CancellationPolicy) -> Self {
        self.policy = policy;
        self
    }
}

/// The control of an endsystem at one of its ORBs. It serves until the ORB is shut down.
///
/// ```
/// # mod punctual {
/// #     pub(crate) use {punctual_orb::*, punctual_rtsched as rtscheduling, punctual_stub::Interface};
/// # }
/// use punctual::{Interface, Orb, rtscheduling::{RtScheduling, remote::ThreadControlSpec}};
///
/// let orb = Orb::builder().listen("iiop://127.0.0.1").build()?;
/// let control = RtScheduling::builder().build()?.open_control(&orb, ThreadControlSpec::default())?;
/// assert!(control.url().ends_with("/RTScheduling"));
/// assert!(control.reference().as_object().to_ior().starts_with("IOR:"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ThreadControl {
    reference: ThreadControlRef,
    url: String,
}

/// Key of the control, and name of its adapter.
const NAME: &str = "RTScheduling";

impl ThreadControl {
    /// Activates the control, and adds its reference to all references that the ORB creates from now on.
    pub(crate) fn open(
        orb: &Orb,
        threads: Arc<dyn LocalThreads>,
        spec: ThreadControlSpec,
    ) -> Result<Self, OrbError> {
        let priority = spec.lane.priority();
        let pool = orb.threadpool().name("control").lane_with(spec.lane).build()?;
        let adapter = orb.root_poa().child(NAME).threadpool(&pool);
        let adapter = adapter
            .priority_model(PriorityModel::ServerDeclared(priority))
            .build()?;
        let reference: ThreadControlRef = adapter.activate(Servant {
            threads,
            max_query_time: spec.max_query_time,
            policy: spec.policy,
        })?;
        orb.add_ior_component(control_reference::component(&reference));
        let url = orb.publish(NAME, &reference)?;
        Ok(Self { reference, url })
    }

    /// Returns the reference for other hosts: [`RemoteThread::find`](super::RemoteThread::find). As text:
    /// `reference().as_object().to_ior()`.
    pub fn reference(&self) -> &ThreadControlRef {
        &self.reference
    }

    /// `corbaloc:iiop:1.2@HOST:PORT/RTScheduling`. The ORB's default lane resolves it, so a thread must be in
    /// [`Orb::run`].
    pub fn url(&self) -> &str {
        &self.url
    }
}

struct Servant {
    threads: Arc<dyn LocalThreads>,
    max_query_time: Duration,
    policy: CancellationPolicy,
}

impl Control for Servant {
    /// Only permitted peers learn whether a thread is known here.
    fn query(&self, peer: Option<Peer>, query: &Query) -> Result<Whereabouts, SystemException> {
        if let Some(peer) = peer
            && !self
                .policy
                .allows(peer, || self.threads.was_called_by(query.id, peer))
        {
            let (kind, minor) = (SystemExceptionKind::NoPermission, Minor::CONTROL_REFUSED);
            return Err(SystemException::new(kind, minor, Completion::No));
        }
        let bounded = Query {
            hosts: query.hosts.min(MAX_HOSTS),
            timeout: query.timeout.min(self.max_query_time),
            ..*query
        };
        follow(&*self.threads, &bounded)
    }
}

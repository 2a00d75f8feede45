use std::{sync::Arc, time::Duration};

use punctual_orb::{LaneSpec, Orb, OrbError, PriorityModel};
use punctual_transport::Peer;
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{
    CancellationPolicy, LocalThreads, ThreadControlRef, Whereabouts, control_reference,
    search::{MOST_HOSTS, follow},
    thread_control::{Answers, Question},
};

/// How an endsystem answers others that look for its distributable threads or cancel them.
///
/// ```
/// use std::time::Duration;
///
/// use punctual_orb::{LaneSpec, Peers};
/// use punctual_rtsched::remote::{CancellationPolicy, ThreadControlSpec};
/// use punctual_types::Priority;
///
/// let spec = ThreadControlSpec::default()
///     .lane(LaneSpec::new(Priority::new(30_000)?).threads(4))
///     .longest(Duration::from_millis(200))
///     .policy(CancellationPolicy::default().allow(Peers::network("10.1.0.0".parse()?, 16)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ThreadControlSpec {
    lane: LaneSpec,
    longest: Duration,
    policy: CancellationPolicy,
}

/// Its lane's priority unless it says another one: above all others, because a cancellation that waits for the work that it is to
/// end is none.
impl Default for ThreadControlSpec {
    fn default() -> Self {
        Self {
            lane: LaneSpec::new(Priority::MAX).threads(2),
            longest: Duration::from_secs(1),
            policy: CancellationPolicy::default(),
        }
    }
}

impl ThreadControlSpec {
    /// The lane that answers: its threads, and nobody else's. Default: two threads at the highest priority.
    ///
    /// A thread that asks on is busy until the answer comes; the others answer meanwhile.
    pub fn lane(mut self, lane: LaneSpec) -> Self {
        self.lane = lane;
        self
    }

    /// How long an answer may take, whatever who asks allows. Default 1 s.
    pub fn longest(mut self, longest: Duration) -> Self {
        self.longest = longest;
        self
    }

    /// Who is answered. Default: [`CancellationPolicy::default`].
    pub fn policy(mut self, policy: CancellationPolicy) -> Self {
        self.policy = policy;
        self
    }
}

/// The control of an endsystem at one of its ORBs. It answers until the ORB is shut down.
///
/// ```
/// use punctual_orb::Orb;
/// use punctual_rtsched::{RtScheduling, remote::ThreadControlSpec};
/// use punctual_stub::Interface;
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

/// The key that the control is published under, and the name of its adapter.
const NAME: &str = "RTScheduling";

impl ThreadControl {
    /// Starts answering, and tells all references so that the ORB makes from now on.
    pub(crate) fn open(
        orb: &Orb,
        threads: Arc<dyn LocalThreads>,
        spec: ThreadControlSpec,
    ) -> Result<Self, OrbError> {
        let priority = spec.lane.priority();
        let pool = orb.threadpool().lane_with(spec.lane).build()?;
        let adapter = orb.root_poa().child(NAME).threadpool(&pool);
        let adapter = adapter
            .priority_model(PriorityModel::ServerDeclared(priority))
            .build()?;
        let reference: ThreadControlRef = adapter.activate(Servant {
            threads,
            longest: spec.longest,
            policy: spec.policy,
        })?;
        orb.add_ior_component(control_reference::component(&reference));
        let url = orb.publish(NAME, &reference)?;
        Ok(Self { reference, url })
    }

    /// For others: [`RemoteThread::find`](super::RemoteThread::find). As text: `reference().as_object().to_ior()`.
    pub fn reference(&self) -> &ThreadControlRef {
        &self.reference
    }

    /// `corbaloc:iiop:1.2@HOST:PORT/RTScheduling`. Who resolves it asks the ORB's default lane, so some thread has to be in
    /// [`Orb::run`].
    pub fn url(&self) -> &str {
        &self.url
    }
}

struct Servant {
    threads: Arc<dyn LocalThreads>,
    longest: Duration,
    policy: CancellationPolicy,
}

impl Answers for Servant {
    /// Whether a thread is known here is told to those only who may ask for it.
    fn answer(&self, asker: Option<Peer>, question: &Question) -> Result<Whereabouts, SystemException> {
        if let Some(peer) = asker
            && !self
                .policy
                .allows(peer, || self.threads.was_called_by(question.id, peer))
        {
            let (kind, minor) = (SystemExceptionKind::NoPermission, Minor::CONTROL_REFUSED);
            return Err(SystemException::new(kind, minor, Completion::No));
        }
        let bounded = Question {
            hosts: question.hosts.min(MOST_HOSTS),
            within: question.within.min(self.longest),
            ..*question
        };
        follow(&*self.threads, &bounded)
    }
}

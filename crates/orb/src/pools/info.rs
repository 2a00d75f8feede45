//! A thread pool as adapters know it: its lanes' priorities and endpoints, without its threads.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicBool, Ordering},
};

use punctual_cdr::Decoder;
use punctual_lane::{Acceptors, LaneEndpoint};
use punctual_os::PiMutex;
use punctual_transport::{ProtocolPolicy, Transport};
use punctual_types::Priority;

use crate::{
    InvalidPolicy, OrbError, poa_state::adapter_policies::PoaPolicies, pools::accepted_priorities::Origin,
};

/// Number of the pool whose threads call `Orb::run`.
pub(crate) const DEFAULT_POOL: u32 = 0;

/// How often one function has a value on its stack while the value is decoded, passed to the servant and
/// returned, in a program without optimisation.
const COPIES_ON_STACK: usize = 4;

/// Octets of stack for the ORB itself, and for a servant that needs little.
const STACK_OF_ORB: usize = 128 << 10;

/// Octets of stack for each level of nested values beyond the default of `Limits::max_nesting`, in a program
/// without optimisation.
const STACK_OF_LEVEL: usize = 4 << 10;

/// A thread pool without its threads.
pub(crate) struct PoolInfo {
    pub(crate) id: u32,
    /// `false`: the pool has one lane, without priority.
    pub(crate) with_lanes: bool,
    /// Highest priority configured.
    pub(crate) highest: Priority,
    /// Whether it has no lanes, and its threads read at priority 0 because nothing else was set.
    pub(crate) reads_at_unset_priority: bool,
    /// Whether it is reached at free ports only, which differ in each run.
    pub(crate) is_at_free_ports: bool,
    /// `Limits::max_nesting`.
    pub(crate) max_nesting: u16,
    /// Lanes, the lowest priority first.
    pub(crate) lanes: Vec<LaneInfo>,
    /// Endpoints at which the default pool will listen; other pools listen from the start.
    pub(crate) planned: Vec<LaneEndpoint>,
    destroyed: AtomicBool,
    /// Policies of its adapters, which decide on the admission of peers.
    policies: PiMutex<Vec<Weak<PoaPolicies>>>,
}

/// A lane without its threads.
pub(crate) struct LaneInfo {
    /// `None`: the one lane of a pool without lanes.
    pub(crate) priority: Option<Priority>,
    /// Stack of each of its threads; `None`: threads of the user.
    pub(crate) stack_bytes: Option<usize>,
    pub(crate) acceptors: Arc<Acceptors>,
}

/// Endpoint of a lane.
pub(crate) struct PoolEndpoint {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) address: String,
    /// CORBA priority of the lane; -1: it serves all priorities.
    pub(crate) priority: i16,
}

impl PoolInfo {
    pub(crate) fn new(
        id: u32,
        with_lanes: bool,
        highest: Priority,
        lanes: Vec<LaneInfo>,
        planned: Vec<LaneEndpoint>,
    ) -> Self {
        Self {
            id,
            with_lanes,
            highest,
            reads_at_unset_priority: false,
            max_nesting: Decoder::DEFAULT_NESTING_LIMIT,
            is_at_free_ports: planned.iter().all(LaneEndpoint::is_at_free_port),
            lanes,
            planned,
            destroyed: AtomicBool::new(false),
            policies: PiMutex::new(Vec::new()),
        }
    }

    /// Adds the policies of an adapter, as long as it exists.
    pub(crate) fn add_policies(&self, policies: &Arc<PoaPolicies>) {
        let mut all = self.policies.lock();
        all.retain(|other| other.strong_count() > 0);
        all.push(Arc::downgrade(policies));
    }

    /// Returns whether an adapter admits some request from this origin to the lane of this priority. Takes
    /// O(adapters), for requests that are refused.
    #[cold]
    pub(crate) fn admits(&self, origin: &Origin, lane: Priority) -> bool {
        let policies = self.policies.lock();
        let mut existing = policies.iter().filter_map(Weak::upgrade);
        existing.any(|policies| policies.admits(origin, lane))
    }

    /// Priorities of the lanes; none for a pool without lanes.
    pub(crate) fn priorities(&self) -> impl Iterator<Item = Priority> + '_ {
        self.lanes.iter().filter_map(|lane| lane.priority)
    }

    /// Endpoints of the lanes whose priority is `wanted`.
    pub(crate) fn endpoints(&self, wanted: impl Fn(Option<Priority>) -> bool) -> Vec<PoolEndpoint> {
        let lanes = self.lanes.iter().filter(|lane| wanted(lane.priority));
        lanes
            .flat_map(|lane| {
                let priority = lane.priority.map_or(-1, Priority::value);
                lane.acceptors.iter().map(move |acceptor| PoolEndpoint {
                    transport: Arc::clone(&acceptor.transport),
                    address: acceptor.address().to_owned(),
                    priority,
                })
            })
            .collect()
    }

    /// Returns whether one of its addresses is the one that is sought.
    pub(crate) fn is_reached_at(&self, sought: impl Fn(&dyn Transport, &str) -> bool) -> bool {
        let mut acceptors = self.lanes.iter().flat_map(|lane| lane.acceptors.iter());
        acceptors.any(|acceptor| sought(&*acceptor.transport, acceptor.address()))
    }

    /// Returns whether a lane listens at this address of the protocol with this profile tag.
    pub(crate) fn listens_at(&self, tag: u32, address: &str) -> bool {
        self.is_reached_at(|transport, own| transport.profile_tag() == tag && own == address)
    }

    /// Fails if an adapter of this pool names a protocol over which not all lanes of the pool listen.
    pub(crate) fn check_protocols(&self, protocols: &ProtocolPolicy) -> Result<(), InvalidPolicy> {
        if self.id == DEFAULT_POOL {
            // It may not listen yet.
            let tags: Vec<_> = self.planned.iter().map(LaneEndpoint::profile_tag).collect();
            return check_protocols(&tags, protocols);
        }
        self.lanes.iter().try_for_each(|lane| {
            let acceptors = lane.acceptors.iter();
            let tags: Vec<_> = acceptors
                .map(|acceptor| acceptor.transport.profile_tag())
                .collect();
            check_protocols(&tags, protocols)
        })
    }

    /// Fails if the stack of a thread of the pool may be too small for the operations of an interface, whose
    /// values have this size.
    pub(crate) fn check_stacks(&self, interface: &str, values_on_stack: usize) -> Result<(), OrbError> {
        const LEVELS: usize = Decoder::DEFAULT_NESTING_LIMIT as usize;
        let levels = usize::from(self.max_nesting).max(LEVELS);
        if values_on_stack == 0 && levels == LEVELS {
            return Ok(());
        }
        // The values are those of the default number of levels, if their types are recursive.
        let needed = (values_on_stack.saturating_mul(COPIES_ON_STACK) / LEVELS)
            .saturating_mul(levels)
            .saturating_add(STACK_OF_ORB + (levels - LEVELS) * STACK_OF_LEVEL);
        let stacks = self.lanes.iter().filter_map(|lane| lane.stack_bytes);
        match stacks.min() {
            Some(stack_bytes) if stack_bytes < needed => Err(OrbError::StackTooSmall {
                interface: interface.to_owned(),
                stack_bytes,
                needed,
            }),
            _ => Ok(()),
        }
    }

    /// Sets the mark of a destroyed pool, and returns whether it was set before.
    pub(crate) fn set_destroyed(&self, destroyed: bool) -> bool {
        self.destroyed.swap(destroyed, Ordering::SeqCst)
    }

    pub(crate) fn is_destroyed(&self) -> bool {
        self.destroyed.load(Ordering::SeqCst)
    }
}

impl PoolEndpoint {
    pub(crate) fn profile_tag(&self) -> u32 {
        self.transport.profile_tag()
    }
}

/// Every protocol that references name needs an endpoint.
pub(crate) fn check_protocols(listening: &[u32], protocols: &ProtocolPolicy) -> Result<(), InvalidPolicy> {
    if protocols.tags().iter().all(|tag| listening.contains(tag)) {
        Ok(())
    } else {
        Err(InvalidPolicy::ProtocolWithoutAcceptor)
    }
}

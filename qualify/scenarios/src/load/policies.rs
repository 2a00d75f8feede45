//! Pools with one policy each, for comparison.

use punctual::{LaneSpec, Orb, Poa, Priority, PriorityBand, PriorityModel, QueueLimits, SocketOptions};
use serde::{Deserialize, Serialize};

use super::priority;
use crate::error::Error;

/// Policies that distinguish a pool with a lane of high priority and one for best effort.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Policy {
    /// Nothing: clients propagate their priorities.
    Propagated,
    /// Priority bands: a connection for each, and each is served by the lane in it.
    Bands,
    /// The server declares the high priority.
    Declared,
    /// Set by the client: the server is as without it.
    PrivateConnection,
    /// I/O threads read requests into the lane's queue.
    Buffering,
    /// Idle threads of the lower lane may serve the higher one.
    Borrowing,
    /// Options of the sockets: CPU of incoming packets, queue of outgoing ones.
    Sockets,
}

impl Policy {
    pub(crate) const ALL: [Self; 7] = [
        Self::Propagated,
        Self::Bands,
        Self::Declared,
        Self::PrivateConnection,
        Self::Buffering,
        Self::Borrowing,
        Self::Sockets,
    ];

    /// Name in rows.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Propagated => "CLIENT_PROPAGATED",
            Self::Bands => "bands",
            Self::Declared => "SERVER_DECLARED",
            Self::PrivateConnection => "private connection",
            Self::Buffering => "buffering",
            Self::Borrowing => "borrowing",
            Self::Sockets => "socket options",
        }
    }

    /// Creates the adapters of a pool with this policy: that of the important client, which has the policy,
    /// and that of best-effort clients.
    pub(super) fn adapters(self, orb: &Orb, name: &str) -> Result<[Poa; 2], Error> {
        let low = Priority::new(priority::BEST_EFFORT)?;
        let high = Priority::new(priority::HIGH)?;
        let lane = match self {
            Self::Sockets => LaneSpec::new(high).sockets(socket_options()),
            // One of the two threads of a buffered lane reads.
            Self::Buffering => LaneSpec::new(high).threads(2),
            _ => LaneSpec::new(high),
        };
        let pool = orb.threadpool();
        let pool = match self {
            Self::Buffering => pool.lane(low, 2).request_buffering(QueueLimits::default()),
            Self::Borrowing => pool.lane(low, 1).allow_borrowing(true),
            _ => pool.lane(low, 1),
        };
        let pool = pool.lane_with(lane).build()?;
        let propagated = PriorityModel::ClientPropagated { default: low };
        let adapter = |name: &str| orb.root_poa().child(name).threadpool(&pool);
        let important = match self {
            Self::Declared => adapter(name).priority_model(PriorityModel::ServerDeclared(high)),
            Self::Bands => {
                let bands = [
                    PriorityBand::new(Priority::MIN, low),
                    PriorityBand::new(Priority::new(priority::BEST_EFFORT + 1)?, high),
                ];
                adapter(name).priority_model(propagated).priority_bands(bands)
            }
            _ => adapter(name).priority_model(propagated),
        };
        let others = adapter(&format!("{name}-others")).priority_model(propagated);
        Ok([important.build()?, others.build()?])
    }
}

fn socket_options() -> SocketOptions {
    SocketOptions {
        // Only for blocking lanes, and devices with NAPI.
        busy_poll: None,
        incoming_cpu: punctual_os::affinity::current().iter().next(),
        priority: Some(6),
    }
}

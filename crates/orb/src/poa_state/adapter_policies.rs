//! Policies of an object adapter, and which peers they admit to the lanes of its pool.

use std::sync::Arc;

use punctual_poa::{IdAssignment, Lifespan};
use punctual_sched::PriorityTransform;
use punctual_stub::UserPolicies;
use punctual_transport::ProtocolPolicy;
use punctual_types::{Priority, PriorityBand};

use crate::{
    PriorityModel, QueueLimits,
    pools::accepted_priorities::{AcceptedPriorities, Origin},
};

/// Policies of an object adapter.
#[derive(Default)]
pub(crate) struct PoaPolicies {
    pub(crate) lifespan: Lifespan,
    pub(crate) ids: IdAssignment,
    pub(crate) model: Option<PriorityModel>,
    /// Empty if each priority has its own lane, or all priorities share the same connections.
    pub(crate) bands: Vec<PriorityBand>,
    pub(crate) accepted: AcceptedPriorities,
    pub(crate) transform: Option<Arc<dyn PriorityTransform>>,
    /// Limits of the queues through which misdirected requests reach their lanes; `None`: they are refused.
    pub(crate) redispatch: Option<QueueLimits>,
    pub(crate) server_protocols: ProtocolPolicy,
    pub(crate) client_protocols: ProtocolPolicy,
    /// Policies of user-defined types.
    pub(crate) user: UserPolicies,
}

impl PoaPolicies {
    /// Returns whether some request from this origin may be served by the lane of this priority, or through
    /// it.
    pub(crate) fn admits(&self, origin: &Origin, lane: Priority) -> bool {
        let propagated = matches!(self.model, Some(PriorityModel::ClientPropagated { .. }));
        if self.redispatch.is_some() || !propagated {
            return true;
        }
        let highest = self.accepted.highest(origin);
        let mut bands = self.bands.iter();
        lane <= highest || bands.any(|band| band.contains(lane) && band.low <= highest)
    }
}

#[cfg(test)]
mod tests {
    use punctual_transport::Peer;

    use super::*;
    use crate::{OnExcess, Peers, bound_band::BoundBand};

    #[test]
    fn a_peer_is_admitted_to_lanes_of_priorities_that_it_may_have() {
        let [low, middle, high] = [0, 100, 200].map(|value| Priority::new(value).unwrap());
        let origin = |peer| Origin {
            peer,
            highest: Priority::MAX,
            band: BoundBand::among(&Default::default()),
        };
        let (near, far) = (origin(Peer::Loopback), origin(Peer::Unknown));
        let policies = |model, bands: &[PriorityBand], passes_on: bool| PoaPolicies {
            model: Some(model),
            bands: bands.into(),
            accepted: AcceptedPriorities {
                rules: vec![(Peers::SameHost, high)],
                others: low,
                on_excess: OnExcess::Refuse,
            },
            redispatch: passes_on.then(QueueLimits::default),
            ..PoaPolicies::default()
        };
        let propagated = PriorityModel::ClientPropagated { default: low };
        let of_clients = policies(propagated, &[], false);
        assert!(of_clients.admits(&near, high) && of_clients.admits(&far, low));
        assert!(!of_clients.admits(&far, middle) && !of_clients.admits(&far, high));
        let banded = policies(propagated, &[PriorityBand::new(low, middle)], false);
        assert!(banded.admits(&far, middle) && !banded.admits(&far, high));
        assert!(policies(propagated, &[], true).admits(&far, high), "passed on");
        let declared = PriorityModel::ServerDeclared(high);
        assert!(policies(declared, &[], false).admits(&far, high));
    }
}

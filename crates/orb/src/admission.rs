//! Which peers the adapters of a pool admit to a lane.

use punctual_types::{Priority, PriorityBand};

use crate::{
    PriorityModel,
    accepted_priorities::{AcceptedPriorities, Origin},
};

/// Rules of one adapter, as far as they decide on the lanes of its pool.
pub(crate) struct Admission {
    pub(crate) model: Option<PriorityModel>,
    pub(crate) bands: Vec<PriorityBand>,
    pub(crate) accepted: AcceptedPriorities,
    /// Whether requests of other lanes are passed to them.
    pub(crate) passes_on: bool,
}

impl Admission {
    /// Returns whether some request from this origin may be served by the lane of this priority, or through
    /// it.
    pub(crate) fn admits(&self, origin: &Origin, lane: Priority) -> bool {
        if self.passes_on || !matches!(self.model, Some(PriorityModel::ClientPropagated { .. })) {
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
        let admission = |model, bands: &[PriorityBand], passes_on| Admission {
            model: Some(model),
            bands: bands.into(),
            accepted: AcceptedPriorities {
                rules: vec![(Peers::SameHost, high)],
                others: low,
                on_excess: OnExcess::Refuse,
            },
            passes_on,
        };
        let propagated = PriorityModel::ClientPropagated { default: low };
        let of_clients = admission(propagated, &[], false);
        assert!(of_clients.admits(&near, high) && of_clients.admits(&far, low));
        assert!(!of_clients.admits(&far, middle) && !of_clients.admits(&far, high));
        let banded = admission(propagated, &[PriorityBand::new(low, middle)], false);
        assert!(banded.admits(&far, middle) && !banded.admits(&far, high));
        assert!(admission(propagated, &[], true).admits(&far, high), "passed on");
        let declared = PriorityModel::ServerDeclared(high);
        assert!(admission(declared, &[], false).admits(&far, high));
    }
}

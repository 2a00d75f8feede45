//! A scheduler with parameters of its own.

use std::{cmp::Reverse, time::Duration};

use punctual::rtscheduling::{
    Claim, Discipline, ParameterKind, SchedulingParameters, Time, UserKind, UserParameters,
};

/// The job that needs the least energy runs first. No standard parameter is an energy, so the scheduler
/// defines its own: four octets, big endian, in millijoules.
#[derive(Default)]
pub struct LeastEnergy;

impl LeastEnergy {
    /// Number of the parameters in requests.
    pub const KIND: UserKind = UserKind::new(0x8001).expect("0x8001 is user-defined");
    /// Most energy that the scheduler believes a peer.
    const MOST: u32 = 1_000_000;

    /// Returns the parameters of a job that needs this energy.
    pub fn parameters(millijoules: u32) -> UserParameters {
        let octets = millijoules.to_be_bytes();
        UserParameters::new(Self::KIND, &octets).expect("four octets are few")
    }

    fn energy(parameters: &UserParameters) -> Option<u32> {
        Some(u32::from_be_bytes(parameters.octets().try_into().ok()?))
    }
}

impl Discipline for LeastEnergy {
    type Rank = Reverse<u32>;

    fn name(&self) -> &str {
        "least energy"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::User(Self::KIND)
    }

    fn rank(&self, claim: &Claim) -> Self::Rank {
        let energy = claim.parameters.user().and_then(Self::energy);
        Reverse(energy.unwrap_or(u32::MAX))
    }

    /// Parameters that a request of this host carries: at least a millijoule remains.
    fn marshal(&self, parameters: &UserParameters, received: Duration) -> UserParameters {
        let used = u32::try_from(received.as_millis()).unwrap_or(u32::MAX);
        let left = |energy: u32| Self::parameters(energy.saturating_sub(used).max(1));
        Self::energy(parameters).map_or(*parameters, left)
    }

    /// Checks the parameters of another host.
    fn unmarshal(&self, parameters: &UserParameters) -> Option<UserParameters> {
        (Self::energy(parameters)? <= Self::MOST).then_some(*parameters)
    }

    /// A job with other parameters needs a millijoule for each millisecond.
    fn adopt(&self, parameters: &SchedulingParameters, _: Time) -> Option<UserParameters> {
        let milliseconds = parameters.execution_time()?.as_millis();
        Some(Self::parameters(u32::try_from(milliseconds).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_believed_within_limits() {
        let accepts = |octets: &[u8]| {
            let parameters = UserParameters::new(LeastEnergy::KIND, octets).unwrap();
            LeastEnergy.unmarshal(&parameters).is_some()
        };
        assert!(accepts(&[0, 0, 0, 7]));
        assert!(!accepts(&[255, 0, 0, 7]), "too much");
        assert!(!accepts(&[7]), "not four octets");
    }

    #[test]
    fn used_energy_does_not_travel() {
        let left = LeastEnergy.marshal(&LeastEnergy::parameters(9), Duration::from_millis(4));
        assert_eq!(left, LeastEnergy::parameters(5));
    }
}

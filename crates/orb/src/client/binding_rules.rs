//! Combinations of the client's policies and those of a reference that permit calls.
//!
//! Source: RTCORBA 1.2, clause 5; where it leaves a choice, the behaviour of TAO's clients.

use punctual_stub::{PoliciesInForce, PolicyConflict};
use punctual_types::{
    Completion, Detail, Minor, Priority, PriorityBand, PriorityModel, SystemException, SystemExceptionKind,
};

use super::{connection::Band, route::Route};

const PRIORITY_MODEL: u32 = 40;
const CLIENT_PROTOCOL: u32 = 43;
const PRIORITY_BANDED_CONNECTION: u32 = 45;

impl Route {
    /// Applies the rules: see [`Self::band`].
    #[inline(never)]
    pub(super) fn band_by_rules(
        &self,
        priority: Priority,
        policies: &PoliciesInForce,
    ) -> Result<Option<Band>, SystemException> {
        let banding = Banding {
            route: self,
            priority: self.effective(priority),
            policies,
        };
        match RULES.iter().find_map(|rule| rule(&banding)) {
            None => Ok(banding.band()),
            Some(PolicyConflict { reason, .. }) => {
                let (kind, completed) = (SystemExceptionKind::InvPolicy, Completion::No);
                let exception = SystemException::new(kind, reason, completed);
                Err(match (reason, Priority::new(banding.priority)) {
                    (Minor::PRIORITY_OUTSIDE_BANDS, Ok(own)) => {
                        exception.with_detail(&Detail::bands(own, banding.valid_bands()))
                    }
                    _ => exception,
                })
            }
        }
    }

    /// All conflicts that [`Self::band`] and [`Self::endpoints`] would report, one after the other.
    pub(super) fn conflicts(&self, priority: Priority, policies: &PoliciesInForce) -> Vec<PolicyConflict> {
        let banding = Banding {
            route: self,
            priority: self.effective(priority),
            policies,
        };
        let mut conflicts: Vec<_> = RULES.iter().filter_map(|rule| rule(&banding)).collect();
        if conflicts.is_empty()
            && let Err(SystemException { minor, .. }) = self.endpoints(priority, banding.band(), policies)
        {
            let policy_type = if minor == Minor::NO_ENDPOINT_IN_BAND {
                PRIORITY_BANDED_CONNECTION
            } else {
                PRIORITY_MODEL
            };
            conflicts.push(PolicyConflict {
                policy_type,
                reason: minor,
            });
        }
        conflicts
    }

    /// Returns the priority that bands apply to: the caller's, or the one that the server has declared.
    fn effective(&self, caller: Priority) -> i16 {
        match self.model {
            Some(PriorityModel::ServerDeclared(declared)) => declared.value(),
            _ => caller.value(),
        }
    }
}

/// A call as the rules see it.
struct Banding<'b> {
    route: &'b Route,
    priority: i16,
    policies: &'b PoliciesInForce,
}

impl Banding<'_> {
    fn bands(&self) -> impl Iterator<Item = Band> {
        let own = self.policies.priority_bands.iter();
        own.map(|band| (band.low.value(), band.high.value()))
            .chain(self.route.bands.iter().copied())
    }

    /// Returns the bands that a reference or a client may have.
    fn valid_bands(&self) -> impl Iterator<Item = PriorityBand> {
        self.bands().filter_map(|(low, high)| {
            Some(PriorityBand::new(
                Priority::new(low).ok()?,
                Priority::new(high).ok()?,
            ))
        })
    }

    /// Returns the first band that contains the priority.
    fn band(&self) -> Option<Band> {
        self.bands()
            .find(|(low, high)| (*low..=*high).contains(&self.priority))
    }
}

type Rule = fn(&Banding<'_>) -> Option<PolicyConflict>;

/// The rules, in the order in which a call checks them.
const RULES: [Rule; 6] = [
    |call| {
        let both = !call.policies.priority_bands.is_empty() && !call.route.bands.is_empty();
        both.then_some(banded(Minor::BANDS_ON_BOTH_SIDES))
    },
    |call| {
        let alone = call.route.model.is_none() && call.bands().next().is_some();
        alone.then_some(banded(Minor::BANDS_WITHOUT_PRIORITY_MODEL))
    },
    // Those of a reference are not checked: a malformed band contains no priority.
    |call| {
        let swapped = call
            .policies
            .priority_bands
            .iter()
            .any(|band| band.low > band.high);
        swapped.then_some(banded(Minor::BAND_MALFORMED))
    },
    |call| {
        let outside = call.band().is_none() && call.bands().next().is_some();
        outside.then_some(banded(Minor::PRIORITY_OUTSIDE_BANDS))
    },
    |call| {
        let both = !call.policies.client_protocols.protocols().is_empty() && call.route.exposes_protocols;
        both.then_some(protocol(Minor::PROTOCOLS_ON_BOTH_SIDES))
    },
    |call| {
        let allowed = call.policies.client_protocols.protocols();
        let none = if allowed.is_empty() {
            call.route.has_no_protocol()
        } else {
            !allowed
                .iter()
                .any(|protocol| call.route.has_protocol(protocol.profile_tag))
        };
        none.then_some(protocol(Minor::NO_PROTOCOL_ALLOWED))
    },
];

fn banded(reason: Minor) -> PolicyConflict {
    PolicyConflict {
        policy_type: PRIORITY_BANDED_CONNECTION,
        reason,
    }
}

fn protocol(reason: Minor) -> PolicyConflict {
    PolicyConflict {
        policy_type: CLIENT_PROTOCOL,
        reason,
    }
}

//! Peers, and the scheduling claims that an endsystem accepts from them.

use punctual_orb::Peers;
use punctual_sched::dynamic::{ParameterKind, SchedulingParameters};
use punctual_transport::Peer;
use punctual_types::Priority;

/// Scheduling claims that count in requests of a peer: the parameters in service context 30.
///
/// Claims order threads among those of lanes of the same or a lower priority. They neither raise a thread
/// above its lane's native priority nor make a thread of a higher lane wait, unless
/// [`above_lane`](Self::above_lane) permits it. Claims above a limit count as the limit.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_orb::*, punctual_rtsched as rtscheduling}; }
/// use punctual::{Peers, rtscheduling::{AcceptedClaims, RtScheduling}};
///
/// let scheduling = RtScheduling::builder()
///     .accept_claims(Peers::User(1000), AcceptedClaims::all().above_lane(true))
///     .accept_claims(Peers::SameHost, AcceptedClaims::all().highest_importance(10).deadlines(false))
///     .build()?;
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub struct AcceptedClaims {
    highest_importance: i32,
    highest_priority: Priority,
    deadlines: bool,
    pub(crate) above_lane: bool,
}

impl AcceptedClaims {
    /// Accepts all claims within the limits of the lane that serves the request.
    pub const fn all() -> Self {
        Self {
            highest_importance: i32::MAX,
            highest_priority: Priority::MAX,
            deadlines: true,
            above_lane: false,
        }
    }

    /// Sets the highest importance, criticality and utility that count. Default: no limit.
    pub const fn highest_importance(mut self, importance: i32) -> Self {
        self.highest_importance = importance;
        self
    }

    /// Sets the highest priority that counts as a scheduling parameter. Default: [`Priority::MAX`].
    pub const fn highest_priority(mut self, priority: Priority) -> Self {
        self.highest_priority = priority;
        self
    }

    /// Sets whether deadlines, periods and execution times count; without them, those of
    /// [`default_parameters`](crate::RtSchedulingBuilder::default_parameters) apply. Default: yes.
    pub const fn deadlines(mut self, accepted: bool) -> Self {
        self.deadlines = accepted;
        self
    }

    /// Sets whether claims may raise a thread above its lane's native priority, and let it go before threads
    /// of higher lanes. SCHED_DEADLINE, which precedes all lanes, requires it. Default: no.
    pub const fn above_lane(mut self, accepted: bool) -> Self {
        self.above_lane = accepted;
        self
    }

    pub(crate) const fn accepts_deadlines(&self) -> bool {
        self.deadlines
    }

    /// Returns the parts of the claimed parameters that count; `default`: parameters of threads without any,
    /// by kind.
    pub(crate) fn limit(
        &self,
        claimed: SchedulingParameters,
        default: impl FnOnce(ParameterKind) -> SchedulingParameters,
    ) -> SchedulingParameters {
        use SchedulingParameters as P;
        let mut counted = claimed;
        // Their importance cannot be limited.
        let is_limited = matches!(claimed, P::User(_)) && self.highest_importance < i32::MAX;
        if is_limited {
            counted = default(claimed.kind());
        } else if !self.deadlines && !matches!(claimed, P::FixedPriority { .. } | P::Importance { .. }) {
            counted = default(claimed.kind());
            copy_importance(&claimed, &mut counted);
        }
        let highest = self.highest_importance;
        match &mut counted {
            P::FixedPriority { priority } => *priority = self.highest_priority.min(*priority),
            P::Importance { importance }
            | P::Rate { importance, .. }
            | P::Deadline { importance, .. }
            | P::Laxity { importance, .. } => *importance = highest.min(*importance),
            P::Urgency {
                criticality,
                importance,
                ..
            }
            | P::RateOrLaxity {
                criticality,
                importance,
                ..
            } => {
                *criticality = highest.min(*criticality);
                *importance = highest.min(*importance);
            }
            P::Utility { utility, .. } if highest < i32::MAX => {
                utility.value = utility.value.min(u32::try_from(highest).unwrap_or(0));
            }
            P::Utility { .. } | P::User(_) => {}
        }
        counted
    }
}

/// Copies importance, criticality and utility between parameters of one kind.
fn copy_importance(from: &SchedulingParameters, to: &mut SchedulingParameters) {
    use SchedulingParameters as P;
    match (from, to) {
        (P::Rate { importance: from, .. }, P::Rate { importance, .. })
        | (P::Deadline { importance: from, .. }, P::Deadline { importance, .. })
        | (P::Laxity { importance: from, .. }, P::Laxity { importance, .. }) => *importance = *from,
        (
            P::Urgency {
                criticality: critical,
                importance: from,
                ..
            },
            P::Urgency {
                criticality,
                importance,
                ..
            },
        )
        | (
            P::RateOrLaxity {
                criticality: critical,
                importance: from,
                ..
            },
            P::RateOrLaxity {
                criticality,
                importance,
                ..
            },
        ) => (*criticality, *importance) = (*critical, *from),
        (P::Utility { utility: from, .. }, P::Utility { utility, .. }) => *utility = *from,
        _ => {}
    }
}

/// Rules about peers.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClaimRules(Vec<(Peers, AcceptedClaims)>);

impl ClaimRules {
    pub(crate) fn add(&mut self, peers: Peers, claims: AcceptedClaims) {
        self.0.push((peers, claims));
    }

    /// Returns the first rule that includes the peer. `None`: its claims do not count.
    pub(crate) fn of(&self, peer: Peer) -> Option<AcceptedClaims> {
        let rule = self.0.iter().find(|(peers, _)| peers.include(peer));
        rule.map(|(_, claims)| *claims)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use punctual_sched::dynamic::{Time, TranslationDefaults, Utility};

    use super::*;

    const URGENT: SchedulingParameters = SchedulingParameters::Urgency {
        criticality: i32::MAX,
        deadline: Time(1),
        execution_time: Duration::ZERO,
        importance: i32::MAX,
    };

    fn default(kind: ParameterKind) -> SchedulingParameters {
        SchedulingParameters::Importance { importance: 0 }.translated(kind, &TranslationDefaults::default())
    }

    #[test]
    fn claims_above_a_limit_count_as_the_limit() {
        let claims = AcceptedClaims::all()
            .highest_importance(5)
            .highest_priority(Priority::MIN);
        let limited = SchedulingParameters::Urgency {
            criticality: 5,
            deadline: Time(1),
            execution_time: Duration::ZERO,
            importance: 5,
        };
        assert_eq!(claims.limit(URGENT, default), limited);
        assert_eq!(AcceptedClaims::all().limit(URGENT, default), URGENT);
        let utility = |value| SchedulingParameters::Utility {
            deadline: Time(1),
            execution_time: Duration::ZERO,
            utility: Utility {
                value,
                decay: Duration::ZERO,
            },
        };
        assert_eq!(claims.limit(utility(u32::MAX), default), utility(5));
        assert_eq!(
            AcceptedClaims::all().limit(utility(u32::MAX), default),
            utility(u32::MAX)
        );
        let priority = |priority| SchedulingParameters::FixedPriority { priority };
        assert_eq!(
            claims.limit(priority(Priority::MAX), default),
            priority(Priority::MIN)
        );
    }

    #[test]
    fn without_deadlines_only_importance_counts() {
        let claims = AcceptedClaims::all().deadlines(false).highest_importance(7);
        let counted = claims.limit(URGENT, default);
        assert!(
            matches!(
                counted,
                SchedulingParameters::Urgency {
                    criticality: 7,
                    importance: 7,
                    ..
                }
            ),
            "{counted:?}"
        );
        assert!(counted.deadline() > Some(Time(1)), "{counted:?}");
    }

    #[test]
    fn the_first_rule_that_includes_the_peer_holds() {
        let mut rules = ClaimRules::default();
        rules.add(Peers::User(1000), AcceptedClaims::all().above_lane(true));
        rules.add(Peers::SameHost, AcceptedClaims::all());
        let of_user = |user| Peer::SameHost { user: Some(user) };
        assert_eq!(
            rules.of(of_user(1000)),
            Some(AcceptedClaims::all().above_lane(true))
        );
        assert_eq!(rules.of(of_user(7)), Some(AcceptedClaims::all()));
        assert_eq!(
            rules.of(Peer::Unknown),
            None,
            "claims of unnamed peers do not count"
        );
    }
}

//! Scheduling decisions, recorded for tests and measurements.

use std::fmt;

use punctual_sched::dynamic::Time;
use punctual_types::DistributableThreadId;

/// One scheduling decision: a distributable thread starts or stops running at this endsystem.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
/// use punctual::rtscheduling::{RtScheduling, SchedulingError, SchedulingParameters, Switch};
///
/// let scheduling = RtScheduling::builder().record_decisions(100).build()?;
/// let importance = SchedulingParameters::Importance { importance: 1 };
/// scheduling.current().segment("track", importance, |_| Ok::<_, SchedulingError>(()))?;
/// let decisions = scheduling.decisions();
/// assert_eq!(decisions[0].to_string(), format!("{} track resumed", decisions[0].at.0));
/// assert_eq!(decisions[1].switch, Switch::Suspended);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Decision {
    /// Time of the decision, by this host's clock.
    pub at: Time,
    /// The thread that it is about.
    pub id: DistributableThreadId,
    /// Whether the thread starts or stops running.
    pub switch: Switch,
    pub(crate) name: ThreadName,
}

/// Effect of a decision on a thread.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::Switch;
/// assert_eq!(Switch::Suspended.to_string(), "suspended");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Switch {
    /// The thread starts running.
    Resumed,
    /// The thread stops running: others go first, or it has left this host, waits, or has ended.
    Suspended,
}

impl Decision {
    /// Returns the name of the thread's outermost segment at this host, up to 31 octets.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Resumed => "resumed",
            Self::Suspended => "suspended",
        })
    }
}

/// Time, name and effect.
impl fmt::Display for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}", self.at.0, self.name(), self.switch)
    }
}

/// The newest decisions, in memory that is allocated at the start.
pub(crate) struct Decisions {
    ring: Vec<Decision>,
    capacity: usize,
    /// Number of decisions so far.
    count: usize,
}

impl Decisions {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            ring: Vec::with_capacity(capacity),
            capacity,
            count: 0,
        }
    }

    /// Returns whether decisions are recorded at all.
    pub(crate) fn are_recorded(&self) -> bool {
        self.capacity > 0
    }

    pub(crate) fn push(&mut self, decision: Decision) {
        if !self.are_recorded() {
            return;
        }
        if self.ring.len() < self.capacity {
            self.ring.push(decision);
        } else {
            self.ring[self.count % self.capacity] = decision;
        }
        self.count += 1;
    }

    /// Returns the decisions, the oldest first.
    pub(crate) fn to_vec(&self) -> Vec<Decision> {
        let oldest = if self.ring.len() < self.capacity {
            0
        } else {
            self.count % self.capacity.max(1)
        };
        let (newer, older) = self.ring.split_at(oldest);
        [older, newer].concat()
    }

    pub(crate) fn clear(&mut self) {
        self.ring.clear();
        self.count = 0;
    }
}

/// A name without a heap allocation.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) struct ThreadName {
    octets: [u8; Self::SIZE],
    length: u8,
}

impl ThreadName {
    const SIZE: usize = 31;

    /// Takes as much of the name as fits.
    pub(crate) fn new(name: &str) -> Self {
        let fits = |length: &usize| name.is_char_boundary(*length);
        let length = (0..=Self::SIZE.min(name.len())).rev().find(fits).unwrap_or(0);
        let mut octets = [0; Self::SIZE];
        octets[..length].copy_from_slice(&name.as_bytes()[..length]);
        Self {
            octets,
            length: length as u8,
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.octets[..self.length.into()]).expect("`new` cuts between characters")
    }
}

impl fmt::Debug for ThreadName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_decisions_are_kept_in_order() {
        let mut decisions = Decisions::new(3);
        for number in 0..8 {
            decisions.push(Decision {
                at: Time(number),
                id: DistributableThreadId(7),
                switch: Switch::Resumed,
                name: ThreadName::new("track"),
            });
            let expected = (number.saturating_sub(2)..=number).map(Time);
            assert!(decisions.to_vec().iter().map(|decision| decision.at).eq(expected));
        }
    }

    #[test]
    fn a_name_is_cut_between_characters() {
        assert_eq!(ThreadName::new("track").as_str(), "track");
        let long = "ä".repeat(20);
        assert_eq!(ThreadName::new(&long).as_str(), "ä".repeat(15));
    }
}

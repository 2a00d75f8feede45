//! The 70 operations, and the load that the paper's result implies.

use std::time::Duration;

use punctual_scheduling::reconfigurable::{Criticality, Operation as Described};

/// Operations of one rate. Times are averages at a load of 1, at which all use the whole CPU.
struct Group {
    hertz: u32,
    critical: u32,
    critical_us: u32,
    other: u32,
    other_us: u32,
}

/// [Gill 2004] states the number of operations, that some are critical, and that several others are short.
/// Rates are those of avionics mission computing. An operation is never preempted by one of its own level, so
/// none takes longer than half the shortest period.
const GROUPS: [Group; 5] = [
    group(40, (4, 600), (4, 300)),
    group(20, (8, 900), (8, 500)),
    group(10, (8, 2_400), (10, 700)),
    group(5, (6, 7_000), (10, 1_500)),
    group(1, (4, 11_250), (8, 5_000)),
];

const fn group(hertz: u32, (critical, critical_us): (u32, u32), (other, other_us): (u32, u32)) -> Group {
    Group {
        hertz,
        critical,
        critical_us,
        other,
        other_us,
    }
}

/// Critical operations that miss their deadlines per sample under RMS: the middle of "between 2 and 6".
const MISSED_IN_THE_PAPER: f64 = 4.0;

/// Returns the load: as much work is too much in a second as four critical operations of the lowest rate
/// take, which is what has no room under RMS.
pub(super) fn load_of_the_paper() -> f64 {
    let lowest = &GROUPS[GROUPS.len() - 1];
    let work = f64::from(lowest.critical_us * lowest.hertz) * 1e-6;
    1.0 / (1.0 - MISSED_IN_THE_PAPER * work)
}

/// An operation of the program.
pub(super) struct Operation {
    name: String,
    pub(super) is_critical: bool,
    hertz: u32,
    /// Average execution time at a load of 1.
    mean_us: u32,
    /// Part of the period by which its releases are later than the start, so that they are spread evenly.
    phase: f64,
}

/// Smallest and largest execution time as a share of the stated one, the worst case.
const SHARES: (f64, f64) = (0.4, 1.0);

impl Operation {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn period_ns(&self) -> u64 {
        1_000_000_000 / u64::from(self.hertz)
    }

    pub(super) fn offset_ns(&self) -> u64 {
        (self.period_ns() as f64 * self.phase) as u64
    }

    /// Returns the stated execution time.
    pub(super) fn stated(&self, load: f64) -> Duration {
        let mean = Duration::from_micros(self.mean_us.into()).mul_f64(load);
        mean.mul_f64(2.0 / (SHARES.0 + SHARES.1))
    }

    /// Returns an execution time; `share` of the variation is 0 to 1.
    pub(super) fn execution(&self, load: f64, share: f64) -> Duration {
        self.stated(load)
            .mul_f64(SHARES.0 + share * (SHARES.1 - SHARES.0))
    }

    /// Returns its description for the scheduler, with the stated time multiplied by `pessimism`.
    pub(super) fn described(&self, load: f64, pessimism: f64) -> Described {
        let criticality = match self.is_critical {
            true => Criticality::VeryHigh,
            false => Criticality::VeryLow,
        };
        let stated = self.stated(load).mul_f64(pessimism);
        let period = Duration::from_nanos(self.period_ns());
        // What takes longer than its period would contradict itself.
        Described::new(self.name.as_str(), criticality).tuple(period, stated.min(period))
    }
}

pub(super) fn all() -> Vec<Operation> {
    let mut operations = Vec::new();
    for group in &GROUPS {
        let count = group.critical + group.other;
        for number in 0..count {
            // Interleaved, so that no kind is always released first.
            let is_critical = (number + 1) * group.critical / count > number * group.critical / count;
            let (kind, mean_us) = match is_critical {
                true => ("critical", group.critical_us),
                false => ("other", group.other_us),
            };
            operations.push(Operation {
                name: format!("{} Hz {kind} {}", group.hertz, number + 1),
                is_critical,
                hertz: group.hertz,
                mean_us,
                phase: f64::from(number) / f64::from(count),
            });
        }
    }
    operations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_70_operations_that_use_the_whole_cpu_at_a_load_of_1() {
        let operations = all();
        assert_eq!(operations.len(), 70);
        let use_of_cpu: u32 = operations.iter().map(|own| own.mean_us * own.hertz).sum();
        assert_eq!(use_of_cpu, 1_000_000);
        let critical = operations.iter().filter(|own| own.is_critical);
        assert_eq!(critical.count(), 30);
        let load = load_of_the_paper();
        assert!((1.04..1.05).contains(&load), "{load}");
        let longest = operations.iter().map(|own| own.stated(load)).max().unwrap();
        assert!(longest < Duration::from_millis(25), "{longest:?}");
    }
}

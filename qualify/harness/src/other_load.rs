//! CPU share of programs that do not belong to a run, for runs on CPUs that others also use.

use std::io;
use std::time::{Duration, Instant};

use punctual_os::{CpuSet, TaskId, clock};

use crate::withheld_cpu::CpuAccount;

/// Interval over which the share is determined.
///
/// ```
/// use punctual_harness::OtherLoad;
/// use punctual_os::{CpuSet, TaskId};
///
/// let watch = OtherLoad::start(vec![TaskId::current_process()], CpuSet::single(0))?;
/// let share = watch.share()?;
/// assert!((0.0..=1.0).contains(&share));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct OtherLoad {
    processes: Vec<TaskId>,
    cpus: CpuSet,
    began: Instant,
    busy: Duration,
    own: Duration,
}

impl OtherLoad {
    /// Starts the interval. `processes` are those of the run; all their threads run on `cpus`.
    ///
    /// # Errors
    /// A process has ended, or `/proc/stat` cannot be read.
    pub fn start(processes: Vec<TaskId>, cpus: CpuSet) -> io::Result<Self> {
        Ok(Self {
            began: Instant::now(),
            busy: busy(&cpus)?,
            own: own(&processes)?,
            processes,
            cpus,
        })
    }

    /// Returns the share of CPU time that other programs used so far, from 0 to 1. The kernel counts in ticks
    /// of 10 ms, so the share is meaningless for less than a second.
    ///
    /// # Errors
    /// Those of [`Self::start`].
    pub fn share(&self) -> io::Result<f64> {
        let (busy, own) = (busy(&self.cpus)? - self.busy, own(&self.processes)? - self.own);
        Ok(share_of(
            busy,
            own,
            self.began.elapsed() * self.cpus.iter().count() as u32,
        ))
    }
}

fn share_of(busy: Duration, own: Duration, all: Duration) -> f64 {
    if all.is_zero() {
        return 0.0;
    }
    (busy.saturating_sub(own).as_secs_f64() / all.as_secs_f64()).min(1.0)
}

fn busy(cpus: &CpuSet) -> io::Result<Duration> {
    // The kernel reports hundredths of a second, regardless of its own ticks.
    const TICK: Duration = Duration::from_millis(10);
    let account = CpuAccount::read(cpus)?;
    Ok(TICK * u32::try_from(account.busy).unwrap_or(u32::MAX))
}

fn own(processes: &[TaskId]) -> io::Result<Duration> {
    processes
        .iter()
        .map(|process| clock::process_cpu_time(*process))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_cpu_time_is_excluded() {
        let ms = Duration::from_millis;
        assert_eq!(share_of(ms(1500), ms(1000), ms(2000)), 0.25);
        assert_eq!(share_of(ms(990), ms(1000), ms(2000)), 0.0, "ticks are coarse");
        assert_eq!(share_of(ms(0), ms(0), ms(0)), 0.0);
    }
}

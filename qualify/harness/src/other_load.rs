//! How much of some CPUs programs took that are no part of a run. Where a run has CPUs that others use as well, its figures are
//! worth only as much as those left it.

use std::io;
use std::time::{Duration, Instant};

use punctual_os::{CpuSet, TaskId, clock};

use crate::holes::CpuAccount;

/// A time over which it is watched.
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
    /// Starts the time. `processes` are those of the run, and all of theirs is on `cpus`.
    ///
    /// # Errors
    /// A process is gone, or `/proc/stat` cannot be read.
    pub fn start(processes: Vec<TaskId>, cpus: CpuSet) -> io::Result<Self> {
        Ok(Self {
            began: Instant::now(),
            busy: busy(&cpus)?,
            own: own(&processes)?,
            processes,
            cpus,
        })
    }

    /// The share of the CPUs' time so far that others had, from 0 to 1. The kernel counts it in ticks of 10 ms, so it says
    /// little of less than a second.
    ///
    /// # Errors
    /// As [`Self::start`].
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
    // The kernel tells its users of hundredths of a second, whatever its own ticks are.
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
    fn what_is_ours_is_not_others() {
        let ms = Duration::from_millis;
        assert_eq!(share_of(ms(1500), ms(1000), ms(2000)), 0.25);
        assert_eq!(share_of(ms(990), ms(1000), ms(2000)), 0.0, "ticks are coarse");
        assert_eq!(share_of(ms(0), ms(0), ms(0)), 0.0);
    }
}

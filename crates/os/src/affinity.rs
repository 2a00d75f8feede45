//! Which CPUs a thread may run on.

use std::{fmt, io};

use crate::TaskId;

/// A set of CPUs, by the kernel's numbers from 0 to 1023.
///
/// ```
/// use punctual_os::CpuSet;
///
/// let mut cpus: CpuSet = [0, 2].into_iter().collect();
/// cpus.insert(3);
/// cpus.remove(2);
/// assert_eq!(cpus.to_string(), "0,3");
/// assert!(cpus.contains(3) && !cpus.contains(2));
/// assert_eq!(cpus.iter().max(), Some(3));
/// ```
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct CpuSet(rustix::thread::CpuSet);

impl CpuSet {
    const CAPACITY: usize = rustix::thread::CpuSet::MAX_CPU;

    /// No CPU. A thread cannot be given this set.
    pub fn empty() -> Self {
        Self(rustix::thread::CpuSet::new())
    }

    /// One CPU. A number that no machine has (1024 and up) gives the empty set, which is refused where it is used.
    ///
    /// ```
    /// # use punctual_os::CpuSet;
    /// assert_eq!(CpuSet::single(1).len(), 1);
    /// assert_eq!(CpuSet::single(1024), CpuSet::empty());
    /// ```
    pub fn single(cpu: usize) -> Self {
        [cpu].into_iter().collect()
    }

    /// Every CPU that is online now.
    ///
    /// ```
    /// # use punctual_os::CpuSet;
    /// assert!(!CpuSet::all().is_empty());
    /// ```
    pub fn all() -> Self {
        std::fs::read_to_string("/sys/devices/system/cpu/online")
            .ok()
            .and_then(|list| Self::parse(&list))
            .unwrap_or_else(|| {
                let count = std::thread::available_parallelism().map_or(1, |n| n.get());
                (0..count).collect()
            })
    }

    /// Reads the kernel's list notation, such as `0-3,6`. `None` for other texts and for CPUs from 1024 on.
    ///
    /// ```
    /// # use punctual_os::CpuSet;
    /// assert_eq!(CpuSet::parse("0-3,6").unwrap().to_string(), "0,1,2,3,6");
    /// assert_eq!(CpuSet::parse("3-0"), None);
    /// ```
    pub fn parse(list: &str) -> Option<Self> {
        let mut set = Self::empty();
        for range in list.trim().split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            if first > last || last >= Self::CAPACITY {
                return None;
            }
            (first..=last).for_each(|cpu| set.insert(cpu));
        }
        Some(set)
    }

    /// Adds a CPU; one of 1024 and up changes nothing.
    pub fn insert(&mut self, cpu: usize) {
        if cpu < Self::CAPACITY {
            self.0.set(cpu);
        }
    }

    /// Takes a CPU out.
    pub fn remove(&mut self, cpu: usize) {
        if cpu < Self::CAPACITY {
            self.0.unset(cpu);
        }
    }

    /// Whether the CPU is in the set.
    pub fn contains(&self, cpu: usize) -> bool {
        cpu < Self::CAPACITY && self.0.is_set(cpu)
    }

    /// The number of CPUs in the set.
    pub fn len(&self) -> usize {
        self.0.count() as usize
    }

    /// Whether no CPU is in the set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The CPUs in the set, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..Self::CAPACITY).filter(|&cpu| self.0.is_set(cpu))
    }
}

impl FromIterator<usize> for CpuSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> Self {
        let mut set = Self::empty();
        cpus.into_iter().for_each(|cpu| set.insert(cpu));
        set
    }
}

/// The CPUs in ascending order, separated by commas.
impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, cpu) in self.iter().enumerate() {
            write!(f, "{}{cpu}", if place == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CpuSet({self})")
    }
}

/// Pins the calling thread to `cpus`. Threads it starts later inherit the set.
///
/// # Errors
/// `InvalidInput` when none of the CPUs is online or allowed by the control group (cpuset) of the process.
pub fn set_current(cpus: &CpuSet) -> io::Result<()> {
    set(None, cpus)
}

/// The CPUs the calling thread may run on.
pub fn current() -> CpuSet {
    CpuSet(rustix::thread::sched_getaffinity(None).expect("the calling thread's CPUs may always be read"))
}

/// Pins one thread to `cpus`. The other threads of its process stay where they are.
///
/// # Errors
/// As [`set_current`]; ESRCH when there is no such thread; `PermissionDenied` for a thread of another user.
pub fn set_of(thread: TaskId, cpus: &CpuSet) -> io::Result<()> {
    set(Some(thread), cpus)
}

/// The CPUs one thread may run on.
///
/// # Errors
/// ESRCH when there is no such thread.
pub fn of(thread: TaskId) -> io::Result<CpuSet> {
    Ok(CpuSet(rustix::thread::sched_getaffinity(Some(thread.pid()))?))
}

/// The CPU the calling thread runs on at this moment.
pub fn current_cpu() -> usize {
    rustix::thread::sched_getcpu()
}

fn set(thread: Option<TaskId>, cpus: &CpuSet) -> io::Result<()> {
    rustix::thread::sched_setaffinity(thread.map(TaskId::pid), &cpus.0).map_err(|error| match error {
        rustix::io::Errno::INVAL => io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "no usable CPU in the set {{{cpus}}}: this machine has {{{}}} online",
                CpuSet::all()
            ),
        ),
        other => other.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_lists_are_read() {
        assert_eq!(
            CpuSet::parse("0-2,5\n").unwrap().iter().collect::<Vec<_>>(),
            [0, 1, 2, 5]
        );
        assert_eq!(CpuSet::parse("3").unwrap(), CpuSet::single(3));
        for wrong in ["", "a", "3-1", "0-1024", "1,,2", "-"] {
            assert!(CpuSet::parse(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn a_set_shows_its_cpus() {
        let mut set: CpuSet = [4, 1, 1023, 5000].into_iter().collect();
        set.remove(4);
        assert_eq!(set.to_string(), "1,1023");
        assert_eq!(set.len(), 2);
        assert!(set.contains(1) && !set.contains(4) && !set.contains(5000));
    }

    #[test]
    fn a_cpu_the_machine_lacks_is_refused_with_the_ones_it_has() {
        for set in [CpuSet::single(1023), CpuSet::single(5000), CpuSet::empty()] {
            let error = set_current(&set).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert!(error.to_string().contains(&CpuSet::all().to_string()), "{error}");
        }
    }

    #[test]
    fn all_holds_the_cpu_we_run_on() {
        assert!(CpuSet::all().contains(current_cpu()));
    }
}

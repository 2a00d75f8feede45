//! CPU affinity of threads.

use std::{fmt, io};

use crate::TaskId;

/// A set of CPUs, by the kernel's CPU numbers 0 to 1023.
///
/// ```
/// # use punctual_os as punctual;
/// use punctual::CpuSet;
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

    /// Returns the empty set, which is not valid as an affinity.
    pub fn empty() -> Self {
        Self(rustix::thread::CpuSet::new())
    }

    /// Returns a set of one CPU. Numbers from 1024 give the empty set, which is refused where it is used.
    ///
    /// ```
    /// # use punctual_os::CpuSet;
    /// assert_eq!(CpuSet::single(1).len(), 1);
    /// assert_eq!(CpuSet::single(1024), CpuSet::empty());
    /// ```
    pub fn single(cpu: usize) -> Self {
        [cpu].into_iter().collect()
    }

    /// Returns the CPUs that are online now.
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

    /// Parses the kernel's list notation, such as `0-3,6`. `None` for other texts and for CPUs from 1024.
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

    /// Adds a CPU. Numbers from 1024 are ignored.
    pub fn insert(&mut self, cpu: usize) {
        if cpu < Self::CAPACITY {
            self.0.set(cpu);
        }
    }

    /// Removes a CPU.
    pub fn remove(&mut self, cpu: usize) {
        if cpu < Self::CAPACITY {
            self.0.unset(cpu);
        }
    }

    /// Returns whether the CPU is in the set.
    pub fn contains(&self, cpu: usize) -> bool {
        cpu < Self::CAPACITY && self.0.is_set(cpu)
    }

    /// Returns the number of CPUs in the set.
    pub fn len(&self) -> usize {
        self.0.count() as usize
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the CPUs in ascending order.
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

/// Writes the CPUs in ascending order, separated by commas.
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

/// Pins the calling thread to `cpus`. Threads that it starts later inherit the set.
///
/// # Errors
/// `InvalidInput`: none of the CPUs is online and allowed by the process's control group (cpuset).
pub fn set_current(cpus: &CpuSet) -> io::Result<()> {
    set(None, cpus)
}

/// Returns the CPUs on which the calling thread may run.
pub fn current() -> CpuSet {
    CpuSet(rustix::thread::sched_getaffinity(None).expect("the calling thread's CPUs may always be read"))
}

/// Pins one thread to `cpus`; the other threads of its process are not affected.
///
/// # Errors
/// Those of [`set_current`]; ESRCH: no such thread exists; `PermissionDenied`: the thread belongs to another
/// user.
pub fn set_of(thread: TaskId, cpus: &CpuSet) -> io::Result<()> {
    set(Some(thread), cpus)
}

/// Returns the CPUs on which one thread may run.
///
/// # Errors
/// ESRCH: no such thread exists.
pub fn of(thread: TaskId) -> io::Result<CpuSet> {
    Ok(CpuSet(rustix::thread::sched_getaffinity(Some(thread.pid()))?))
}

/// Returns the CPU on which the calling thread is running.
pub fn current_cpu() -> usize {
    rustix::thread::sched_getcpu()
}

fn set(thread: Option<TaskId>, cpus: &CpuSet) -> io::Result<()> {
    rustix::thread::sched_setaffinity(thread.map(TaskId::pid), &cpus.0).map_err(|error| match error {
        rustix::io::Errno::INVAL => io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "no usable CPU in the set {{{cpus}}}; CPUs online: {{{}}}",
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
    fn kernel_cpu_lists_are_parsed() {
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
    fn a_set_displays_its_cpus() {
        let mut set: CpuSet = [4, 1, 1023, 5000].into_iter().collect();
        set.remove(4);
        assert_eq!(set.to_string(), "1,1023");
        assert_eq!(set.len(), 2);
        assert!(set.contains(1) && !set.contains(4) && !set.contains(5000));
    }

    #[test]
    fn the_error_for_a_missing_cpu_lists_the_online_cpus() {
        for set in [CpuSet::single(1023), CpuSet::single(5000), CpuSet::empty()] {
            let error = set_current(&set).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert!(error.to_string().contains(&CpuSet::all().to_string()), "{error}");
        }
    }

    #[test]
    fn all_contains_the_current_cpu() {
        assert!(CpuSet::all().contains(current_cpu()));
    }
}

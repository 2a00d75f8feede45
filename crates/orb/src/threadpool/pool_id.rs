use std::fmt;

/// Which thread pool of an ORB, `RTCORBA::ThreadpoolId`: 1 for the first one that is made, and rising; none is given twice.
///
/// Other ORBs of the process count for themselves. The names of threads (pool, lane, thread) do not begin with it but with a
/// number of the process, which is the same where the process has one ORB.
///
/// ```
/// use punctual_orb::{Orb, ThreadPoolId};
///
/// let orb = Orb::builder().build()?;
/// let first = orb.threadpool().build()?;
/// let second = orb.threadpool().build()?;
/// assert_eq!((first.id(), second.id()), (ThreadPoolId(1), ThreadPoolId(2)));
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ThreadPoolId(
    /// As IDL has it.
    pub u32,
);

impl fmt::Display for ThreadPoolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

//! Ids of thread pools.

use std::fmt;

/// Id of a thread pool within its ORB, `RTCORBA::ThreadpoolId`: 1 for the first pool, then ascending. Ids are
/// not reused. Each ORB of the process counts separately. The names of threads (pool, lane, thread) begin
/// with a number that is unique in the process instead; with one ORB the two are equal.
///
/// ```
/// # use punctual_orb as punctual;
/// use punctual::{Orb, ThreadPoolId};
///
/// let orb = Orb::builder().build()?;
/// let first = orb.threadpool().build()?;
/// let second = orb.threadpool().build()?;
/// assert_eq!((first.id(), second.id()), (ThreadPoolId(1), ThreadPoolId(2)));
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ThreadPoolId(
    /// Value of the IDL type.
    pub u32,
);

impl fmt::Display for ThreadPoolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

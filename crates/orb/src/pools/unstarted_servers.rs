//! Default pools of this process that no thread serves: `Orb::run` has not been called. A call to one of
//! them, made before, would wait forever if its own thread was to call `run` afterwards.

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use punctual_os::{PiCondvar, PiMutex, lock};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use crate::{client::Endpoint, pools::info::PoolInfo};

/// Time within which another thread must call `run`.
const TIMEOUT: Duration = Duration::from_secs(5);

static UNSTARTED: PiMutex<Vec<Weak<PoolInfo>>> = lock::mutex(Vec::new());
static STARTED: PiCondvar = PiCondvar::new();

/// Adds the default pool of a new ORB.
pub(crate) fn add(pool: &Arc<PoolInfo>) {
    let mut pools = UNSTARTED.lock();
    pools.retain(|other| other.strong_count() > 0);
    pools.push(Arc::downgrade(pool));
}

/// Removes a pool that a thread serves from now on, or that is shut down.
pub(crate) fn remove(pool: &Arc<PoolInfo>) {
    UNSTARTED
        .lock()
        .retain(|other| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(pool)));
    STARTED.notify_all();
}

/// Returns whether this is such a pool.
pub(crate) fn has(pool: &Arc<PoolInfo>) -> bool {
    let pools = UNSTARTED.lock();
    pools
        .iter()
        .any(|other| std::ptr::eq(other.as_ptr(), Arc::as_ptr(pool)))
}

/// Returns whether the endpoint belongs to such a pool.
pub(crate) fn include(endpoint: &Endpoint) -> bool {
    is_among(&UNSTARTED.lock(), endpoint)
}

/// Waits until the endpoint is served. Fails with BAD_INV_ORDER if that takes longer than 5 s.
#[cold]
pub(crate) fn wait_until_served(endpoint: &Endpoint) -> Result<(), SystemException> {
    let deadline = Instant::now() + TIMEOUT;
    let unstarted = |pools: &mut Vec<Weak<PoolInfo>>| is_among(pools, endpoint);
    if !STARTED
        .wait_while_until(&mut UNSTARTED.lock(), deadline, unstarted)
        .0
    {
        return Ok(());
    }
    let (kind, minor) = (SystemExceptionKind::BadInvOrder, Minor::NOT_SERVED);
    Err(endpoint.named_in(SystemException::new(kind, minor, Completion::No)))
}

fn is_among(pools: &[Weak<PoolInfo>], endpoint: &Endpoint) -> bool {
    let mut pools = pools.iter().filter_map(Weak::upgrade);
    pools.any(|pool| pool.is_reached_at(|transport, address| endpoint.leads_to(transport, address)))
}

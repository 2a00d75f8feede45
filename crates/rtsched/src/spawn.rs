//! Spawning distributable threads.

use std::sync::Arc;

use punctual_os::{Scheduling, ThreadSpec};
use punctual_sched::{LinearMapping, PriorityMapping, dynamic::SchedulingParameters};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};
use scopeguard::ScopeGuard;

use crate::{
    activations::{self, OpaqueParameters, SegmentSpec},
    dispatcher::LaneLimit,
    distributable_thread::DistributableThread,
    endsystem::Endsystem,
    error::SchedulingError,
    segment::close_on_unwind,
};

/// The OS thread of a spawned distributable thread.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_rtsched as rtscheduling, punctual_types::*}; }
/// use punctual::{Priority, rtscheduling::SpawnSpec};
///
/// let base_priority = Some(Priority::new(1000)?);
/// let spec = SpawnSpec { stack_bytes: 256 * 1024, base_priority, ..SpawnSpec::default() };
/// # Ok::<(), punctual_types::OutOfRange>(())
/// ```
#[derive(Clone, Debug)]
pub struct SpawnSpec {
    /// Size of its stack in bytes. Default 2 MiB.
    pub stack_bytes: usize,
    /// Base priority, mapped linearly to SCHED_FIFO, for mechanisms that do not set one. `None`, the default,
    /// selects the ordinary class, which also applies if the process may not use SCHED_FIFO.
    pub base_priority: Option<Priority>,
    /// How many bytes of its stack are made resident before it starts. Default 0.
    pub prefault_bytes: usize,
}

impl Default for SpawnSpec {
    fn default() -> Self {
        Self {
            stack_bytes: ThreadSpec::DEFAULT_STACK_BYTES,
            base_priority: None,
            prefault_bytes: 0,
        }
    }
}

/// `Current::spawn`.
pub(crate) fn spawn(
    endsystem: &Arc<Endsystem>,
    name: &str,
    parameters: Option<SchedulingParameters>,
    implicit: Option<SchedulingParameters>,
    spec: SpawnSpec,
    action: impl FnOnce() + Send + 'static,
) -> Result<DistributableThread, SchedulingError> {
    activations::pass(endsystem)?;
    let parent = activations::current_thread(endsystem)?;
    for given in [&parameters, &implicit].into_iter().flatten() {
        endsystem.check(given)?;
    }
    // Parameters that the parent has claimed stay within its limit; those stated by the application are no
    // claim.
    let limit = parameters.map_or(parent.limit, |_| LaneLimit::NONE);
    let parameters = parameters.or(parent.implicit).unwrap_or(parent.parameters);
    let scheduling = spec.base_priority.map_or(Ok(Scheduling::OTHER), native)?;
    let id = endsystem.ids.next();
    let slot = endsystem.dispatcher.register(id, name)?;
    activations::record_spawned(id);
    // Removes the thread again if its OS thread never runs.
    let registration = scopeguard::guard((Arc::clone(endsystem), slot), |(endsystem, slot)| {
        endsystem.dispatcher.end(slot, 0);
    });
    let own_name = name.to_owned();
    let started = ThreadSpec::new(name.replace('\0', ""))
        .scheduling(scheduling)
        .stack_bytes(spec.stack_bytes)
        .prefault_bytes(spec.prefault_bytes)
        .spawn(move || {
            let (endsystem, slot) = ScopeGuard::into_inner(registration);
            let segment = SegmentSpec {
                name: &own_name,
                parameters,
                implicit,
                opaque: OpaqueParameters::default(),
                scoped: true,
                timed: None,
            };
            // On failure, the thread was cancelled before it began; no caller waits for it.
            if let Ok(handle) = activations::begin_thread(&endsystem, id, slot, limit, &segment) {
                let _open = close_on_unwind(&endsystem, handle);
                action();
            }
        });
    match started {
        Ok(_) => Ok(DistributableThread::new(endsystem, id)),
        Err(_) => Err(SchedulingError::System(SystemException::new(
            SystemExceptionKind::NoResources,
            Minor::SPAWN_FAILED,
            Completion::No,
        ))),
    }
}

fn native(priority: Priority) -> Result<Scheduling, SystemException> {
    let native = LinearMapping::new(1..=99).to_native(priority);
    native.map(Scheduling::fifo).ok_or_else(|| {
        SystemException::new(
            SystemExceptionKind::DataConversion,
            Minor::OMG_PRIORITY_UNMAPPABLE,
            Completion::No,
        )
    })
}

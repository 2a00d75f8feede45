//! Scheduling segments that end with their scopes.

use std::{marker::PhantomData, sync::Arc};

use punctual_sched::dynamic::{SchedulingParameters, SheddingPolicy, TimedWork};
use scopeguard::ScopeGuard;

use crate::{
    activations::{self, OpaqueParameters, SegmentHandle, SegmentSpec},
    endsystem::Endsystem,
    error::SchedulingError,
};

/// A scheduling segment that ends with its scope; from [`Current::segment`](crate::Current::segment). It
/// stays on the OS thread that began it.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
/// use punctual::rtscheduling::{RtScheduling, SchedulingError, SchedulingParameters, Segment};
///
/// fn correlate(segment: &Segment<'_>) -> Result<(), SchedulingError> {
///     segment.update(SchedulingParameters::Importance { importance: 9 })
/// }
///
/// let scheduling = RtScheduling::builder().build()?;
/// scheduling.current().segment("track", SchedulingParameters::Importance { importance: 5 }, correlate)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Segment<'s> {
    endsystem: &'s Arc<Endsystem>,
    name: &'s str,
    on_this_thread: PhantomData<*const ()>,
}

impl Segment<'_> {
    /// Returns the name of the segment.
    pub fn name(&self) -> &str {
        self.name
    }

    /// Updates the parameters of the segment, which must be the innermost one: `update_scheduling_segment`. A
    /// scheduling point.
    ///
    /// # Errors
    /// Like [`Current::update_scheduling_segment`](crate::Current::update_scheduling_segment): BAD_PARAM inside
    /// a nested segment.
    pub fn update(&self, parameters: SchedulingParameters) -> Result<(), SchedulingError> {
        activations::update(self.endsystem, self.name, parameters, None)
    }
}

/// Runs `work` in a segment.
pub(crate) fn run<R, E: From<SchedulingError>>(
    endsystem: &Arc<Endsystem>,
    name: &str,
    parameters: SchedulingParameters,
    implicit: Option<SchedulingParameters>,
    timed: Option<(TimedWork, SheddingPolicy)>,
    work: impl FnOnce(&Segment<'_>) -> Result<R, E>,
) -> Result<R, E> {
    let handle = activations::begin(
        endsystem,
        &SegmentSpec {
            name,
            parameters,
            implicit,
            opaque: OpaqueParameters::default(),
            scoped: true,
            timed,
        },
    )?;
    let open = close_on_unwind(endsystem, handle);
    let result = work(&Segment {
        endsystem,
        name,
        on_this_thread: PhantomData,
    });
    let ended = activations::close(endsystem, ScopeGuard::into_inner(open));
    let value = result?;
    ended.map_err(SchedulingError::System)?;
    Ok(value)
}

/// Closes the segment when dropped.
pub(crate) fn close_on_unwind(
    endsystem: &Arc<Endsystem>,
    handle: SegmentHandle,
) -> ScopeGuard<SegmentHandle, impl FnOnce(SegmentHandle)> {
    scopeguard::guard(handle, |handle| {
        let _ = activations::close(endsystem, handle);
    })
}

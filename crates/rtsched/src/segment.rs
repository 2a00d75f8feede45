use std::{marker::PhantomData, sync::Arc};

use punctual_sched::dynamic::SchedulingParameters;

use crate::{SchedulingError, endsystem::Endsystem, here};

/// A scheduling segment that ends with its scope; from [`Current::segment`](crate::Current::segment). It stays on the thread of the
/// system that began it.
///
/// ```
/// use punctual_rtsched::{RtScheduling, Segment, SchedulingError};
/// use punctual_sched::dynamic::SchedulingParameters;
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
    /// Its name.
    pub fn name(&self) -> &str {
        self.name
    }

    /// Gives it other parameters: `update_scheduling_segment`. For the innermost segment. A scheduling point.
    ///
    /// # Errors
    /// As [`Current::update_scheduling_segment`](crate::Current::update_scheduling_segment): BAD_PARAM inside a nested segment.
    pub fn update(&self, parameters: SchedulingParameters) -> Result<(), SchedulingError> {
        here::update(self.endsystem, Some(self.name), parameters, None)
    }
}

/// Runs `work` in a segment.
pub(crate) fn run<R, E: From<SchedulingError>>(
    endsystem: &Arc<Endsystem>,
    name: &str,
    parameters: SchedulingParameters,
    implicit: Option<SchedulingParameters>,
    work: impl FnOnce(&Segment<'_>) -> Result<R, E>,
) -> Result<R, E> {
    let mark = here::begin(endsystem, name, parameters, implicit, true)?;
    let open = Open::new(endsystem, mark);
    let result = work(&Segment {
        endsystem,
        name,
        on_this_thread: PhantomData,
    });
    let ended = open.close();
    let value = result?;
    ended.map_err(SchedulingError::System)?;
    Ok(value)
}

/// Closes the segment on every way out, also where the work panics.
pub(crate) struct Open<'s> {
    endsystem: &'s Arc<Endsystem>,
    mark: Option<here::Mark>,
}

impl<'s> Open<'s> {
    pub(crate) fn new(endsystem: &'s Arc<Endsystem>, mark: here::Mark) -> Self {
        Self {
            endsystem,
            mark: Some(mark),
        }
    }

    fn close(mut self) -> Result<(), punctual_types::SystemException> {
        let mark = self.mark.take().expect("closed once");
        here::close(self.endsystem, mark)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let Some(mark) = self.mark.take() {
            let _ = here::close(self.endsystem, mark);
        }
    }
}

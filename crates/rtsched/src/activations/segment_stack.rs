//! Open scheduling segments of one OS thread.

use std::time::Duration;

use punctual_os::clock;
use punctual_sched::dynamic::{SchedulingParameters, SheddingPolicy, TimedWork};

use crate::{dispatcher::Watch, wire::UnknownParameters};

/// Segments of all activations on an OS thread. Only the first `depth` are open; the others keep the memory
/// of their names.
pub(super) struct SegmentStack {
    segments: Vec<OpenSegment>,
    depth: usize,
}

pub(super) struct OpenSegment {
    pub(super) name: String,
    /// Whether a scope ends it.
    pub(super) scoped: bool,
    pub(super) values: SegmentValues,
}

/// Values of a segment that an update changes.
#[derive(Clone, Copy)]
pub(super) struct SegmentValues {
    pub(super) parameters: SchedulingParameters,
    pub(super) implicit: Option<SchedulingParameters>,
    pub(super) opaque: OpaqueParameters,
    /// Processor time of the OS thread at the beginning of the segment, where its parameters depend on it.
    pub(super) began_at: Option<Duration>,
    /// Work that may be shed.
    pub(super) watch: Option<Watch>,
}

/// Parameters of unknown disciplines that arrived with the thread; they travel on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpaqueParameters {
    pub(crate) own: Option<UnknownParameters>,
    pub(crate) implicit: Option<UnknownParameters>,
}

/// A segment to begin.
#[derive(Clone, Copy)]
pub(crate) struct SegmentSpec<'a> {
    pub(crate) name: &'a str,
    pub(crate) parameters: SchedulingParameters,
    /// Parameters of threads spawned in it; `None`: those of the segment.
    pub(crate) implicit: Option<SchedulingParameters>,
    pub(crate) opaque: OpaqueParameters,
    /// Whether a scope ends it.
    pub(crate) scoped: bool,
    /// Its work and the policy for it; `None`: as its parameters and the endsystem state.
    pub(crate) timed: Option<(TimedWork, SheddingPolicy)>,
}

impl SegmentStack {
    pub(super) const fn new() -> Self {
        Self {
            segments: Vec::new(),
            depth: 0,
        }
    }

    /// Returns the number of open segments.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Begins a segment; returns the processor time of the OS thread, where the parameters depend on it.
    pub(super) fn push(&mut self, spec: &SegmentSpec<'_>, watch: Option<Watch>) -> Option<Duration> {
        let began_at = needs_processor_time(&spec.parameters).then(clock::thread_cpu_time);
        let values = SegmentValues {
            parameters: spec.parameters,
            implicit: spec.implicit,
            opaque: spec.opaque,
            began_at,
            watch,
        };
        if self.depth == self.segments.len() {
            self.segments.push(OpenSegment {
                name: String::with_capacity(64),
                scoped: spec.scoped,
                values,
            });
        }
        let segment = &mut self.segments[self.depth];
        segment.name.clear();
        segment.name.push_str(spec.name);
        segment.scoped = spec.scoped;
        segment.values = values;
        self.depth += 1;
        began_at
    }

    /// Ends all segments above the first `depth`.
    pub(super) fn truncate(&mut self, depth: usize) {
        self.depth = self.depth.min(depth);
    }

    /// Returns the innermost open segment; each activation has at least one.
    pub(super) fn innermost(&mut self) -> &mut OpenSegment {
        &mut self.segments[self.depth - 1]
    }

    /// Work of the innermost segment from `first` on that may be shed.
    pub(super) fn watch(&self, first: usize) -> Option<Watch> {
        let open = self.segments.get(first..self.depth)?;
        open.last()?.values.watch
    }

    /// Names of the open segments from `first` on, the innermost first.
    pub(super) fn names(&self, first: usize) -> Vec<String> {
        let open = self.segments[first..self.depth].iter().rev();
        open.map(|segment| segment.name.clone()).collect()
    }

    /// Returns whether a segment from `first` on counts processor time.
    pub(super) fn count_processor_time(&self, first: usize) -> bool {
        let mut open = self.segments[first..self.depth].iter();
        open.any(|segment| segment.values.counts_processor_time())
    }

    /// Moves the beginnings of the segments from `first` on.
    pub(super) fn postpone(&mut self, first: usize, by: Duration) {
        for segment in &mut self.segments[first..self.depth] {
            let SegmentValues { began_at, watch, .. } = &mut segment.values;
            let watched = watch.as_mut().and_then(|watch| watch.began_at.as_mut());
            for began_at in began_at.iter_mut().chain(watched) {
                *began_at += by;
            }
        }
    }
}

impl SegmentValues {
    fn counts_processor_time(&self) -> bool {
        self.began_at.is_some() || self.watch.is_some_and(|watch| watch.began_at.is_some())
    }

    /// Sets other parameters; `implicit`: `None` leaves them. `watch`: the work that they describe.
    pub(super) fn update(
        &mut self,
        parameters: SchedulingParameters,
        implicit: Option<SchedulingParameters>,
        watch: Option<Watch>,
    ) {
        self.parameters = parameters;
        if self.watch.is_none_or(|watch| watch.by_parameters) {
            self.watch = watch;
        }
        self.opaque.own = None;
        if implicit.is_some() {
            self.implicit = implicit;
            self.opaque.implicit = None;
        }
        if self.began_at.is_none() && needs_processor_time(&parameters) {
            self.began_at = Some(clock::thread_cpu_time());
        }
    }
}

fn needs_processor_time(parameters: &SchedulingParameters) -> bool {
    parameters.execution_time().is_some() || parameters.user().is_some()
}

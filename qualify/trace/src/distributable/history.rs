//! Activities of one distributable thread, derived from its records.

use std::collections::HashSet;

use super::{DistributableThread, Doing, Hop, Location, Moment, Span, What};

/// Derives the activities of one distributable thread from its records, in order. `None`: it was in no
/// segment.
pub(super) fn history(
    moments: &[Moment],
    scheduled: &HashSet<i32>,
    end_ns: u64,
) -> Option<DistributableThread> {
    let mut history = History {
        scheduled,
        open: Vec::new(),
        runs_in: None,
        since_ns: 0,
        done: Vec::new(),
        hops: Vec::new(),
    };
    for moment in moments {
        history.take(moment);
    }
    history.close(0, end_ns);
    history.done.sort_by_key(|(depth, span)| (span.from_ns, *depth));
    let spans: Vec<_> = history.done.into_iter().map(|(_, span)| span).collect();
    let name = spans.iter().find_map(|span| match &span.what {
        Doing::Segment { name, .. } => Some(name.clone()),
        _ => None,
    });
    Some(DistributableThread {
        name: name?,
        spans,
        hops: history.hops,
        ..DistributableThread::default()
    })
}

struct History<'a> {
    scheduled: &'a HashSet<i32>,
    /// Present segments and calls, innermost last.
    open: Vec<Open>,
    /// Process whose scheduler lets it run.
    runs_in: Option<i32>,
    /// Start of the present activity in the innermost one.
    since_ns: u64,
    /// Finished spans, with their nesting depths.
    done: Vec<(usize, Span)>,
    hops: Vec<Hop>,
}

struct Open {
    from_ns: u64,
    location: Location,
    what: Doing,
    /// Whether the call has arrived anywhere.
    arrived: bool,
    /// Where and when the call has ended.
    left: Option<(Location, u64)>,
}

impl Open {
    fn is_call(&self) -> bool {
        self.what == Doing::Call
    }
}

impl History<'_> {
    fn take(&mut self, moment: &Moment) {
        let Moment { at_ns, location, .. } = *moment;
        match &moment.what {
            What::Begins(name) => self.begin(name, location, at_ns),
            What::Ends => {
                let its_segment = |open: &Open| open.location == location && !open.is_call();
                if let Some(at) = self.open.iter().rposition(its_segment) {
                    self.close(at, at_ns);
                    if let Some(call) = self.open.last_mut().filter(|open| open.is_call()) {
                        call.left = Some((location, at_ns));
                    }
                }
            }
            What::Leaves if !self.open.is_empty() => self.push(Doing::Call, location, at_ns),
            What::Returns => {
                let its_call = |open: &Open| open.location == location && open.is_call();
                if let Some(at) = self.open.iter().rposition(its_call) {
                    let to = (location, at_ns);
                    // Everything that is still open in it was abandoned.
                    let left = self.open[at].left.filter(|_| at + 1 == self.open.len());
                    self.hops.extend(left.map(|from| Hop {
                        from,
                        to,
                        returns: true,
                    }));
                    self.close(at, at_ns);
                }
            }
            What::Updates => {
                let segment = self.open.last_mut().map(|open| &mut open.what);
                if let Some(Doing::Segment { updated_ns, .. }) = segment {
                    updated_ns.push(at_ns);
                }
            }
            What::Resumed => self.run(Some(location.process), at_ns),
            // It may have continued elsewhere: a caller that has timed out does not wait for the other host.
            What::Suspended if self.runs_in == Some(location.process) => self.run(None, at_ns),
            What::Leaves | What::Suspended | What::Spawns(_) => {}
        }
    }

    fn begin(&mut self, name: &str, location: Location, at_ns: u64) {
        let around = self.open.last_mut();
        let arrives = around
            .as_ref()
            .is_none_or(|around| around.is_call() || around.location != location);
        if let Some(call) = around.filter(|around| around.is_call() && !around.arrived) {
            call.arrived = true;
            let from = (call.location, call.from_ns);
            let to = (location, at_ns);
            self.hops.push(Hop {
                from,
                to,
                returns: false,
            });
        }
        let name = name.to_owned();
        let what = Doing::Segment {
            name,
            arrives,
            updated_ns: Vec::new(),
        };
        self.push(what, location, at_ns);
    }

    fn push(&mut self, what: Doing, location: Location, from_ns: u64) {
        self.record_until(from_ns);
        self.open.push(Open {
            from_ns,
            location,
            what,
            arrived: false,
            left: None,
        });
    }

    /// Ends the entry at this depth, and those within it.
    fn close(&mut self, depth: usize, at_ns: u64) {
        self.record_until(at_ns);
        for (around, open) in self.open.drain(depth..).enumerate() {
            let span = Span {
                from_ns: open.from_ns,
                until_ns: at_ns,
                location: open.location,
                what: open.what,
            };
            self.done.push((depth + around, span));
        }
    }

    fn run(&mut self, runs_in: Option<i32>, at_ns: u64) {
        if self.runs_in != runs_in {
            self.record_until(at_ns);
            self.runs_in = runs_in;
        }
    }

    /// Records the activity in the innermost segment.
    fn record_until(&mut self, at_ns: u64) {
        let from_ns = std::mem::replace(&mut self.since_ns, at_ns);
        let Some(segment) = self.open.last().filter(|open| !open.is_call()) else {
            return;
        };
        let location = segment.location;
        let what = if !self.scheduled.contains(&location.process) {
            Doing::Present
        } else if self.runs_in == Some(location.process) {
            Doing::Running
        } else {
            Doing::Suspended
        };
        if from_ns < at_ns {
            let span = Span {
                from_ns,
                until_ns: at_ns,
                location,
                what,
            };
            self.done.push((self.open.len(), span));
        }
    }
}

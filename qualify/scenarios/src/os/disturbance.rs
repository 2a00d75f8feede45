//! Disturbances of the measured CPU by interrupts and holes, and the samples that they affect.

use std::collections::BTreeSet;

use punctual_harness::{Hole, Latencies, Row, Span, withheld_cpu};
use punctual_os::CpuSet;
use punctual_trace::{
    event::{Interrupt, What},
    kernel::KernelTrace,
};

use super::samples::Sample;

/// Interrupts and holes of the measured CPU.
pub(crate) struct Disturbances {
    /// In ascending order, without overlaps; or why nothing was recorded.
    pub(crate) interruptions: Result<Vec<Interruption>, String>,
    pub(crate) holes: Vec<Hole>,
    pub(crate) stamp_ns: u64,
}

/// A span in which the CPU handled interrupts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Interruption {
    pub(crate) span: Span,
    pub(crate) kinds: BTreeSet<Interrupt>,
}

/// The distribution of samples: raw, corrected and undisturbed.
pub(crate) struct Evaluated {
    /// Measured values.
    pub(crate) raw: Latencies,
    /// Without the cost of reading the clock.
    pub(crate) corrected: Latencies,
    /// The corrected samples without a recorded disturbance.
    pub(crate) quiet: Latencies,
    /// Number of disturbed samples; `None` if interrupts were not recorded.
    pub(crate) disturbed: Option<u64>,
    /// Cause of the longest sample.
    pub(crate) cause_of_maximum: String,
    /// Whether the cause is a recorded hole.
    pub(crate) maximum_in_hole: bool,
}

impl Disturbances {
    pub(crate) fn new(
        trace: Result<KernelTrace, String>,
        holes: Vec<Hole>,
        pinned: &CpuSet,
        stamp_ns: u64,
    ) -> Self {
        Self {
            interruptions: trace.map(|trace| interruptions(&trace, pinned)),
            holes,
            stamp_ns,
        }
    }

    /// Evaluates samples between two readings of the clock. `more_ns` is subtracted from each, in addition to
    /// the cost of the clock.
    pub(crate) fn evaluate(&self, samples: &[Sample], more_ns: u64) -> Evaluated {
        self.evaluate_without(samples, self.stamp_ns + more_ns)
    }

    /// Evaluates samples that start at a time known beforehand, so that only their end was read.
    pub(crate) fn evaluate_half(&self, samples: &[Sample]) -> Evaluated {
        self.evaluate_without(samples, self.stamp_ns / 2)
    }

    fn evaluate_without(&self, samples: &[Sample], excess_ns: u64) -> Evaluated {
        let mut evaluated = Evaluated {
            raw: Latencies::new(),
            corrected: Latencies::new(),
            quiet: Latencies::new(),
            disturbed: self.interruptions.is_ok().then_some(0),
            cause_of_maximum: String::new(),
            maximum_in_hole: false,
        };
        for sample in samples {
            let corrected = sample.1.saturating_sub(excess_ns);
            evaluated.raw.record(sample.1);
            evaluated.corrected.record(corrected);
            if !self.disturbs(sample.span()) {
                evaluated.quiet.record(corrected);
            } else if let Some(disturbed) = &mut evaluated.disturbed {
                *disturbed += 1;
            }
        }
        if let Some(longest) = samples.iter().max_by_key(|sample| sample.1) {
            evaluated.cause_of_maximum = self.cause(longest.span());
            evaluated.maximum_in_hole = self.is_in_hole(longest.span());
        }
        evaluated
    }

    fn disturbs(&self, span: Span) -> bool {
        self.interruption_in(span).is_some() || self.is_in_hole(span)
    }

    /// Returns whether a part of the span is in a hole that excuses it, a time of at least 20 ms in which
    /// kernel or host withheld the CPU.
    pub(crate) fn is_in_hole(&self, span: Span) -> bool {
        self.holes.iter().any(|hole| hole.excuses(span))
    }

    /// Returns the first interruption that overlaps the span.
    pub(crate) fn interruption_in(&self, span: Span) -> Option<&Interruption> {
        let all = self.interruptions.as_ref().ok()?;
        let first = all.partition_point(|one| one.span.end_ns <= span.start_ns);
        all.get(first).filter(|one| overlap(one.span, span))
    }

    /// Returns what is known about the cause of a long span.
    pub(crate) fn cause(&self, span: Span) -> String {
        if self.holes.iter().any(|hole| overlap(hole.span(), span)) {
            return withheld_cpu::cause_of(span, &self.holes);
        }
        match (&self.interruptions, self.interruption_in(span)) {
            (_, Some(found)) => {
                let kinds: Vec<_> = found.kinds.iter().map(ToString::to_string).collect();
                let handling_us = (found.span.end_ns - found.span.start_ns) as f64 / 1000.0;
                format!("{} ({handling_us:.1} µs of it)", kinds.join(", "))
            }
            (Ok(_), None) => "no recorded interrupt: kernel, caches or host".to_owned(),
            (Err(reason), None) => format!("unknown: {}", reason.split(':').next().unwrap_or_default()),
        }
    }
}

impl Evaluated {
    /// Adds the columns: corrected figures by the usual names, raw figures, and disturbances.
    pub(crate) fn row(&self, row: Row) -> Row {
        let raw = self.raw.summary();
        // Without a recording, undisturbed samples are unknown.
        let quiet = self.disturbed.map(|_| self.quiet.summary());
        row.with("count", self.raw.count())
            .with_fields(&self.corrected.summary())
            .with("max_cause", self.cause_of_maximum.as_str())
            .with("disturbed", self.disturbed)
            .with("undisturbed_p99_us", quiet.and_then(|quiet| quiet.p99_us))
            .with("undisturbed_max_us", quiet.and_then(|quiet| quiet.max_us))
            .with("raw_mean_us", raw.mean_us)
            .with("raw_p50_us", raw.p50_us)
    }
}

fn overlap(one: Span, other: Span) -> bool {
    one.start_ns < other.end_ns && other.start_ns < one.end_ns
}

/// Returns the interruptions of the pinned CPU; nested interrupts form one interruption.
fn interruptions(trace: &KernelTrace, pinned: &CpuSet) -> Vec<Interruption> {
    let mut found: Vec<Interruption> = Vec::new();
    let mut open: Vec<(Interrupt, u64)> = Vec::new();
    for event in trace
        .events
        .iter()
        .filter(|event| pinned.contains(event.cpu as usize))
    {
        match event.what {
            What::InterruptBegin(kind) => open.push((kind, event.time_ns)),
            What::InterruptEnd(kind) => {
                let Some(place) = open.iter().rposition(|(begun, _)| *begun == kind) else {
                    // It began before the recording.
                    continue;
                };
                let (_, start_ns) = open[place];
                // Interrupts that began within it and have no recorded end ended with it.
                let kinds: BTreeSet<_> = open.drain(place..).map(|(kind, _)| kind).collect();
                let span = Span {
                    start_ns,
                    end_ns: event.time_ns,
                };
                match found.last_mut() {
                    Some(last) if last.span.end_ns >= span.start_ns => {
                        last.span.start_ns = last.span.start_ns.min(span.start_ns);
                        last.span.end_ns = span.end_ns;
                        last.kinds.extend(kinds);
                    }
                    _ => found.push(Interruption { span, kinds }),
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use punctual_harness::withheld_cpu::HoleSource;
    use punctual_trace::event::KernelEvent;

    use super::*;

    const TIMER: Interrupt = Interrupt::Timer;
    const SOFT: Interrupt = Interrupt::Soft(1);

    fn trace(events: &[(u64, u32, What)]) -> KernelTrace {
        let event = |&(time_ns, cpu, what): &(u64, u32, What)| KernelEvent { time_ns, cpu, what };
        KernelTrace {
            events: events.iter().map(event).collect(),
            ..KernelTrace::default()
        }
    }

    fn disturbances(holes: Vec<Hole>) -> Disturbances {
        let trace = trace(&[
            (90, 1, What::InterruptEnd(TIMER)),
            (100, 1, What::InterruptBegin(TIMER)),
            (103, 0, What::InterruptBegin(TIMER)),
            (105, 1, What::InterruptBegin(SOFT)),
            (107, 1, What::InterruptEnd(SOFT)),
            (110, 1, What::InterruptEnd(TIMER)),
            (500, 1, What::InterruptBegin(SOFT)),
            (504, 1, What::InterruptEnd(SOFT)),
        ]);
        Disturbances::new(Ok(trace), holes, &CpuSet::single(1), 2)
    }

    #[test]
    fn nested_interrupts_of_the_cpu_are_one_interruption() {
        let found = disturbances(Vec::new()).interruptions.unwrap();
        let span = |start_ns, end_ns| Span { start_ns, end_ns };
        let expected = [
            (span(100, 110), BTreeSet::from([TIMER, SOFT])),
            (span(500, 504), BTreeSet::from([SOFT])),
        ];
        assert_eq!(found, expected.map(|(span, kinds)| Interruption { span, kinds }));
    }

    #[test]
    fn disturbed_samples_are_counted_and_the_maximum_has_a_cause() {
        let samples = [Sample(10, 20), Sample(95, 40), Sample(200, 20), Sample(499, 2)];
        let evaluated = disturbances(Vec::new()).evaluate(&samples, 3);
        assert_eq!(
            (
                evaluated.raw.count(),
                evaluated.quiet.count(),
                evaluated.disturbed
            ),
            (4, 2, Some(2))
        );
        assert_eq!(evaluated.corrected.summary().max_us, Some(0.035));
        assert_eq!(evaluated.quiet.summary().max_us, Some(0.015));
        assert!(
            evaluated
                .cause_of_maximum
                .starts_with("timer interrupt, softirq TIMER"),
            "{}",
            evaluated.cause_of_maximum
        );
    }

    #[test]
    fn a_hole_takes_precedence_over_an_interrupt_as_cause() {
        let hole = Hole {
            start_ns: 90,
            length_ns: 30_000_000,
            source: HoleSource::OtherTasks,
        };
        let evaluated = disturbances(vec![hole]).evaluate(&[Sample(95, 31_000_000)], 0);
        assert_eq!(
            evaluated.cause_of_maximum,
            "a hole of 29 ms: the CPU ran other tasks"
        );
        assert_eq!(evaluated.quiet.count(), 0);
    }

    #[test]
    fn without_a_recording_disturbed_samples_are_unknown() {
        let nothing = Disturbances::new(
            Err("no rights: be root".to_owned()),
            Vec::new(),
            &CpuSet::single(1),
            0,
        );
        let evaluated = nothing.evaluate(&[Sample(95, 40)], 0);
        assert_eq!(evaluated.disturbed, None);
        assert_eq!(evaluated.cause_of_maximum, "unknown: no rights");
    }
}

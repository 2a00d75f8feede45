//! Waits of one client for less important work.

use std::collections::BTreeMap;

use punctual_harness::Span;
use punctual_trace::{Analysis, Inversion, Names, event::ThreadId, request::Request};

/// The time in which a client's thread or one of its requests was ready while something less important ran.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Inverted {
    /// Number of intervals; overlapping ones count once.
    pub(super) waits: usize,
    pub(super) total_ns: u64,
    pub(super) longest_ns: u64,
    /// Name of what ran longest during the waits.
    pub(super) mostly_for: Option<String>,
}

impl Inverted {
    /// Finds the waits of the client with this thread, within a span, on a CPU. A thread and its request can
    /// wait at the same time, which counts once.
    pub(super) fn of(
        client: ThreadId,
        within: Span,
        cpu: usize,
        analysis: &Analysis,
        requests: &[Request],
        names: &Names,
    ) -> Self {
        let is_ours = |found: &&Inversion| {
            let request = found.waiter.request.and_then(|place| requests.get(place));
            let waits = request.map_or(found.waiter.thread, |request| request.client);
            waits == client
                && found.cpu as usize == cpu
                && (within.start_ns..within.end_ns).contains(&found.start_ns)
        };
        // In the order of start.
        let found = || analysis.inversions.iter().filter(is_ours);
        let mut inverted = Self {
            mostly_for: mostly_for(found(), names),
            ..Self::default()
        };
        let mut last: Option<Span> = None;
        for found in found() {
            let end_ns = found.start_ns + found.length_ns;
            match &mut last {
                Some(last) if found.start_ns <= last.end_ns => last.end_ns = last.end_ns.max(end_ns),
                _ => {
                    inverted.add(last);
                    last = Some(Span {
                        start_ns: found.start_ns,
                        end_ns,
                    });
                }
            }
        }
        inverted.add(last);
        inverted
    }

    fn add(&mut self, wait: Option<Span>) {
        if let Some(wait) = wait {
            let length = wait.end_ns - wait.start_ns;
            self.waits += 1;
            self.total_ns += length;
            self.longest_ns = self.longest_ns.max(length);
        }
    }
}

fn mostly_for<'i>(found: impl Iterator<Item = &'i Inversion>, names: &Names) -> Option<String> {
    let mut ran: BTreeMap<String, u64> = BTreeMap::new();
    for culprit in found.flat_map(|found| &found.culprits) {
        *ran.entry(names.who(culprit.who)).or_default() += culprit.ran_ns;
    }
    let longest = ran.into_iter().max_by_key(|(_, ran_ns)| *ran_ns);
    longest.map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use punctual_trace::{
        event::Interrupt,
        inversion::{Culprit, Waiter, Waiting, Who},
    };

    use super::*;

    fn inversion(thread: ThreadId, cpu: u32, start_ns: u64, length_ns: u64) -> Inversion {
        Inversion {
            waiter: Waiter {
                thread,
                level: None,
                request: None,
                state: Waiting::Ready,
            },
            cpu,
            start_ns,
            length_ns,
            culprits: vec![Culprit {
                who: Who::Interrupt(Interrupt::Timer),
                ran_ns: length_ns,
            }],
        }
    }

    #[test]
    fn overlapping_waits_of_the_client_count_once() {
        let analysis = Analysis {
            inversions: vec![
                inversion(7, 1, 100, 50),
                inversion(7, 1, 120, 10),
                inversion(7, 1, 140, 20),
                inversion(8, 1, 150, 500),
                inversion(7, 0, 200, 500),
                inversion(7, 1, 1_000, 5),
                inversion(7, 1, 9_000, 5),
            ],
            holes: Vec::new(),
        };
        let within = Span {
            start_ns: 0,
            end_ns: 5_000,
        };
        let inverted = Inverted::of(7, within, 1, &analysis, &[], &Names::default());
        let expected = Inverted {
            waits: 2,
            total_ns: 65,
            longest_ns: 60,
            mostly_for: Some("timer interrupt".into()),
        };
        assert_eq!(inverted, expected);
        let other = Inverted::of(9, within, 1, &analysis, &[], &Names::default());
        assert_eq!(other, Inverted::default());
    }
}

//! Rows of the budgets of slow calls.

use std::collections::{BTreeMap, BTreeSet};

use punctual_harness::Row;

use super::{Names, hole_source, kind_of};
use crate::budget::{Budget, Cause, Explanation, Kind, Part, Span, Stage};
use crate::event::{Level, ThreadId};
use crate::request::Request;

/// Number of causes named per span; the others are summed.
const NAMED: usize = 4;

/// Returns one row per call, slowest first, followed by one per span. They share the rank of the call, from
/// 1.
pub fn slow_calls(explanation: &Explanation, requests: &[Request], names: &Names) -> Vec<Row> {
    let mut rows = Vec::new();
    for (number, budget) in explanation.budgets.iter().enumerate() {
        let describer = Describer { requests, names };
        rows.push(describer.call(number + 1, budget));
        rows.extend(
            budget
                .spans
                .iter()
                .map(|span| describer.span(number + 1, budget, span)),
        );
    }
    rows
}

/// Returns one row per kind of cause in a stage, over all budgets, the largest first.
pub fn blame(explanation: &Explanation, requests: &[Request], names: &Names) -> Vec<Row> {
    #[derive(Default)]
    struct Group {
        calls: BTreeSet<usize>,
        levels: BTreeSet<Level>,
        total_ns: u64,
        longest_ns: u64,
    }
    #[derive(Clone, Eq, Ord, PartialEq, PartialOrd)]
    struct Key {
        stage: Stage,
        kind: Kind,
        what: String,
    }
    let describer = Describer { requests, names };
    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    for budget in &explanation.budgets {
        // The work of several threads of one kind in a stage of a call is summed here.
        let mut of_call: BTreeMap<Key, u64> = BTreeMap::new();
        for (stage, Part { cause, length_ns }) in parts_of(budget) {
            let key = Key {
                stage,
                kind: cause.kind(),
                what: describer.what(cause, Detail::Kind),
            };
            *of_call.entry(key.clone()).or_default() += length_ns;
            groups.entry(key).or_default().levels.extend(cause.level());
        }
        for (key, length_ns) in of_call {
            let group = groups.entry(key).or_default();
            group.calls.insert(budget.request);
            group.total_ns += length_ns;
            group.longest_ns = group.longest_ns.max(length_ns);
        }
    }
    let all: u64 = explanation.budgets.iter().map(|budget| budget.length_ns).sum();
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.total_ns));
    let row = |(key, group): (Key, Group)| {
        let (lowest, highest) = (group.levels.first(), group.levels.last());
        Row::new()
            .with("kind", "blame")
            .with("span", key.stage.name())
            .with("what", key.what)
            .with("lowest_level", lowest.map(|level| level.0))
            .with("highest_level", highest.map(|level| level.0))
            .with("cause", key.kind.name())
            .with("calls", group.calls.len())
            .with("total_us", group.total_ns as f64 / 1e3)
            .with("share_percent", percent(group.total_ns, all))
            .with("longest_us", group.longest_ns as f64 / 1e3)
    };
    groups.into_iter().map(row).collect()
}

fn parts_of(budget: &Budget) -> impl Iterator<Item = (Stage, Part)> {
    let of_span = |span: &Span| {
        span.parts
            .iter()
            .map(|part| (span.stage, *part))
            .collect::<Vec<_>>()
    };
    budget.spans.iter().flat_map(of_span)
}

/// Level of detail: single threads and requests, or their kinds.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Detail {
    Single,
    Kind,
}

struct Describer<'a> {
    requests: &'a [Request],
    names: &'a Names,
}

impl Describer<'_> {
    fn call(&self, number: usize, budget: &Budget) -> Row {
        let request = &self.requests[budget.request];
        let server = request.service.as_ref().map(|service| service.thread);
        let most = budget.spans.iter().filter_map(|span| {
            let longest = self.described(&span.parts).into_iter().next()?;
            Some((span.stage, longest))
        });
        let most = most.max_by_key(|(_, (_, length_ns))| *length_ns);
        let mostly = most.map(|(stage, (what, length_ns))| {
            format!("{}: {what} {}", stage.name(), microseconds(length_ns))
        });
        Row::new()
            .with("kind", "slow call")
            .with("call", number)
            .with("at_s", self.names.seconds(budget.start_ns))
            .with("latency_us", budget.length_ns as f64 / 1e3)
            .with("operation", self.names.operation(request.operation))
            .with("request", request.id)
            .with("client", self.names.thread(request.client))
            .with("client_thread", request.client)
            .with("level", budget.level.map(|level| level.0))
            .with("corba_priority", request.priority)
            .with(
                "server",
                server.map(|thread| self.names.thread(thread).to_owned()),
            )
            .with("server_thread", server)
            .with("mostly", mostly)
    }

    fn span(&self, number: usize, budget: &Budget, span: &Span) -> Row {
        let row = Row::new()
            .with("kind", "span")
            .with("call", number)
            .with("span", span.stage.name())
            .with("thread", self.names.thread(span.thread))
            .with("length_us", span.length_ns as f64 / 1e3)
            .with("share_percent", percent(span.length_ns, budget.length_ns))
            .with("what", self.parts(&span.parts));
        let of_kind = |kind: Kind| {
            let parts = span.parts.iter().filter(move |part| part.cause.kind() == kind);
            parts.map(|part| part.length_ns).sum::<u64>()
        };
        Kind::ALL.into_iter().fold(row, |row, kind| {
            row.with(format!("{}_us", kind.id()), of_kind(kind) as f64 / 1e3)
        })
    }

    /// Returns causes with their durations, longest first. Threads and requests are named if they are the
    /// only ones of their kind.
    fn described(&self, parts: &[Part]) -> Vec<(String, u64)> {
        struct Group {
            kind: String,
            first: String,
            length_ns: u64,
            is_one: bool,
        }
        let mut groups: Vec<Group> = Vec::new();
        for Part { cause, length_ns } in parts {
            let kind = self.what(*cause, Detail::Kind);
            let single = self.what(*cause, Detail::Single);
            match groups.iter_mut().find(|group| group.kind == kind) {
                Some(group) => {
                    group.length_ns += length_ns;
                    group.is_one &= group.first == single;
                }
                None => groups.push(Group {
                    kind,
                    first: single,
                    length_ns: *length_ns,
                    is_one: true,
                }),
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.length_ns));
        let groups = groups.into_iter().map(|group| {
            let text = if group.is_one { group.first } else { group.kind };
            (text, group.length_ns)
        });
        groups.collect()
    }

    fn parts(&self, parts: &[Part]) -> String {
        let mut described = self.described(parts);
        let others = described.split_off(described.len().min(NAMED));
        if !others.is_empty() {
            let sum = others.iter().map(|(_, length)| length).sum();
            described.push((format!("{} more", others.len()), sum));
        }
        let texts = described
            .iter()
            .map(|(what, length)| format!("{what} {}", microseconds(*length)));
        texts.collect::<Vec<_>>().join("; ")
    }

    fn what(&self, cause: Cause, detail: Detail) -> String {
        match cause {
            Cause::Ran => "ran".to_owned(),
            Cause::RanSilently => "ran, or the host held its CPU back: nothing was recorded".to_owned(),
            Cause::OtherSide => "the other side of the call ran".to_owned(),
            Cause::Held {
                thread,
                level,
                inverted,
                request,
            } => {
                let less = if inverted { ", less important," } else { "" };
                let who = self.who(thread, level, request, detail);
                format!("{who}{less} had the CPU")
            }
            Cause::Interrupt(interrupt) => interrupt.to_string(),
            Cause::Starting => "woken, and its CPU had nothing else to do".to_owned(),
            Cause::Behind { request, inverted } => {
                let other = &self.requests[request];
                let less = if inverted { "less important " } else { "" };
                let caller = self.name(other.client, detail);
                match detail {
                    Detail::Single => {
                        let operation = self.names.operation(other.operation);
                        format!("busy with {less}request {} of {caller}, {operation},", other.id)
                    }
                    Detail::Kind => format!("busy with a {less}request of {caller}"),
                }
            }
            Cause::Undelivered { by: None } => "not delivered yet".to_owned(),
            Cause::Undelivered { by: Some((0, _)) } => {
                "not delivered yet, the sender's CPU being idle".to_owned()
            }
            Cause::Undelivered {
                by: Some((thread, level)),
            } => {
                let who = self.who(thread, level, None, detail);
                format!("not delivered yet, while {who} had the sender's CPU")
            }
            Cause::Slept => "slept".to_owned(),
            Cause::Called { request } => {
                let operation = self.names.operation(self.requests[request].operation);
                format!("waited for its own call of {operation}")
            }
            Cause::Hole(source) => format!("held back ({})", hole_source(source)),
            Cause::Unknown => "not recorded".to_owned(),
        }
    }

    fn who(&self, thread: ThreadId, level: Level, request: Option<usize>, detail: Detail) -> String {
        let name = self.name(thread, detail);
        let caller = request.map_or(String::new(), |place| {
            format!(", serving {}", self.name(self.requests[place].client, detail))
        });
        match detail {
            Detail::Single => format!("{name} (thread {thread}, {level}{caller})"),
            Detail::Kind => name,
        }
    }

    fn name(&self, thread: ThreadId, detail: Detail) -> String {
        let name = self.names.thread(thread);
        match detail {
            Detail::Single => name.to_owned(),
            Detail::Kind => kind_of(name),
        }
    }
}

fn microseconds(length_ns: u64) -> String {
    format!("{:.1} µs", length_ns as f64 / 1e3)
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    (1000.0 * part as f64 / whole as f64).round() / 10.0
}

#[cfg(test)]
mod tests {
    use punctual_flight::{Link, operation_id};

    use super::*;
    use crate::event::Interrupt;

    fn request(id: u32, client: ThreadId) -> Request {
        Request {
            id,
            link: Link::of_ports(40_000, 2809),
            operation: operation_id("method"),
            priority: Some(5),
            client,
            client_process: 5,
            begin_ns: 1_000,
            encoded_ns: 2_000,
            sent_ns: 3_000,
            received_ns: Some(4_000),
            end_ns: 11_000,
            failed: false,
            service: None,
        }
    }

    fn held(thread: ThreadId, inverted: bool) -> Cause {
        Cause::Held {
            thread,
            level: Level(80),
            inverted,
            request: None,
        }
    }

    /// Returns a call of 10 µs with a span of these parts; the rest was not recorded.
    fn budget(place: usize, parts: &[(Cause, u64)]) -> Budget {
        let parts = parts.iter().map(|&(cause, length_ns)| Part { cause, length_ns });
        let parts: Vec<_> = parts.collect();
        let length = parts.iter().map(|part| part.length_ns).sum();
        let span = |stage, length_ns, parts| Span {
            stage,
            thread: 51,
            start_ns: 1_000,
            length_ns,
            parts,
        };
        let rest = Part {
            cause: Cause::Unknown,
            length_ns: 10_000 - length,
        };
        Budget {
            request: place,
            level: Some(Level(50)),
            start_ns: 1_000,
            length_ns: 10_000,
            spans: vec![
                span(Stage::WakeUp, length, parts),
                span(Stage::Unrecorded, 10_000 - length, vec![rest]),
            ],
        }
    }

    fn names() -> Names {
        let threads = [
            (50, "client"),
            (51, "lane"),
            (80, "hog-1"),
            (81, "hog-2"),
            (10, "low"),
        ];
        let threads = threads.map(|(id, name)| (id, name.to_owned()));
        Names::new(threads.into(), 1_000).operations([(operation_id("method"), "method".to_owned())].into())
    }

    #[test]
    fn each_call_and_span_has_a_row() {
        let parts = [
            (held(80, false), 6_000),
            (Cause::Interrupt(Interrupt::Timer), 1_000),
            (Cause::Ran, 500),
        ];
        let explanation = Explanation {
            calls: 9,
            slow: 1,
            budgets: vec![budget(0, &parts)],
        };
        let rows = slow_calls(&explanation, &[request(7, 50)], &names());
        assert_eq!(rows.len(), 3);
        let text = |row: &Row, column: &str| row.get(column).unwrap().as_str().unwrap().to_owned();
        assert_eq!(
            (text(&rows[0], "client"), text(&rows[0], "operation")),
            ("client".to_owned(), "method".to_owned())
        );
        assert_eq!(
            text(&rows[0], "mostly"),
            "wake-up of the lane: hog-1 (thread 80, rt 80) had the CPU 6.0 µs"
        );
        assert_eq!(rows[1].number("share_percent"), Some(75.0));
        assert_eq!(
            text(&rows[1], "what"),
            "hog-1 (thread 80, rt 80) had the CPU 6.0 µs; timer interrupt 1.0 µs; ran 0.5 µs"
        );
        assert_eq!(rows[1].number("important_us"), Some(6.0));
        assert_eq!(rows[2].number("unknown_us"), Some(2.5));
    }

    #[test]
    fn threads_of_one_kind_are_summed_in_a_span() {
        let parts = [
            (held(80, true), 2_000),
            (Cause::Ran, 3_000),
            (held(81, true), 2_000),
        ];
        let explanation = Explanation {
            calls: 1,
            slow: 1,
            budgets: vec![budget(0, &parts)],
        };
        let rows = slow_calls(&explanation, &[request(7, 50)], &names());
        let expected = "hog-*, less important, had the CPU 4.0 µs; ran 3.0 µs";
        assert_eq!(rows[1].get("what").unwrap(), expected);
        let mostly = "wake-up of the lane: hog-*, less important, had the CPU 4.0 µs";
        assert_eq!(rows[0].get("mostly").unwrap(), mostly);
    }

    #[test]
    fn blame_is_summed_over_calls_and_threads_of_one_kind() {
        let explanation = Explanation {
            calls: 9,
            slow: 2,
            budgets: vec![
                budget(0, &[(held(80, false), 6_000), (held(10, true), 1_000)]),
                budget(1, &[(held(81, false), 8_000)]),
            ],
        };
        let rows = blame(&explanation, &[request(7, 50), request(8, 50)], &names());
        let short = |row: &Row| {
            let text = |column: &str| row.get(column).unwrap().as_str().unwrap().to_owned();
            (
                text("what"),
                text("cause"),
                row.number("calls").unwrap(),
                row.number("total_us").unwrap(),
            )
        };
        let important = "behind equal or higher priority".to_owned();
        assert_eq!(
            rows.iter().map(short).collect::<Vec<_>>(),
            [
                ("hog-* had the CPU".to_owned(), important, 2.0, 14.0),
                ("not recorded".to_owned(), "not recorded".to_owned(), 2.0, 5.0),
                (
                    "low, less important, had the CPU".to_owned(),
                    "behind lower priority".to_owned(),
                    1.0,
                    1.0
                ),
            ]
        );
        assert_eq!(rows[0].number("share_percent"), Some(70.0));
        assert_eq!(rows[0].number("longest_us"), Some(8.0));
        assert_eq!(
            (rows[0].number("lowest_level"), rows[1].number("lowest_level")),
            (Some(80.0), None)
        );
    }
}

//! Why single calls were slow: their time budgets, for `punctual trace` and for latency benchmarks.
//!
//! A benchmark explains calls of a separate pass, which is traced and therefore slower; its measurements are
//! not affected.

use punctual_harness::{Outcome, Row};
use punctual_report::{Chapter, Figure, Table};
use punctual_trace::{
    Names, Recorded, Session, SessionSettings,
    budget::{Kind, Stage},
    report,
    request::Request,
};

use crate::{benchmark::Benchmark, error::Error, rows::is_kind, settings::Settings};

/// The number of budgets: of the slowest calls above the limit.
const MOST: usize = 20;
/// The number of budgets shown; the JSON contains all of them.
const SHOWN: usize = 5;
/// The number of causes shown.
const BLAMED: usize = 10;

/// The benchmarks that measure latencies of single calls.
pub(crate) const EXPLAINED: &[&str] = &["cubit", "orb.latency"];

/// Checks that `--explain-over`, if given, applies to one of the benchmarks.
///
/// # Errors
/// None of the benchmarks measures latencies of single calls.
pub(crate) fn check(settings: &Settings, benchmarks: &[&Benchmark]) -> Result<(), Error> {
    let explains = |benchmark: &&Benchmark| EXPLAINED.contains(&benchmark.name);
    if settings.explain_over.is_none() || benchmarks.iter().any(explains) {
        return Ok(());
    }
    let subject = match benchmarks {
        [benchmark] => format!("`{}` has", benchmark.name),
        _ => "none of these benchmarks has".to_owned(),
    };
    Err(format!(
        "{subject} no latencies of single calls to explain: --explain-over works with {}, and with `punctual \
         trace` for any \
         program",
        EXPLAINED.join(" and ")
    )
    .into())
}

/// A traced pass of a benchmark, whose slow calls are explained afterwards.
pub(crate) struct Pass {
    session: Session,
    over_us: f64,
    what: String,
}

impl Pass {
    /// Starts recording if `--explain-over` was given. `what` names the pass.
    pub(crate) fn begin(
        settings: &Settings,
        what: impl Into<String>,
        recording: &SessionSettings,
    ) -> Result<Option<Self>, Error> {
        let Some(over_us) = settings.explain_over else {
            return Ok(None);
        };
        // The supervisor removes the trace instance if this process is killed.
        let session = Session::start(recording)?;
        Ok(Some(Self {
            session,
            over_us,
            what: what.into(),
        }))
    }

    /// Returns the environment variables that turn on the flight recorder in the measured processes.
    pub(crate) fn environment(&self) -> [(&'static str, String); 2] {
        self.session.environment()
    }

    /// Ends the recording, and adds the rows about calls of these operations made by these threads (by all
    /// threads if `clients` is empty).
    pub(crate) fn end(
        self,
        operations: &[&str],
        clients: &[i32],
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let recorded = self.session.stop()?;
        let begin = recorded.requests.first().map_or(0, |request| request.begin_ns);
        let names = Names::new(recorded.names(), begin).operations(recorded.operations());
        let wanted = |request: &Request| {
            operations.contains(&names.operation(request.operation).as_str())
                && (clients.is_empty() || clients.contains(&request.client))
        };
        for row in rows(&recorded, &names, self.over_us, wanted) {
            outcome.row(row.with("pass", self.what.as_str()));
        }
        report_gaps(&recorded, outcome);
        Ok(())
    }
}

/// Reports which parts of the budgets the recording cannot show.
fn report_gaps(recorded: &Recorded, outcome: &mut Outcome) {
    match &recorded.kernel {
        Ok(kernel) if !kernel.lost.is_nothing() => {
            let reason = format!("kernel events were lost: {:?}", kernel.lost);
            outcome.skip(None, "parts of the budgets of slow calls", reason);
        }
        Ok(_) => {}
        Err(reason) => outcome.skip(
            None,
            "what happened within the spans of slow calls",
            reason.as_str(),
        ),
    }
    let overwritten = recorded.overwritten();
    if overwritten > 0 {
        let reason = format!("{overwritten} flight records were overwritten by later ones");
        outcome.skip(None, "budgets of the first calls", reason);
    }
}

/// Returns all rows about slow calls: their number, their budgets, and the causes over all of them.
pub(crate) fn rows(
    recorded: &Recorded,
    names: &Names,
    over_us: f64,
    wanted: impl Fn(&Request) -> bool,
) -> Vec<Row> {
    let explanation = recorded.explain((over_us * 1e3) as u64, MOST, wanted);
    let one_sided = explanation.budgets.iter().filter(|budget| {
        let request = &recorded.requests[budget.request];
        request.service.is_none() && request.received_ns.is_some()
    });
    let head = Row::new()
        .with("kind", "slow calls")
        .with("over_us", over_us)
        .with("traced_calls", explanation.calls)
        .with("slow_calls", explanation.slow)
        .with("with_budget", explanation.budgets.len())
        .with("without_server_side", one_sided.count())
        .with("overwritten_records", recorded.overwritten())
        .with("kernel_traced", recorded.kernel.is_ok());
    let requests = &recorded.requests;
    let mut rows = vec![head];
    rows.extend(report::blame(&explanation, requests, names));
    rows.extend(report::slow_calls(&explanation, requests, names));
    rows
}

const HEAD_COLUMNS: &[(&str, &str)] = &[
    ("over_us", "slower than (µs)"),
    ("traced_calls", "calls"),
    ("slow_calls", "slow"),
    ("with_budget", "with budget"),
    ("without_server_side", "without server side"),
    ("overwritten_records", "records overwritten"),
    ("kernel_traced", "kernel traced"),
];

const BLAME_COLUMNS: &[(&str, &str)] = &[
    ("span", "span"),
    ("what", "what happened"),
    ("lowest_level", "level"),
    ("highest_level", "to"),
    ("cause", "kind"),
    ("calls", "calls"),
    ("total_us", "total (µs)"),
    ("share_percent", "share (%)"),
    ("longest_us", "longest (µs)"),
];

const CALL_COLUMNS: &[(&str, &str)] = &[
    ("call", "call"),
    ("at_s", "at (s)"),
    ("latency_us", "latency (µs)"),
    ("operation", "operation"),
    ("client", "client"),
    ("level", "level"),
    ("server", "server"),
    ("mostly", "mostly"),
];

const SPAN_COLUMNS: &[(&str, &str)] = &[
    ("span", "span"),
    ("length_us", "length (µs)"),
    ("share_percent", "share (%)"),
    ("thread", "thread"),
    ("what", "what happened"),
];

/// The paragraph above the tables.
pub(crate) const COST: &str = "\
These calls were traced, which costs a few microseconds per thread switch, so they are slower than untraced \
calls. They show where time goes, not how long calls take.";

/// Returns the tables of the wanted rows, with their titles.
pub(crate) fn tables(outcome: &Outcome, wanted: impl Fn(&Row) -> bool + Copy) -> Vec<(String, Table)> {
    let of_kind = move |kind: &'static str| {
        let rows = outcome.rows().iter();
        rows.filter(move |row| is_kind(row, kind) && wanted(row))
    };
    let table = |rows: Vec<&Row>, columns| Table::of(rows.into_iter().map(Row::as_map)).columns(columns);
    let heads: Vec<_> = of_kind("slow calls").collect();
    if heads.is_empty() {
        return Vec::new();
    }
    let any = heads.iter().any(|head| head.number("slow_calls") > Some(0.0));
    let mut tables = vec![("Slow calls".to_owned(), table(heads, HEAD_COLUMNS))];
    if !any {
        return tables;
    }
    let blamed = of_kind("blame").take(BLAMED).collect();
    tables.push((
        "Causes over all calls with a budget".to_owned(),
        table(blamed, BLAME_COLUMNS),
    ));
    let calls: Vec<_> = of_kind("slow call").collect();
    tables.push(("The slowest calls".to_owned(), table(calls.clone(), CALL_COLUMNS)));
    for call in calls.iter().take(SHOWN) {
        let (number, latency) = (call.number("call"), call.number("latency_us").unwrap_or(0.0));
        let spans = of_kind("span").filter(|span| span.number("call") == number);
        let title = format!("Call {}: {latency:.1} µs", number.unwrap_or(0.0));
        tables.push((title, table(spans.collect(), SPAN_COLUMNS)));
    }
    tables
}

/// Adds the results of each pass to the chapter, if there are any.
pub(crate) fn add_to(chapter: Chapter, outcome: &Outcome) -> Chapter {
    let mut passes: Vec<&str> = Vec::new();
    for row in outcome.rows().iter().filter(|row| is_kind(row, "slow calls")) {
        let pass = row.get("pass").and_then(|pass| pass.as_str()).unwrap_or("");
        if !passes.contains(&pass) {
            passes.push(pass);
        }
    }
    if passes.is_empty() {
        return chapter;
    }
    let chapter = chapter.paragraph(format!(
        "Why calls are slow: calls above the --explain-over limit, from a traced pass. {COST}"
    ));
    passes.into_iter().fold(chapter, |chapter, pass| {
        let of_pass = |row: &Row| row.get("pass").is_some_and(|name| name == pass);
        let chapter = match figure(outcome, pass, of_pass) {
            Some(figure) => chapter.figure(figure),
            None => chapter,
        };
        let tables = tables(outcome, of_pass).into_iter();
        tables.fold(chapter, |chapter, (title, table)| {
            chapter.table(table.title(format!("{pass}: {title}")))
        })
    })
}

/// Draws bars for each span: the time that a slow call spent in it, by kind of cause. `None` without slow
/// calls.
fn figure(outcome: &Outcome, pass: &str, wanted: impl Fn(&Row) -> bool) -> Option<Figure> {
    let rows: Vec<_> = outcome.rows().iter().filter(|row| wanted(row)).collect();
    let calls = rows.iter().filter(|row| is_kind(row, "slow call")).count();
    let spans: Vec<_> = rows.into_iter().filter(|row| is_kind(row, "span")).collect();
    let is_of = |row: &Row, stage: Stage| row.get("span").is_some_and(|span| span == stage.name());
    let stages: Vec<Stage> = Stage::ALL
        .into_iter()
        .filter(|stage| spans.iter().any(|row| is_of(row, *stage)))
        .collect();
    if stages.is_empty() {
        return None;
    }
    let figure = Figure::new(format!("Where the time of slow calls went, {pass}"))
        .caption(format!(
            "Mean of the {calls} slowest calls, by span and by what happened in it. Lane: the request waits \
             in the \
             lane. Wake-up: the lane's thread is woken. Reply: the reply is sent. Return: the caller is \
             woken and \
             reads the reply. Result: the caller decodes the reply."
        ))
        .names(stages.iter().map(|stage| stage.short_name()))
        .y("µs per call");
    let kinds = Kind::ALL.into_iter().filter_map(|kind| {
        let column = format!("{}_us", kind.id());
        let mean = |stage: &Stage| {
            let of_stage = spans.iter().filter(|row| is_of(row, *stage));
            of_stage.filter_map(|row| row.number(&column)).sum::<f64>() / calls as f64
        };
        let bars: Vec<f64> = stages.iter().map(mean).collect();
        bars.iter().any(|bar| *bar > 0.0).then_some((kind, bars))
    });
    Some(kinds.fold(figure, |figure, (kind, bars)| figure.bars(kind.name(), bars)))
}

#[cfg(test)]
mod tests {
    use punctual_harness::MachineFacts;
    use punctual_os::CpuSet;

    use super::*;

    #[test]
    fn each_pass_with_slow_calls_has_a_figure_and_tables() {
        let mut outcome = Outcome::new("x", MachineFacts::read(&CpuSet::single(0)));
        let head = |pass: &str, slow: u32| {
            Row::new()
                .with("kind", "slow calls")
                .with("slow_calls", slow)
                .with("pass", pass)
        };
        assert_eq!(add_to(Chapter::new("x"), &outcome), Chapter::new("x"));
        outcome.row(head("one", 1));
        outcome.row(
            Row::new()
                .with("kind", "slow call")
                .with("call", 1)
                .with("latency_us", 30.0)
                .with("mostly", "upcall: ran")
                .with("pass", "one"),
        );
        outcome.row(
            Row::new()
                .with("kind", "span")
                .with("call", 1)
                .with("span", Stage::Upcall.name())
                .with("work_us", 30.0)
                .with("what", "ran 30.0 µs")
                .with("pass", "one"),
        );
        outcome.row(head("two", 0));
        let text = add_to(Chapter::new("x"), &outcome).to_text();
        for expected in ["one: Call 1: 30.0 µs", "ran 30.0 µs", "two: Slow calls"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert!(!text.contains("two: Call"), "{text}");
        let of = |pass: &'static str| move |row: &Row| row.get("pass").is_some_and(|name| name == pass);
        assert!(figure(&outcome, "one", of("one")).unwrap().to_svg().is_ok());
        assert_eq!(figure(&outcome, "two", of("two")), None);
    }
}

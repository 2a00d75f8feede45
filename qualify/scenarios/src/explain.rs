//! Why single calls were slow: their budgets, for `punctual trace` and for benchmarks of latency.
//!
//! A benchmark explains calls of a pass of its own, which is traced and therefore slower; what it measures stays as it is.

use punctual_harness::{Outcome, Row};
use punctual_report::{Chapter, Figure, Table};
use punctual_trace::{
    Names, Recorded, Session, SessionSettings,
    budget::{Kind, Stage},
    report,
    request::Request,
};

use crate::{Benchmark, Error, testbed::Settings, trace::is_kind};

/// How many calls get a budget, the slowest of all that are slower than asked.
const MOST: usize = 20;
/// How many of these budgets are shown; the JSON has all.
const SHOWN: usize = 5;
/// How many things are blamed on the screen.
const BLAMED: usize = 10;

/// The benchmarks that have latencies of single calls to explain.
pub(crate) const EXPLAINED: &[&str] = &["cubit", "orb.latency"];

/// Reads what `--explain-over` was given.
pub(crate) fn microseconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(microseconds) if microseconds.is_finite() && microseconds >= 0.0 => Ok(microseconds),
        _ => Err("a number of microseconds, 0 (every call) or more, such as 200".to_owned()),
    }
}

/// Whether the setting, if it was given, has a meaning for any of the benchmarks.
///
/// # Errors
/// It has none.
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
        "{subject} no latencies of single calls to explain: --explain-over works with {}, and with `punctual trace` for any \
         program",
        EXPLAINED.join(" and ")
    )
    .into())
}

/// A pass of a benchmark in which calls are traced, to be explained afterwards.
pub(crate) struct Pass {
    session: Session,
    over_us: f64,
    what: String,
}

impl Pass {
    /// Begins to record, if it was asked for. `what` is measured tells passes of a benchmark apart.
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

    /// What turns the flight recorder on in the processes that are measured.
    pub(crate) fn environment(&self) -> [(&'static str, String); 2] {
        self.session.environment()
    }

    /// Ends it, and adds the rows about calls of one of these operations, made by one of these threads (all, where none are
    /// named).
    pub(crate) fn end(
        self,
        operations: &[&str],
        clients: &[i32],
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let recorded = self.session.stop()?;
        let begin = recorded.requests.first().map_or(0, |request| request.begin_ns);
        let names = Names::new(recorded.names(), begin).operations(operations.iter().copied());
        let wanted = |request: &Request| {
            names.knows_operation(request.operation)
                && (clients.is_empty() || clients.contains(&request.client))
        };
        for row in rows(&recorded, &names, self.over_us, wanted) {
            outcome.row(row.with("pass", self.what.as_str()));
        }
        doubts(&recorded, outcome);
        Ok(())
    }
}

/// What a recording leaves open, as far as budgets are concerned.
fn doubts(recorded: &Recorded, outcome: &mut Outcome) {
    match &recorded.kernel {
        Ok(kernel) if !kernel.lost.is_nothing() => {
            let reason = format!("events of the kernel were lost: {:?}", kernel.lost);
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

/// All rows about slow calls: how many there are, their budgets, and what is to blame in all of them.
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
    ("without_server_side", "without server's side"),
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

/// What stands above the tables.
pub(crate) const COST: &str = "These calls were traced, which costs a few microseconds for each switch between threads: they are \
                               slower than calls without a trace. Take from them where time went, not how long calls take.";

/// The tables of the rows that are wanted, with their titles.
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
        "What is to blame in all calls with a budget".to_owned(),
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

/// Adds what was found in each pass, if there was any.
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
        "Why calls are slow: those slower than --explain-over says, of a pass that was traced. {COST}"
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

/// Bars for each span: how long a slow call was in it, by kind of cause. `None` where nothing was slow.
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
            "The mean of the {calls} slowest calls, by span and by what happened in it. Lane: the request waits there. Wake-up: of \
             the lane's thread. Reply: it is sent. Return: the caller is woken and reads it. Result: the caller decodes it."
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
    use crate::benchmarks;

    #[test]
    fn what_can_be_explained_exists_and_the_rest_is_refused() {
        let settings = Settings {
            explain_over: Some(100.0),
            ..Settings::default()
        };
        let named = |name: &str| benchmarks().find(|benchmark| benchmark.name == name).unwrap();
        for name in EXPLAINED {
            assert!(check(&settings, &[named(name)]).is_ok(), "{name}");
        }
        let refused = check(&settings, &[named("inversion")]).unwrap_err().to_string();
        assert!(
            refused.contains("`inversion`") && refused.contains("orb.latency"),
            "{refused}"
        );
        assert!(check(&Settings::default(), &[named("inversion")]).is_ok());
        assert!(check(&settings, &benchmarks().collect::<Vec<_>>()).is_ok());
    }

    #[test]
    fn a_limit_is_a_time() {
        assert_eq!(microseconds("0"), Ok(0.0));
        assert_eq!(microseconds("12.5"), Ok(12.5));
        for wrong in ["-1", "", "10us", "inf", "NaN"] {
            assert!(microseconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_pass_has_a_figure_and_tables_and_one_without_slow_calls_says_so() {
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

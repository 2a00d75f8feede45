//! `punctual plan --simulate`: distributable threads in virtual time.

mod figure;
mod trace;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use punctual_harness::{Claim, MachineFacts, Outcome, Progress, Row, output_file};
use punctual_os::affinity;
use punctual_report::{Page, Table, Tone, terminal::fitted};
use punctual_sched::{
    dynamic::{Time, standard},
    simulator::{HostStatistics, Model, Simulation, Statistics, TaskStatistics},
};
use punctual_simulation::{Scenario, Span};
use serde_json::{Map, Value};

use super::{Options, milliseconds};
use crate::system_file;
use trace::Watcher;

/// Simulates, prints and writes the results; returns whether every deadline was met.
pub(super) fn simulate(options: &Options) -> Result<bool, String> {
    let mut scenario =
        Scenario::read(&options.file).map_err(|error| system_file::misread(&options.file, error))?;
    scenario.seed = options.seed.unwrap_or(scenario.seed);
    scenario.until = options.until.unwrap_or(scenario.until);
    if scenario.until.is_zero() {
        return Err("--until: expected a duration above 0, such as \"10 s\"".into());
    }
    let instead = options.scheduler.as_deref();
    let mut model = scenario.model();
    for limit in &options.limit {
        limit.apply(&mut model.limits);
    }
    let mut watcher = Watcher::new(&model, options)?;
    let statistics = run(&scenario, &model, instead, &mut watcher)?;
    watcher.finish()?;
    let simulated = Simulated {
        scenario: &scenario,
        model: &model,
        instead,
        statistics,
    };
    simulated.print();
    let outcome = simulated.outcome(&options.file);
    if let Some(file) = &options.json {
        outcome.write(file).map_err(|error| error.to_string())?;
        println!("JSON: {}", file.display());
    }
    if let Some(file) = &options.html {
        let page = simulated.page(&options.file, &outcome, &watcher)?;
        output_file::write(file, page.as_bytes()).map_err(|error| error.to_string())?;
        println!("HTML: {}", file.display());
    }
    if let Some(file) = &options.trace {
        println!("Trace: {}", file.display());
    }
    Ok(simulated.missed() == 0)
}

/// Parses the name of a scheduler on the command line.
pub(super) fn scheduler_name(name: &str) -> Result<String, String> {
    // Small letters are accepted, too.
    let name = name.to_uppercase();
    match standard(&name) {
        Some(_) => Ok(name),
        None => Err(format!(
            "expected one of {}",
            punctual_sched::dynamic::STANDARD.join(", ")
        )),
    }
}

/// Progress is shown for simulations that take longer.
const SILENT_FOR: Duration = Duration::from_secs(2);
/// Number of pieces of virtual time between which the clock is read.
const PIECES: u32 = 500;

fn run(
    scenario: &Scenario,
    model: &Model,
    instead: Option<&str>,
    watcher: &mut Watcher<'_>,
) -> Result<Statistics, String> {
    let scheduler = |host| scenario.scheduler_of(host, instead);
    let mut simulation =
        Simulation::new(model, scenario.seed, scheduler).map_err(|error| error.to_string())?;
    let (began, mut progress) = (Instant::now(), None);
    for piece in 1..=PIECES {
        let until = scenario.until.0.mul_f64(f64::from(piece) / f64::from(PIECES));
        let until = if piece == PIECES { scenario.until.0 } else { until };
        let ran = simulation.run_until(Time(0) + until, watcher);
        ran.map_err(|error| error.to_string())?;
        let so_far = began.elapsed();
        if progress.is_none() && so_far > SILENT_FOR && piece < PIECES {
            let left = so_far.mul_f64(f64::from(PIECES - piece) / f64::from(piece));
            let shown = Progress::start("simulate", left);
            shown.stage(format!("virtual time up to {}", scenario.until), left);
            progress = Some(shown);
        }
    }
    Ok(simulation.finish())
}

struct Simulated<'s> {
    scenario: &'s Scenario,
    model: &'s Model,
    instead: Option<&'s str>,
    statistics: Statistics,
}

/// Columns on the terminal.
const TASKS: [(&str, &str); 14] = [
    ("task", "task"),
    ("arrived", "arrived"),
    ("made", "made"),
    ("missed", "missed"),
    ("late", "late"),
    ("shed", "shed"),
    ("skipped", "skipped"),
    ("cancelled", "cancelled"),
    ("dispatched_and_missed", "wasted"),
    ("p50_ms", "p50 (ms)"),
    ("p99_ms", "p99 (ms)"),
    ("max_ms", "max (ms)"),
    ("preemptions", "preempted"),
    ("utility_percent", "utility (%)"),
];
const HOSTS: [(&str, &str); 7] = [
    ("host", "host"),
    ("scheduler", "scheduler"),
    ("utilization_percent", "utilisation (%)"),
    ("overhead_percent", "scheduling (%)"),
    ("decisions", "decisions"),
    ("switches", "switches"),
    ("preemptions", "preemptions"),
];
/// Rows of a table on the terminal and on the page; the JSON has all rows.
const MOST_ROWS: usize = 30;

impl Simulated<'_> {
    fn tasks(&self) -> impl Iterator<Item = (&str, &TaskStatistics)> {
        let tasks = self.model.tasks.iter().zip(&self.statistics.tasks);
        tasks.map(|(task, statistics)| (task.name.as_str(), statistics))
    }

    fn missed(&self) -> u64 {
        self.tasks().map(|(_, task)| task.missed()).sum()
    }

    fn print(&self) {
        for (table, note) in self.tables() {
            println!("{}", table.to_text());
            note.iter().for_each(|note| println!("{note}"));
            println!();
        }
        println!("{}", fitted(&self.verdict()));
    }

    fn verdict(&self) -> String {
        let (missed, arrived): (u64, u64) = self.tasks().fold((0, 0), |(missed, arrived), (_, task)| {
            (missed + task.missed(), arrived + task.arrived)
        });
        let until = self.scenario.until;
        if missed == 0 {
            return format!(
                "Every deadline is met: {arrived} distributable threads in {until} of virtual time (one run, \
                 not a bound)."
            );
        }
        let mut worst: Vec<_> = self.tasks().filter(|(_, task)| task.missed() > 0).collect();
        worst.sort_by_key(|(_, task)| std::cmp::Reverse(task.missed()));
        let named: Vec<_> = worst
            .iter()
            .take(3)
            .map(|(name, task)| format!("`{name}` {} of {}", task.missed(), task.arrived))
            .collect();
        let more = if worst.len() > 3 { ", …" } else { "" };
        format!(
            "Not every deadline is met: {missed} of {arrived} distributable threads missed theirs in {until} \
             of virtual time ({}{more}).",
            named.join(", ")
        )
    }

    /// Tables of tasks and hosts, each with a note below it.
    fn tables(&self) -> [(Table, Option<String>); 2] {
        // The rows with the most misses or the highest utilisation are shown.
        let tasks = cut(self.task_rows(), "tasks", |row| {
            row.number("missed").unwrap_or(0.0)
        });
        let hosts = cut(self.host_rows(), "hosts", |row| {
            row.number("utilization_percent").unwrap_or(0.0)
        });
        [
            (table(tasks.0, &TASKS), tasks.1),
            (table(hosts.0, &HOSTS), hosts.1),
        ]
    }

    fn task_rows(&self) -> Vec<Row> {
        let row = |(name, task): (&str, &TaskStatistics)| {
            let response = &task.response;
            let offered = task.utility_offered as f64;
            Row::new()
                .with("kind", "task")
                .with("task", name)
                .with("arrived", task.arrived)
                .with("made", task.made)
                .with("missed", task.missed())
                .with("late", task.late)
                .with("shed", task.shed)
                .with("refused", task.refused)
                .with("skipped", task.skipped)
                .with("overdue", task.overdue)
                .with("cancelled", task.cancelled)
                .with("unfinished", task.unfinished)
                .with("dispatched_and_missed", task.dispatched_and_missed)
                .with("calls_shed", task.calls_shed)
                .with("calls_late", task.calls_late)
                .with("retries", task.retries)
                .with("preemptions", task.preemptions)
                .with("min_ms", response.min().map(milliseconds))
                .with("p50_ms", response.percentile(50.0).map(milliseconds))
                .with("p99_ms", response.percentile(99.0).map(milliseconds))
                .with("max_ms", response.max().map(milliseconds))
                .with("utility", task.utility)
                .with(
                    "utility_percent",
                    (offered > 0.0).then_some(task.utility as f64 / offered * 100.0),
                )
                .with("processor_ms", task.processor_time.as_secs_f64() * 1e3)
        };
        self.tasks().map(row).collect()
    }

    fn host_rows(&self) -> Vec<Row> {
        let until = self.statistics.until;
        let row = |(place, statistics): (usize, &HostStatistics)| {
            let host = &self.model.hosts[place];
            let all = until.0 as f64 * host.processors as f64;
            Row::new()
                .with("kind", "host")
                .with("host", host.name.as_str())
                .with(
                    "scheduler",
                    self.instead.unwrap_or(self.scenario.scheduler_name(place)),
                )
                .with(
                    "utilization_percent",
                    statistics.utilization(host.processors, until) * 100.0,
                )
                .with(
                    "overhead_percent",
                    statistics.overhead.as_nanos() as f64 / all * 100.0,
                )
                .with("decisions", statistics.decisions)
                .with("switches", statistics.switches)
                .with("preemptions", statistics.preemptions)
        };
        self.statistics.hosts.iter().enumerate().map(row).collect()
    }

    fn outcome(&self, file: &Path) -> Outcome {
        let mut outcome = Outcome::new("simulate", MachineFacts::read(&affinity::current()));
        let source = file.display().to_string();
        outcome.parameter("file", source.as_str());
        outcome.parameter("seed", self.scenario.seed);
        outcome.parameter("until", self.scenario.until.to_string());
        outcome.parameter("scheduler", self.instead.unwrap_or(&self.scenario.scheduler));
        outcome.parameter("events", self.statistics.events);
        outcome.parameter("most_threads", self.statistics.most_threads);
        let rows = self.task_rows().into_iter().chain(self.host_rows());
        rows.for_each(|row| outcome.row(row));
        for (name, task) in self.tasks() {
            outcome.claim(Claim::new(
                format!("deadlines.{name}"),
                format!("no thread of `{name}` misses its deadline"),
                source.as_str(),
                task.missed(),
                0,
                task.missed() == 0,
            ));
        }
        outcome
    }

    fn page(&self, file: &Path, outcome: &Outcome, watcher: &Watcher<'_>) -> Result<String, String> {
        let tone = if self.missed() == 0 { Tone::Good } else { Tone::Bad };
        let facts = [
            ("model", file.display().to_string()),
            (
                "scheduler",
                self.instead.unwrap_or(&self.scenario.scheduler).to_owned(),
            ),
            ("seed", self.scenario.seed.to_string()),
            ("virtual time", self.scenario.until.to_string()),
            ("hosts", self.model.hosts.len().to_string()),
            (
                "maximum of simultaneous distributable threads",
                self.statistics.most_threads.to_string(),
            ),
        ];
        let mut page = Page::new("Simulation")
            .verdict(self.verdict(), tone)
            .section("Dispatch graph");
        page = match figure::dispatch_graph(self.model, watcher.events(), self.statistics.until) {
            Some(figure) => page.figure(&figure).map_err(|error| error.to_string())?,
            None => page.paragraph("No thread ran."),
        };
        page = page.facts(facts);
        for (heading, (table, note)) in ["Tasks", "Hosts"].into_iter().zip(self.tables()) {
            page = page.section(heading).table(&table);
            if let Some(note) = note {
                page = page.note(note);
            }
        }
        let data = serde_json::to_value(outcome).map_err(|error| error.to_string())?;
        let page = page
            .command(format!("punctual plan --simulate {}", file.display()))
            .data("simulate.json", &data);
        Ok(page.to_html())
    }
}

/// The rows of most weight, in their order, and a note about the others.
fn cut(rows: Vec<Row>, what: &str, weight: impl Fn(&Row) -> f64) -> (Vec<Row>, Option<String>) {
    if rows.len() <= MOST_ROWS {
        return (rows, None);
    }
    let left_out = rows.len() - MOST_ROWS;
    let mut order: Vec<_> = rows.into_iter().enumerate().collect();
    order.sort_by(|(_, one), (_, other)| weight(other).total_cmp(&weight(one)));
    order.truncate(MOST_ROWS);
    order.sort_by_key(|(place, _)| *place);
    let note = format!("{left_out} more {what} with lower values; --json has all of them.");
    (order.into_iter().map(|(_, row)| row).collect(), Some(note))
}

fn table(rows: Vec<Row>, columns: &[(&str, &str)]) -> Table {
    let rows: Vec<Map<String, Value>> = rows.iter().map(|row| row.as_map().clone()).collect();
    Table::of(&rows).columns(columns)
}

/// Parses a duration on the command line.
pub(super) fn span(text: &str) -> Result<Span, String> {
    text.parse()
        .map_err(|error: punctual_simulation::BadSpan| error.to_string())
}

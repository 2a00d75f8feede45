//! `punctual plan`: checks whether all activities of a schedule meet their deadlines, and proposes changes.

mod budget;
mod hosts;
mod limit;
mod simulate;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use punctual_harness::{Claim, MachineFacts, Outcome, Row, output_file};
use punctual_os::affinity;
use punctual_report::{
    Table,
    terminal::{complain, fitted},
};
use punctual_sched::analysis::Analysis;
use punctual_scheduling::{Activity, Advice, Model, Part, Refusal, Schedule, Span};
use serde_json::{Map, Value};

use self::budget::Budgets;
use crate::system_file;

/// Settings of `plan`.
#[derive(Args, Debug)]
pub struct Options {
    /// Schedule (hosts, pools, adapters, objects, activities); with --simulate: scenario (hosts, network,
    /// resources, tasks)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write a schedule whose lanes and priorities meet all deadlines to this file, for the ORB
    #[arg(long, value_name = "FILE", conflicts_with = "simulate")]
    pub lanes: Option<PathBuf>,
    /// Explain the response time of this activity, or of `all`, step by step; late ones are explained anyway
    #[arg(long, value_name = "ACTIVITY", conflicts_with = "simulate")]
    pub explain: Option<String>,
    /// Write the schedule as a scenario for --simulate to this file
    #[arg(long, value_name = "FILE", conflicts_with = "simulate")]
    pub export: Option<PathBuf>,
    /// Write all results as JSON to this file, too; `-`: standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Simulate distributable threads under dynamic schedulers, in virtual time
    #[arg(long)]
    pub simulate: bool,
    /// Simulate with this scheduler on all hosts: FP, TP, MIF, RMS, EDF, MLF, MUF, RMS+MLF or MAU
    #[arg(long, value_name = "NAME", requires = "simulate", value_parser = simulate::scheduler_name)]
    pub scheduler: Option<String>,
    /// Seed of random numbers instead of the file's; equal seeds give equal runs
    #[arg(long, value_name = "NUMBER", requires = "simulate")]
    pub seed: Option<u64>,
    /// Simulate this much virtual time, such as "10 s", instead of the file's
    #[arg(long, value_name = "SPAN", requires = "simulate", value_parser = simulate::span)]
    pub until: Option<Span>,
    /// Raise or lower a limit of the simulation: `threads` or `pending` at one time, `arrivals` or `events`
    /// in total
    #[arg(long, value_name = "LIMIT=NUMBER", requires = "simulate", value_parser = limit::parse)]
    pub limit: Vec<limit::Limit>,
    /// Write every event of the simulation to this file, one line of JSON each
    #[arg(long, value_name = "FILE", requires = "simulate")]
    pub trace: Option<PathBuf>,
    /// Write a self-contained HTML page with the dispatch graph to this file
    #[arg(long, value_name = "FILE", requires = "simulate")]
    pub html: Option<PathBuf>,
}

/// Runs the command.
pub fn run(options: &Options) -> ExitCode {
    let done = check_files(options).and_then(|()| match options.simulate {
        true => simulate::simulate(options),
        false => plan(options),
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(text) => {
            complain(&text);
            ExitCode::from(2)
        }
    }
}

/// Checks that all files can be written, before anything is computed.
fn check_files(options: &Options) -> Result<(), String> {
    let files = [
        &options.json,
        &options.lanes,
        &options.export,
        &options.trace,
        &options.html,
    ];
    let given = files.into_iter().flatten().map(PathBuf::as_path);
    output_file::check_all(&[&options.file], given).map_err(|error| error.to_string())
}

/// Settings of a server alone are valid, and there is no more to say about them.
fn without_tasks(options: &Options, schedule: &Schedule) -> Result<bool, String> {
    let file = options.file.display();
    let parts = [
        (schedule.orbs.len(), "ORB"),
        (schedule.pools.len(), "pool"),
        (schedule.adapters.len(), "adapter"),
    ];
    let writes = [&options.lanes, &options.export, &options.json];
    let is_server_alone = schedule.activities.is_empty() && schedule.refusals().is_empty();
    let wants_plan = options.explain.is_some() || writes.iter().any(|file| file.is_some());
    if !is_server_alone || wants_plan || parts.iter().all(|(count, _)| *count == 0) {
        return Err(format!(
            "{file}: nothing to plan: no activity has both `period` and `step`"
        ));
    }
    let parts = parts.map(|(count, name)| format!("{count} {name}{}", if count == 1 { "" } else { "s" }));
    println!(
        "{file} is valid: {}; there is no activity to plan",
        parts.join(", ")
    );
    Ok(true)
}

/// Prints and writes the plan; returns whether the schedule is feasible.
fn plan(options: &Options) -> Result<bool, String> {
    let schedule =
        Schedule::read(&options.file).map_err(|error| system_file::misread(&options.file, error))?;
    let plan = Plan::of(&schedule);
    if plan.model.tasks.is_empty() {
        return without_tasks(options, &schedule);
    }
    if let Some(name) = options.explain.as_deref().filter(|name| *name != "all")
        && !plan.planned().any(|(_, activity)| activity.name == name)
    {
        let names: Vec<_> = plan
            .planned()
            .map(|(_, activity)| format!("`{}`", activity.name))
            .collect();
        return Err(format!(
            "--explain: no activity `{name}` with a period; known: {}",
            names.join(", ")
        ));
    }
    plan.print(options.explain.as_deref());
    if let Some(file) = &options.export {
        output_file::write(file, schedule.to_scenario().as_bytes()).map_err(|error| error.to_string())?;
        println!("Scenario: {}", file.display());
    }
    if let Some(file) = &options.json {
        plan.outcome(&options.file)
            .write(file)
            .map_err(|error| error.to_string())?;
        println!("JSON: {}", file.display());
    }
    if let Some(file) = &options.lanes {
        plan.write_lanes(file, &options.file)?;
    }
    Ok(plan.is_feasible())
}

struct Plan<'s> {
    schedule: &'s Schedule,
    model: Model,
    analysis: Analysis,
    refusals: Vec<Refusal>,
    advice: Option<Advice>,
    budgets: Budgets<'s>,
}

impl<'s> Plan<'s> {
    fn of(schedule: &'s Schedule) -> Self {
        let model = Model::of(schedule);
        Self {
            schedule,
            budgets: Budgets::of(schedule, &model),
            analysis: model.analyse(),
            model,
            refusals: schedule.refusals(),
            advice: Advice::for_schedule(schedule),
        }
    }

    fn is_feasible(&self) -> bool {
        self.refusals.is_empty() && self.analysis.is_feasible()
    }

    fn planned(&self) -> impl Iterator<Item = (usize, &'s Activity)> {
        let places = self.model.activities.iter().enumerate();
        places.map(|(task, place)| (task, &self.schedule.activities[*place]))
    }

    fn skipped(&self) -> impl Iterator<Item = &'s Activity> {
        self.schedule
            .activities
            .iter()
            .filter(|activity| activity.period.is_none())
    }

    fn print(&self, explain: Option<&str>) {
        println!(
            "{}",
            table(
                self.activity_rows(),
                &[
                    ("activity", "activity"),
                    ("priority", "priority"),
                    ("native_priority", "native"),
                    ("period_ms", "period (ms)"),
                    ("deadline_ms", "deadline (ms)"),
                    ("response_ms", "response (ms)"),
                    ("margin_ms", "margin (ms)"),
                    ("verdict", "verdict"),
                ]
            )
        );
        println!();
        println!("{}", self.budgets.chart(&self.analysis));
        println!("{}\n", self.hosts());
        for (task, activity) in self.planned() {
            let is_late = !self.analysis.responses[task].is_in_time();
            if is_late || explain.is_some_and(|name| name == "all" || name == activity.name) {
                println!("{}", self.budgets.explanation(task, activity));
            }
        }
        println!("{}", fitted(&self.budgets.growth_text()));
        for activity in self.skipped() {
            println!("{}", fitted(&self.not_included(activity)));
        }
        for refusal in &self.refusals {
            println!("{}", fitted(&format!("{refusal}.")));
        }
        if self.is_feasible() {
            println!("{}", fitted(&format!("Feasible: {}.", self.verdict())));
            return;
        }
        println!("{}", fitted(&format!("Not feasible: {}.", self.reason())));
        match &self.advice {
            Some(advice) => {
                println!("These changes make it feasible:");
                let changes = advice.changes.iter().map(|change| format!("  - {change}"));
                changes.for_each(|change| println!("{}", fitted(&change)));
            }
            None => println!(
                "{}",
                fitted(
                    "No lanes and priorities were found that make it feasible: shorten a step or a critical \
                     section, lengthen a period, or move a step to another host."
                )
            ),
        }
    }

    /// States why an activity is not included, and the consequences for the others.
    fn not_included(&self, activity: &Activity) -> String {
        let (name, priority) = (&activity.name, activity.priority);
        let effect = if self.may_delay_others(activity) {
            "is not below those of all others: it may delay them without bound"
        } else {
            "is below those of all others: it delays them only where they state blocking"
        };
        format!("Not included (no period): `{name}`; its priority {priority} {effect}.")
    }

    /// Returns whether an activity without a period can run while one with a period waits.
    fn may_delay_others(&self, activity: &Activity) -> bool {
        let parts = self
            .planned()
            .flat_map(|(_, planned)| self.schedule.parts_of(planned).parts);
        let mut lowest = parts.filter_map(|part| part.priorities.first().copied());
        lowest.any(|priority| priority <= activity.priority)
    }

    fn verdict(&self) -> String {
        let unbounded = self.skipped().filter(|activity| self.may_delay_others(activity));
        let names: Vec<_> = unbounded.map(|activity| format!("`{}`", activity.name)).collect();
        match (self.skipped().count(), &names[..]) {
            (0, _) => "every deadline is met".to_owned(),
            (_, []) => "every deadline of an activity with a period is met".to_owned(),
            (_, names) => format!(
                "every deadline of an activity with a period is met, provided that these do not run: {}; \
                 give them periods and steps, or lower priorities",
                names.join(", ")
            ),
        }
    }

    fn reason(&self) -> String {
        let processors = self.schedule.processors();
        let hosts = processors.iter().zip(&self.analysis.utilizations);
        let overloaded = hosts.filter(|(_, used)| **used > 1.0).map(|(host, used)| {
            let percent = used * 100.0;
            format!("host `{host}` needs {percent:.0} % of its CPU")
        });
        let late = self.planned().filter_map(|(task, activity)| {
            let response = &self.analysis.responses[task];
            if response.is_in_time() {
                return None;
            }
            Some(match response.margin() {
                Some(margin) => {
                    let late = milliseconds(margin.unsigned_abs());
                    format!("`{}` can be {late} ms late", activity.name)
                }
                None => format!("`{}` can be late without bound", activity.name),
            })
        });
        let refused = (!self.refusals.is_empty()).then(|| String::from("not all calls are served"));
        let reasons: Vec<_> = overloaded.chain(late).chain(refused).collect();
        let (shown, more) = reasons.split_at(reasons.len().min(MOST_REASONS));
        let mut text = shown.join("; ");
        if !more.is_empty() {
            text += &format!("; and {} more", more.len());
        }
        text
    }

    /// Returns whether a pool has no lane for a call of this activity.
    fn is_refused(&self, activity: &Activity) -> bool {
        self.refusals.iter().any(
            |refusal| matches!(refusal, Refusal::NoLane { activity: caller, .. } if *caller == activity.name),
        )
    }

    fn activity_rows(&self) -> Vec<Row> {
        let mapping = self.schedule.native_mapping();
        let row = |(task, activity): (usize, &Activity)| {
            let (response, task) = (&self.analysis.responses[task], &self.model.tasks[task]);
            let verdict = match response.worst() {
                _ if self.is_refused(activity) => "refused",
                Some(_) if response.is_in_time() => "in time",
                Some(_) => "late",
                None => "late without bound",
            };
            let native = mapping.to_native(activity.priority).map(|native| native.0);
            Row::new()
                .with("kind", "activity")
                .with("activity", activity.name.as_str())
                .with("priority", activity.priority.value())
                .with("native_priority", native)
                .with("period_ms", milliseconds(task.period))
                .with("deadline_ms", milliseconds(task.deadline))
                .with("response_ms", response.worst().map(milliseconds))
                .with("margin_ms", response.margin().map(|margin| margin as f64 / 1e6))
                .with("verdict", verdict)
        };
        self.planned().map(row).collect()
    }

    fn step_rows(&self) -> Vec<Row> {
        let steps = |(task, activity): (usize, &'s Activity)| {
            let ends = self.analysis.responses[task].steps.clone();
            let parts = self.schedule.parts_of(activity).parts.into_iter().zip(ends);
            parts
                .enumerate()
                .map(|(number, (part, end))| self.step_row(activity, number, &part, end))
        };
        self.planned().flat_map(steps).collect()
    }

    fn step_row(&self, activity: &Activity, number: usize, part: &Part<'_>, end: Option<u64>) -> Row {
        let step = part.step;
        Row::new()
            .with("kind", "step")
            .with("activity", activity.name.as_str())
            .with("step", number + 1)
            .with("host", self.schedule.host_of(step))
            .with("pool", self.schedule.pool_of(step).map(|pool| pool.name.as_str()))
            .with("adapter", step.adapter.as_deref())
            .with("object", step.object.as_deref())
            .with("after_calls", part.is_after_calls)
            .with("wcet_ms", milliseconds(part.wcet.nanoseconds()))
            .with("blocking_ms", milliseconds(part.blocking.nanoseconds()))
            .with("delay_ms", milliseconds(part.delay.nanoseconds()))
            .with("ends_after_ms", end.map(milliseconds))
    }

    fn outcome(&self, file: &Path) -> Outcome {
        let mut outcome = Outcome::new("plan", MachineFacts::read(&affinity::current()));
        let source = file.display().to_string();
        outcome.parameter("file", source.as_str());
        outcome.parameter("mapping", self.schedule.mapping.to_string());
        let changes = self.advice.iter().flat_map(|advice| &advice.changes);
        let changes = changes.map(|change| Row::new().with("kind", "change").with("text", change.as_str()));
        let rows = [
            self.activity_rows(),
            self.step_rows(),
            self.host_rows(),
            changes.collect(),
            self.budgets.rows(),
        ];
        rows.into_iter().flatten().for_each(|row| outcome.row(row));
        for (task, activity) in self.planned() {
            let response = &self.analysis.responses[task];
            let worst = response.worst().map_or(f64::NAN, milliseconds);
            outcome.claim(Claim::at_most(
                format!("deadline.{}", activity.name),
                format!("response time of `{}` (ms)", activity.name),
                source.as_str(),
                worst,
                milliseconds(response.deadline),
            ));
        }
        outcome.claim(Claim::new(
            "refusals",
            "every call finds a lane or a thread",
            source.as_str(),
            self.refusals.len(),
            0,
            self.refusals.is_empty(),
        ));
        for activity in self.skipped() {
            let id = format!("deadline.{}", activity.name);
            outcome.skip(Some(&id), format!("activity `{}`", activity.name), "no period");
        }
        outcome
    }

    fn write_lanes(&self, file: &Path, source: &Path) -> Result<(), String> {
        let (schedule, changes) = match &self.advice {
            Some(advice) => (&advice.schedule, &advice.changes[..]),
            None if self.is_feasible() => (self.schedule, &[][..]),
            None => {
                eprintln!(
                    "{} was not written: no feasible schedule was found",
                    file.display()
                );
                return Ok(());
            }
        };
        let mut text = format!(
            "# From {}, by `punctual plan`: every deadline is met.\n",
            source.display()
        );
        for change in changes {
            text += &format!("# Changed: {change}\n");
        }
        text += "\n";
        let original = fs::read_to_string(source).map_err(|error| error.to_string())?;
        text += &schedule.edited(&original);
        output_file::write(file, text.as_bytes()).map_err(|error| error.to_string())?;
        println!("Lanes: {}", file.display());
        Ok(())
    }
}

/// Reasons named in the summary; the table has all of them.
const MOST_REASONS: usize = 5;

fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

fn table(rows: Vec<Row>, columns: &[(&str, &str)]) -> String {
    let rows: Vec<Map<String, Value>> = rows
        .into_iter()
        .filter_map(|row| match serde_json::to_value(row) {
            Ok(Value::Object(fields)) => Some(fields),
            _ => None,
        })
        .collect();
    Table::of(&rows).columns(columns).to_text()
}

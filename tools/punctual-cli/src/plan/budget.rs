//! Explanation of an activity's response time, and the permitted growth of execution times.

use std::{collections::BTreeSet, fmt::Write};

use punctual_harness::Row;
use punctual_report::terminal::{self, fitted};
use punctual_sched::analysis::{Analysis, Source, StepBudget};
use punctual_scheduling::{Activity, Model, Schedule};

use super::{milliseconds, table};

/// Composition of the response times.
pub(super) struct Budgets<'s> {
    schedule: &'s Schedule,
    /// Activities of the tasks.
    names: Vec<&'s str>,
    deadlines: Vec<u64>,
    /// Budgets of each task's steps.
    steps: Vec<Vec<Option<StepBudget>>>,
    /// Greatest factors, in thousandths, for each task and for all.
    growth: Vec<Option<u32>>,
    growth_of_all: Option<u32>,
}

/// One part of a response time, negative where something is subtracted.
struct Cause {
    text: String,
    time: i128,
}

impl<'s> Budgets<'s> {
    pub(super) fn of(schedule: &'s Schedule, model: &Model) -> Self {
        let activities = model.activities.iter();
        Self {
            schedule,
            names: activities
                .map(|place| schedule.activities[*place].name.as_str())
                .collect(),
            deadlines: model.tasks.iter().map(|task| task.deadline).collect(),
            steps: model.explain(),
            growth: (0..model.tasks.len())
                .map(|task| model.growth(Some(task)))
                .collect(),
            growth_of_all: model.growth(None),
        }
    }

    /// Returns one bar per activity, as long as its response time, and its deadline.
    pub(super) fn chart(&self, analysis: &Analysis) -> String {
        let name = self
            .names
            .iter()
            .map(|name| name.chars().count())
            .max()
            .unwrap_or(0);
        let terminal = terminal::width().unwrap_or(usize::MAX);
        let width = terminal.saturating_sub(name + 3).clamp(NARROWEST, WIDEST);
        let mut text = legend(name, terminal);
        for (task, response) in analysis.responses.iter().enumerate() {
            let Some(worst) = response.worst() else {
                let _ = writeln!(text, "{:name$}  late without bound", self.names[task]);
                continue;
            };
            let longest = worst.max(self.deadlines[task]).max(1);
            let columns = |time: u64| {
                let columns = u128::from(time) * width as u128 / u128::from(longest);
                usize::try_from(columns).unwrap_or(width)
            };
            let mut bar = String::new();
            let mut end = 0u64;
            for (mark, time) in ['█', '▓', '▒', '░'].into_iter().zip(self.shares(task, worst)) {
                end = end.saturating_add(time);
                let missing = columns(end.min(worst)).saturating_sub(bar.chars().count());
                bar.extend(std::iter::repeat_n(mark, missing));
            }
            let mut bar: Vec<char> = format!("{bar:width$} ").chars().collect();
            bar[columns(self.deadlines[task])] = '|';
            let bar: String = bar.into_iter().collect();
            let _ = writeln!(text, "{:name$}  {}", self.names[task], bar.trim_end());
        }
        text
    }

    /// Returns own work, interference, blocking, and the rest of a response time.
    fn shares(&self, task: usize, worst: u64) -> [u64; 4] {
        let steps = || self.steps[task].iter().flatten();
        let sum = |of: fn(&StepBudget) -> u64| steps().map(of).fold(0, u64::saturating_add);
        let (work, blocking) = (sum(|step| step.work), sum(|step| step.blocking));
        let others = sum(|step| {
            step.interference
                .iter()
                .map(|(_, time)| *time)
                .fold(0, u64::saturating_add)
        });
        let others = others.saturating_sub(sum(|step| step.arrived.saturating_add(step.counted_before)));
        let named = work.saturating_add(blocking).saturating_add(others);
        [work, others, blocking, worst.saturating_sub(named)]
    }

    /// Returns a table of all parts of an activity's response time.
    pub(super) fn explanation(&self, task: usize, activity: &Activity) -> String {
        let columns = [
            ("step", "step"),
            ("host", "on"),
            ("cause", "cause"),
            ("time_ms", "ms"),
            ("ends_after_ms", "ends after (ms)"),
        ];
        let rows = self.rows_of(task);
        let advice = self.less_blocking(task).unwrap_or_default();
        format!(
            "Why `{}` takes so long:\n{}\n{advice}",
            activity.name,
            table(rows, &columns)
        )
    }

    /// Returns advice, with a line break, where less blocking would be enough to meet the deadline.
    fn less_blocking(&self, task: usize) -> Option<String> {
        let steps: Vec<&StepBudget> = self.steps[task]
            .iter()
            .map(Option::as_ref)
            .collect::<Option<_>>()?;
        let over = steps.last()?.end.saturating_sub(self.deadlines[task]);
        let blocking = steps
            .iter()
            .map(|step| step.blocking)
            .fold(0, u64::saturating_add);
        if over == 0 || over > blocking {
            return None;
        }
        let by = self.blockers(steps.iter().flat_map(|step| &step.blockers));
        let text = format!(
            "It is {} ms late, and {} ms of its time is blocking {by}: with critical sections that are {} ms \
             shorter it meets its deadline.",
            milliseconds(over),
            milliseconds(blocking),
            milliseconds(over)
        );
        Some(fitted(&text) + "\n")
    }

    /// Returns the names of the activities that block, after a preposition.
    fn blockers<'b>(&self, blockers: impl Iterator<Item = &'b (usize, usize)>) -> String {
        let tasks: BTreeSet<usize> = blockers.map(|(task, _)| *task).collect();
        let names: Vec<_> = tasks
            .iter()
            .map(|task| format!("`{}`", self.names[*task]))
            .collect();
        match names.is_empty() {
            true => "that its steps state".to_owned(),
            false => format!("by {}", names.join(", ")),
        }
    }

    /// Returns all rows for machines.
    pub(super) fn rows(&self) -> Vec<Row> {
        let percent = |factor: Option<u32>| factor.map(|factor| f64::from(factor) / 10.0 - 100.0);
        let mut rows: Vec<Row> = (0..self.names.len())
            .flat_map(|task| self.rows_of(task))
            .collect();
        for (name, factor) in self.names.iter().zip(&self.growth) {
            let row = Row::new().with("kind", "growth").with("activity", *name);
            rows.push(row.with("may_grow_percent", percent(*factor)));
        }
        let all = Row::new().with("kind", "growth").with("activity", "all");
        rows.push(all.with("may_grow_percent", percent(self.growth_of_all)));
        rows
    }

    fn rows_of(&self, task: usize) -> Vec<Row> {
        let activity = self
            .schedule
            .activities
            .iter()
            .find(|activity| activity.name == self.names[task]);
        let parts = activity
            .map(|activity| self.schedule.parts_of(activity).parts)
            .unwrap_or_default();
        let processors = self.schedule.processors();
        let mut rows = Vec::new();
        for (number, (part, budget)) in parts.iter().zip(&self.steps[task]).enumerate() {
            let host = self
                .schedule
                .processor_of(part)
                .map(|place| processors[place].to_string());
            let row = || {
                Row::new()
                    .with("kind", "cause")
                    .with("activity", self.names[task])
                    .with("step", number + 1)
                    .with("host", host.clone())
            };
            let Some(budget) = budget else {
                let text = "unbounded: overload, a wait for its own lane, or an earlier step";
                rows.push(row().with("cause", text));
                break;
            };
            let causes = self.causes(budget);
            let last = causes.len() - 1;
            for (place, cause) in causes.into_iter().enumerate() {
                let row = row()
                    .with("cause", cause.text)
                    .with("time_ms", cause.time as f64 / 1e6);
                let end = (place == last).then(|| milliseconds(budget.end));
                rows.push(row.with("ends_after_ms", end));
            }
        }
        rows
    }

    /// Returns the causes of the end of a step; their sum is the time.
    fn causes(&self, budget: &StepBudget) -> Vec<Cause> {
        let mut causes = Vec::new();
        let mut add = |text: String, time: i128| {
            if time != 0 {
                causes.push(Cause { text, time });
            }
        };
        add(
            "released after: jitter, earlier steps, messages".to_owned(),
            budget.late.into(),
        );
        let by = self.blockers(budget.blockers.iter());
        add(format!("blocking {by}"), budget.blocking.into());
        for (source, time) in &budget.interference {
            let text = match source {
                Source::Work { task, step } => {
                    format!("interference of `{}`, step {}", self.names[*task], step + 1)
                }
                Source::Thread { task } => {
                    format!("the lane's threads wait for calls for `{}`", self.names[*task])
                }
            };
            add(text, (*time).into());
        }
        add(
            "since the busy period began".to_owned(),
            -i128::from(budget.arrived),
        );
        add(
            "counted in earlier steps".to_owned(),
            -i128::from(budget.counted_before),
        );
        causes.push(Cause {
            text: "own work".to_owned(),
            time: budget.work.into(),
        });
        causes
    }

    /// States how much execution times may grow, or must shrink.
    pub(super) fn growth_text(&self) -> String {
        let change = |factor: Option<u32>| match factor {
            None => "is not enough".to_owned(),
            Some(MOST) => "more than 100 times".to_owned(),
            Some(0) => "less than 0.1 % of the stated ones".to_owned(),
            Some(factor) => format!("{:+.1} %", f64::from(factor) / 10.0 - 100.0),
        };
        let each = self.names.iter().zip(&self.growth);
        let each: Vec<_> = each
            .map(|(name, factor)| format!("`{name}` {}", change(*factor)))
            .collect();
        let all = change(self.growth_of_all);
        format!(
            "Execution times that just meet all deadlines: all {all}; or only {}.",
            each.join(", ")
        )
    }
}

/// Returns the meanings of the marks, each whole on a line of the terminal.
fn legend(name: usize, terminal: usize) -> String {
    let mut text = String::new();
    let mut used = name;
    for mark in [
        "█ own work",
        "▓ interference",
        "▒ blocking",
        "░ messages, jitter",
        "| deadline",
    ] {
        let length = mark.chars().count() + 2;
        if text.is_empty() || used + length > terminal {
            text += &format!("{}{:name$}", if text.is_empty() { "" } else { "\n" }, "");
            used = name;
        }
        text += &format!("  {mark}");
        used += length;
    }
    text + "\n"
}

/// Columns of a bar: at most, and on the narrowest terminal.
const WIDEST: usize = 50;
const NARROWEST: usize = 10;
/// Greatest factor that is searched.
const MOST: u32 = 100_000;

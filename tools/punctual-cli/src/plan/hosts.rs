//! Hosts of a schedule: how much of each CPU is used, and the bounds by utilisation where they apply.

use punctual_harness::Row;
use punctual_report::{table::NO_VALUE, terminal::fitted};
use punctual_sched::analysis;
use punctual_scheduling::{HostOrder, Processor};

use super::{Plan, table};

/// Columns of the bounds by utilisation.
const BOUNDS: [(&str, &str); 2] = [
    ("rate_monotonic_bound_percent", "rate-monotonic bound (%)"),
    ("hyperbolic_product", "hyperbolic (≤ 2)"),
];

impl Plan<'_> {
    /// Returns the table of hosts, and below it why bounds do not apply.
    pub(super) fn hosts(&self) -> String {
        let mut columns = vec![("host", "host"), ("utilization_percent", "utilisation (%)")];
        columns.extend(BOUNDS);
        let mut hosts = self.schedule.hosts.iter();
        if hosts.any(|host| host.order == HostOrder::Deadline) {
            columns.push(("demand_percent", "demand (%)"));
        }
        let rows = self.host_rows().into_iter().map(|row| {
            let absent = BOUNDS.iter().filter(|(name, _)| row.number(name).is_none());
            absent.fold(row.clone(), |row, (name, _)| row.with(*name, NO_VALUE))
        });
        let text = table(rows.collect(), &columns);
        let processors = self.schedule.processors().into_iter().enumerate();
        let reasons: Vec<String> = processors
            .filter_map(|(number, host)| Some(format!("`{host}`: {}", self.why_no_bounds(number, &host)?)))
            .collect();
        if reasons.is_empty() {
            return text;
        }
        let line = format!("{NO_VALUE} These bounds do not apply. {}.", reasons.join("; "));
        format!("{text}\n{}", fitted(&line))
    }

    /// Returns why the bounds by utilisation do not apply to a processor: the first of their conditions that
    /// is not met. See [`analysis::bounds_apply`].
    fn why_no_bounds(&self, processor: usize, host: &Processor<'_>) -> Option<String> {
        let tasks = &self.model.tasks;
        let is_here = |task: usize| tasks[task].steps.iter().any(|step| step.processor == processor);
        let mut here = self.planned().filter(|(task, _)| is_here(*task)).peekable();
        if here.peek().is_none() {
            return Some("no activity runs there".to_owned());
        }
        if host.host.order == HostOrder::Deadline {
            return Some("it serves by deadline".to_owned());
        }
        if analysis::bounds_apply(tasks, processor) {
            return None;
        }
        let reason = here.find_map(|(task, activity)| {
            let task = &tasks[task];
            let any = |of: fn(&analysis::Step) -> bool| task.steps.iter().any(of);
            let why = if task.steps.len() != 1 {
                "has several steps"
            } else if task.deadline != task.period {
                "has a deadline other than its period"
            } else if task.jitter > 0 || any(|step| step.delay > 0) {
                "has jitter or delay"
            } else if any(|step| step.blocking > 0 || !step.sections.is_empty()) {
                "has blocking or critical sections"
            } else if any(|step| step.fixed_priority.is_some() || step.peak_priority.is_some()) {
                "runs at a priority other than its own"
            } else {
                return None;
            };
            Some(format!("`{}` {why}", activity.name))
        });
        Some(reason.unwrap_or_else(|| "priorities do not follow the periods".to_owned()))
    }

    pub(super) fn host_rows(&self) -> Vec<Row> {
        let tasks = &self.model.tasks;
        let row = |(processor, host): (usize, Processor<'_>)| {
            let here = tasks
                .iter()
                .filter(|task| task.steps.iter().any(|step| step.processor == processor))
                .count();
            let applies = here > 0 && analysis::bounds_apply(tasks, processor);
            let bound = applies.then(|| analysis::liu_layland_bound(here) * 100.0);
            let product = applies.then(|| analysis::hyperbolic_product(tasks, processor));
            Row::new()
                .with("kind", "host")
                .with("host", host.to_string())
                .with("activities", here)
                .with(
                    "utilization_percent",
                    analysis::utilization(tasks, processor) * 100.0,
                )
                .with("rate_monotonic_bound_percent", bound)
                .with("hyperbolic_product", product)
                .with(
                    "demand_percent",
                    (here > 0 && host.host.order == HostOrder::Deadline)
                        .then(|| analysis::demand_peak(tasks, processor))
                        .flatten()
                        .map(|peak| peak * 100.0),
                )
        };
        self.schedule
            .processors()
            .into_iter()
            .enumerate()
            .map(row)
            .collect()
    }
}

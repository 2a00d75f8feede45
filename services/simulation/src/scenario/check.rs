//! Checks of a scenario beyond its syntax.

use std::collections::HashSet;

use punctual_sched::{
    dynamic::{STANDARD, standard},
    simulator::Limits,
};
use punctual_toml::{Key, Problem, distinct};

use super::build::Names;
use crate::{ArrivalEntry, ProtocolEntry, Scenario, StepEntry, TaskEntry};

pub(super) fn check(scenario: &Scenario) -> Result<(), Problem> {
    let root = Key::default();
    scheduler(Some(&scenario.scheduler), root.name("scheduler"))?;
    if scenario.until.is_zero() {
        return root
            .name("until")
            .problem("must be longer than 0, such as \"10 s\"");
    }
    if scenario.hosts.is_empty() {
        return root.problem("no host; add [[host]] with its `name`");
    }
    if scenario.tasks.is_empty() {
        return root.problem("no task; add [[task]] with its `name`, `host` and `steps`");
    }
    let limits = Limits::default();
    let (mut hosts, mut processors) = (0usize, 0usize);
    for (index, host) in scenario.hosts.iter().enumerate() {
        let key = root.item("host", index);
        scheduler(host.scheduler.as_ref(), key.name("scheduler"))?;
        if host.processors == 0 {
            return key.name("processors").problem("at least 1 processor is required");
        }
        hosts = hosts.saturating_add(host.count);
        if host.count == 0 || hosts > limits.hosts {
            return key.name("count").problem(format!(
                "must be at least 1, and at most {} in total; {hosts} hosts up to here",
                limits.hosts
            ));
        }
        processors = processors.saturating_add(host.processors.saturating_mul(host.count));
        if processors > limits.processors {
            return key.name("processors").problem(format!(
                "{processors} processors up to here; at most {} in total are possible",
                limits.processors
            ));
        }
    }
    names(scenario)?;
    let checks = Checks {
        scenario,
        names: Names::of(scenario),
    };
    checks.all(&root)?;
    // Problems of the whole model, such as endless starting of threads.
    scenario.model().check().map_err(|error| Problem {
        key: error
            .task()
            .map_or_else(Key::default, |task| root.item("task", task)),
        text: error.to_string(),
    })
}

/// Maximum number of pairs of hosts in all links, and of hosts in all calls: Punctual's limit.
const MOST_PAIRS: usize = 1_000_000;

fn scheduler(name: Option<&String>, key: Key) -> Result<(), Problem> {
    match name {
        Some(name) if standard(name).is_none() => key.problem(format!(
            "unknown scheduler `{name}`; known: {}",
            STANDARD.join(", ")
        )),
        _ => Ok(()),
    }
}

fn names(scenario: &Scenario) -> Result<(), Problem> {
    let key = |kind| move |index| Key::default().item(kind, index).name("name");
    distinct(scenario.hosts.iter().map(|host| &host.name), key("host"))?;
    distinct(
        scenario.resources.iter().map(|resource| &resource.name),
        key("resource"),
    )?;
    distinct(scenario.tasks.iter().map(|task| &task.name), key("task"))?;
    // The members of a group have names, too.
    let own: HashSet<_> = scenario.hosts.iter().map(|host| host.name.as_str()).collect();
    for (index, host) in scenario.hosts.iter().enumerate() {
        for number in 1..=host.count {
            let member = format!("{}-{number}", host.name);
            if host.count > 1 && own.contains(member.as_str()) {
                return key("host")(index).problem(format!(
                    "duplicate name `{member}`: that of its host {number} and of another host"
                ));
            }
        }
    }
    Ok(())
}

struct Checks<'s> {
    scenario: &'s Scenario,
    names: Names<'s>,
}

impl Checks<'_> {
    fn all(&self, root: &Key) -> Result<(), Problem> {
        self.network(
            self.scenario.network.bytes_per_second,
            root.name("network").name("bytes_per_second"),
        )?;
        let mut pairs = 0usize;
        for (index, link) in self.scenario.links.iter().enumerate() {
            let key = root.item("link", index);
            self.host(&link.from, key.name("from"))?;
            self.host(&link.to, key.name("to"))?;
            self.network(link.bytes_per_second, key.name("bytes_per_second"))?;
            let [from, to] = [&link.from, &link.to].map(|group| self.names.hosts[group].len());
            pairs = pairs.saturating_add(from.saturating_mul(to));
            if pairs > MOST_PAIRS {
                let text = format!("{pairs} pairs of hosts up to here; at most {MOST_PAIRS} are possible");
                return key.problem(text);
            }
        }
        for (index, resource) in self.scenario.resources.iter().enumerate() {
            let key = root.item("resource", index);
            let is_ceiling = resource.protocol == ProtocolEntry::Ceiling;
            if is_ceiling && resource.ceiling.is_none() {
                return key.problem(
                    "`ceiling` is missing: the parameters of the most eligible thread that locks it",
                );
            }
            if !is_ceiling && resource.ceiling.is_some() {
                return key
                    .name("ceiling")
                    .problem("requires protocol = \"ceiling\"; add that or remove this");
            }
        }
        let (mut streams, mut called) = (0usize, 0usize);
        for (index, task) in self.scenario.tasks.iter().enumerate() {
            let key = root.item("task", index);
            self.task(task, &key)?;
            let own = self.names.hosts[&task.host].len().saturating_mul(task.threads);
            streams = streams.saturating_add(own);
            let most = Limits::default().streams;
            if task.threads == 0 || streams > most {
                return key.name("threads").problem(format!(
                    "must be at least 1, and at most {most} on all hosts and of all tasks; {streams} up to here"
                ));
            }
            called = called.saturating_add(self.called(&task.steps));
            if called > MOST_PAIRS {
                let text = format!("{called} hosts in calls up to here; at most {MOST_PAIRS} are possible");
                return key.name("steps").problem(text);
            }
        }
        for (index, cancel) in self.scenario.cancels.iter().enumerate() {
            self.named_task(&cancel.task, root.item("cancel", index).name("task"))?;
        }
        Ok(())
    }

    fn network(&self, rate: Option<u64>, key: Key) -> Result<(), Problem> {
        match rate {
            Some(0) => key.problem("must be greater than 0; remove it for an unlimited network"),
            _ => Ok(()),
        }
    }

    fn task(&self, task: &TaskEntry, key: &Key) -> Result<(), Problem> {
        self.host(&task.host, key.name("host"))?;
        let Some(arrivals) = task.arrivals() else {
            return key.clone().problem(
                "state its arrivals with only one of `start`, `period`, `between` and `mean`, or \
                 none if other tasks start it",
            );
        };
        let zero = match arrivals {
            ArrivalEntry::Period(span) => span.is_zero().then_some("period"),
            ArrivalEntry::Mean(span) => span.is_zero().then_some("mean"),
            ArrivalEntry::Between(_, most) => most.is_zero().then_some("between"),
            ArrivalEntry::OnDemand | ArrivalEntry::Start(_) => None,
        };
        if let Some(name) = zero {
            return key.name(name).problem("must be longer than 0");
        }
        if let ArrivalEntry::Between(least, most) = arrivals
            && least > most
        {
            return key.name("between").problem(format!(
                "{least} is longer than {most}; put the shorter one first"
            ));
        }
        if task.jitter.is_some() && !matches!(arrivals, ArrivalEntry::Period(_)) {
            return key.name("jitter").problem("requires `period`");
        }
        if task.offset.is_some() && matches!(arrivals, ArrivalEntry::OnDemand | ArrivalEntry::Start(_)) {
            return key
                .name("offset")
                .problem("requires `period`, `between` or `mean`");
        }
        if task.steps.is_empty() {
            return key
                .clone()
                .problem("`steps` is missing; for example, steps = [{ compute = \"2 ms\" }]");
        }
        if arrivals == ArrivalEntry::OnDemand && !self.is_started(&task.name) {
            return key.clone().problem(
                "nothing starts it: state its arrivals with `start`, `period`, `between` or `mean`, or name \
                 it in a step `spawn`, `oneway` or `async` of another task",
            );
        }
        self.steps(&task.steps, key)
    }

    /// Number of hosts in all calls of these steps.
    fn called(&self, steps: &[StepEntry]) -> usize {
        let of = |step: &StepEntry| {
            let own = step.call.as_ref().and_then(|group| self.names.hosts.get(group));
            own.map_or(0, Vec::len)
                .saturating_add(self.called(step.steps.as_deref().unwrap_or_default()))
        };
        steps.iter().map(of).fold(0, usize::saturating_add)
    }

    fn is_started(&self, name: &str) -> bool {
        fn by(steps: &[StepEntry], name: &str) -> bool {
            steps.iter().any(|step| {
                let mut started = [&step.spawn, &step.oneway, &step.asynchronous]
                    .into_iter()
                    .flatten();
                started.any(|other| other == name) || by(step.steps.as_deref().unwrap_or_default(), name)
            })
        }
        self.scenario.tasks.iter().any(|task| by(&task.steps, name))
    }

    fn steps(&self, steps: &[StepEntry], key: &Key) -> Result<(), Problem> {
        let (mut segments, mut held) = (0u32, Vec::new());
        for (index, step) in steps.iter().enumerate() {
            let key = key.item("steps", index);
            self.step(step, &key)?;
            match (&step.begin, step.end, &step.lock, &step.unlock) {
                (Some(_), ..) => segments += 1,
                (_, Some(_), ..) if segments == 0 => {
                    return key
                        .name("end")
                        .problem("no segment begins before it in the same steps");
                }
                (_, Some(_), ..) => segments -= 1,
                (_, _, Some(resource), _) => held.push(resource),
                (.., Some(resource)) => match held.iter().rposition(|other| *other == resource) {
                    Some(index) => drop(held.remove(index)),
                    None => {
                        let text = format!("`{resource}` is not locked before it in the same steps");
                        return key.name("unlock").problem(text);
                    }
                },
                _ => {}
            }
        }
        Ok(())
    }

    fn step(&self, step: &StepEntry, key: &Key) -> Result<(), Problem> {
        let kinds = [
            step.compute.is_some(),
            step.begin.is_some(),
            step.update.is_some(),
            step.end.is_some(),
            step.call.is_some(),
            step.oneway.is_some(),
            step.asynchronous.is_some(),
            step.wait.is_some(),
            step.spawn.is_some(),
            step.lock.is_some(),
            step.unlock.is_some(),
            step.sleep.is_some(),
            step.cancel.is_some(),
        ];
        if kinds.iter().filter(|kind| **kind).count() != 1 {
            return key.clone().problem(
                "a step is exactly one of `compute`, `begin`, `update`, `end`, `call`, `oneway`, `async`, \
                 `await`, `spawn`, `lock`, `unlock`, `sleep` and `cancel`",
            );
        }
        check_keys(step, key)?;
        for (name, flag) in [("end", step.end), ("await", step.wait)] {
            if flag == Some(false) {
                return key.name(name).problem("write true, or remove the step");
            }
        }
        let shares = 0.0 <= step.least && step.least <= step.most && step.most.is_finite();
        if !shares {
            let (least, most) = (step.least, step.most);
            return key.name("least").problem(format!(
                "invalid factors {least} and {most}; 0 ≤ least ≤ most is required"
            ));
        }
        if let Some(host) = &step.call {
            self.host(host, key.name("call"))?;
            return self.steps(step.steps.as_deref().unwrap_or_default(), key);
        }
        let starts = [
            ("oneway", &step.oneway),
            ("async", &step.asynchronous),
            ("spawn", &step.spawn),
        ];
        for (name, task) in starts {
            if let Some(task) = task {
                let index = self.named_task(task, key.name(name))?;
                if self.scenario.tasks[index].arrivals() != Some(ArrivalEntry::OnDemand) {
                    return key.name(name).problem(format!(
                        "`{task}` has its own arrivals; remove its `start`, `period`, `between` or `mean`"
                    ));
                }
            }
        }
        if let Some(task) = &step.cancel {
            self.named_task(task, key.name("cancel"))?;
        }
        for (name, resource) in [("lock", &step.lock), ("unlock", &step.unlock)] {
            if let Some(resource) = resource
                && !self.names.resources.contains_key(resource.as_str())
            {
                let known = self.scenario.resources.iter().map(|resource| &resource.name);
                return unknown("resource", resource, known, key.name(name));
            }
        }
        Ok(())
    }

    fn host(&self, name: &String, key: Key) -> Result<(), Problem> {
        if self.names.hosts.contains_key(name) {
            return Ok(());
        }
        unknown(
            "host",
            name,
            self.scenario.hosts.iter().map(|host| &host.name),
            key,
        )
    }

    fn named_task(&self, name: &str, key: Key) -> Result<usize, Problem> {
        match self.names.tasks.get(name) {
            Some(index) => Ok(*index),
            None => unknown(
                "task",
                name,
                self.scenario.tasks.iter().map(|task| &task.name),
                key,
            ),
        }
    }
}

/// Checks keys that belong only to some kinds of steps.
fn check_keys(step: &StepEntry, key: &Key) -> Result<(), Problem> {
    let (call, message) = (
        step.call.is_some(),
        step.call.is_some() || step.oneway.is_some() || step.asynchronous.is_some(),
    );
    let computes = step.compute.is_some();
    let rules = [
        ("steps", step.steps.is_some(), call, "`call`"),
        ("deadline", step.deadline.is_some(), call, "`call`"),
        ("retries", step.retries.is_some(), call, "`call`"),
        ("retry_after", step.retry_after.is_some(), call, "`call`"),
        ("shift", step.shift.is_some(), call, "`call`"),
        (
            "request_bytes",
            step.request_bytes.is_some(),
            message,
            "`call`, `oneway` or `async`",
        ),
        (
            "reply_bytes",
            step.reply_bytes.is_some(),
            message && step.oneway.is_none(),
            "`call` or `async`",
        ),
        ("least", step.least != 1.0, computes, "`compute`"),
        ("most", step.most != 1.0, computes, "`compute`"),
    ];
    for (name, given, fits, with) in rules {
        if given && !fits {
            return key.name(name).problem(format!("requires {with}"));
        }
    }
    Ok(())
}

/// Maximum number of names in an error.
const MOST_NAMES: usize = 12;

fn unknown<'n, T>(
    kind: &str,
    name: &str,
    known: impl ExactSizeIterator<Item = &'n String>,
    key: Key,
) -> Result<T, Problem> {
    let count = known.len();
    if count == 0 {
        return key.problem(format!(
            "unknown {kind} `{name}`; none is defined: add [[{kind}]]"
        ));
    }
    let mut list: Vec<_> = known.take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
    if count > MOST_NAMES {
        list.push(format!("{} more", count - MOST_NAMES));
    }
    key.problem(format!("unknown {kind} `{name}`; known: {}", list.join(", ")))
}

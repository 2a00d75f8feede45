//! What must be true of a scenario beyond its syntax.

use std::collections::HashSet;

use punctual_sched::dynamic::{STANDARD, standard};

use super::{Arrivals, ResourceProtocol, Scenario, ScenarioStep, TaskEntry, build::Names};
use crate::location::{Key, Problem, distinct};

pub(super) fn check(scenario: &Scenario) -> Result<(), Problem> {
    let root = Key::default();
    scheduler(Some(&scenario.scheduler), root.name("scheduler"))?;
    if scenario.until.is_zero() {
        return root
            .name("until")
            .problem("say how long to go on, such as \"10 s\"");
    }
    if scenario.hosts.is_empty() {
        return root.problem("there is no host; write [[host]] and its `name`");
    }
    if scenario.tasks.is_empty() {
        return root.problem("there is no task; write [[task]] and its `name`, `host` and `steps`");
    }
    let mut hosts = 0usize;
    for (place, host) in scenario.hosts.iter().enumerate() {
        let key = root.item("host", place);
        scheduler(host.scheduler.as_ref(), key.name("scheduler"))?;
        if host.processors == 0 {
            return key
                .name("processors")
                .problem("a host needs at least 1 processor");
        }
        hosts = hosts.saturating_add(host.count);
        if host.count == 0 || hosts > MOST {
            return key
                .name("count")
                .problem(format!("between 1 and {MOST} hosts in all"));
        }
    }
    names(scenario)?;
    let checks = Checks {
        scenario,
        names: Names::of(scenario),
    };
    checks.all(&root)?;
    // What only the whole shows, such as threads without end.
    scenario.model().check().map_err(|error| Problem {
        key: error
            .task()
            .map_or_else(Key::default, |task| root.item("task", task)),
        text: error.to_string(),
    })
}

/// More hosts, and more streams of a task, are a slip of the pen.
const MOST: usize = 1_000_000;

fn scheduler(name: Option<&String>, key: Key) -> Result<(), Problem> {
    match name {
        Some(name) if standard(name).is_none() => key.problem(format!(
            "no scheduler is named `{name}`; there are {}",
            STANDARD.join(", ")
        )),
        _ => Ok(()),
    }
}

fn names(scenario: &Scenario) -> Result<(), Problem> {
    let key = |kind| move |place| Key::default().item(kind, place).name("name");
    distinct(scenario.hosts.iter().map(|host| &host.name), key("host"))?;
    distinct(
        scenario.resources.iter().map(|resource| &resource.name),
        key("resource"),
    )?;
    distinct(scenario.tasks.iter().map(|task| &task.name), key("task"))?;
    // The hosts of a group have names too.
    let own: HashSet<_> = scenario.hosts.iter().map(|host| host.name.as_str()).collect();
    for (place, host) in scenario.hosts.iter().enumerate() {
        for number in 1..=host.count {
            let member = format!("{}-{number}", host.name);
            if host.count > 1 && own.contains(member.as_str()) {
                return key("host")(place).problem(format!(
                    "its host {number} would be `{member}`, which is there already; names must differ"
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
        for (place, link) in self.scenario.links.iter().enumerate() {
            let key = root.item("link", place);
            self.host(&link.from, key.name("from"))?;
            self.host(&link.to, key.name("to"))?;
            self.network(link.bytes_per_second, key.name("bytes_per_second"))?;
        }
        for (place, resource) in self.scenario.resources.iter().enumerate() {
            let key = root.item("resource", place);
            let is_ceiling = resource.protocol == ResourceProtocol::Ceiling;
            if is_ceiling && resource.ceiling.is_none() {
                return key.problem(
                    "`ceiling` is missing: the parameters of the most eligible thread that locks it",
                );
            }
            if !is_ceiling && resource.ceiling.is_some() {
                return key
                    .name("ceiling")
                    .problem("without protocol = \"ceiling\" it says nothing; drop one of them");
            }
        }
        for (place, task) in self.scenario.tasks.iter().enumerate() {
            self.task(task, &root.item("task", place))?;
        }
        for (place, cancel) in self.scenario.cancels.iter().enumerate() {
            self.named_task(&cancel.task, root.item("cancel", place).name("task"))?;
        }
        Ok(())
    }

    fn network(&self, rate: Option<u64>, key: Key) -> Result<(), Problem> {
        match rate {
            Some(0) => key.problem("nothing would ever arrive; drop it for a network without limit"),
            _ => Ok(()),
        }
    }

    fn task(&self, task: &TaskEntry, key: &Key) -> Result<(), Problem> {
        self.host(&task.host, key.name("host"))?;
        let streams = self.names.hosts[&task.host].len().saturating_mul(task.threads);
        if task.threads == 0 || streams > MOST {
            return key
                .name("threads")
                .problem(format!("between 1 per host and {MOST} on all hosts together"));
        }
        let Some(arrivals) = task.arrivals() else {
            return key
                .clone()
                .problem("say when it arrives with one of `start`, `period`, `between` and `mean`, or let others start it");
        };
        let zero = match arrivals {
            Arrivals::Period(span) => span.is_zero().then_some("period"),
            Arrivals::Mean(span) => span.is_zero().then_some("mean"),
            Arrivals::Between(_, most) => most.is_zero().then_some("between"),
            Arrivals::OnDemand | Arrivals::Start(_) => None,
        };
        if let Some(name) = zero {
            return key
                .name(name)
                .problem("threads would arrive without end at one time; it must be longer than 0");
        }
        if let Arrivals::Between(least, most) = arrivals
            && least > most
        {
            return key
                .name("between")
                .problem(format!("{least} is longer than {most}; the shorter one first"));
        }
        if task.jitter.is_some() && !matches!(arrivals, Arrivals::Period(_)) {
            return key.name("jitter").problem("jitter goes with `period`");
        }
        if task.offset.is_some() && matches!(arrivals, Arrivals::OnDemand | Arrivals::Start(_)) {
            return key
                .name("offset")
                .problem("an offset goes with `period`, `between` or `mean`; `start` says when itself");
        }
        if task.steps.is_empty() {
            return key
                .clone()
                .problem("`steps` is missing; say what it does, such as steps = [{ compute = \"2 ms\" }]");
        }
        if arrivals == Arrivals::OnDemand && !self.is_started(&task.name) {
            return key.clone().problem(
                "nothing starts it: say when it arrives with `start`, `period`, `between` or `mean`, or name it in a step `spawn`, \
                 `oneway` or `async` of another task",
            );
        }
        self.steps(&task.steps, key)
    }

    fn is_started(&self, name: &str) -> bool {
        fn by(steps: &[ScenarioStep], name: &str) -> bool {
            steps.iter().any(|step| {
                let mut started = [&step.spawn, &step.oneway, &step.asynchronous]
                    .into_iter()
                    .flatten();
                started.any(|other| other == name) || by(step.steps.as_deref().unwrap_or_default(), name)
            })
        }
        self.scenario.tasks.iter().any(|task| by(&task.steps, name))
    }

    fn steps(&self, steps: &[ScenarioStep], key: &Key) -> Result<(), Problem> {
        let (mut segments, mut held) = (0u32, Vec::new());
        for (place, step) in steps.iter().enumerate() {
            let key = key.item("steps", place);
            self.step(step, &key)?;
            match (&step.begin, step.end, &step.lock, &step.unlock) {
                (Some(_), ..) => segments += 1,
                (_, Some(_), ..) if segments == 0 => {
                    return key
                        .name("end")
                        .problem("no segment was begun before it in the same steps");
                }
                (_, Some(_), ..) => segments -= 1,
                (_, _, Some(resource), _) => held.push(resource),
                (.., Some(resource)) => match held.iter().rposition(|other| *other == resource) {
                    Some(place) => drop(held.remove(place)),
                    None => {
                        let text = format!("`{resource}` was not locked before it in the same steps");
                        return key.name("unlock").problem(text);
                    }
                },
                _ => {}
            }
        }
        Ok(())
    }

    fn step(&self, step: &ScenarioStep, key: &Key) -> Result<(), Problem> {
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
                "a step is exactly one of `compute`, `begin`, `update`, `end`, `call`, `oneway`, `async`, `await`, `spawn`, `lock`, \
                 `unlock`, `sleep` and `cancel`",
            );
        }
        belongs(step, key)?;
        for (name, flag) in [("end", step.end), ("await", step.wait)] {
            if flag == Some(false) {
                return key.name(name).problem("write true, or leave the step out");
            }
        }
        let shares = 0.0 <= step.least && step.least <= step.most && step.most.is_finite();
        if !shares {
            let (least, most) = (step.least, step.most);
            return key.name("least").problem(format!(
                "between {least} and {most} times as long is no possible time; 0 ≤ least ≤ most"
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
                let place = self.named_task(task, key.name(name))?;
                if self.scenario.tasks[place].arrivals() != Some(Arrivals::OnDemand) {
                    return key.name(name).problem(format!(
                        "`{task}` arrives by itself; drop its `start`, `period`, `between` or `mean`"
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
            Some(place) => Ok(*place),
            None => unknown(
                "task",
                name,
                self.scenario.tasks.iter().map(|task| &task.name),
                key,
            ),
        }
    }
}

/// What goes only with some kinds of steps.
fn belongs(step: &ScenarioStep, key: &Key) -> Result<(), Problem> {
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
            "`call`, `oneway` and `async`",
        ),
        (
            "reply_bytes",
            step.reply_bytes.is_some(),
            message && step.oneway.is_none(),
            "`call` and `async`",
        ),
        ("least", step.least != 1.0, computes, "`compute`"),
        ("most", step.most != 1.0, computes, "`compute`"),
    ];
    for (name, given, fits, with) in rules {
        if given && !fits {
            return key.name(name).problem(format!("`{name}` goes with {with}"));
        }
    }
    Ok(())
}

/// At most so many names are listed.
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
            "no {kind} is named `{name}`; there is none: write [[{kind}]]"
        ));
    }
    let mut list: Vec<_> = known.take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
    if count > MOST_NAMES {
        list.push(format!("{} more", count - MOST_NAMES));
    }
    let verb = if count == 1 { "is" } else { "are" };
    key.problem(format!(
        "no {kind} is named `{name}`; there {verb} {}",
        list.join(", ")
    ))
}

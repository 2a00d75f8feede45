//! The schedule as a scenario for the simulator.

use std::collections::{BTreeMap, BTreeSet};

use punctual::Priority;
use toml::Value;

use crate::{Activity, HostOrder, Part, Parts, Pool, Protocol, Refusal, Schedule, Span};

impl Schedule {
    /// Returns the text of a scenario in which the activities with periods run on simulated processors:
    /// `punctual plan --simulate` reads it.
    ///
    /// Each CPU is a host, and threads are on further ones between their steps, where they only wait for
    /// messages. All activities begin at time 0. Every step takes its worst case; those with a best case take
    /// a random time in between. No simulated response exceeds its bound. Comments in the text state the
    /// properties that the simulator does not model.
    ///
    /// ```
    /// use punctual_scheduling::Schedule;
    ///
    /// let schedule = Schedule::parse("radar.toml", include_str!("../radar.toml"))?;
    /// let scenario = schedule.to_scenario();
    /// assert!(scenario.contains("  { sleep = \"200 us\" },\n  { call = \"radar\", steps = [{ compute = "));
    /// # Ok::<(), punctual_scheduling::FileError>(())
    /// ```
    ///
    /// # Panics
    /// If the schedule was not checked and is invalid.
    pub fn to_scenario(&self) -> String {
        let mut scenario = Scenario {
            schedule: self,
            short: short_pools(self),
            notes: BTreeSet::new(),
            resources: BTreeMap::new(),
        };
        let activities = self
            .activities
            .iter()
            .filter(|activity| activity.period.is_some());
        let tasks: String = activities
            .clone()
            .map(|activity| scenario.task(activity))
            .collect();
        let longest = activities
            .filter_map(|activity| activity.period)
            .max()
            .unwrap_or_default();
        let until = Span(longest.0.saturating_mul(20));
        let mut text = String::from("# A schedule as a scenario for `punctual plan --simulate`.\n");
        for note in &scenario.notes {
            text += &format!("# Not simulated: {note}.\n");
        }
        text += &format!("scheduler = \"FP\"\nuntil = \"{until}\"\n");
        for order in [HostOrder::Priority, HostOrder::Deadline] {
            if self.hosts.iter().any(|host| host.order == order) {
                text += &host(between(order), order);
                text += &format!("processors = {}\n", THREADS * self.activities.len());
            }
        }
        for processor in self.processors() {
            text += &host(&processor.to_string(), processor.host.order);
        }
        for (name, protocol) in &scenario.resources {
            text += &format!("\n[[resource]]\nname = {}\n{protocol}\n", quoted(name));
        }
        text + &tasks
    }
}

fn host(name: &str, order: HostOrder) -> String {
    let scheduler = match order {
        HostOrder::Priority => "FP",
        HostOrder::Deadline => "EDF",
    };
    format!(
        "\n[[host]]\nname = {}\nscheduler = \"{scheduler}\"\n",
        quoted(name)
    )
}

/// Returns the name of the host on which threads are between their steps.
fn between(order: HostOrder) -> &'static str {
    match order {
        HostOrder::Priority => "between steps",
        HostOrder::Deadline => "between steps by deadline",
    }
}

/// Its processors for each activity: more than threads of one activity exist, unless it is overloaded.
const THREADS: usize = 64;

struct Scenario<'s> {
    schedule: &'s Schedule,
    /// Names of pools that serve by deadline with fewer threads than requests.
    short: BTreeSet<String>,
    notes: BTreeSet<String>,
    /// Name and protocol of each resource.
    resources: BTreeMap<String, String>,
}

impl<'s> Scenario<'s> {
    fn task(&mut self, activity: &'s Activity) -> String {
        let parts = self.schedule.parts_of(activity);
        let period = activity.period.unwrap_or_default();
        let name = quoted(&activity.name);
        let host = between(
            self.schedule.processors()[self.processor(&parts.parts[0])]
                .host
                .order,
        );
        let mut text = format!("\n[[task]]\nname = {name}\nhost = \"{host}\"\nperiod = \"{period}\"\n");
        if !activity.jitter.is_zero() {
            text += &format!("jitter = \"{}\"\n", activity.jitter);
        }
        text += &format!(
            "parameters = {{ priority = {}, deadline = \"{}\" }}\nsteps = [\n",
            activity.priority,
            activity.deadline.unwrap_or(period)
        );
        for index in 0..parts.parts.len() {
            for step in self.part(&parts, index, activity.priority) {
                text += &format!("  {step},\n");
            }
        }
        text + "]\n"
    }

    /// Returns the steps of one part: the message to it, and the call of its processor.
    fn part(&mut self, parts: &Parts<'s>, index: usize, caller: Priority) -> Vec<String> {
        let part = &parts.parts[index];
        let (lowest, highest) = (part.priorities[0], part.priorities[part.priorities.len() - 1]);
        let mut steps = sleep(part.delay);
        let begun = parts.holds.iter().filter(|(_, first, _)| *first == index);
        let begun: Vec<_> = begun.filter_map(|(pool, ..)| self.lane(pool, part)).collect();
        steps.extend(begun.iter().map(|lane| format!("{{ lock = {} }}", quoted(lane))));
        let processor = self.processor(part);
        let processor = &self.schedule.processors()[processor];
        let has_priority = processor.host.order == HostOrder::Priority;
        if lowest != caller && has_priority {
            steps.push(format!("{{ begin = {{ priority = {lowest} }} }}"));
        }
        let mut work = self.work(part);
        if highest != lowest && has_priority {
            // It reads the request at one priority, and serves it at the other.
            work.insert(0, format!("{{ update = {{ priority = {highest} }} }}"));
            work.insert(0, "{ compute = \"1 ns\" }".to_owned());
        }
        let host = quoted(&processor.to_string());
        steps.push(format!("{{ call = {host}, steps = [{}] }}", work.join(", ")));
        if lowest != caller && has_priority {
            steps.push("{ end = true }".to_owned());
        }
        let ended = parts.holds.iter().filter(|(_, _, last)| *last == index);
        for (pool, first, _) in ended {
            let lane = self.lane(pool, &parts.parts[*first]);
            steps.extend(lane.iter().map(|lane| format!("{{ unlock = {} }}", quoted(lane))));
        }
        steps
    }

    /// Returns the computations of a part, first those of its critical sections.
    fn work(&mut self, part: &Part<'s>) -> Vec<String> {
        if !part.blocking.is_zero() {
            self.notes
                .insert("stated blocking; locks of resources are".to_owned());
        }
        let least = part.bcet.0.as_secs_f64() / part.wcet.0.as_secs_f64().max(f64::MIN_POSITIVE);
        // Simulated times are rounded, and none is shorter than the best case.
        let least = if part.bcet.is_zero() {
            1.0
        } else {
            (least * 1e6).ceil() / 1e6
        };
        let mut steps = Vec::new();
        let mut rest = part.wcet.0;
        if part.priorities.len() > 1 {
            // Reading the request takes a part.
            rest = rest.saturating_sub(std::time::Duration::from_nanos(1));
        }
        for lock in part.locks {
            let name = quoted(&self.resource(&lock.resource, part));
            let length = lock.length.0.min(rest);
            rest -= length;
            steps.push(format!("{{ lock = {name} }}"));
            steps.push(compute(Span(length), least));
            steps.push(format!("{{ unlock = {name} }}"));
        }
        if !rest.is_zero() || part.locks.is_empty() {
            steps.push(compute(Span(rest), least));
        }
        steps
    }

    fn processor(&self, part: &Part<'_>) -> usize {
        let processor = self.schedule.processor_of(part);
        processor.expect("the threads of a checked schedule are bound to one CPU")
    }

    /// Returns the name of a resource on the processor of a part.
    fn resource(&mut self, name: &str, part: &Part<'_>) -> String {
        let processor = self.processor(part);
        let known = self
            .schedule
            .resources
            .iter()
            .find(|resource| resource.name == name);
        let protocol = match known.map(|resource| resource.protocol).unwrap_or_default() {
            Protocol::Inheritance => "protocol = \"inheritance\"".to_owned(),
            Protocol::Ceiling => format!(
                "protocol = \"ceiling\"\nceiling = {{ priority = {} }}",
                self.ceiling(name, processor)
            ),
        };
        let name = format!("{name}@{}", self.schedule.processors()[processor]);
        self.resources.insert(name.clone(), protocol);
        name
    }

    /// Returns the highest priority at which a resource of a processor is used.
    fn ceiling(&self, name: &str, processor: usize) -> Priority {
        let activities = self.schedule.activities.iter();
        let parts = activities.flat_map(|activity| self.schedule.parts_of(activity).parts);
        let users = parts.filter(|part| {
            part.locks.iter().any(|lock| lock.resource == name) && self.processor(part) == processor
        });
        users
            .filter_map(|part| part.priorities.last().copied())
            .max()
            .unwrap_or(Priority::MIN)
    }

    /// Returns the resource that stands for the only thread of a lane whose servants make calls, or which
    /// serves by deadline and has too few threads.
    fn lane(&mut self, pool: &'s Pool, part: &Part<'_>) -> Option<String> {
        let activities = self.schedule.activities.iter();
        let mut holds = activities.flat_map(|activity| self.schedule.parts_of(activity).holds);
        let waits = holds.any(|(other, first, last)| other.name == pool.name && last > first);
        if !waits && !self.short.contains(&pool.name) {
            return None;
        }
        let lane = pool.lanes.iter().find(|lane| part.priorities == [lane.priority]);
        let (name, threads) = match lane {
            Some(lane) => (
                format!("lane {} of {}", lane.priority, pool.name),
                lane.served_at_a_time(),
            ),
            None => {
                // One of several lanes, if it has any.
                let threads = if pool.has_lanes() {
                    2
                } else {
                    pool.served_at_a_time()
                };
                (format!("threads of {}", pool.name), threads)
            }
        };
        if threads > 1 || pool.allow_borrowing {
            let note = "the number of threads where there are several, or lanes lend them";
            self.notes.insert(note.to_owned());
            return None;
        }
        self.resources
            .insert(name.clone(), "protocol = \"none\"".to_owned());
        Some(name)
    }
}

fn short_pools(schedule: &Schedule) -> BTreeSet<String> {
    let refusals = schedule.refusals().into_iter();
    let name = |refusal| match refusal {
        Refusal::FewThreadsByDeadline { pool, .. } => Some(pool),
        Refusal::NoLane { .. } | Refusal::FewThreads { .. } => None,
    };
    refusals.filter_map(name).collect()
}

fn sleep(time: Span) -> Vec<String> {
    if time.is_zero() {
        return Vec::new();
    }
    vec![format!("{{ sleep = \"{time}\" }}")]
}

fn compute(time: Span, least: f64) -> String {
    if least < 1.0 {
        return format!("{{ compute = \"{time}\", least = {least} }}");
    }
    format!("{{ compute = \"{time}\" }}")
}

fn quoted(name: &str) -> String {
    Value::String(name.to_owned()).to_string()
}

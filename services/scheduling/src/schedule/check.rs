//! Checks of a schedule beyond its syntax.

mod orb;
mod processors;
mod threads;

use punctual::{Priority, PriorityMapping};
use punctual_toml::{Key, Problem, distinct};

use crate::{
    Activity, Adapter, Class, Object, OrbSettings, Part, Parts, Place, Pool, Schedule, Span, Step,
    error::list,
};

pub(super) fn check(schedule: &Schedule) -> Result<(), Problem> {
    let root = Key::default();
    if schedule.hosts.is_empty() {
        return root.name("hosts").problem("name at least one host");
    }
    distinct(schedule.hosts.iter().map(|host| &host.name), |index| {
        root.item("hosts", index)
    })?;
    let names =
        |names: Vec<&String>, kind| distinct(names, |index| Key::default().item(kind, index).name("name"));
    names(schedule.pools.iter().map(|pool| &pool.name).collect(), "pool")?;
    names(
        schedule.resources.iter().map(|resource| &resource.name).collect(),
        "resource",
    )?;
    names(
        schedule.adapters.iter().map(|adapter| &adapter.name).collect(),
        "adapter",
    )?;
    names(
        schedule.objects.iter().map(|object| &object.name).collect(),
        "object",
    )?;
    names(
        schedule
            .activities
            .iter()
            .map(|activity| &activity.name)
            .collect(),
        "activity",
    )?;
    let checks = Checks {
        schedule,
        mapping: schedule.native_mapping(),
    };
    for (index, host) in schedule.hosts.iter().enumerate() {
        processors::host(host, &root.item("hosts", index))?;
    }
    for (index, orb) in schedule.orbs.iter().enumerate() {
        checks.orb(orb, &schedule.orbs[..index], &root.item("orb", index))?;
    }
    for (index, pool) in schedule.pools.iter().enumerate() {
        checks.pool(pool, &root.item("pool", index))?;
    }
    checks.distinct_endpoints(&root)?;
    for (index, adapter) in schedule.adapters.iter().enumerate() {
        checks.adapter(adapter, &root.item("adapter", index))?;
    }
    for (index, object) in schedule.objects.iter().enumerate() {
        checks.object(object, &root.item("object", index))?;
    }
    for (index, activity) in schedule.activities.iter().enumerate() {
        checks.activity(activity, &root.item("activity", index))?;
    }
    processors::resources(schedule, &root)
}

/// Words that are written for a scheme, and the schemes that are meant.
const MISTAKEN_SCHEMES: [(&str, &str); 8] = [
    ("giop", "iiop"),
    ("http", "iiop"),
    ("https", "iiop"),
    ("ipc", "uiop"),
    ("shm", "shmiop"),
    ("tcp", "iiop"),
    ("udp", "iiop"),
    ("unix", "uiop"),
];

/// Checks the form of endpoints, each the first of `ports` consecutive ones. The schemes depend on the
/// transports of the program.
fn endpoints(listen: &[String], ports: usize, key: &Key) -> Result<(), Problem> {
    for (index, endpoint) in listen.iter().enumerate() {
        let problem = |text: String| key.item("listen", index).problem(text);
        let (scheme, address) = endpoint.split_once("://").unwrap_or_default();
        if scheme.is_empty() {
            return problem(format!(
                "`{endpoint}` is not an endpoint; write SCHEME://ADDRESS, such as `iiop://127.0.0.1:2809`"
            ));
        }
        if let Some((_, meant)) = MISTAKEN_SCHEMES.iter().find(|(word, _)| *word == scheme) {
            return problem(format!(
                "there is no scheme `{scheme}`; did you mean `{meant}://{address}`?"
            ));
        }
        // An IPv6 address without a port ends with `]`.
        let port = address.rsplit_once(':').filter(|_| !address.ends_with(']'));
        let ("iiop", Some((_, port))) = (scheme, port) else {
            continue;
        };
        let Ok(port) = port.parse::<usize>() else {
            return problem(format!("`{port}` in `{endpoint}` is not a port; write a number"));
        };
        let last = port + ports.saturating_sub(1);
        if last > u16::MAX.into() {
            return problem(match port == last {
                true => format!("port {port} is above {}, the last one", u16::MAX),
                false => format!(
                    "{ports} lanes at the ports from {port} on end at {last}, above {}, the last one",
                    u16::MAX
                ),
            });
        }
    }
    Ok(())
}

struct Checks<'s> {
    schedule: &'s Schedule,
    mapping: Box<dyn PriorityMapping>,
}

impl Checks<'_> {
    fn orb(&self, orb: &OrbSettings, before: &[OrbSettings], key: &Key) -> Result<(), Problem> {
        self.placed(orb.host.as_ref(), key)?;
        endpoints(&orb.listen, 1, key)?;
        orb::references(orb, key)?;
        orb::timeouts(orb, key)?;
        if before.iter().any(|other| other.host == orb.host) {
            return key
                .clone()
                .problem("another `[[orb]]` is for the same host; a host has one");
        }
        Ok(())
    }

    /// Checks that no two ORBs and pools of a host listen at the same endpoint.
    fn distinct_endpoints(&self, root: &Key) -> Result<(), Problem> {
        let Schedule {
            hosts, orbs, pools, ..
        } = self.schedule;
        let orbs = orbs.iter().enumerate().map(|(index, orb)| {
            let key = root.item("orb", index);
            (&orb.host, &orb.listen, key, "the ORB".to_owned())
        });
        let pools = pools.iter().enumerate().map(|(index, pool)| {
            let key = root.item("pool", index);
            (&pool.host, &pool.listen, key, format!("pool `{}`", pool.name))
        });
        let mut taken: Vec<(&String, &String, String)> = Vec::new();
        for (host, listen, key, owner) in orbs.chain(pools) {
            let host = host.as_ref().unwrap_or(&hosts[0].name);
            for (index, endpoint) in listen.iter().enumerate() {
                let mut same = taken
                    .iter()
                    .filter(|(at, other, _)| (*at, *other) == (host, endpoint));
                if let Some((_, _, first)) = same.next() {
                    let text =
                        format!("{first} of this host already listens at `{endpoint}`; use another port");
                    return key.item("listen", index).problem(text);
                }
                // The system chooses a different port for each.
                if !endpoint.ends_with(":0") {
                    taken.push((host, endpoint, owner.clone()));
                }
            }
        }
        Ok(())
    }

    /// Checks the host of a pool or an ORB.
    fn placed(&self, host: Option<&String>, key: &Key) -> Result<(), Problem> {
        match host {
            Some(host) => self.host(host, key.name("host")),
            None if self.schedule.hosts.len() > 1 => {
                let hosts = list(&self.host_names());
                key.clone().problem(format!("`host` is missing; known: {hosts}"))
            }
            None => Ok(()),
        }
    }

    fn pool(&self, pool: &Pool, key: &Key) -> Result<(), Problem> {
        self.placed(pool.host.as_ref(), key)?;
        endpoints(&pool.listen, pool.lanes.len(), key)?;
        if pool.has_lanes() && pool.threads.is_some() {
            return key.name("threads").problem(
                "not allowed for a pool with lanes; set the threads of each lane, and remove this or `lanes`",
            );
        }
        if pool.has_lanes() && pool.priority.is_some() {
            return key.name("priority").problem(
                "not allowed for a pool with lanes; set the priority of each lane, and remove this or `lanes`",
            );
        }
        if pool.threads == Some(0) {
            return key.name("threads").problem("a pool needs at least 1 thread");
        }
        self.mapped(pool.priority, key.name("priority"))?;
        threads::pool(pool, key)?;
        for (index, lane) in pool.lanes.iter().enumerate() {
            let key = key.item("lanes", index);
            self.mapped(Some(lane.priority), key.name("priority"))?;
            if lane.threads == 0 {
                return key.name("threads").problem("a lane needs at least 1 thread");
            }
            threads::lane(pool, lane, &key)?;
            if pool.lanes[..index]
                .iter()
                .any(|other| other.priority == lane.priority)
            {
                let text = format!(
                    "another lane has priority {}; each lane needs its own priority",
                    lane.priority
                );
                return key.name("priority").problem(text);
            }
        }
        Ok(())
    }

    fn adapter(&self, adapter: &Adapter, key: &Key) -> Result<(), Problem> {
        let Some(pool) = self.schedule.pool(&adapter.pool) else {
            return self.no_pool(&adapter.pool, key.name("pool"));
        };
        let priority = adapter.model.server_priority();
        self.mapped(Some(priority), key.name("priority"))?;
        served(pool, priority, key.name("priority"))
    }

    fn object(&self, object: &Object, key: &Key) -> Result<(), Problem> {
        let Some(adapter) = self.schedule.adapter(&object.adapter) else {
            return key.name("adapter").problem(self.no_adapter(&object.adapter));
        };
        if !adapter.is_server_declared() {
            let text = format!(
                "requests to objects of adapter `{}` have their clients' priorities; use an adapter whose \
                 model is \"server-declared\"",
                adapter.name
            );
            return key.name("adapter").problem(text);
        }
        self.mapped(Some(object.priority), key.name("priority"))?;
        let Some(pool) = self.schedule.pool(&adapter.pool) else {
            return self.no_pool(&adapter.pool, key.name("adapter"));
        };
        served(pool, object.priority, key.name("priority"))
    }

    fn activity(&self, activity: &Activity, key: &Key) -> Result<(), Problem> {
        self.mapped(Some(activity.priority), key.name("priority"))?;
        if activity.period.is_some_and(|period| period.is_zero()) {
            return key.name("period").problem("must be longer than 0");
        }
        if activity.period.is_none() && !activity.steps.is_empty() {
            return key
                .clone()
                .problem("`period` is missing; add it, or remove `step`");
        }
        if activity.period.is_some() && activity.steps.is_empty() {
            return key
                .clone()
                .problem("`step` is missing; add the steps of the activity, or remove `period`");
        }
        for (index, step) in activity.steps.iter().enumerate() {
            let key = key.item("step", index);
            self.step(step, &key)?;
            self.calls(step, &key)?;
            let mut parts = Parts::default();
            self.schedule.add_parts(step, &[activity.priority], &mut parts);
            let mut parts = parts.parts.iter();
            parts.try_for_each(|part| {
                self.has_priority(part, &key)?;
                processors::part(self.schedule, part, &key)
            })?;
        }
        processors::activity(self.schedule, activity, key)
    }

    /// Checks the calls of a step's servant.
    fn calls(&self, step: &Step, key: &Key) -> Result<(), Problem> {
        if step.calls.is_empty() && step.after.is_some() {
            return key
                .name("after")
                .problem("only for a step with `calls`; remove this, or add its time to `wcet`");
        }
        if step.host.is_some() && !step.calls.is_empty() {
            return key
                .name("calls")
                .problem("only for servants; the client's own calls are steps of the activity");
        }
        for (index, call) in step.calls.iter().enumerate() {
            let key = key.item("calls", index);
            if call.host.is_some() {
                return key.name("host").problem(
                    "a servant calls a `pool`, `adapter` or `object`; its own work is `wcet` or `after`",
                );
            }
            self.step(call, &key)?;
            self.calls(call, &key)?;
        }
        Ok(())
    }

    /// Checks that the threads of a step have priorities, without which no response time is bounded.
    fn has_priority(&self, part: &Part<'_>, key: &Key) -> Result<(), Problem> {
        let Some(pool) = self.schedule.pool_of(part.step) else {
            return Ok(());
        };
        let mut priorities = part.priorities.iter();
        if priorities.any(|&priority| pool.class_at(priority) == Some(Class::Ordinary)) {
            return key.clone().problem(format!(
                "pool `{}` serves it with threads of class \"ordinary\", which have no priorities, so its \
                 response time is unbounded; use \"fifo\" or \"round-robin\", or remove the activity's \
                 `period` and `step`",
                pool.name
            ));
        }
        Ok(())
    }

    fn step(&self, step: &Step, key: &Key) -> Result<(), Problem> {
        times(self.schedule, step, key)?;
        match step.place() {
            Some(Place::Host(_)) => step
                .host
                .as_ref()
                .map_or(Ok(()), |host| self.host(host, key.name("host"))),
            Some(Place::Pool(pool)) if self.schedule.pool(pool).is_none() => {
                self.no_pool(pool, key.name("pool"))
            }
            Some(Place::Adapter(adapter)) if self.schedule.adapter(adapter).is_none() => {
                key.name("adapter").problem(self.no_adapter(adapter))
            }
            Some(Place::Object(object)) if self.schedule.object(object).is_none() => {
                let names: Vec<_> = self
                    .schedule
                    .objects
                    .iter()
                    .map(|object| object.name.clone())
                    .collect();
                let text = format!("unknown object `{object}`; known: {}", list(&names));
                key.name("object").problem(text)
            }
            Some(_) => Ok(()),
            None => key.clone().problem(
                "exactly one of `host` (the client's own work), `pool`, `adapter` and `object` (calls) is \
                 required",
            ),
        }
    }

    fn host(&self, name: &str, key: Key) -> Result<(), Problem> {
        if self.schedule.host(name).is_some() {
            return Ok(());
        }
        key.problem(format!(
            "unknown host `{name}`; `hosts` has {}",
            list(&self.host_names())
        ))
    }

    fn host_names(&self) -> Vec<String> {
        self.schedule.hosts.iter().map(|host| host.name.clone()).collect()
    }

    fn no_pool(&self, name: &str, key: Key) -> Result<(), Problem> {
        let names: Vec<_> = self.schedule.pools.iter().map(|pool| pool.name.clone()).collect();
        key.problem(format!("unknown pool `{name}`; known: {}", list(&names)))
    }

    fn no_adapter(&self, name: &str) -> String {
        let adapters = self.schedule.adapters.iter();
        let names: Vec<_> = adapters.map(|adapter| adapter.name.clone()).collect();
        format!("unknown adapter `{name}`; known: {}", list(&names))
    }

    fn mapped(&self, priority: Option<Priority>, key: Key) -> Result<(), Problem> {
        match priority {
            Some(priority) if self.mapping.to_native(priority).is_none() => key.problem(format!(
                "priority {priority} has no native priority (1 to 99) under the mapping \"{}\"",
                self.schedule.mapping
            )),
            _ => Ok(()),
        }
    }
}

/// Checks the times of a step, and its critical sections.
fn times(schedule: &Schedule, step: &Step, key: &Key) -> Result<(), Problem> {
    let (wcet, delay) = (step.wcet, step.delay);
    if step.bcet > wcet {
        let text = format!("exceeds `wcet`, {wcet}; the best case is the shorter time");
        return key.name("bcet").problem(text);
    }
    if step.least_delay > delay {
        return key
            .name("least_delay")
            .problem(format!("exceeds `delay`, {delay}; this is the shorter time"));
    }
    for (index, lock) in step.locks.iter().enumerate() {
        let known = schedule
            .resources
            .iter()
            .any(|resource| resource.name == lock.resource);
        if !known {
            let names: Vec<_> = schedule
                .resources
                .iter()
                .map(|resource| resource.name.clone())
                .collect();
            let text = format!("unknown resource `{}`; known: {}", lock.resource, list(&names));
            return key.item("locks", index).name("resource").problem(text);
        }
    }
    let held: std::time::Duration = step.locks.iter().map(|lock| lock.length.0).sum();
    if held > wcet.0 {
        return key.name("locks").problem(format!(
            "critical sections take {}, the whole step only {wcet}: `wcet` includes them",
            Span(held)
        ));
    }
    Ok(())
}

/// Checks that requests of this priority find a lane.
fn served(pool: &Pool, priority: Priority, key: Key) -> Result<(), Problem> {
    if !pool.has_lanes() || pool.has_lane(priority) {
        return Ok(());
    }
    let lanes: Vec<_> = pool.lanes.iter().map(|lane| lane.priority.to_string()).collect();
    key.problem(format!(
        "pool `{}` has no lane of priority {priority}; its lanes have priorities {}",
        pool.name,
        lanes.join(", ")
    ))
}

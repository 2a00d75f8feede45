//! What must be true of a schedule beyond its syntax, and where in the text something is not.

mod threads;

use punctual::{Priority, PriorityMapping};
use punctual_toml::{Key, Problem, distinct};

use crate::{
    AdapterModel, Class, Schedule, Step,
    error::list,
    schedule::{Activity, Adapter, Object, Pool},
};

pub(crate) fn check(schedule: &Schedule) -> Result<(), Problem> {
    let root = Key::default();
    if schedule.hosts.is_empty() {
        return root.name("hosts").problem("name at least one host");
    }
    distinct(&schedule.hosts, |place| root.item("hosts", place))?;
    let names =
        |names: Vec<&String>, kind| distinct(names, |place| Key::default().item(kind, place).name("name"));
    names(schedule.pools.iter().map(|pool| &pool.name).collect(), "pool")?;
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
    for (place, pool) in schedule.pools.iter().enumerate() {
        checks.pool(pool, &root.item("pool", place))?;
    }
    for (place, adapter) in schedule.adapters.iter().enumerate() {
        checks.adapter(adapter, &root.item("adapter", place))?;
    }
    for (place, object) in schedule.objects.iter().enumerate() {
        checks.object(object, &root.item("object", place))?;
    }
    for (place, activity) in schedule.activities.iter().enumerate() {
        checks.activity(activity, &root.item("activity", place))?;
    }
    Ok(())
}

struct Checks<'s> {
    schedule: &'s Schedule,
    mapping: Box<dyn PriorityMapping>,
}

impl Checks<'_> {
    fn pool(&self, pool: &Pool, key: &Key) -> Result<(), Problem> {
        match &pool.host {
            Some(host) => self.host(host, key.name("host"))?,
            None if self.schedule.hosts.len() > 1 => {
                let hosts = list(&self.schedule.hosts);
                return key
                    .clone()
                    .problem(format!("`host` is missing; there are {hosts}"));
            }
            None => {}
        }
        if pool.has_lanes() && pool.threads.is_some() {
            return key
                .name("threads")
                .problem("a pool with lanes has its threads there; drop this or `lanes`");
        }
        if pool.has_lanes() && pool.priority.is_some() {
            return key
                .name("priority")
                .problem("a pool with lanes has its priorities there; drop this or `lanes`");
        }
        if pool.threads == Some(0) {
            return key.name("threads").problem("a pool needs at least 1 thread");
        }
        self.mapped(pool.priority, key.name("priority"))?;
        threads::pool(pool, key)?;
        for (place, lane) in pool.lanes.iter().enumerate() {
            let key = key.item("lanes", place);
            self.mapped(Some(lane.priority), key.name("priority"))?;
            if lane.threads == 0 {
                return key.name("threads").problem("a lane needs at least 1 thread");
            }
            threads::lane(pool, lane, &key)?;
            if pool.lanes[..place]
                .iter()
                .any(|other| other.priority == lane.priority)
            {
                let text = format!(
                    "another lane has priority {}; one lane for each priority",
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
        self.mapped(Some(adapter.priority), key.name("priority"))?;
        if adapter.model == AdapterModel::ServerDeclared {
            served(pool, adapter.priority, key.name("priority"))?;
        }
        Ok(())
    }

    fn object(&self, object: &Object, key: &Key) -> Result<(), Problem> {
        let Some(adapter) = self.schedule.adapter(&object.adapter) else {
            let names: Vec<_> = self
                .schedule
                .adapters
                .iter()
                .map(|adapter| adapter.name.clone())
                .collect();
            let text = format!(
                "no adapter is named `{}`; there are {}",
                object.adapter,
                list(&names)
            );
            return key.name("adapter").problem(text);
        };
        if adapter.model != AdapterModel::ServerDeclared {
            let text = format!(
                "requests to objects of `{}` have their clients' priorities; name an adapter whose model is \"server-declared\"",
                adapter.name
            );
            return key.name("adapter").problem(text);
        }
        self.mapped(Some(object.priority), key.name("priority"))?;
        let pool = self
            .schedule
            .pool(&adapter.pool)
            .expect("adapters were checked before");
        served(pool, object.priority, key.name("priority"))
    }

    fn activity(&self, activity: &Activity, key: &Key) -> Result<(), Problem> {
        self.mapped(Some(activity.priority), key.name("priority"))?;
        if activity.period.is_some_and(|period| period.is_zero()) {
            return key.name("period").problem("a period must be longer than 0");
        }
        if activity.period.is_none() && !activity.steps.is_empty() {
            return key
                .clone()
                .problem("`period` is missing; steps alone say nothing about time");
        }
        if activity.period.is_some() && activity.steps.is_empty() {
            return key
                .clone()
                .problem("`step` is missing; say what the activity does, or drop `period`");
        }
        for (place, step) in activity.steps.iter().enumerate() {
            let key = key.item("step", place);
            self.step(step, &key)?;
            self.has_priority(activity, step, &key)?;
        }
        Ok(())
    }

    /// Time can be promised only where threads have a priority.
    fn has_priority(&self, activity: &Activity, step: &Step, key: &Key) -> Result<(), Problem> {
        let Some(pool) = self.schedule.pool_of(step) else {
            return Ok(());
        };
        let object = step.object.as_ref().and_then(|name| self.schedule.object(name));
        let priority = object.map_or(activity.priority, |object| object.priority);
        if pool.class_at(priority) == Some(Class::Ordinary) {
            return key.clone().problem(format!(
                "pool `{}` serves it with threads of class \"ordinary\", which has no priorities: nobody can say how long that takes; \
                 let them be \"fifo\" or \"round-robin\", or drop the activity's `period` and `step`",
                pool.name
            ));
        }
        Ok(())
    }

    fn step(&self, step: &Step, key: &Key) -> Result<(), Problem> {
        match (&step.host, &step.pool, &step.object) {
            (Some(host), None, None) => self.host(host, key.name("host")),
            (None, Some(pool), None) if self.schedule.pool(pool).is_none() => self.no_pool(pool, key.name("pool")),
            (None, None, Some(object)) if self.schedule.object(object).is_none() => {
                let names: Vec<_> = self.schedule.objects.iter().map(|object| object.name.clone()).collect();
                let text = format!("no object is named `{object}`; there are {}", list(&names));
                key.name("object").problem(text)
            }
            (None, Some(_), None) | (None, None, Some(_)) => Ok(()),
            _ => key.clone().problem(
                "say where it runs with exactly one of `host` (the client's own work), `pool` and `object` (calls)",
            ),
        }
    }

    fn host(&self, name: &String, key: Key) -> Result<(), Problem> {
        if self.schedule.hosts.contains(name) {
            return Ok(());
        }
        key.problem(format!(
            "no host is named `{name}`; `hosts` has {}",
            list(&self.schedule.hosts)
        ))
    }

    fn no_pool(&self, name: &str, key: Key) -> Result<(), Problem> {
        let names: Vec<_> = self.schedule.pools.iter().map(|pool| pool.name.clone()).collect();
        key.problem(format!("no pool is named `{name}`; there are {}", list(&names)))
    }

    fn mapped(&self, priority: Option<Priority>, key: Key) -> Result<(), Problem> {
        match priority {
            Some(priority) if self.mapping.to_native(priority).is_none() => key.problem(format!(
                "priority {priority} has no native one (1 to 99) under the mapping \"{}\"",
                self.schedule.mapping
            )),
            _ => Ok(()),
        }
    }
}

/// Whether requests of this priority find a lane.
fn served(pool: &Pool, priority: Priority, key: Key) -> Result<(), Problem> {
    if !pool.has_lanes() || pool.has_lane(priority) {
        return Ok(());
    }
    let lanes: Vec<_> = pool.lanes.iter().map(|lane| lane.priority.to_string()).collect();
    key.problem(format!(
        "pool `{}` has no lane of priority {priority}; its lanes have {}",
        pool.name,
        lanes.join(", ")
    ))
}

//! Checks of CPUs, of the order in which they serve threads, and of resources on them.

use std::collections::BTreeMap;

use punctual_toml::{Key, Problem};

use crate::{Activity, Host, HostOrder, Part, Place, Protocol, Schedule};

/// Checks a host.
pub(super) fn host(host: &Host, key: &Key) -> Result<(), Problem> {
    let mut cpus = host.cpus.clone();
    cpus.sort_unstable();
    if let Some(pair) = cpus.windows(2).find(|pair| pair[0] == pair[1]) {
        return key.name("cpus").problem(format!("CPU {} occurs twice", pair[0]));
    }
    Ok(())
}

/// Checks that the threads of a part are bound to one CPU, without which no response time is bounded.
pub(super) fn part(schedule: &Schedule, part: &Part<'_>, key: &Key) -> Result<(), Problem> {
    let Some(host) = schedule.host_of(part.step).and_then(|name| schedule.host(name)) else {
        return Ok(());
    };
    let is_client = matches!(part.step.place(), Some(Place::Host(_)));
    if part.step.cpu.is_some() && (!is_client || host.cpus.len() < 2) {
        return key
            .name("cpu")
            .problem("only with a `host` of several `cpus`; the CPUs of a lane are its own `cpus`");
    }
    if schedule.processor_of(part).is_some() {
        return Ok(());
    }
    let cpus: Vec<_> = host.cpus.iter().map(ToString::to_string).collect();
    let cpus = cpus.join(", ");
    key.clone().problem(match schedule.pool_of(part.step) {
        None => format!("host `{}` has CPUs {cpus}; choose one with `cpu`", host.name),
        Some(pool) => format!(
            "host `{}` has CPUs {cpus}, and the threads of pool `{}` that serve it are not bound to one of \
             them; give each lane `cpus` with one number, the same for all that may serve the call",
            host.name, pool.name
        ),
    })
}

/// Checks that all steps of an activity are ordered in the same way: a deadline is not converted to a
/// priority.
pub(super) fn activity(schedule: &Schedule, activity: &Activity, key: &Key) -> Result<(), Problem> {
    let parts = schedule.parts_of(activity).parts;
    let hosts = parts
        .iter()
        .filter_map(|part| schedule.host(schedule.host_of(part.step)?));
    let (by_deadline, by_priority): (Vec<_>, Vec<_>) =
        hosts.partition(|host| host.order == HostOrder::Deadline);
    match (by_deadline.first(), by_priority.first()) {
        (Some(one), Some(other)) => key.clone().problem(format!(
            "host `{}` serves by deadline and host `{}` by priority; all hosts of an activity need the same \
             `order`",
            one.name, other.name
        )),
        _ => Ok(()),
    }
}

/// Checks that each resource is used on one CPU of a host, and that ceilings are priorities.
pub(super) fn resources(schedule: &Schedule, root: &Key) -> Result<(), Problem> {
    let processors = schedule.processors();
    for (index, resource) in schedule.resources.iter().enumerate() {
        let key = root.item("resource", index);
        let mut used: BTreeMap<&str, usize> = BTreeMap::new();
        for activity in &schedule.activities {
            for part in schedule.parts_of(activity).parts {
                if !part.locks.iter().any(|lock| lock.resource == resource.name) {
                    continue;
                }
                let Some(place) = schedule.processor_of(&part) else {
                    continue;
                };
                let processor = processors[place];
                if processor.host.order == HostOrder::Deadline && resource.protocol == Protocol::Ceiling {
                    return key.name("protocol").problem(format!(
                        "host `{}` serves by deadline, where no priority is a ceiling; use \"inheritance\"",
                        processor.host.name
                    ));
                }
                let first = *used.entry(&processor.host.name).or_insert(place);
                if first != place {
                    return key.problem(format!(
                        "it is locked on CPUs {} and {}: a wait for another CPU is not bounded here; use \
                         the resource on one CPU only",
                        processors[first], processor
                    ));
                }
            }
        }
    }
    Ok(())
}

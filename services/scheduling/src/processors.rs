//! The processors of a schedule, and where its parts run.

use punctual::Priority;

use crate::{Host, Part, Pool, Processor, Schedule};

impl Schedule {
    /// Returns all processors, host by host; the analysis knows them by their places in this list.
    pub fn processors(&self) -> Vec<Processor<'_>> {
        let of_host = |host: &'_ Host| -> Vec<Option<usize>> {
            match &host.cpus[..] {
                [] | [_] => vec![None],
                several => several.iter().copied().map(Some).collect(),
            }
        };
        let hosts = self.hosts.iter();
        hosts
            .flat_map(|host| of_host(host).into_iter().map(move |cpu| Processor { host, cpu }))
            .collect()
    }

    /// Returns the place of a part's processor among [`Self::processors`]; `None` if its threads are not
    /// bound to one CPU, which a checked schedule excludes.
    pub fn processor_of(&self, part: &Part<'_>) -> Option<usize> {
        let host = self.host(self.host_of(part.step)?)?;
        let cpu = match self.pool_of(part.step) {
            _ if host.cpus.len() < 2 => None,
            None => Some(part.step.cpu?),
            Some(pool) => Some(cpu_of(pool, &part.priorities)?),
        };
        let is_it = |processor: &Processor<'_>| processor.host.name == host.name && processor.cpu == cpu;
        self.processors().iter().position(is_it)
    }

    /// Returns the host of this name.
    pub fn host(&self, name: &str) -> Option<&Host> {
        self.hosts.iter().find(|host| host.name == name)
    }
}

/// Returns the only CPU of all threads of a pool that serve requests of these priorities. Threads that lanes
/// lend to each other have to be on one CPU.
fn cpu_of(pool: &Pool, priorities: &[Priority]) -> Option<usize> {
    let lanes = || {
        let serves = |priority| pool.allow_borrowing || priorities.contains(&priority);
        pool.lanes.iter().filter(move |lane| serves(lane.priority))
    };
    let affinities: Vec<Option<&Vec<usize>>> = if lanes().next().is_none() {
        vec![pool.cpus.as_ref()]
    } else {
        lanes()
            .map(|lane| lane.cpus.as_ref().or(pool.cpus.as_ref()))
            .collect()
    };
    let mut found = None;
    for cpus in affinities {
        let [cpu] = cpus?[..] else { return None };
        if found.is_some_and(|found| found != cpu) {
            return None;
        }
        found = Some(cpu);
    }
    found
}

//! Translation of a checked scenario into the simulator's model.

use std::{collections::HashMap, time::Duration};

use punctual_sched::{
    dynamic::{SheddingPolicy, Time, Utility},
    simulator::{
        Arrival, Call, Cancellation, Costs, Host, Link, Model, Overrun, Parameters, Protocol, Resource,
        Start, Step, Task, Work,
    },
};
use punctual_toml::Span;

use crate::{
    ArrivalEntry, HostEntry, NetworkEntry, OverrunEntry, ParametersEntry, ProtocolEntry, Scenario,
    SheddingEntry, StepEntry, TaskEntry,
};

/// Returns the model of a checked scenario.
pub(super) fn model(scenario: &Scenario) -> Model {
    let names = Names::of(scenario);
    let mut model = Model {
        hosts: scenario
            .hosts
            .iter()
            .flat_map(|entry| hosts(entry, names.shedding))
            .collect(),
        network: link(scenario.network),
        ..Model::default()
    };
    for entry in &scenario.links {
        let (latency, jitter, bytes_per_second) = (entry.latency, entry.jitter, entry.bytes_per_second);
        let link = link(NetworkEntry {
            latency,
            jitter,
            bytes_per_second,
        });
        for from in &names.hosts[&entry.from] {
            let others = names.hosts[&entry.to].iter();
            model.links.extend(others.map(|to| (*from, *to, link)));
        }
    }
    model.resources = scenario
        .resources
        .iter()
        .map(|entry| Resource {
            name: entry.name.clone(),
            protocol: match entry.protocol {
                ProtocolEntry::None => Protocol::None,
                ProtocolEntry::Inheritance => Protocol::Inheritance,
                ProtocolEntry::Ceiling => Protocol::Ceiling(parameters(
                    &entry.ceiling.unwrap_or_default(),
                    None,
                    Duration::ZERO,
                )),
            },
        })
        .collect();
    model.tasks = scenario.tasks.iter().map(|entry| names.task(entry)).collect();
    model.cancellations = scenario
        .cancels
        .iter()
        .map(|entry| Cancellation {
            at: Time(0) + entry.at.0,
            task: names.tasks[entry.task.as_str()],
        })
        .collect();
    model
}

/// Returns the hosts of an entry, each with its own name.
fn hosts(entry: &HostEntry, shedding: SheddingPolicy) -> impl Iterator<Item = Host> + '_ {
    (1..=entry.count).map(move |number| Host {
        name: if entry.count == 1 {
            entry.name.clone()
        } else {
            format!("{}-{number}", entry.name)
        },
        processors: entry.processors,
        costs: Costs {
            decision: entry.decision.0,
            hand_over: entry.hand_over.0,
            check: entry.check.0,
            cancellation: entry.cancellation.0,
        },
        shedding,
    })
}

fn link(network: NetworkEntry) -> Link {
    Link {
        latency: network.latency.0,
        jitter: network.jitter.0,
        bytes_per_second: network.bytes_per_second,
    }
}

fn parameters(given: &ParametersEntry, period: Option<Duration>, execution_time: Duration) -> Parameters {
    Parameters {
        priority: given.priority.0,
        importance: given.importance,
        criticality: given.criticality,
        period: given.period.map(|period| period.0).or(period).unwrap_or_default(),
        deadline: given.deadline.map(|deadline| deadline.0),
        execution_time: given.execution_time.map_or(execution_time, |time| time.0),
        utility: Utility {
            value: given.utility.unwrap_or(1),
            decay: given.decay.0,
        },
    }
}

/// Indices of named hosts, tasks and resources.
pub(super) struct Names<'s> {
    /// Hosts by their own names and by the names of their groups.
    pub(super) hosts: HashMap<String, Vec<usize>>,
    pub(super) tasks: HashMap<&'s str, usize>,
    pub(super) resources: HashMap<&'s str, usize>,
    /// Policy of all hosts.
    shedding: SheddingPolicy,
}

impl<'s> Names<'s> {
    pub(super) fn of(scenario: &'s Scenario) -> Self {
        let shedding = match scenario.cancellation {
            SheddingEntry::None => SheddingPolicy::never(),
            SheddingEntry::NonCritical => SheddingPolicy::before_dispatch().sparing_critical(),
            SheddingEntry::All => SheddingPolicy::before_dispatch(),
        };
        let mut by_name = HashMap::new();
        let mut next = 0;
        for entry in &scenario.hosts {
            by_name.insert(entry.name.clone(), (next..next + entry.count).collect());
            if entry.count > 1 {
                let own = hosts(entry, shedding).enumerate();
                by_name.extend(own.map(|(index, host)| (host.name, vec![next + index])));
            }
            next += entry.count;
        }
        let tasks = scenario.tasks.iter().enumerate();
        let resources = scenario.resources.iter().enumerate();
        Self {
            hosts: by_name,
            tasks: tasks.map(|(index, task)| (task.name.as_str(), index)).collect(),
            resources: resources
                .map(|(index, resource)| (resource.name.as_str(), index))
                .collect(),
            shedding,
        }
    }

    /// Returns the policy of an operation with these retries; `None`: that of the host.
    fn retrying(&self, retries: Option<u32>, after: Option<Span>) -> Option<SheddingPolicy> {
        let retries = retries.filter(|retries| *retries > 0)?;
        let policy = self.shedding.retrying(retries);
        Some(policy.retrying_after(after.unwrap_or_default().0))
    }

    fn task(&self, entry: &TaskEntry) -> Task {
        let group = &self.hosts[&entry.host];
        let steps = self.steps(&entry.steps, group);
        let period = entry.period.map(|period| period.0);
        let execution_time = Step::execution_time(&steps);
        let arrivals = entry.arrivals().unwrap_or(ArrivalEntry::OnDemand);
        let given = entry
            .parameters
            .or((arrivals != ArrivalEntry::OnDemand).then(ParametersEntry::default));
        Task {
            name: entry.name.clone(),
            // Stream `n` is on host `n` modulo the size of the group, which matches the hosts of its calls.
            hosts: group.repeat(entry.threads),
            arrival: arrival(entry, arrivals),
            spread: entry.spread.0,
            parameters: given.map(|given| parameters(&given, period, execution_time)),
            steps,
            overrun: match entry.overrun {
                OverrunEntry::Queue => Overrun::Queue,
                OverrunEntry::Skip => Overrun::Skip,
            },
            shedding: self.retrying(Some(entry.retries), Some(entry.retry_after)),
        }
    }

    fn steps(&self, steps: &[StepEntry], home: &[usize]) -> Vec<Step> {
        steps.iter().filter_map(|step| self.step(step, home)).collect()
    }

    fn step(&self, step: &StepEntry, home: &[usize]) -> Option<Step> {
        let start = |task: &String| Start {
            task: self.tasks[task.as_str()],
            request_bytes: step.request_bytes.unwrap_or(0),
            reply_bytes: step.reply_bytes.unwrap_or(0),
        };
        let nested = |given: &ParametersEntry| parameters(given, None, Duration::ZERO);
        Some(if let Some(time) = step.compute {
            Step::Compute(Work {
                time: time.0,
                least: step.least,
                most: step.most,
            })
        } else if let Some(given) = &step.begin {
            Step::Begin(nested(given))
        } else if let Some(given) = &step.update {
            Step::Update(nested(given))
        } else if step.end.is_some() {
            Step::End
        } else if let Some(to) = &step.call {
            Step::Call(self.call(step, to, home))
        } else if let Some(task) = &step.oneway {
            Step::Oneway(start(task))
        } else if let Some(task) = &step.asynchronous {
            Step::Async(start(task))
        } else if step.wait.is_some() {
            Step::Await
        } else if let Some(task) = &step.spawn {
            Step::Spawn {
                task: self.tasks[task.as_str()],
            }
        } else if let Some(resource) = &step.lock {
            Step::Lock(self.resources[resource.as_str()])
        } else if let Some(resource) = &step.unlock {
            Step::Unlock(self.resources[resource.as_str()])
        } else if let Some(time) = step.sleep {
            Step::Sleep(time.0)
        } else {
            Step::Cancel {
                task: self.tasks[step.cancel.as_deref()?],
            }
        })
    }

    fn call(&self, step: &StepEntry, to: &str, home: &[usize]) -> Call {
        let mut hosts = self.hosts[to].clone();
        let shift = step.shift.unwrap_or(usize::from(hosts == home));
        let count = hosts.len();
        hosts.rotate_left(shift % count);
        Call {
            hosts,
            steps: self.steps(step.steps.as_deref().unwrap_or_default(), home),
            request_bytes: step.request_bytes.unwrap_or(0),
            reply_bytes: step.reply_bytes.unwrap_or(0),
            deadline: step.deadline.map(|deadline| deadline.0),
            shedding: self.retrying(step.retries, step.retry_after),
        }
    }
}

fn arrival(entry: &TaskEntry, arrivals: ArrivalEntry) -> Arrival {
    let offset = Time(0) + entry.offset.unwrap_or_default().0;
    match arrivals {
        ArrivalEntry::OnDemand => Arrival::OnDemand,
        ArrivalEntry::Start(at) => Arrival::Once { at: Time(0) + at.0 },
        ArrivalEntry::Period(period) => Arrival::Periodic {
            offset,
            period: period.0,
            jitter: entry.jitter.unwrap_or_default().0,
        },
        ArrivalEntry::Between(least, most) => Arrival::Sporadic {
            offset,
            least: least.0,
            most: most.0,
        },
        ArrivalEntry::Mean(mean) => Arrival::Random { offset, mean: mean.0 },
    }
}

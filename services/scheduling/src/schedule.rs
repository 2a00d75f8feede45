use std::{path::Path, str::FromStr};

use punctual::{Priority, PriorityMapping, StandardMapping};
use serde::{Deserialize, Serialize};

use crate::{Buffering, Class, Expired, FileError, Span, Wait, check};

/// Hosts, pools, adapters, objects and activities with their priorities, as the file has them. The crate's page shows one.
///
/// ```
/// use punctual_scheduling::Schedule;
///
/// let schedule = Schedule::parse("radar.toml", include_str!("../radar.toml"))?;
/// assert_eq!(schedule.activities[0].name, "track");
/// assert_eq!(schedule.pools[0].lanes.len(), 2);
/// assert_eq!(Schedule::parse("again.toml", &schedule.to_toml())?, schedule);
/// # Ok::<(), punctual_scheduling::FileError>(())
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Computers, each with one CPU for this work. Default: `localhost`.
    #[serde(default = "localhost")]
    pub hosts: Vec<String>,
    /// How CORBA priorities become native ones. Default: linear.
    #[serde(default, with = "mapping")]
    pub mapping: StandardMapping,
    /// Threads that serve requests.
    #[serde(default, rename = "pool", skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<Pool>,
    /// Object adapters.
    #[serde(default, rename = "adapter", skip_serializing_if = "Vec::is_empty")]
    pub adapters: Vec<Adapter>,
    /// Objects with a priority of their own.
    #[serde(default, rename = "object", skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Object>,
    /// What clients do.
    #[serde(default, rename = "activity", skip_serializing_if = "Vec::is_empty")]
    pub activities: Vec<Activity>,
}

impl Schedule {
    /// Reads a file.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn read(file: impl AsRef<Path>) -> Result<Self, FileError> {
        punctual_toml::read(file, check::check)
    }

    /// Reads a text; `file` is what errors call it.
    ///
    /// # Errors
    /// [`FileError::Invalid`].
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        punctual_toml::parse(file, text, check::check)
    }

    /// The text of a file that reads as this schedule. Comments are not kept.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).expect("a schedule holds nothing that TOML cannot say")
    }

    /// The mapping in force: over SCHED_FIFO's priorities, 1 to 99.
    pub fn native_mapping(&self) -> Box<dyn PriorityMapping> {
        self.mapping.over(1..=99)
    }

    /// The pool of this name. What a checked schedule names is there.
    pub fn pool(&self, name: &str) -> Option<&Pool> {
        self.pools.iter().find(|pool| pool.name == name)
    }

    /// The adapter of this name.
    pub fn adapter(&self, name: &str) -> Option<&Adapter> {
        self.adapters.iter().find(|adapter| adapter.name == name)
    }

    /// The object of this name.
    pub fn object(&self, name: &str) -> Option<&Object> {
        self.objects.iter().find(|object| object.name == name)
    }

    /// The pool that serves a call, if the step is one.
    pub fn pool_of(&self, step: &Step) -> Option<&Pool> {
        match step.place()? {
            Place::Host(_) => None,
            Place::Pool(name) => self.pool(name),
            Place::Object(name) => self.pool(&self.adapter(&self.object(name)?.adapter)?.pool),
        }
    }

    /// The host on which a step runs.
    pub fn host_of<'a>(&'a self, step: &'a Step) -> Option<&'a str> {
        match step.place()? {
            Place::Host(name) => Some(name),
            _ => self.host_of_pool(self.pool_of(step)?),
        }
    }

    /// The host of a pool: the only one, where it names none.
    pub fn host_of_pool<'a>(&'a self, pool: &'a Pool) -> Option<&'a str> {
        pool.host.as_ref().or(self.hosts.first()).map(String::as_str)
    }
}

fn localhost() -> Vec<String> {
    vec!["localhost".to_owned()]
}

/// Threads that serve requests: `RTCORBA::create_threadpool_with_lanes`, or without.
///
/// What its threads are like may be said here or, where lanes differ, there.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// Where it is. Default: the only host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Without lanes: how many threads, at least 1. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// Without lanes: at which priority they serve. Default: 0.
    #[serde(
        default,
        with = "punctual_toml::optional_priority",
        skip_serializing_if = "Option::is_none"
    )]
    pub priority: Option<Priority>,
    /// Without lanes: as in [`Lane::dynamic_threads`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dynamic_threads: usize,
    /// Without lanes: as in [`Lane::dynamic_idle_timeout`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic_idle_timeout: Option<Span>,
    /// Without lanes: as in [`Lane::dynamic_run_time`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic_run_time: Option<Span>,
    /// Without lanes: where its threads wait for requests. Default: polled.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wait: Wait,
    /// Octets of each thread's stack; 0: the default. Default: 2 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_bytes: Option<usize>,
    /// The CPUs its threads may run on, by number. Default: those of the thread that starts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Vec<usize>>,
    /// The scheduling class of its threads. Default: the ORB's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Whether lower lanes' threads serve requests of a lane whose own are all in upcalls. Default: no.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allow_borrowing: bool,
    /// What becomes of requests whose deadline has passed. Default: they are served.
    #[serde(default, skip_serializing_if = "is_default")]
    pub expired_requests: Expired,
    /// Reads requests while all threads are in upcalls, and keeps so many. Default: they wait in the sockets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_buffering: Option<Buffering>,
    /// Its lanes, with distinct priorities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<Lane>,
}

impl Pool {
    /// Whether it has lanes.
    pub fn has_lanes(&self) -> bool {
        !self.lanes.is_empty()
    }

    /// Whether one of its lanes has this priority.
    pub fn has_lane(&self, priority: Priority) -> bool {
        self.lane(priority).is_some()
    }

    fn lane(&self, priority: Priority) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.priority == priority)
    }

    /// The class of the threads that serve requests of this priority, as far as the file says it.
    pub(crate) fn class_at(&self, priority: Priority) -> Option<Class> {
        if !self.has_lanes() {
            return self.class;
        }
        // Without such a lane nobody serves them.
        self.lane(priority)?.class.or(self.class)
    }
}

/// Threads of a pool at one priority, with connections of their own: `RTCORBA::ThreadpoolLane`, and [`punctual::LaneSpec`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lane {
    /// Its priority.
    #[serde(with = "punctual_toml::priority")]
    pub priority: Priority,
    /// How many threads, at least 1.
    pub threads: usize,
    /// How many more there may be while all others are in upcalls. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dynamic_threads: usize,
    /// A dynamic thread ends when no request came to it for this long. Default, without [`Self::dynamic_run_time`]: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic_idle_timeout: Option<Span>,
    /// A dynamic thread ends after this time, whatever it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic_run_time: Option<Span>,
    /// Where its threads wait for requests. Default: polled.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wait: Wait,
    /// Octets of each thread's stack; 0: the default. Default: the pool's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_bytes: Option<usize>,
    /// The CPUs its threads may run on, by number. Default: the pool's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Vec<usize>>,
    /// The scheduling class of its threads. Default: the pool's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
}

impl Lane {
    /// So many threads at this priority, and all else as its pool says.
    ///
    /// ```
    /// use punctual::Priority;
    /// use punctual_scheduling::{Class, Lane};
    ///
    /// let lane = Lane { class: Some(Class::RoundRobin), ..Lane::new(Priority::MAX, 2) };
    /// assert_eq!(lane.dynamic_threads, 0);
    /// ```
    pub fn new(priority: Priority, threads: usize) -> Self {
        Self {
            priority,
            threads,
            dynamic_threads: 0,
            dynamic_idle_timeout: None,
            dynamic_run_time: None,
            wait: Wait::Polled,
            stack_bytes: None,
            cpus: None,
            class: None,
        }
    }
}

/// An object adapter.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// Its name, as `create_poa` is told it.
    pub name: String,
    /// Which pool serves its objects.
    pub pool: String,
    /// Whose priority requests have.
    pub model: AdapterModel,
    /// That of clients that send none, or of objects that have none.
    #[serde(with = "punctual_toml::priority")]
    pub priority: Priority,
}

/// Whose priority requests have: `RTCORBA::PriorityModel`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdapterModel {
    /// The client's.
    ClientPropagated,
    /// The object's, or the adapter's.
    ServerDeclared,
}

/// An object with a priority of its own.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// Its name, as `schedule_object` is told it.
    pub name: String,
    /// The adapter it is in, which is server-declared.
    pub adapter: String,
    /// The priority of requests to it.
    #[serde(with = "punctual_toml::priority")]
    pub priority: Priority,
}

/// What a client does, again and again or when something happens.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Activity {
    /// Its name, as `schedule_activity` is told it.
    pub name: String,
    /// The priority of its thread and, where they propagate it, of its calls.
    #[serde(with = "punctual_toml::priority")]
    pub priority: Priority,
    /// The shortest time between two starts. Without it the analysis leaves the activity out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<Span>,
    /// From a start to the end of its last step. Default: the period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Span>,
    /// How late it may start. Default: 0.
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    pub jitter: Span,
    /// What it does, one after the other.
    #[serde(default, rename = "step", skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

/// Work of an activity in one place; exactly one of `host`, `pool` and `object` says where.
///
/// Steps are done one after the other. A servant that calls on keeps its lane's thread meanwhile: give such a lane a thread for each
/// activity that comes through it, or count what the others wait for as blocking.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// In the client's own thread, on this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// In an object that this pool serves: in the lane of the client's priority, or without lanes at the pool's priority and, where an
    /// adapter of the pool has a model, at that model's too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// In this object, at its own priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Worst-case execution time on an idle CPU, the ORB's own work included.
    pub wcet: Span,
    /// How long lower priorities can keep it waiting, such as for a mutex. Default: 0.
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    pub blocking: Span,
    /// How long the message to it takes at most. Default: 0.
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    pub delay: Span,
}

impl Step {
    /// Where it runs; `None` where that is said more than once or not at all, which no checked schedule has.
    pub fn place(&self) -> Option<Place<'_>> {
        match (&self.host, &self.pool, &self.object) {
            (Some(host), None, None) => Some(Place::Host(host)),
            (None, Some(pool), None) => Some(Place::Pool(pool)),
            (None, None, Some(object)) => Some(Place::Object(object)),
            _ => None,
        }
    }
}

/// Where a step runs, by name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place<'s> {
    /// In the client's thread.
    Host(&'s str),
    /// In a thread of this pool.
    Pool(&'s str),
    /// In a thread of the pool that serves this object.
    Object(&'s str),
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Mappings by name.
mod mapping {
    use super::{FromStr, StandardMapping};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(
        mapping: &StandardMapping,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(mapping)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<StandardMapping, D::Error> {
        let name = String::deserialize(deserializer)?;
        StandardMapping::from_str(&name).map_err(D::Error::custom)
    }
}

//! Thread pools and their lanes in a schedule.

use punctual::{LaneSpec, Priority, SchedulingClass};
use punctual_toml::Span;
use serde::{Deserialize, Serialize};

use crate::{
    Buffering, Class, Expired, Sockets, Wait,
    threads::{ThreadSettings, is_default, is_zero},
};

/// A thread pool, with or without lanes: `RTCORBA::create_threadpool_with_lanes`,
/// `RTCORBA::create_threadpool`.
///
/// Settings of its threads are the defaults of its lanes.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Name.
    pub name: String,
    /// Name of its host. Default: the only host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Without lanes: number of threads, at least 1. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// Without lanes: priority of the threads. Default: 0.
    #[serde(
        default,
        with = "punctual_toml::optional_priority",
        skip_serializing_if = "Option::is_none"
    )]
    pub priority: Option<Priority>,
    /// Without lanes: [`Lane::dynamic_threads`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dynamic_threads: usize,
    /// Without lanes: [`Lane::dynamic_idle_timeout`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic_idle_timeout: Option<Span>,
    /// Without lanes: [`Lane::dynamic_run_time`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic_run_time: Option<Span>,
    /// Without lanes: [`Lane::wait`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub wait: Wait,
    /// Stack size of each thread in octets; 0: the system's default. Default: 2 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_bytes: Option<usize>,
    /// Octets of each stack that are made resident before the thread serves. Default: 256 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefault_bytes: Option<usize>,
    /// CPUs of its threads, by number. Default: those of the thread that starts the pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Vec<usize>>,
    /// Scheduling class of its threads. Default: the ORB's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Whether threads of lower lanes serve a lane whose own threads are all in upcalls. Default: no.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allow_borrowing: bool,
    /// Treatment of requests whose deadline has passed. Default: they are served.
    #[serde(default, skip_serializing_if = "is_default")]
    pub expired_requests: Expired,
    /// Limits of the queue that keeps requests while all threads are in upcalls. Default: no queue; requests
    /// wait in the sockets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_buffering: Option<Buffering>,
    /// Endpoints of the pool: one for its first lane, from which those of the others are counted
    /// ([`punctual::ThreadPoolBuilder::listen`]). Default: free ports beside those of the ORB.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listen: Vec<String>,
    /// Lanes, with distinct priorities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<Lane>,
}

impl Pool {
    /// Returns whether it has lanes.
    pub fn has_lanes(&self) -> bool {
        !self.lanes.is_empty()
    }

    /// Returns whether it has a lane of this priority.
    pub fn has_lane(&self, priority: Priority) -> bool {
        self.lane(priority).is_some()
    }

    fn lane(&self, priority: Priority) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.priority == priority)
    }

    /// Returns the class of the threads that serve requests of this priority, if the file states it and such
    /// threads exist.
    pub(crate) fn class_at(&self, priority: Priority) -> Option<Class> {
        if !self.has_lanes() {
            return self.class;
        }
        self.lane(priority)?.class.or(self.class)
    }

    /// Returns the number of requests that its threads can serve at a time; without lanes.
    pub(crate) fn served_at_a_time(&self) -> usize {
        self.own_threads().served_at_a_time(self.threads.unwrap_or(1))
    }

    /// Returns number and kind of the threads, with dynamic ones, of that of these lanes that serves the
    /// fewest requests at a time; without lanes, of the pool.
    pub(crate) fn fewest_threads(&self, lanes: &[Priority]) -> (usize, Wait) {
        let lanes = self.lanes.iter().filter(|lane| lanes.contains(&lane.priority));
        match lanes.min_by_key(|lane| lane.served_at_a_time()) {
            Some(lane) => (lane.threads + lane.dynamic_threads, lane.wait),
            None => (self.threads.unwrap_or(1) + self.dynamic_threads, self.wait),
        }
    }

    /// Returns the settings of its threads; with lanes, their defaults.
    pub(crate) fn own_threads(&self) -> ThreadSettings<'_> {
        ThreadSettings {
            dynamic_threads: self.dynamic_threads,
            idle_timeout: self.dynamic_idle_timeout,
            run_time: self.dynamic_run_time,
            wait: self.wait,
            stack_bytes: self.stack_bytes,
            prefault_bytes: self.prefault_bytes,
            cpus: self.cpus.as_deref(),
            class: self.class,
        }
    }
}

/// Threads of a pool at one priority, with their own connections: `RTCORBA::ThreadpoolLane`,
/// [`punctual::LaneSpec`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lane {
    /// Priority.
    #[serde(with = "punctual_toml::priority")]
    pub priority: Priority,
    /// Number of threads, at least 1.
    pub threads: usize,
    /// Maximum number of additional threads, started while all others are in upcalls. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dynamic_threads: usize,
    /// Time without requests after which a dynamic thread ends. Default: never, unless
    /// [`Self::dynamic_run_time`] is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic_idle_timeout: Option<Span>,
    /// Total run time after which a dynamic thread ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic_run_time: Option<Span>,
    /// How its threads wait for requests. Default: polled.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wait: Wait,
    /// Stack size of each thread in octets; 0: the system's default. Default: the pool's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_bytes: Option<usize>,
    /// Octets of each stack that are made resident before the thread serves. Default: the pool's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefault_bytes: Option<usize>,
    /// CPUs of its threads, by number. Default: the pool's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Vec<usize>>,
    /// Scheduling class of its threads. Default: the pool's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Options of the sockets of its connections. Default: the system's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sockets: Sockets,
}

impl Lane {
    /// Creates a lane of `threads` threads at this priority, with the pool's settings.
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
            prefault_bytes: None,
            cpus: None,
            class: None,
            sockets: Sockets::default(),
        }
    }

    pub(crate) fn own_threads(&self) -> ThreadSettings<'_> {
        ThreadSettings {
            dynamic_threads: self.dynamic_threads,
            idle_timeout: self.dynamic_idle_timeout,
            run_time: self.dynamic_run_time,
            wait: self.wait,
            stack_bytes: self.stack_bytes,
            prefault_bytes: self.prefault_bytes,
            cpus: self.cpus.as_deref(),
            class: self.class,
        }
    }

    /// Returns the number of requests that its threads can serve at a time.
    pub(crate) fn served_at_a_time(&self) -> usize {
        self.own_threads().served_at_a_time(self.threads)
    }

    /// Returns the ORB's specification of this lane.
    pub(crate) fn spec(&self) -> LaneSpec {
        let own = self.own_threads();
        let spec = LaneSpec::new(self.priority)
            .threads(self.threads)
            .dynamic_threads(own.dynamic_threads)
            .dynamic_lifetime(own.life())
            .wait(own.wait.into())
            .sockets(self.sockets.into());
        let spec = own.stack_bytes.into_iter().fold(spec, LaneSpec::stack_bytes);
        let prefault = own.prefault_bytes.into_iter();
        let spec = prefault.fold(spec, LaneSpec::prefault_bytes);
        let spec = own.affinity().into_iter().fold(spec, LaneSpec::affinity);
        let class = own.class.map(SchedulingClass::from);
        class.into_iter().fold(spec, LaneSpec::scheduling_class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_sockets_reach_the_lane_of_the_orb() {
        let text = r#"
            priority = 7
            threads = 1
            wait = "blocking"
            sockets = { busy_poll = "50 us", incoming_cpu = 3, priority = 5 }
        "#;
        let lane: Lane = toml::from_str(text).unwrap();
        let options = "SocketOptions { busy_poll: Some(50µs), incoming_cpu: Some(3), priority: Some(5) }";
        let spec = format!("{:?}", lane.spec());
        assert!(spec.contains(options), "{spec}");
        let without = format!("{:?}", Lane::new(Priority::MIN, 1).spec());
        assert!(without.contains("SocketOptions { busy_poll: None, incoming_cpu: None, priority: None }"));
    }
}

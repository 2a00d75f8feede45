//! Checks of the threads of pools and lanes.

use std::time::Duration;

use punctual_toml::{Key, Problem};

use crate::{
    Lane, Pool, Wait,
    threads::{MAX_THREADS, ThreadSettings},
};

/// CPU numbers are at most 1023: the limit of `cpu_set_t`.
const MAX_CPUS: usize = 1 << 10;

/// Checks the settings of a pool's threads.
pub(super) fn pool(pool: &Pool, key: &Key) -> Result<(), Problem> {
    if pool.has_lanes() {
        let own = [
            ("dynamic_threads", pool.dynamic_threads > 0),
            ("dynamic_idle_timeout", pool.dynamic_idle_timeout.is_some()),
            ("dynamic_run_time", pool.dynamic_run_time.is_some()),
            ("wait", pool.wait != Wait::default()),
        ];
        if let Some((name, _)) = own.iter().find(|(_, given)| *given) {
            return key
                .name(name)
                .problem("not for a pool with lanes; move it to the lanes");
        }
    }
    threads(pool.threads.unwrap_or(1), &pool.own_threads(), key)?;
    if pool.allow_borrowing && pool.lanes.len() < 2 {
        return key
            .name("allow_borrowing")
            .problem("requires at least 2 lanes; add lanes or remove this");
    }
    if let Some(limits) = pool.request_buffering {
        let key = key.name("request_buffering");
        if limits.requests == 0 {
            return key
                .name("requests")
                .problem("a queue needs room for at least 1 request");
        }
        if limits.octets == 0 {
            return key
                .name("octets")
                .problem("a queue needs room for at least 1 octet");
        }
        if pool.wait == Wait::Blocking {
            return key.problem("incompatible with `wait` = \"blocking\"; remove one of the two");
        }
    }
    Ok(())
}

/// Checks the settings of a lane's threads.
pub(super) fn lane(pool: &Pool, lane: &Lane, key: &Key) -> Result<(), Problem> {
    threads(lane.threads, &lane.own_threads(), key)?;
    if lane.wait == Wait::Blocking && pool.allow_borrowing {
        return key
            .name("wait")
            .problem("incompatible with the pool's `allow_borrowing`; remove one of the two");
    }
    if lane.wait == Wait::Blocking && pool.request_buffering.is_some() {
        return key
            .name("wait")
            .problem("incompatible with the pool's `request_buffering`; remove one of the two");
    }
    sockets(lane, &key.name("sockets"))
}

fn sockets(lane: &Lane, key: &Key) -> Result<(), Problem> {
    if let Some(time) = lane.sockets.busy_poll {
        let key = key.name("busy_poll");
        if lane.wait != Wait::Blocking {
            return key.problem("requires `wait` = \"blocking\": only a thread in `read` polls the device");
        }
        if time.0 < Duration::from_micros(1) {
            return key.problem("state 1 us or more, or remove this");
        }
    }
    match lane.sockets.incoming_cpu {
        Some(cpu) => existing_cpu(cpu, key, "incoming_cpu"),
        None => Ok(()),
    }
}

fn existing_cpu(cpu: usize, key: &Key, name: &'static str) -> Result<(), Problem> {
    match cpu {
        MAX_CPUS.. => key
            .name(name)
            .problem(format!("CPU {cpu} does not exist; numbers are from 0 to 1023")),
        _ => Ok(()),
    }
}

fn threads(fixed: usize, threads: &ThreadSettings<'_>, key: &Key) -> Result<(), Problem> {
    for (name, number) in [("threads", fixed), ("dynamic_threads", threads.dynamic_threads)] {
        if number > MAX_THREADS {
            return key
                .name(name)
                .problem(format!("{number} threads exceed the limit of {MAX_THREADS}"));
        }
    }
    let lives = [
        ("dynamic_idle_timeout", threads.idle_timeout),
        ("dynamic_run_time", threads.run_time),
    ];
    for (name, life) in lives {
        let Some(life) = life else { continue };
        if life.is_zero() {
            return key.name(name).problem("must be longer than 0");
        }
        if threads.dynamic_threads == 0 {
            return key.name(name).problem("requires `dynamic_threads`");
        }
    }
    if threads.idle_timeout.is_some() && threads.run_time.is_some() {
        return key
            .name("dynamic_run_time")
            .problem("incompatible with `dynamic_idle_timeout`; remove one of the two");
    }
    if threads.wait == Wait::Blocking && threads.dynamic_threads > 0 {
        return key
            .name("dynamic_threads")
            .problem("incompatible with `wait` = \"blocking\"; remove one of the two");
    }
    let Some(cpus) = threads.cpus else { return Ok(()) };
    if cpus.is_empty() {
        return key.name("cpus").problem("name at least one CPU, or remove this");
    }
    cpus.iter().try_for_each(|cpu| existing_cpu(*cpu, key, "cpus"))
}

use punctual_toml::{Key, Problem};

use crate::{
    Wait,
    schedule::{Lane, Pool},
    threads::Threads,
};

/// More is a mistake, as in the ORB.
const MAX_THREADS: usize = 1 << 16;
/// Linux has no higher numbers than 1023.
const MAX_CPUS: usize = 1 << 10;

/// What a pool says of its threads, or of all its lanes.
pub(super) fn pool(pool: &Pool, key: &Key) -> Result<(), Problem> {
    if pool.has_lanes() {
        let own = [
            ("dynamic_threads", pool.dynamic_threads > 0),
            ("dynamic_idle_timeout", pool.dynamic_idle_timeout.is_some()),
            ("dynamic_run_time", pool.dynamic_run_time.is_some()),
            ("wait", pool.wait != Wait::default()),
        ];
        if let Some((name, _)) = own.iter().find(|(_, said)| *said) {
            return key
                .name(name)
                .problem("a pool with lanes says this there; drop this or `lanes`");
        }
    }
    threads(pool.threads.unwrap_or(1), &pool.own_threads(), key)?;
    if pool.allow_borrowing && pool.lanes.len() < 2 {
        return key
            .name("allow_borrowing")
            .problem("threads are lent from lane to lane; add lanes or drop this");
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
            return key
                .problem("threads whose `wait` is \"blocking\" read for themselves; drop one of the two");
        }
    }
    Ok(())
}

/// What a lane says of its threads.
pub(super) fn lane(pool: &Pool, lane: &Lane, key: &Key) -> Result<(), Problem> {
    threads(lane.threads, &lane.own_threads(), key)?;
    if lane.wait == Wait::Blocking && pool.allow_borrowing {
        return key.name("wait").problem(
            "a lane whose threads block in `read` cannot lend or borrow them; drop this or the pool's `allow_borrowing`",
        );
    }
    if lane.wait == Wait::Blocking && pool.request_buffering.is_some() {
        return key.name("wait").problem(
            "threads that block in `read` read for themselves; drop this or the pool's `request_buffering`",
        );
    }
    Ok(())
}

fn threads(fixed: usize, threads: &Threads<'_>, key: &Key) -> Result<(), Problem> {
    for (name, number) in [("threads", fixed), ("dynamic_threads", threads.dynamic_threads)] {
        if number > MAX_THREADS {
            return key.name(name).problem(format!(
                "{number} threads look like a mistake; 65536 are the most"
            ));
        }
    }
    let lives = [
        ("dynamic_idle_timeout", threads.idle_timeout),
        ("dynamic_run_time", threads.run_time),
    ];
    for (name, life) in lives {
        let Some(life) = life else { continue };
        if life.is_zero() {
            return key.name(name).problem("a time to live must be longer than 0");
        }
        if threads.dynamic_threads == 0 {
            return key
                .name(name)
                .problem("it is for dynamic threads; say how many with `dynamic_threads`");
        }
    }
    if threads.idle_timeout.is_some() && threads.run_time.is_some() {
        return key
            .name("dynamic_run_time")
            .problem("a dynamic thread ends for one reason; drop this or `dynamic_idle_timeout`");
    }
    if threads.wait == Wait::Blocking && threads.dynamic_threads > 0 {
        return key
            .name("dynamic_threads")
            .problem("threads that block in `read` belong to connections; drop this or `wait`");
    }
    let Some(cpus) = threads.cpus else { return Ok(()) };
    if cpus.is_empty() {
        return key.name("cpus").problem("name at least one CPU, or drop this");
    }
    match cpus.iter().find(|cpu| **cpu >= MAX_CPUS) {
        Some(cpu) => key
            .name("cpus")
            .problem(format!("no machine has a CPU {cpu}; their numbers are 0 to 1023")),
        None => Ok(()),
    }
}

//! The server process: thread pools, each with the same servant.

use std::{
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use punctual::{Orb, Priority, PriorityModel, SchedulingClass, SystemException};
use punctual_harness::child::Control;
use punctual_os::clock;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::network;
use crate::{
    error::Error,
    idl::load::bench::{Load, LoadRef},
};

/// The configuration of a server.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ServerSpec {
    /// The pools, each with one servant.
    pub(crate) pools: Vec<PoolSpec>,
    /// Whether the threads run under SCHED_FIFO, not in the default class.
    pub(crate) realtime: bool,
    /// Whether it also listens in shared memory, and may open as many files as usual: [`USUAL_FILES`].
    pub(crate) exposed: bool,
    /// Whether the servants stop now and then: [`Stall`].
    pub(crate) stalls: bool,
}

/// The usual limit of open files of a process, which login shells and service managers set.
const USUAL_FILES: u64 = 1024;

impl ServerSpec {
    /// Configures a server for TCP.
    pub(crate) fn new(pools: Vec<PoolSpec>, realtime: bool) -> Self {
        Self {
            pools,
            realtime,
            exposed: false,
            stalls: false,
        }
    }
}

/// The configuration of a pool.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum PoolSpec {
    /// Without lanes: all requests at one priority, in order of arrival, as in CORBA without Real-time CORBA.
    SinglePriority {
        /// Number of threads.
        threads: usize,
        /// Priority of the threads.
        priority: i16,
    },
    /// A lane of one thread for each priority.
    Lanes(Vec<i16>),
    /// Without lanes: threads wait at the pool's priority and adopt that of the request.
    Propagated {
        /// Number of threads.
        threads: usize,
        /// Priority of waiting threads.
        priority: i16,
    },
}

/// A command of the driver, for deployments with a separate network.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) enum Command {
    /// Move the other end of the cable to this process.
    Plug { client: u32 },
}

/// Runs the server process. Arguments: the [`ServerSpec`], and [`network::LINKED`] for a separate network.
pub(crate) fn server(arguments: &[String]) -> Result<(), Error> {
    let [spec, rest @ ..] = arguments else {
        return Err("the server process needs its configuration".into());
    };
    let spec: ServerSpec = serde_json::from_str(spec)?;
    let linked = rest.iter().any(|argument| argument == network::LINKED);
    let address = if linked {
        network::make_cable()?;
        network::SERVER
    } else {
        "127.0.0.1"
    };
    let mut builder = Orb::builder().listen(format!("iiop://{address}:0"));
    if spec.exposed {
        let most = getrlimit(Resource::Nofile).maximum;
        let current = Some(most.map_or(USUAL_FILES, |most| most.min(USUAL_FILES)));
        let maximum = most;
        setrlimit(Resource::Nofile, Rlimit { current, maximum })?;
        builder = builder.listen("shmiop://");
    }
    if !spec.realtime {
        builder = builder.scheduling_class(SchedulingClass::Other);
    }
    let orb = builder.build()?;
    let references: Vec<String> = spec
        .pools
        .iter()
        .enumerate()
        .map(|(number, pool)| {
            let stall = spec.stalls.then(Stall::default);
            Ok(activate(&orb, &format!("pool-{number}"), pool, Servant { stall })?.to_ior())
        })
        .collect::<Result<_, Error>>()?;
    Control::ready(&references)?.serve(|Command::Plug { client }| network::plug_into(client))?;
    Ok(())
}

fn activate(orb: &Orb, name: &str, spec: &PoolSpec, servant: Servant) -> Result<LoadRef, Error> {
    let pool = orb.threadpool();
    let (pool, propagates) = match spec {
        PoolSpec::SinglePriority { threads, priority } => {
            (pool.threads(*threads).default_priority(corba(*priority)?), None)
        }
        PoolSpec::Propagated { threads, priority } => {
            let priority = corba(*priority)?;
            (pool.threads(*threads).default_priority(priority), Some(priority))
        }
        PoolSpec::Lanes(priorities) => {
            let lowest = priorities
                .iter()
                .min()
                .ok_or("a pool with lanes needs a priority")?;
            let mut pool = pool;
            for &priority in priorities {
                pool = pool.lane(corba(priority)?, 1);
            }
            (pool, Some(corba(*lowest)?))
        }
    };
    let poa = orb.root_poa().child(name).threadpool(&pool.build()?);
    let poa = match propagates {
        None => poa,
        // By default, a pool without lanes accepts no priority above its own.
        Some(default) => {
            let poa = poa.priority_model(PriorityModel::ClientPropagated { default });
            poa.highest_priority(Priority::MAX)
        }
    };
    Ok(poa.build()?.activate(servant)?)
}

fn corba(priority: i16) -> Result<Priority, Error> {
    Ok(Priority::new(priority)?)
}

#[derive(Default)]
struct Servant {
    stall: Option<Stall>,
}

/// Stops all threads of a pool for 100 ms at every 25th call.
#[derive(Default)]
struct Stall {
    calls: AtomicU32,
    /// End of the last stop, in nanoseconds of the monotonic clock.
    until_ns: AtomicU64,
}

impl Stall {
    const EVERY: u32 = 25;
    const LENGTH: Duration = Duration::from_millis(100);

    fn pass(&self) {
        let now = clock::monotonic();
        if self.calls.fetch_add(1, Ordering::Relaxed) % Self::EVERY == Self::EVERY - 1 {
            let until = now + Self::LENGTH;
            self.until_ns.store(until.as_nanos() as u64, Ordering::Relaxed);
        }
        let until = Duration::from_nanos(self.until_ns.load(Ordering::Relaxed));
        if let Some(left) = until.checked_sub(now) {
            clock::sleep_until(Instant::now() + left);
        }
    }
}

impl Load for Servant {
    fn method(&self, work: u32, rounds: u32, prime_number: u32) -> Result<(), SystemException> {
        if let Some(stall) = &self.stall {
            stall.pass();
        }
        for _ in 0..u64::from(work) * u64::from(rounds) {
            assert!(
                is_prime(std::hint::black_box(prime_number)),
                "the load must be a prime number"
            );
        }
        Ok(())
    }

    fn swallow(&self, _values: &[u8]) -> Result<(), SystemException> {
        Ok(())
    }

    fn produce(&self, octets: u32) -> Result<Vec<u8>, SystemException> {
        Ok(vec![0; octets as usize])
    }
}

/// Tests a number by trial division up to half of it, so that a prime always takes the same time.
fn is_prime(number: u32) -> bool {
    (2..=number / 2).all(|divisor| !number.is_multiple_of(divisor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_recognised() {
        let primes: Vec<u32> = (2..30).filter(|&number| is_prime(number)).collect();
        assert_eq!(primes, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
    }

    #[test]
    fn a_stall_stops_every_25th_call() {
        let stall = Stall::default();
        let stopped = |_: &u32| {
            let begin = clock::monotonic();
            stall.pass();
            clock::monotonic() - begin >= Stall::LENGTH
        };
        assert_eq!((1..=50).filter(stopped).collect::<Vec<_>>(), [25, 50]);
    }

    #[test]
    fn each_kind_of_pool_serves() {
        let builder = Orb::builder().listen("iiop://127.0.0.1:0");
        let orb = builder.scheduling_class(SchedulingClass::Other).build().unwrap();
        let pools = [
            PoolSpec::SinglePriority {
                threads: 2,
                priority: 10,
            },
            PoolSpec::Lanes(vec![0, 20_000]),
            PoolSpec::Propagated {
                threads: 2,
                priority: 10,
            },
        ];
        let client = Orb::builder().scheduling_class(SchedulingClass::Other);
        let client = client.build().unwrap();
        client
            .current()
            .set_priority(Priority::new(20_000).unwrap())
            .unwrap();
        for (number, pool) in pools.iter().enumerate() {
            let name = format!("pool-{number}");
            let reference = activate(&orb, &name, pool, Servant::default()).unwrap();
            let load: LoadRef = client.resolve(&reference.to_ior()).unwrap();
            load.method(2, 3, 997).unwrap();
            load.swallow(&[0; 1000]).unwrap();
        }
        let none = activate(&orb, "none", &PoolSpec::Lanes(Vec::new()), Servant::default());
        assert!(none.is_err());
    }
}

//! The server process: thread pools, each with servants.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use punctual::{
    LaneSpec, Limits, Orb, Poa, Priority, PriorityBand, PriorityModel, SchedulingClass, SystemException,
};
use punctual_harness::child::{Role, Task, TaskEntry};
use punctual_os::{ThreadSpec, clock, scheduling};
use punctual_system::Semaphore;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::{network, policies::Policy};
use crate::{
    cubit::{
        cube::cube,
        raw::{self, RawAddress},
        server::scheduling_of,
    },
    error::Error,
    idl::load::bench::{Load, LoadRef},
};

/// The configuration of a server.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ServerSpec {
    /// The pools, each with its servants.
    pub(crate) pools: Vec<PoolSpec>,
    /// Further pools, behind the others. Each has a servant for the important client and one for the rest.
    pub(crate) policies: Vec<Policy>,
    /// Whether the threads run under SCHED_FIFO, not in the default class.
    pub(crate) realtime: bool,
    /// Whether it is exposed to attackers.
    pub(crate) exposure: Option<Exposure>,
    /// Fault of the servants, under a control.
    pub(crate) fault: Option<Fault>,
    /// Number of servants of each pool; workers select them by index.
    pub(crate) servants: usize,
    /// Size of the stacks of lane threads, in octets; `None`: the default.
    pub(crate) stack_bytes: Option<usize>,
    /// CORBA priority of threads that serve raw TCP ping-pongs, without the ORB; `None`: there are none.
    pub(crate) ping_pong: Option<i16>,
}

/// The usual limit of open files of a process, which login shells and service managers set.
const USUAL_FILES: u64 = 1024;

impl ServerSpec {
    /// Configures a server for TCP.
    pub(crate) fn new(pools: Vec<PoolSpec>, realtime: bool) -> Self {
        Self {
            pools,
            policies: Vec::new(),
            realtime,
            exposure: None,
            fault: None,
            servants: 1,
            stack_bytes: None,
            ping_pong: None,
        }
    }

    /// Configures a server with many lanes and servants, as in MT_Cubit.
    pub(crate) fn of_many(pools: Vec<PoolSpec>, servants: usize) -> Self {
        Self {
            servants,
            stack_bytes: Some(SMALL_STACK_BYTES),
            ..Self::new(pools, true)
        }
    }
}

/// Enough for a simple upcall even without optimisation, and small enough for a hundred locked stacks.
pub(crate) const SMALL_STACK_BYTES: usize = 512 << 10;

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
    /// The same, in ascending order, each for the band of priorities above the lane before it.
    Bands(Vec<i16>),
    /// Without lanes: threads wait at the pool's priority and adopt that of the request.
    Propagated {
        /// Number of threads.
        threads: usize,
        /// Priority of waiting threads.
        priority: i16,
    },
}

/// The server process.
pub(crate) struct Server {
    /// Keeps its servants.
    orb: Orb,
    /// Memory that it keeps for nothing, under a control.
    hoard: Vec<u8>,
}

/// Parameters of the server process.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ServerSetup {
    pub(crate) server: ServerSpec,
    /// Whether it has a separate network.
    pub(crate) linked: bool,
}

impl Role for Server {
    const NAME: &'static str = "__load-server";
    type Setup = ServerSetup;
    /// References of its servants, by pool.
    type Ready = Vec<Vec<String>>;
    const TASKS: &'static [TaskEntry<Self>] = &[
        TaskEntry::of::<Plug>(),
        TaskEntry::of::<Hoard>(),
        TaskEntry::of::<ServePingPong>(),
    ];

    fn start(setup: ServerSetup) -> Result<(Self, Self::Ready), Error> {
        let spec = setup.server;
        let address = if setup.linked {
            network::make_cable()?;
            network::SERVER
        } else {
            "127.0.0.1"
        };
        let mut builder = Orb::builder().listen(format!("iiop://{address}:0"));
        if let Some(exposure) = spec.exposure {
            let most = getrlimit(Resource::Nofile).maximum;
            let current = Some(most.map_or(USUAL_FILES, |most| most.min(USUAL_FILES)));
            let maximum = most;
            setrlimit(Resource::Nofile, Rlimit { current, maximum })?;
            builder = builder.listen("shmiop://");
            if exposure == Exposure::Unlimited {
                builder = builder.limits(unlimited());
            }
        }
        if !spec.realtime {
            builder = builder.scheduling_class(SchedulingClass::Other);
        }
        let orb = builder.build()?;
        let mut references = Vec::new();
        let activate = |number: usize, poa: &Poa| -> Result<String, Error> {
            let servant = Servant::with(spec.fault, number)?;
            let servant: LoadRef = poa.activate(servant)?;
            Ok(servant.to_ior())
        };
        for (number, pool) in spec.pools.iter().enumerate() {
            let poa = poa(&orb, &format!("pool-{number}"), pool, spec.stack_bytes)?;
            references.push(
                (0..spec.servants)
                    .map(|servant| activate(servant, &poa))
                    .collect::<Result<_, _>>()?,
            );
        }
        for (number, policy) in spec.policies.iter().enumerate() {
            let adapters = policy.adapters(&orb, &format!("policy-{number}"))?;
            references.push(
                adapters
                    .iter()
                    .enumerate()
                    .map(|(number, poa)| activate(number, poa))
                    .collect::<Result<_, _>>()?,
            );
        }
        let hoard = Vec::new();
        Ok((Self { orb, hoard }, references))
    }
}

/// Move the other end of the cable to the client process.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Plug {
    pub(super) client: u32,
}

impl Task<Server> for Plug {
    const NAME: &'static str = "plug";
    type Reply = ();

    fn perform(self, _: &mut Server) -> Result<(), Error> {
        network::plug_into(self.client)
    }
}

/// Keep so much memory, and release what was kept before.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Hoard {
    pub(super) octets: usize,
}

impl Task<Server> for Hoard {
    const NAME: &'static str = "hoard";
    type Reply = ();

    fn perform(self, server: &mut Server) -> Result<(), Error> {
        // Written, because unwritten pages are not resident.
        server.hoard = vec![1; self.octets];
        Ok(())
    }
}

/// Serve raw TCP ping-pongs at this CORBA priority.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct ServePingPong {
    pub(super) priority: i16,
}

impl Task<Server> for ServePingPong {
    const NAME: &'static str = "serve-ping-pong";
    type Reply = RawAddress;

    fn perform(self, server: &mut Server) -> Result<RawAddress, Error> {
        Ok(raw::serve_tcp(scheduling_of(&server.orb, self.priority)?)?)
    }
}

fn poa(orb: &Orb, name: &str, spec: &PoolSpec, stack_bytes: Option<usize>) -> Result<Poa, Error> {
    let pool = orb.threadpool();
    let (pool, propagates) = match spec {
        PoolSpec::SinglePriority { threads, priority } => {
            (pool.threads(*threads).default_priority(corba(*priority)?), None)
        }
        PoolSpec::Propagated { threads, priority } => {
            let priority = corba(*priority)?;
            (pool.threads(*threads).default_priority(priority), Some(priority))
        }
        PoolSpec::Lanes(priorities) | PoolSpec::Bands(priorities) => {
            let lowest = priorities
                .iter()
                .min()
                .ok_or("a pool with lanes needs a priority")?;
            let mut pool = pool;
            for &priority in priorities {
                let lane = LaneSpec::new(corba(priority)?);
                pool = pool.lane_with(match stack_bytes {
                    Some(stack_bytes) => lane.stack_bytes(stack_bytes),
                    None => lane,
                });
            }
            (pool, Some(corba(*lowest)?))
        }
    };
    let pool = match (spec, stack_bytes) {
        (PoolSpec::Lanes(_) | PoolSpec::Bands(_), _) | (_, None) => pool,
        (_, Some(stack_bytes)) => pool.stack_bytes(stack_bytes),
    };
    let poa = orb.root_poa().child(name).threadpool(&pool.build()?);
    let poa = match spec {
        PoolSpec::Bands(priorities) => poa.priority_bands(bands(priorities)?),
        _ => poa,
    };
    let poa = match propagates {
        None => poa,
        // By default, a pool without lanes accepts no priority above its own.
        Some(default) => {
            let poa = poa.priority_model(PriorityModel::ClientPropagated { default });
            poa.highest_priority(Priority::MAX)
        }
    };
    Ok(poa.build()?)
}

/// Returns bands up to each of these priorities.
fn bands(priorities: &[i16]) -> Result<Vec<PriorityBand>, Error> {
    let mut low = Priority::MIN.value();
    let mut bands = Vec::new();
    for &high in priorities {
        bands.push(PriorityBand::new(corba(low)?, corba(high)?));
        low = high.saturating_add(1);
    }
    Ok(bands)
}

fn corba(priority: i16) -> Result<Priority, Error> {
    Ok(Priority::new(priority)?)
}

/// A server that also listens in shared memory, and may open as many files as usual: [`USUAL_FILES`].
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Exposure {
    /// The default limits.
    Limited,
    /// Without limits of the memory and of the processor time that a lane's peers take, under a control.
    Unlimited,
}

fn unlimited() -> Limits {
    Limits::default()
        .max_lane_memory(usize::MAX / 2)
        .accepts_per_wake_up(usize::MAX)
        .accept_percent(100)
        .unserved_percent(100)
        .accept_rate_per_peer(u32::MAX)
}

/// Faults of servants.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Fault {
    /// They stop now and then ([`Stall`]), and their results are wrong.
    Faulty,
    /// Servants that switch to another thread and back 100 times for each call: the one with this number and
    /// those after it.
    Switches { from: usize },
}

#[derive(Default)]
struct Servant {
    stall: Option<Stall>,
    partner: Option<Partner>,
}

impl Servant {
    fn with(fault: Option<Fault>, number: usize) -> Result<Self, Error> {
        Ok(Self {
            stall: (fault == Some(Fault::Faulty)).then(Stall::default),
            partner: match fault {
                Some(Fault::Switches { from }) if number >= from => Some(Partner::new()?),
                _ => None,
            },
        })
    }

    fn begin(&self) {
        if let Some(stall) = &self.stall {
            stall.pass();
        }
        if let Some(partner) = &self.partner {
            partner.switch();
        }
    }
}

/// A thread to which a servant switches: both have one priority, and yield in turns.
struct Partner {
    called: Arc<Semaphore>,
    started: OnceLock<()>,
}

impl Partner {
    const SWITCHES: u32 = 100;

    fn new() -> Result<Self, Error> {
        Ok(Self {
            called: Arc::new(Semaphore::new(0)?),
            started: OnceLock::new(),
        })
    }

    fn switch(&self) {
        self.started.get_or_init(|| {
            let called = Arc::clone(&self.called);
            let thread = ThreadSpec::new("partner").scheduling(scheduling::current());
            let started = thread.spawn(move || {
                loop {
                    called.acquire();
                    (0..Self::SWITCHES / 2).for_each(|_| scheduling::give_way());
                }
            });
            started.expect("this control needs a thread");
        });
        self.called.release();
        (0..Self::SWITCHES / 2).for_each(|_| scheduling::give_way());
    }
}

/// Stops all threads of a pool at every 25th call, for little more than an idle processor may be.
#[derive(Default)]
struct Stall {
    calls: AtomicU32,
    /// End of the last stop, in nanoseconds of the monotonic clock.
    until_ns: AtomicU64,
}

impl Stall {
    const EVERY: u32 = 25;
    const LENGTH: Duration = Duration::from_millis(25);

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
        self.begin();
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

    fn cube_octet(&self, o: u8) -> Result<u8, SystemException> {
        self.begin();
        Ok(cube(o).wrapping_add(u8::from(self.stall.is_some())))
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
            PoolSpec::Bands(vec![10_000, 30_000]),
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
            let poa = poa(&orb, &format!("pool-{number}"), pool, None).unwrap();
            let reference: LoadRef = poa.activate(Servant::default()).unwrap();
            let load: LoadRef = client.resolve(&reference.to_ior()).unwrap();
            assert_eq!(load.cube_octet(3).unwrap(), 27);
            load.method(2, 3, 997).unwrap();
            load.swallow(&[0; 1000]).unwrap();
        }
        assert!(poa(&orb, "none", &PoolSpec::Lanes(Vec::new()), None).is_err());
        client
            .current()
            .set_priority(Priority::new(super::super::priority::HIGH).unwrap())
            .unwrap();
        for policy in Policy::ALL {
            let [important, _] = policy.adapters(&orb, policy.name()).unwrap();
            let reference: LoadRef = important.activate(Servant::default()).unwrap();
            let load: LoadRef = client.resolve(&reference.to_ior()).unwrap();
            assert_eq!(load.cube_octet(3), Ok(27), "{}", policy.name());
        }
    }
}

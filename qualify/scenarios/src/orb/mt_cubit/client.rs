//! The client process: a thread for each client.

use std::{
    sync::{
        Arc, Barrier, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use punctual::{Orb, Priority};
use punctual_harness::{Span, child::Control};
use punctual_os::{TaskId, Thread, ThreadSpec, clock};
use punctual_system::ContextSwitches;
use serde::{Deserialize, Serialize};

use super::{pacing::Pacing, slices::Slices};
use crate::{
    cubit::cube::cube,
    error::Error,
    idl::cubit::bench::CubitRef,
    os::{joined, yield_to_each_other},
};

pub(crate) const CLIENT_ROLE: &str = "__mt-cubit-client";

/// A command of the driver.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Command {
    /// Resolve the servants' references, by pool.
    Resolve(Vec<Vec<String>>),
    /// Run clients of the server with this process id.
    Run(Task, i32),
    /// Measure the time of a context switch.
    SwitchTime,
}

/// The response to a command.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Response {
    Resolved,
    Ran(Run),
    /// Time of a context switch in nanoseconds.
    SwitchTime(f64),
}

/// Clients that call concurrently.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Task {
    /// Index of the server's pool.
    pub(crate) pool: usize,
    pub(crate) clients: Vec<ClientSpec>,
    /// Length from the common start.
    pub(crate) seconds: f64,
    /// Slices in which all clients except the first one call; `None`: they always call.
    pub(crate) slices: Option<Slices>,
    /// Whether an ordinary thread keeps the CPU from idling meanwhile.
    pub(crate) awake: bool,
}

/// One client, which is a thread.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct ClientSpec {
    /// Name of its thread; at most 15 octets.
    pub(crate) name: String,
    /// CORBA priority.
    pub(crate) priority: i16,
    /// Calls per second.
    pub(crate) hz: f64,
    /// Index of the servant in the pool.
    pub(crate) servant: usize,
}

/// The result of a task.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Run {
    /// In the order of the task's clients.
    pub(crate) clients: Vec<Calls>,
    /// From the common start to the end of the last client.
    pub(crate) span: Span,
    /// Context switches of all threads of the server, from the start to the end of the first client.
    pub(crate) server_context_switches: u64,
}

/// The calls of one client.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Calls {
    pub(crate) calls: Vec<Call>,
    /// Number of wrong results.
    pub(crate) errors: u64,
    /// Number of pauses between calls.
    pub(crate) pauses: u64,
    /// Context switches of the client's thread.
    pub(crate) context_switches: u64,
    /// The kernel's id of the thread.
    pub(crate) thread: i32,
}

/// One call.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Call {
    /// Start in nanoseconds of the monotonic clock.
    pub(crate) start_ns: u64,
    pub(crate) latency_ns: u64,
}

impl Call {
    pub(crate) fn span(self) -> Span {
        Span {
            start_ns: self.start_ns,
            end_ns: self.start_ns + self.latency_ns,
        }
    }
}

/// Runs the client process.
pub(crate) fn client(_: &[String]) -> Result<(), Error> {
    let orb = Orb::builder().build()?;
    let mut pools: Vec<Vec<CubitRef>> = Vec::new();
    Control::ready(&())?.serve(|command: Command| {
        let response = match command {
            Command::Resolve(references) => resolve(&orb, &references).map(|resolved| {
                pools = resolved;
                Response::Resolved
            }),
            Command::Run(task, server) => run(&orb, &pools, &task, server).map(Response::Ran),
            Command::SwitchTime => {
                yield_to_each_other(YIELDS).map(|yielded| Response::SwitchTime(yielded.ns))
            }
        };
        response.map_err(|error| error.to_string())
    })?;
    Ok(())
}

fn resolve(orb: &Orb, references: &[Vec<String>]) -> Result<Vec<Vec<CubitRef>>, Error> {
    let pool = |references: &Vec<String>| references.iter().map(|ior| Ok(orb.resolve(ior)?)).collect();
    references.iter().map(pool).collect()
}

fn run(orb: &Orb, pools: &[Vec<CubitRef>], task: &Task, server: i32) -> Result<Run, Error> {
    let server = TaskId::new(server).ok_or("invalid process id of the server")?;
    let pool = pools.get(task.pool).ok_or("unknown pool")?;
    let _awake = task.awake.then(KeepAwake::start).transpose()?;
    let start = Arc::new(Start {
        barrier: Barrier::new(task.clients.len()),
        at: OnceLock::new(),
    });
    let mut threads = Vec::new();
    for (number, spec) in task.clients.iter().enumerate() {
        let client = Client {
            orb: orb.clone(),
            cubit: pool.get(spec.servant).ok_or("unknown servant")?.clone(),
            spec: spec.clone(),
            seconds: task.seconds,
            slices: task.slices.filter(|_| number > 0),
            watched: (number == 0).then_some(server),
        };
        let start = Arc::clone(&start);
        let thread = ThreadSpec::new(&spec.name)
            .prefault_bytes(STACK_BYTES)
            .stack_bytes(STACK_BYTES);
        threads.push(thread.spawn(move || client.run(&start))?);
    }
    let mut clients = Vec::new();
    let mut server_context_switches = 0;
    for thread in threads {
        let (calls, of_server) = joined(thread)??;
        clients.push(calls);
        server_context_switches += of_server;
    }
    let (_, begin) = start.met();
    Ok(Run {
        clients,
        span: Span::between(begin, clock::monotonic()),
        server_context_switches,
    })
}

/// An ordinary thread that runs whenever nothing else does; it ends with this value.
struct KeepAwake {
    over: Arc<AtomicBool>,
    thread: Option<Thread<()>>,
}

impl KeepAwake {
    fn start() -> Result<Self, Error> {
        let over = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&over);
        let spin = move || {
            while !flag.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        let thread = ThreadSpec::new("awake").spawn(spin)?;
        Ok(Self {
            over,
            thread: Some(thread),
        })
    }
}

impl Drop for KeepAwake {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Yields of each of two threads that measure the time of a context switch.
const YIELDS: u32 = 10_000;
const STACK_BYTES: usize = 512 << 10;

/// An upper bound on the calls per second of a client.
const MOST_HZ: f64 = 100_000.0;

struct Client {
    orb: Orb,
    cubit: CubitRef,
    spec: ClientSpec,
    seconds: f64,
    slices: Option<Slices>,
    /// The server whose context switches it counts. The first client does this: it is the most important one,
    /// so no other client calls before it.
    watched: Option<TaskId>,
}

impl Client {
    /// Runs the client; returns its calls and the context switches of the server.
    fn run(&self, start: &Start) -> Result<(Calls, u64), Error> {
        let prepared = self.prepare();
        // After a failure, too: the other clients wait at the barrier.
        let (begin, _) = start.together();
        prepared?;
        let mut result = Calls {
            calls: Vec::with_capacity((self.spec.hz.min(MOST_HZ) * self.seconds * 1.1) as usize + 16),
            thread: TaskId::current_thread().get(),
            ..Calls::default()
        };
        let over = begin + Duration::from_secs_f64(self.seconds);
        let mut pacing = Pacing::of_rate(self.spec.hz);
        let switches = || ContextSwitches::of_current_thread().total();
        let of_server = || {
            self.watched.map_or(Ok(0), |server| {
                Ok::<_, Error>(ContextSwitches::of_process(server)?.total())
            })
        };
        let of_server_before = of_server()?;
        self.wait_for_slice(begin);
        let before = switches();
        let mut argument = 0_u8;
        while Instant::now() < over {
            argument = argument.wrapping_add(1);
            let called = clock::monotonic();
            let returned = self.cubit.cube_octet(argument)?;
            let latency = clock::monotonic() - called;
            result.errors += u64::from(returned != cube(argument));
            result.calls.push(Call {
                start_ns: called.as_nanos() as u64,
                latency_ns: latency.as_nanos() as u64,
            });
            let pause = pacing.pause(latency);
            if !pause.is_zero() {
                clock::sleep_until(over.min(Instant::now() + pause));
                result.pauses += 1;
            }
            self.wait_for_slice(begin);
        }
        result.context_switches = switches() - before;
        Ok((result, of_server()? - of_server_before))
    }

    /// Sets the priority and makes a first call, which opens the connection and is not counted.
    fn prepare(&self) -> Result<(), Error> {
        self.orb
            .current()
            .set_priority(Priority::new(self.spec.priority)?)?;
        self.cubit.cube_octet(0)?;
        Ok(())
    }

    fn wait_for_slice(&self, begin: Instant) {
        if let Some(slices) = self.slices {
            let next = slices.next_with_others(begin.elapsed());
            clock::sleep_until(begin + next.min(Duration::from_secs_f64(self.seconds)));
        }
    }
}

/// The common start of the clients, from which their time counts, even if a low-priority client sees it late.
struct Start {
    barrier: Barrier,
    at: OnceLock<(Instant, Duration)>,
}

impl Start {
    /// Waits for all clients, and returns the start on both clocks.
    fn together(&self) -> (Instant, Duration) {
        self.barrier.wait();
        self.met()
    }

    fn met(&self) -> (Instant, Duration) {
        *self.at.get_or_init(|| (Instant::now(), clock::monotonic()))
    }
}

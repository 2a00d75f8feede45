//! A server with a servant that tests can look into.

use std::{
    sync::{
        Arc, Condvar, Mutex, OnceLock,
        atomic::{AtomicI32, AtomicU64, Ordering},
    },
    time::Duration,
};

use punctual::{
    Inspection, Ior, LaneStatistics, Limits, Orb, Poa, Priority, PriorityModel, QueueLimits, SchedulingClass,
    SystemException, ThreadPool, ThreadPoolBuilder, WaitStrategy, ior_to_string,
};
use punctual_cdr::TaggedProfile;
use punctual_os::{TaskId, alloc_counter, scheduling};

use crate::{
    conformance::{self, Colour, Longs, NodeView, Octets, ProbeRef, Refused, probe},
    wire::{COMMON, Reader},
};

/// A server with one object.
pub struct Server {
    /// Its ORB, which ends with it.
    pub orb: Orb,
    /// The pool that serves the object.
    pub pool: ThreadPool,
    /// The object's adapter.
    pub poa: Poa,
    /// The object.
    pub probe: ProbeRef,
    /// What the servant shares with the test.
    pub hooks: Arc<Hooks>,
}

/// How a server differs from one ordinary thread without priorities.
pub struct Setup {
    /// The ORB's limits.
    pub limits: Limits,
    /// Lanes or threads.
    pub pool: fn(ThreadPoolBuilder) -> ThreadPoolBuilder,
    /// The adapter's priority model.
    pub model: Option<PriorityModel>,
    /// Of the pool's threads.
    pub class: SchedulingClass,
    /// Where the ORB listens.
    pub listen: &'static [&'static str],
    /// Of the calls of its servants.
    pub wait_strategy: WaitStrategy,
    /// Deadline of each such call.
    pub call_timeout: Option<Duration>,
    /// Room for requests that came to the wrong lane.
    pub redispatch: Option<QueueLimits>,
    /// How it may be looked into.
    pub inspection: Option<Inspection>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            pool: |pool| pool,
            model: None,
            class: SchedulingClass::Other,
            listen: &["iiop://127.0.0.1:0"],
            wait_strategy: WaitStrategy::Blocking,
            call_timeout: None,
            redispatch: None,
            inspection: None,
        }
    }
}

impl Setup {
    /// Starts a server.
    pub fn start(self) -> Server {
        let listening = Orb::builder();
        let listening = self
            .listen
            .iter()
            .fold(listening, |builder, endpoint| builder.listen(endpoint));
        let mut orb = listening
            .limits(self.limits)
            .scheduling_class(self.class)
            .wait_strategy(self.wait_strategy)
            .lock_memory(false);
        if let Some(timeout) = self.call_timeout {
            orb = orb.call_timeout(timeout);
        }
        if let Some(inspection) = self.inspection {
            orb = orb.inspection(inspection);
        }
        let orb = orb.build().expect("an ORB");
        let pool = (self.pool)(orb.threadpool()).build().expect("a pool");
        let mut poa = orb.root_poa().child("probes").threadpool(&pool);
        if let Some(model) = self.model {
            poa = poa.priority_model(model);
        }
        if let Some(limits) = self.redispatch {
            poa = poa.redispatch(limits);
        }
        let poa = poa.build().expect("an adapter");
        Server::with_poa(orb, pool, poa)
    }
}

impl Server {
    /// One thread in the ordinary scheduling class.
    pub fn start() -> Self {
        Setup::default().start()
    }

    /// Activates the object in an adapter made by the test.
    pub fn with_poa(orb: Orb, pool: ThreadPool, poa: Poa) -> Self {
        let hooks = Arc::new(Hooks::default());
        // So that noting allocates nothing.
        hooks.journal.lock().expect("no panic").reserve(10_000);
        let servant = Servant {
            orb: orb.clone(),
            poa: poa.clone(),
            hooks: Arc::clone(&hooks),
        };
        let probe: ProbeRef = poa.activate(servant).expect("an object");
        hooks.own.set(probe.clone()).expect("set once");
        Self {
            orb,
            pool,
            poa,
            probe,
            hooks,
        }
    }

    /// Activates another object in the same adapter.
    pub fn another(&self) -> ProbeRef {
        self.another_in(&self.poa)
    }

    /// Activates another object in another adapter.
    pub fn another_in(&self, poa: &Poa) -> ProbeRef {
        let servant = Servant {
            poa: poa.clone(),
            ..self.servant()
        };
        poa.activate(servant).expect("an object")
    }

    /// Activates another object in the same adapter, with a priority of its own.
    pub fn another_with_priority(&self, priority: Priority) -> ProbeRef {
        let servant = self.servant();
        self.poa
            .activate_with_priority(servant, priority)
            .expect("an object")
    }

    /// Another servant that shares the hooks.
    pub fn servant(&self) -> Servant {
        Servant {
            orb: self.orb.clone(),
            poa: self.poa.clone(),
            hooks: Arc::clone(&self.hooks),
        }
    }

    /// What the lane at this place has seen, the lowest first.
    pub fn seen(&self, lane: usize) -> LaneStatistics {
        self.pool.statistics()[lane].1
    }

    /// The object's key.
    pub fn key(&self) -> Vec<u8> {
        Profile::of(&self.probe).key
    }

    /// The port of the profile.
    pub fn port(&self) -> u16 {
        Profile::of(&self.probe).port
    }

    /// A reference that says nothing but where the object is: no code sets, no policies.
    pub fn without_components(&self, client: &Orb) -> ProbeRef {
        let Profile {
            version, port, key, ..
        } = Profile::of(&self.probe);
        let ior = reference(version, port, &key, &[]);
        client.resolve(&ior_to_string(&ior)).expect("a good reference")
    }

    /// The reference as another ORB sees it.
    pub fn reference_for(&self, client: &Orb) -> ProbeRef {
        client.resolve(&self.probe.to_ior()).expect("a good reference")
    }
}

/// The servant holds the ORB, so that nothing ends before it is told to.
impl Drop for Server {
    fn drop(&mut self) {
        self.hooks.open_gate();
        self.orb.shutdown_and_wait().expect("not in an upcall");
    }
}

/// An ORB for a client.
pub fn client() -> Orb {
    client_with(Limits::default())
}

/// An ORB for a client with these limits.
pub fn client_with(limits: Limits) -> Orb {
    Orb::builder()
        .lock_memory(false)
        .limits(limits)
        .build()
        .expect("an ORB")
}

/// A reference to an object on this host with one IIOP profile, written by hand.
pub fn reference(version: [u8; 2], port: u16, key: &[u8], components: &[(u32, Vec<u8>)]) -> Ior {
    let data = COMMON.encapsulation(|data| {
        let address = data.raw(&version).string(b"127.0.0.1").u16(port).sequence(key);
        if version[1] == 0 {
            address
        } else {
            address.contexts(components)
        }
    });
    Ior {
        type_id: String::from("IDL:conformance/Probe:1.0"),
        profiles: vec![TaggedProfile { tag: 0, data }],
    }
}

/// The IIOP profile of a reference, read by hand.
#[derive(Debug, Eq, PartialEq)]
pub struct Profile {
    /// Of IIOP.
    pub version: [u8; 2],
    /// The host.
    pub host: Vec<u8>,
    /// The TCP port.
    pub port: u16,
    /// The object key.
    pub key: Vec<u8>,
    /// Tag and data of each component, in order.
    pub components: Vec<(u32, Vec<u8>)>,
}

impl Profile {
    /// The only profile of a reference.
    pub fn of(probe: &ProbeRef) -> Self {
        let [profile] = &probe.ior().profiles[..] else {
            panic!("one profile")
        };
        assert_eq!(profile.tag, 0, "not IIOP");
        let mut reader = Reader::encapsulation(&profile.data);
        Self {
            version: reader.raw(2).try_into().expect("two octets"),
            host: reader.string().to_vec(),
            port: reader.u16(),
            key: reader.sequence().to_vec(),
            components: reader.contexts(),
        }
    }
}

/// What the servant and the test share.
#[derive(Default)]
pub struct Hooks {
    own: OnceLock<ProbeRef>,
    partner: OnceLock<ProbeRef>,
    noted: AtomicI32,
    journal: Mutex<Vec<i32>>,
    activations: AtomicU64,
    gate: Mutex<Gate>,
    changed: Condvar,
}

#[derive(Default)]
struct Gate {
    open: bool,
    arrived: Vec<i32>,
    /// How many values had been noted when each went on.
    noted_before: Vec<usize>,
}

impl Hooks {
    /// Waits until so many requests have come to the gate since the start.
    pub fn await_at_gate(&self, arrived: usize) {
        let gate = self.gate.lock().expect("no panic");
        let (_gate, wait) = self
            .changed
            .wait_timeout_while(gate, Duration::from_secs(10), |gate| gate.arrived.len() < arrived)
            .expect("no panic");
        assert!(!wait.timed_out(), "nobody came to the gate");
    }

    /// How many requests have come to the gate.
    pub fn arrived_at_gate(&self) -> usize {
        self.values_at_gate().len()
    }

    /// The values they brought, in the order in which they came.
    pub fn values_at_gate(&self) -> Vec<i32> {
        self.gate.lock().expect("no panic").arrived.clone()
    }

    /// For each request that has gone through the gate, in their order: how many values had been noted by then.
    pub fn noted_before_gate(&self) -> Vec<usize> {
        self.gate.lock().expect("no panic").noted_before.clone()
    }

    /// Lets all requests through, from now on.
    pub fn open_gate(&self) {
        self.gate.lock().expect("no panic").open = true;
        self.changed.notify_all();
    }

    fn pass_gate(&self, value: i32) {
        let mut gate = self.gate.lock().expect("no panic");
        gate.arrived.push(value);
        self.changed.notify_all();
        let mut gate = self
            .changed
            .wait_while(gate, |gate| !gate.open)
            .expect("no panic");
        gate.noted_before.push(self.journal().len());
    }

    /// Says whom `rally` calls; once.
    pub fn choose_partner(&self, partner: ProbeRef) {
        self.partner.set(partner).expect("once");
    }

    /// The last value noted.
    pub fn noted(&self) -> i32 {
        self.noted.load(Ordering::SeqCst)
    }

    /// All values noted, in the order in which they were served.
    pub fn journal(&self) -> Vec<i32> {
        self.journal.lock().expect("no panic").clone()
    }

    /// How often `churn` has activated and deactivated an object.
    pub fn activations(&self) -> u64 {
        self.activations.load(Ordering::SeqCst)
    }
}

/// What serves the calls.
pub struct Servant {
    orb: Orb,
    poa: Poa,
    hooks: Arc<Hooks>,
}

/// The argument of `twice` that makes the servant panic.
pub const UNLUCKY: i32 = i32::MIN;

impl conformance::Probe for Servant {
    fn twice(&self, value: i32) -> Result<i32, SystemException> {
        assert_ne!(value, UNLUCKY, "this panic belongs to a test");
        Ok(value.wrapping_mul(2))
    }

    fn greet(&self, name: &str) -> Result<String, probe::GreetError> {
        let mut greeting = String::new();
        self.greet_into(name, &mut greeting)?;
        Ok(greeting)
    }

    fn greet_into(&self, name: &str, result: &mut String) -> Result<(), probe::GreetError> {
        if name.is_empty() {
            let reason = String::from("no name");
            return Err(Refused { reason }.into());
        }
        result.push_str("Hello, ");
        result.push_str(name);
        Ok(())
    }

    fn invert(&self, value: bool) -> Result<bool, SystemException> {
        Ok(!value)
    }

    fn next(&self, from: Colour) -> Result<Colour, SystemException> {
        Ok(match from {
            Colour::Red => Colour::Green,
            Colour::Green => Colour::Blue,
            Colour::Blue => Colour::Red,
        })
    }

    fn reverse(&self, values: &[i32]) -> Result<Longs, SystemException> {
        Ok(values.iter().rev().copied().collect())
    }

    fn reverse_into(&self, values: &[i32], result: &mut Longs) -> Result<(), SystemException> {
        result.extend(values.iter().rev());
        Ok(())
    }

    fn count(&self, tree: NodeView<'_>) -> Result<u32, SystemException> {
        fn count(tree: &NodeView<'_>) -> u32 {
            1 + tree.children.iter().map(count).sum::<u32>()
        }
        Ok(count(&tree))
    }

    fn filled(&self, length: u32) -> Result<Octets, SystemException> {
        Ok(vec![7; length as usize])
    }

    fn note(&self, value: i32) -> Result<(), SystemException> {
        self.hooks.noted.store(value, Ordering::SeqCst);
        self.hooks.journal.lock().expect("no panic").push(value);
        Ok(())
    }

    fn noted(&self) -> Result<i32, SystemException> {
        Ok(self.hooks.noted())
    }

    fn wait_at_gate(&self, value: i32) -> Result<i32, SystemException> {
        self.hooks.pass_gate(value);
        Ok(value)
    }

    fn retire(&self) -> Result<(), SystemException> {
        let own = self.hooks.own.get().expect("set before the first request");
        self.poa.deactivate(own).expect("active");
        Ok(())
    }

    fn churn(&self, times: i32) -> Result<(), SystemException> {
        for _ in 0..times {
            let servant = Servant {
                orb: self.orb.clone(),
                poa: self.poa.clone(),
                hooks: Arc::clone(&self.hooks),
            };
            let object: ProbeRef = self.poa.activate(servant).expect("an object");
            self.poa.deactivate(&object).expect("active");
            self.hooks.activations.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }

    fn forward(&self, next: Option<ProbeRef>, value: i32) -> Result<i32, SystemException> {
        next.expect("a reference").twice(value)
    }

    fn ask(&self, next: Option<ProbeRef>, value: i32) -> Result<i32, SystemException> {
        next.expect("a reference").twice_async(value).wait()
    }

    fn ask_often(&self, next: Option<ProbeRef>, value: i32) -> Result<i32, SystemException> {
        let mut call = next.expect("a reference").twice_async(value);
        while !call.is_ready() {
            std::thread::sleep(Duration::from_millis(1));
        }
        call.wait()
    }

    fn nest(&self, inner: Option<ProbeRef>, depth: i32) -> Result<i32, SystemException> {
        if depth == 0 {
            return Ok(0);
        }
        let inner = inner.expect("a reference");
        Ok(inner.nest(Some(&inner), depth - 1)? + 1)
    }

    fn rally(&self, depth: i32) -> Result<i32, SystemException> {
        if depth == 0 {
            return Ok(0);
        }
        let partner = self.hooks.partner.get().expect("chosen by the test");
        Ok(partner.rally(depth - 1)? + 1)
    }

    fn native_priority(&self) -> Result<i16, SystemException> {
        let own = scheduling::current();
        Ok(if own.is_realtime() { own.priority.0 } else { -1 })
    }

    fn corba_priority(&self) -> Result<i16, SystemException> {
        let own = self.orb.current().priority();
        Ok(own.map_or(-1, |priority| priority.value()))
    }

    fn corba_priority_of(&self, next: Option<ProbeRef>) -> Result<i16, SystemException> {
        next.expect("a reference").corba_priority()
    }

    fn corba_priority_after(
        &self,
        forwarder: Option<ProbeRef>,
        next: Option<ProbeRef>,
    ) -> Result<i16, SystemException> {
        let next = next.expect("a reference");
        forwarder.expect("a reference").forward(Some(&next), 1)?;
        next.corba_priority()
    }

    fn set_corba_priority(&self, next: Option<ProbeRef>, value: i16) -> Result<i16, SystemException> {
        let priority = Priority::new(value).expect("a priority");
        self.orb.current().set_priority(priority)?;
        next.map_or(Ok(0), |next| next.twice(1))?;
        assert_eq!(self.corba_priority(), Ok(value));
        self.native_priority()
    }

    fn thread(&self) -> Result<i32, SystemException> {
        Ok(TaskId::current_thread().get())
    }

    fn allocations(&self) -> Result<u64, SystemException> {
        Ok(alloc_counter::allocations_of_this_thread())
    }
}

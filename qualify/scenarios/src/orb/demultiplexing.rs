//! `orb.demultiplexing`: time to find objects and operations, by how many of them there are.
//!
//! Calls within one ORB, on the caller's thread: they are encoded, found by key and operation, and decoded
//! like others, without a system call that would hide differences of nanoseconds. Each arrangement has an ORB
//! of its own. Source: [Pyarali 2002] 2.3.

use std::{hint::black_box, sync::Arc, time::Duration};

use punctual::{Interface, ObjectRef, Orb, Poa, SchedulingClass, SystemException};
use punctual_harness::{
    ChildSpec, Claim, MedianEstimate, Outcome, Row, Watchdog,
    blocks::median_ratio,
    child::{Role, Task, TaskEntry},
    interleave,
    statistics::median,
};
use punctual_os::TaskId;
use punctual_system::perf::Counter;
use serde::{Deserialize, Serialize};

use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    idl::operations::bench::{Hundred, HundredRef, One, OneRef, Ten, TenRef, Thousand, ThousandRef},
    length::Length,
    os::{fifo, now_ns, run},
};

pub(crate) struct Demultiplexing;

/// How objects are arranged, and which operation is called.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Arrangement {
    objects: usize,
    adapters: usize,
    depth: usize,
    operations: usize,
    /// Whether the last operation is called in the place of the first one.
    last: bool,
}

const REFERENCE: Arrangement = Arrangement {
    objects: CALLED,
    adapters: 1,
    depth: 1,
    operations: 1,
    last: false,
};

const fn objects(objects: usize) -> Arrangement {
    Arrangement { objects, ..REFERENCE }
}

const fn adapters(adapters: usize) -> Arrangement {
    Arrangement {
        objects: 1,
        adapters,
        ..REFERENCE
    }
}

const fn deep(depth: usize) -> Arrangement {
    Arrangement { depth, ..REFERENCE }
}

const fn operations(operations: usize, last: bool) -> Arrangement {
    Arrangement {
        operations,
        last,
        ..REFERENCE
    }
}

/// The claims, each about the largest ratio of its arrangements to the one of reference.
const CLAIMS: [(&str, &[Arrangement]); 5] = [
    (
        "objects",
        &[objects(10), objects(100), objects(1_000), objects(10_000)],
    ),
    ("adapters", &[adapters(10), adapters(100), adapters(1_000)]),
    ("depth", &[deep(5), deep(25)]),
    (
        "operations-first",
        &[
            operations(10, false),
            operations(100, false),
            operations(1_000, false),
        ],
    ),
    (
        "operations-last",
        &[
            operations(10, true),
            operations(100, true),
            operations(1_000, true),
        ],
    ),
];

/// Returns all arrangements, that of reference first.
fn arrangements() -> Vec<Arrangement> {
    let of_claims = CLAIMS.iter().flat_map(|(_, arrangements)| *arrangements);
    [REFERENCE].into_iter().chain(of_claims.copied()).collect()
}

/// The largest ratio to the reference that is still "the same".
const SAME: f64 = 1.1;

/// Objects that are called one after the other, so that no call repeats the one before it.
const CALLED: usize = 2;

#[derive(Clone, Copy)]
struct Extent {
    rounds: usize,
    calls: u32,
}

impl Extent {
    fn of(length: Length) -> Self {
        Self {
            rounds: 30,
            calls: length.pick(8_000, 50_000, 50_000),
        }
    }

    /// A call takes about a tenth of a microsecond.
    fn expected(self) -> Duration {
        Duration::from_nanos(90 * u64::from(self.calls)) * (self.rounds * arrangements().len()) as u32
    }
}

const START: Duration = Duration::from_secs(30);

impl Experiment for Demultiplexing {
    const NAME: &'static str = "orb.demultiplexing";
    const ABOUT: &'static str =
        "time of a call within one ORB, by number of objects, adapters and operations, and depth of adapters";
    const PAGE: &'static str = include_str!("demultiplexing.toml");
    const CONTROLS: &'static [Control] = &[SEARCHED];

    fn expected(length: Length) -> Duration {
        Extent::of(length).expected() + Duration::from_millis(200)
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let mut extent = Extent::of(trial.length());
        if trial.testbed.is_under(&SEARCHED) {
            extent.calls /= SEARCHES_TAKE;
        }
        trial.outcome.parameter("rounds", extent.rounds);
        trial.outcome.parameter("calls_per_block", extent.calls);
        trial.shortened("blocks of 8,000 calls instead of 50,000");
        trial.stage("blocks in alternation", extent.expected());
        let places = &trial.testbed.places;
        let setup = Setup {
            realtime: trial.outcome.machine().is_realtime(),
            searched: trial.testbed.is_under(&SEARCHED),
        };
        let spec = ChildSpec::of::<Orbs>("orbs").affinity(places.pinned.clone());
        let (mut orbs, ()) = spec.start::<Orbs>(&setup, START)?;
        let limit = START + extent.expected() * 10;
        let _watchdog = Watchdog::start(limit, vec![orbs.killer()?], &places.driver)?;
        let arrangements = arrangements();
        let kinds: Vec<usize> = (0..arrangements.len()).collect();
        let blocks = interleave(&kinds, extent.rounds, |arrangement, _| {
            let calls = extent.calls;
            orbs.perform(&Calls { arrangement, calls }, limit)
        })?;
        orbs.stop(START)?;
        if let Err(reason) = Counter::user_instructions(TaskId::current_thread(), false) {
            let what = "instructions of a call, in the place of its time";
            trial.outcome.skip(None, what, reason.to_string());
        }
        evaluate(&arrangements, &blocks, &mut trial.outcome);
        Ok(())
    }
}

/// Adds the rows and claims: about instructions where they were counted, otherwise about times.
fn evaluate(arrangements: &[Arrangement], blocks: &[Vec<Block>], outcome: &mut Outcome) {
    let times: Vec<Vec<f64>> = blocks
        .iter()
        .map(|of| of.iter().map(|block| block.ns).collect())
        .collect();
    let counts: Option<Vec<Vec<f64>>> = blocks
        .iter()
        .map(|of| of.iter().map(|block| block.instructions).collect())
        .collect();
    let (what, evaluated) = match &counts {
        Some(counts) => ("instructions", counts),
        None => ("time", &times),
    };
    let place = |one: &Arrangement| arrangements.iter().position(|other| other == one).unwrap_or(0);
    let ratio = |one| median_ratio(&evaluated[place(one)], &evaluated[0]);
    for (one, times) in arrangements.iter().zip(&times) {
        let row = one.row(times, ratio(one));
        let instructions = counts.as_ref().and_then(|counts| median(&counts[place(one)]));
        outcome.row(row.with("instructions", instructions));
    }
    for (id, of) in CLAIMS {
        let ratios = of
            .iter()
            .map(|one| ratio(one).map_or(f64::NAN, |ratio| ratio.median));
        // Unlike `max`, this propagates NaN.
        let largest = ratios.fold(
            0.0,
            |most: f64, one| if one > most || one.is_nan() { one } else { most },
        );
        let last = of.last().map_or(String::new(), Arrangement::text);
        let text = format!(
            "{what} of a call over that with two objects and one operation, largest of {} arrangements up to \
             {last}",
            of.len()
        );
        outcome.claim(Claim::at_most(id, text, "[Pyarali 2002] 2.3", largest, SAME));
    }
}

const SEARCHED: Control = Control {
    id: "searched",
    about: "before each call, a list of a name for each object, adapter, operation, and for 100 adapters of \
            each level is searched from its start",
    breaks: &["objects", "adapters", "depth", "operations-*"],
};

/// How much longer calls with a search take, about.
const SEARCHES_TAKE: u32 = 50;

impl Arrangement {
    fn text(&self) -> String {
        let (which, operations) = (if self.last { "last" } else { "first" }, self.operations);
        match self {
            _ if *self == REFERENCE => "two objects in one adapter, one operation".to_owned(),
            _ if operations > 1 => format!("the {which} of {operations} operations"),
            _ if self.adapters > 1 => format!("{} adapters beside each other", self.adapters),
            _ if self.depth > 1 => format!("an adapter {} levels deep", self.depth),
            _ => format!("{} objects in one adapter", self.objects),
        }
    }

    fn row(&self, times_ns: &[f64], ratio: Option<MedianEstimate>) -> Row {
        let row = Row::new()
            .with("arrangement", self.text())
            .with("objects", self.objects)
            .with("adapters", self.adapters)
            .with("depth", self.depth)
            .with("operations", self.operations);
        let row = match MedianEstimate::of(times_ns) {
            Some(time) => row
                .with("call_ns", time.median)
                .with("call_ns_low", time.low)
                .with("call_ns_high", time.high),
            None => row,
        };
        row.with("ratio", ratio.map(|ratio| ratio.median))
            .with("ratio_low", ratio.map(|ratio| ratio.low))
            .with("ratio_high", ratio.map(|ratio| ratio.high))
    }

    /// Number of names that the control searches.
    fn searched(&self) -> usize {
        (self.objects * self.adapters)
            .max(self.operations)
            .max(if self.depth > 1 { 100 * self.depth } else { 1 })
    }
}

/// The process with all ORBs.
pub(super) struct Orbs {
    arrangements: Vec<(Orb, Called)>,
    names: Option<Vec<String>>,
    realtime: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Setup {
    realtime: bool,
    searched: bool,
}

/// Calls an operation of one of the last objects of an arrangement with a number, and returns it: each
/// operation adds its own to it.
type Called = Arc<dyn Fn(usize) -> Result<i32, SystemException> + Send + Sync>;

macro_rules! calls {
    ($objects:ident, $interface:ident, $operation:ident, $number:literal) => {{
        let references: Vec<_> = $objects.into_iter().map($interface::from_object).collect();
        Arc::new(move |argument: usize| {
            let reference = &references[argument % CALLED];
            Ok(reference.$operation(argument as i32)? - $number)
        })
    }};
}

/// Returns the calls of objects with this number of operations.
fn called(objects: Vec<ObjectRef>, operations: usize, last: bool) -> Called {
    match (operations, last) {
        (10, false) => calls!(objects, TenRef, operation_0001, 1),
        (10, true) => calls!(objects, TenRef, operation_0010, 10),
        (100, false) => calls!(objects, HundredRef, operation_0001, 1),
        (100, true) => calls!(objects, HundredRef, operation_0100, 100),
        (1_000, false) => calls!(objects, ThousandRef, operation_0001, 1),
        (1_000, true) => calls!(objects, ThousandRef, operation_1000, 1_000),
        _ => calls!(objects, OneRef, operation_0001, 1),
    }
}

fn activated(poa: &Poa, operations: usize) -> Result<ObjectRef, Error> {
    Ok(match operations {
        10 => poa.activate::<TenRef, _>(Servant)?.as_object().clone(),
        100 => poa.activate::<HundredRef, _>(Servant)?.as_object().clone(),
        1_000 => poa.activate::<ThousandRef, _>(Servant)?.as_object().clone(),
        _ => poa.activate::<OneRef, _>(Servant)?.as_object().clone(),
    })
}

/// Serves all interfaces; `build.rs` writes its operations.
struct Servant;

include!(concat!(env!("OUT_DIR"), "/servants.rs"));

impl Role for Orbs {
    const NAME: &'static str = "__orb-demultiplexing";
    type Setup = Setup;
    type Ready = ();
    const TASKS: &'static [TaskEntry<Self>] = &[TaskEntry::of::<Calls>()];

    fn start(setup: Setup) -> Result<(Self, ()), Error> {
        let started: Result<Vec<_>, Error> = arrangements().iter().map(start).collect();
        let most = arrangements()
            .iter()
            .map(Arrangement::searched)
            .max()
            .unwrap_or(0);
        let names = setup
            .searched
            .then(|| (0..most).map(|number| format!("name{number:05}")).collect());
        let orbs = Self {
            arrangements: started?,
            names,
            realtime: setup.realtime,
        };
        Ok((orbs, ()))
    }
}

fn start(arrangement: &Arrangement) -> Result<(Orb, Called), Error> {
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .scheduling_class(SchedulingClass::Other)
        .build()?;
    let pool = orb.threadpool().build()?;
    let child = |parent: &Poa, name: String| parent.child(&name).threadpool(&pool).build();
    let mut last = Vec::new();
    for adapter in 0..arrangement.adapters {
        let mut poa = child(&orb.root_poa(), format!("adapter{adapter:04}"))?;
        for level in 1..arrangement.depth {
            poa = child(&poa, format!("level{level:02}"))?;
        }
        for _ in 0..arrangement.objects {
            last.push(activated(&poa, arrangement.operations)?);
        }
    }
    let last = last.split_off(last.len() - CALLED);
    Ok((orb, called(last, arrangement.operations, arrangement.last)))
}

/// A request for this number of calls.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Calls {
    arrangement: usize,
    calls: u32,
}

/// Results of calls.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Block {
    /// Time of a call in nanoseconds.
    ns: f64,
    /// Instructions of a call; `None`: the machine cannot count them.
    instructions: Option<f64>,
}

impl Task<Orbs> for Calls {
    const NAME: &'static str = "calls";
    type Reply = Block;

    fn perform(self, orbs: &mut Orbs) -> Result<Block, Error> {
        let called = Arc::clone(&orbs.arrangements[self.arrangement].1);
        let searched = arrangements()[self.arrangement].searched();
        let names = orbs.names.as_ref().map(|names| names[..searched].to_vec());
        let block = move || block(&called, names.as_deref(), self.calls as usize);
        if orbs.realtime {
            run(fifo("calls", PRIORITY), block)?
        } else {
            block()
        }
    }
}

/// Native priority of the calling thread.
const PRIORITY: i16 = 60;
/// Calls before the measured ones.
const WARM_UP: usize = 1_000;

fn block(called: &Called, names: Option<&[String]>, calls: usize) -> Result<Block, Error> {
    let counter = Counter::user_instructions(TaskId::current_thread(), false).ok();
    for number in 0..WARM_UP {
        called(number)?;
    }
    if let Some(counter) = &counter {
        counter.enable()?;
    }
    let start = now_ns();
    for number in 0..calls {
        if let Some(names) = names {
            let last = names.last();
            black_box(names.iter().position(|name| Some(black_box(name)) == last));
        }
        if called(number)? != number as i32 {
            return Err(format!("call {number} has another result").into());
        }
    }
    let ns = (now_ns() - start) as f64 / calls as f64;
    let instructions = counter.map(|counter| counter.read()).transpose()?;
    Ok(Block {
        ns,
        instructions: instructions.map(|all| all as f64 / calls as f64),
    })
}

#[cfg(test)]
mod tests {
    use punctual_fixtures::instructions::{instructions, number};

    use super::*;

    #[test]
    fn every_arrangement_answers_with_its_argument() {
        let few = |one: &Arrangement| one.objects <= 10 && one.adapters <= 10;
        for arrangement in arrangements().into_iter().filter(few) {
            let (orb, called) = start(&arrangement).unwrap();
            assert_eq!(called(7), Ok(7), "{arrangement:?}");
            assert!(block(&called, None, 10).unwrap().ns > 0.0);
            orb.shutdown_and_wait().unwrap();
        }
    }

    /// Calls that valgrind counts.
    const COUNTED: usize = 20;

    /// The counted calls: encoded, found by key and operation, and decoded.
    #[inline(never)]
    fn counted(called: &Called) {
        for number in 0..COUNTED {
            assert_eq!(called(number), Ok(number as i32));
        }
    }

    #[test]
    #[ignore = "started by the next test"]
    fn calls_of_an_arrangement() {
        let arrangement = arrangements()[number("ARRANGEMENT")];
        let (orb, called) = start(&arrangement).unwrap();
        // The first calls fill buffers.
        assert_eq!((called(0), called(1)), (Ok(0), Ok(1)));
        counted(&called);
        orb.shutdown_and_wait().unwrap();
    }

    #[test]
    fn calls_take_the_same_instructions_however_many_operations_there_are() {
        let of_a_call = |place: usize| {
            let total = instructions(
                "orb::demultiplexing::tests::calls_of_an_arrangement",
                Some("*demultiplexing::tests::counted*"),
                &[("ARRANGEMENT", place.to_string())],
            );
            total.map(|total| total / COUNTED as u64)
        };
        let Some(reference) = of_a_call(0) else {
            return;
        };
        for (place, arrangement) in arrangements().iter().enumerate() {
            // Without optimisation, comparing ten names one after the other is no small part of a call.
            let is_slow = cfg!(debug_assertions) && arrangement.operations == 10 && arrangement.last;
            if arrangement.operations == 1 || is_slow {
                continue;
            }
            let cost = of_a_call(place).expect("valgrind");
            println!("{}: {cost} instructions, {reference} for one", arrangement.text());
            let within = reference * 9 / 10..=reference * 11 / 10;
            assert!(
                within.contains(&cost),
                "{cost} instructions for {}; {reference} with one operation",
                arrangement.text()
            );
        }
    }

    #[test]
    fn the_control_searches_more_names_than_the_reference_has() {
        for (id, arrangements) in CLAIMS {
            let most = arrangements.iter().map(Arrangement::searched).max();
            assert!(most > Some(100 * REFERENCE.searched()), "{id}");
        }
    }

    #[test]
    fn instructions_are_evaluated_where_they_are_counted() {
        let machine = punctual_harness::MachineFacts::read(&punctual_os::CpuSet::single(0));
        let holding = |instructions: fn(usize) -> Option<f64>| {
            let mut outcome = Outcome::new("test", machine.clone());
            let arrangements = arrangements();
            let blocks: Vec<_> = (0..arrangements.len())
                .map(|place| {
                    let (ns, instructions) = (100.0 + 10.0 * place as f64, instructions(place));
                    vec![Block { ns, instructions }; 6]
                })
                .collect();
            evaluate(&arrangements, &blocks, &mut outcome);
            outcome.claims().iter().filter(|claim| claim.holds()).count()
        };
        assert_eq!(holding(|_| Some(900.0)), CLAIMS.len());
        assert_eq!(holding(|_| None), 0, "times grow beyond the limit");
    }
}

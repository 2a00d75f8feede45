//! `orb.demultiplexing`: time to find objects and operations, by how many of them there are.
//!
//! Calls within one ORB, on the caller's thread: they are encoded, found by key and operation, and decoded
//! like others, without a system call that would hide differences of nanoseconds. Each arrangement has an ORB
//! of its own. Source: [Pyarali 2002] 2.3.

use std::{hint::black_box, time::Duration};

use punctual::{Interface, Orb, Poa, SchedulingClass, SystemException};
use punctual_harness::{
    ChildSpec, Claim, MedianEstimate, Row, Watchdog,
    blocks::median_ratio,
    child::{Role, Task, TaskEntry},
    interleave,
};
use serde::{Deserialize, Serialize};

use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    idl::operations::bench::{Few, FewRef, Many, ManyRef},
    length::Length,
    os::{fifo, now_ns, run},
};

pub(crate) struct Demultiplexing;

/// How objects are arranged, and the claim about it.
#[derive(Clone, Copy, Debug)]
struct Arrangement {
    /// The last part of the claim's id; the arrangement of reference has none.
    claim: Option<&'static str>,
    objects: usize,
    adapters: usize,
    depth: usize,
    operations: usize,
}

const REFERENCE: Arrangement = Arrangement {
    claim: None,
    objects: 2,
    adapters: 1,
    depth: 1,
    operations: 1,
};

const ARRANGEMENTS: [Arrangement; 6] = [
    REFERENCE,
    Arrangement {
        claim: Some("objects"),
        objects: 10_000,
        ..REFERENCE
    },
    Arrangement {
        claim: Some("adapters"),
        objects: 1,
        adapters: 1_000,
        ..REFERENCE
    },
    Arrangement {
        claim: Some("depth"),
        depth: 25,
        ..REFERENCE
    },
    Arrangement {
        claim: Some("operations-first"),
        operations: OPERATIONS,
        ..REFERENCE
    },
    Arrangement {
        claim: Some("operations-last"),
        operations: OPERATIONS,
        ..REFERENCE
    },
];

/// Operations of the interface `Many`; `build.rs` writes it.
const OPERATIONS: usize = 256;

/// The largest ratio to the reference that is still "the same time".
const SAME: f64 = 1.15;

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
            calls: length.pick(20_000, 100_000, 100_000),
        }
    }

    /// A call takes about half a microsecond.
    fn expected(self) -> Duration {
        Duration::from_nanos(500 * u64::from(self.calls)) * (self.rounds * ARRANGEMENTS.len()) as u32
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
        Extent::of(length).expected() + Duration::from_secs(2)
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let mut extent = Extent::of(trial.length());
        if trial.testbed.is_under(&SEARCHED) {
            extent.calls /= SEARCHES_TAKE;
        }
        trial.outcome.parameter("rounds", extent.rounds);
        trial.outcome.parameter("calls_per_block", extent.calls);
        trial.shortened("blocks of 20,000 calls instead of 100,000");
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
        let kinds: Vec<usize> = (0..ARRANGEMENTS.len()).collect();
        let times = interleave(&kinds, extent.rounds, |arrangement, _| {
            let calls = extent.calls;
            orbs.perform(&Calls { arrangement, calls }, limit)
        })?;
        orbs.stop(START)?;
        for (arrangement, of) in ARRANGEMENTS.iter().zip(&times) {
            trial.outcome.row(arrangement.row(of, &times[0]));
            if let Some(id) = arrangement.claim {
                let ratio = median_ratio(of, &times[0]).map_or(f64::NAN, |ratio| ratio.median);
                let text = format!(
                    "{}: time of a call over that with two objects",
                    arrangement.text()
                );
                let claim = Claim::at_most(id, text, "[Pyarali 2002] 2.3", ratio, SAME);
                trial.outcome.claim(claim);
            }
        }
        Ok(())
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
        match self.claim {
            Some("objects") => format!("{} objects in one adapter", self.objects),
            Some("adapters") => format!("{} adapters beside each other", self.adapters),
            Some("depth") => format!("an adapter {} levels deep", self.depth),
            Some("operations-first") => format!("the first of {} operations", self.operations),
            Some(_) => format!("the last of {} operations", self.operations),
            None => "two objects in one adapter, one operation".to_owned(),
        }
    }

    fn row(&self, times_ns: &[f64], reference_ns: &[f64]) -> Row {
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
        match median_ratio(times_ns, reference_ns) {
            Some(ratio) => row
                .with("ratio", ratio.median)
                .with("ratio_low", ratio.low)
                .with("ratio_high", ratio.high),
            None => row,
        }
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

/// The last objects of an arrangement, and the operation that is called.
#[derive(Clone)]
enum Called {
    Only(Vec<FewRef>),
    First(Vec<ManyRef>),
    Last(Vec<ManyRef>),
}

impl Called {
    /// Calls, and returns the argument: each operation adds its number to it.
    fn call(&self, argument: usize) -> Result<i32, SystemException> {
        let (place, value) = (argument % CALLED, argument as i32);
        let (number, result) = match self {
            Self::Only(references) => (1, references[place].operation_0001(value)),
            Self::First(references) => (1, references[place].operation_0001(value)),
            Self::Last(references) => (OPERATIONS as i32, references[place].operation_0256(value)),
        };
        Ok(result? - number)
    }
}

/// Serves both interfaces; `build.rs` writes its operations.
struct Servant;

include!(concat!(env!("OUT_DIR"), "/servants.rs"));

impl Role for Orbs {
    const NAME: &'static str = "__orb-demultiplexing";
    type Setup = Setup;
    type Ready = ();
    const TASKS: &'static [TaskEntry<Self>] = &[TaskEntry::of::<Calls>()];

    fn start(setup: Setup) -> Result<(Self, ()), Error> {
        let arrangements: Result<Vec<_>, Error> = ARRANGEMENTS.iter().map(start).collect();
        let most = ARRANGEMENTS.iter().map(Arrangement::searched).max().unwrap_or(0);
        let names = setup
            .searched
            .then(|| (0..most).map(|number| format!("name{number:05}")).collect());
        let orbs = Self {
            arrangements: arrangements?,
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
            last.push(if arrangement.operations == 1 {
                let few: FewRef = poa.activate(Servant)?;
                few.as_object().clone()
            } else {
                let many: ManyRef = poa.activate(Servant)?;
                many.as_object().clone()
            });
        }
    }
    let last = last.split_off(last.len() - CALLED);
    let few = || last.iter().cloned().map(FewRef::from_object).collect();
    let many = || last.iter().cloned().map(ManyRef::from_object).collect();
    let called = match arrangement.claim {
        Some("operations-first") => Called::First(many()),
        Some("operations-last") => Called::Last(many()),
        _ => Called::Only(few()),
    };
    Ok((orb, called))
}

/// A command of the driver: call so many times, and return the time of a call in nanoseconds.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Calls {
    arrangement: usize,
    calls: u32,
}

impl Task<Orbs> for Calls {
    const NAME: &'static str = "calls";
    type Answer = f64;

    fn perform(self, orbs: &mut Orbs) -> Result<f64, Error> {
        let called = orbs.arrangements[self.arrangement].1.clone();
        let searched = ARRANGEMENTS[self.arrangement].searched();
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

fn block(called: &Called, names: Option<&[String]>, calls: usize) -> Result<f64, Error> {
    for number in 0..WARM_UP {
        called.call(number)?;
    }
    let start = now_ns();
    for number in 0..calls {
        if let Some(names) = names {
            let last = names.last();
            black_box(names.iter().position(|name| Some(black_box(name)) == last));
        }
        if called.call(number)? != number as i32 {
            return Err(format!("call {number} has another result").into());
        }
    }
    Ok((now_ns() - start) as f64 / calls as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arrangement_answers_with_its_argument() {
        let few = ARRANGEMENTS
            .iter()
            .filter(|one| one.objects <= 2 && one.adapters == 1);
        for arrangement in few {
            let (orb, called) = start(arrangement).unwrap();
            assert_eq!(called.call(7), Ok(7), "{arrangement:?}");
            assert!(block(&called, None, 10).unwrap() > 0.0);
            orb.shutdown_and_wait().unwrap();
        }
    }

    #[test]
    fn the_control_searches_more_names_than_the_reference_has() {
        for arrangement in &ARRANGEMENTS[1..] {
            assert!(
                arrangement.searched() > 100 * REFERENCE.searched(),
                "{arrangement:?}"
            );
        }
    }
}

//! `orb.cpu-overhead`: processor time per call, on the client's CPU and on the server's.
//!
//! A scavenger, a thread below all others, counts its iterations on the CPU of the client, then on that of
//! the server, while the other side has the other CPU. The iterations that it loses during calls show the
//! time that they use, including system calls, protocols, interrupts and context switches, regardless of the
//! kernel's accounting. Idle slices, calls and a raw ping-pong of the same octets alternate. Source: [Levine
//! 1999], client and server CPU processing overhead.

mod scavenger;

use std::time::Duration;

use punctual_harness::{ChildSpec, MedianEstimate, Outcome, Row, Span, Watchdog};
use punctual_os::clock;

pub(crate) use self::scavenger::Scavenger;
use self::scavenger::Spin;
use crate::{
    control::Control,
    cubit::{
        client::{self, Block, Kind, Length as BlockLength, Measured},
        operation::Operation,
        server,
        transport::Transport,
    },
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    testbed::Places,
};

pub(crate) struct CpuOverhead;

const WRONG: Control = Control {
    id: "wrong-results",
    about: "a servant that adds 1 to each result",
    breaks: &["errors"],
};

/// The amount of measurements per side.
#[derive(Clone, Copy)]
struct Extent {
    rounds: u32,
    slice: Duration,
}

impl Extent {
    fn of(length: Length) -> Self {
        let ms = Duration::from_millis;
        let (rounds, slice) = length.pick((8, ms(60)), (20, ms(200)), (20, ms(200)));
        Self { rounds, slice }
    }

    fn of_side(self) -> Duration {
        self.slice * (self.rounds * SLICES)
    }

    fn expected(self) -> Duration {
        (self.of_side() + Duration::from_millis(700)) * 2
    }
}

/// Slices per round: idle, calls, ping-pong.
const SLICES: u32 = 3;
const START: Duration = Duration::from_secs(20);

/// The side whose CPU the scavenger uses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Side {
    Client,
    Server,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// The kind of exchange in a slice.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Called {
    Orb,
    PingPong,
}

impl Called {
    const ALL: [Self; 2] = [Self::Orb, Self::PingPong];

    fn name(self) -> &'static str {
        match self {
            Self::Orb => "call with an octet",
            Self::PingPong => "raw ping-pong",
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Orb => Kind::Ours,
            Self::PingPong => Kind::Raw(Transport::Tcp),
        }
    }
}

impl Experiment for CpuOverhead {
    const NAME: &'static str = "orb.cpu-overhead";
    const ABOUT: &'static str =
        "processor time per call, on the client's CPU and on the server's; needs two CPUs";
    const PAGE: &'static str = include_str!("cpu_overhead.toml");
    const CONTROLS: &'static [Control] = &[WRONG];

    fn expected(length: Length) -> Duration {
        Extent::of(length).expected()
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let extent = Extent::of(trial.length());
        trial.outcome.parameter("rounds", extent.rounds);
        trial
            .outcome
            .parameter("seconds_per_slice", extent.slice.as_secs_f64());
        trial.shortened("8 rounds of 60 ms instead of 20 of 200 ms on each side");
        let places = &trial.testbed.places;
        if !places.has_driver() {
            let reason = "client and server each need a CPU, but only one is available to this process";
            trial.outcome.unfit(reason);
            return Ok(());
        }
        if !trial.outcome.machine().is_realtime() {
            trial.outcome.unfit(
                "without real-time rights the calls compete with the scavenger, so its count is meaningless",
            );
            return Ok(());
        }
        let mut errors = 0;
        for side in [Side::Client, Side::Server] {
            let text = format!("the scavenger on the {}'s CPU", side.name());
            trial.stage(text, extent.of_side());
            let fault = trial.testbed.is_under(&WRONG).then_some(server::Fault::Wrong);
            let result = measure_side(side, places, extent, fault)?;
            rows(side, &result.rounds, &mut trial.outcome);
            errors += result.errors;
        }
        trial.claim_no_errors("[Levine 1999]", errors);
        Ok(())
    }
}

/// One idle slice, and one of each kind of call.
struct Round {
    /// Iterations of the scavenger per second.
    idle_per_s: f64,
    /// In the order of [`Called::ALL`].
    called: [Load; 2],
}

/// A slice with calls.
#[derive(Clone, Copy)]
struct Load {
    /// Iterations of the scavenger per second during the calls.
    left_per_s: f64,
    calls_per_s: f64,
}

impl Load {
    /// Returns the iterations that the scavenger loses per call.
    fn lost_per_call(self, idle_per_s: f64) -> f64 {
        (idle_per_s - self.left_per_s) / self.calls_per_s
    }

    /// Returns the time that the scavenger loses per call, in microseconds.
    fn lost_us_per_call(self, idle_per_s: f64) -> f64 {
        self.lost_per_call(idle_per_s) / idle_per_s * 1e6
    }
}

/// The measurements of one side.
struct SideResult {
    rounds: Vec<Round>,
    /// Number of wrong results.
    errors: u64,
}

/// Measures one side.
fn measure_side(
    side: Side,
    places: &Places,
    extent: Extent,
    fault: Option<server::Fault>,
) -> Result<SideResult, Error> {
    let (of_client, of_server) = match side {
        Side::Client => (&places.pinned, &places.driver),
        Side::Server => (&places.driver, &places.pinned),
    };
    let (server, ready) = server::spawn_faulty_tcp(fault, of_server, START)?;
    let mut client = client::spawn(&ready, of_client, &[], START)?;
    let scavenger = ChildSpec::of::<Scavenger>("scavenger").affinity(places.pinned.clone());
    let (mut scavenger, ()) = scavenger.start::<Scavenger>(&(), START)?;
    let killers = vec![server.killer()?, client.killer()?, scavenger.killer()?];
    let _watchdog = Watchdog::start(extent.of_side() * 4 + START, killers, &places.driver)?;

    let mut block = |called: Called, calls| {
        let block = Block {
            operation: Operation::Octet,
            kind: called.kind(),
            length: BlockLength::Calls(calls),
            with_latencies: false,
        };
        client.perform(&block, START)
    };
    // With the scavenger running, as in the measurement: a CPU that never idles wakes threads faster.
    let trial = Spin {
        length: extent.slice * 2,
    };
    scavenger.begin(&trial)?;
    let mut calls = [0; 2];
    for (called, calls) in Called::ALL.into_iter().zip(&mut calls) {
        block(called, 100)?;
        let measured = block(called, 300)?;
        let rate = measured.calls as f64 * 1e9 / measured.elapsed_ns as f64;
        *calls = (rate * extent.slice.as_secs_f64()).max(1.0) as u32;
    }
    scavenger.end::<Spin>(START)?;

    // The scavenger responds at the end; its time includes a quarter more than the nominal slices.
    let length = extent.of_side().mul_f64(1.25) + Duration::from_millis(300);
    scavenger.begin(&Spin { length })?;
    let mut spans = Vec::new();
    for _ in 0..extent.rounds {
        let begin = clock::monotonic();
        std::thread::sleep(extent.slice);
        let idle = Span::between(begin, clock::monotonic());
        let mut called = Vec::new();
        for (kind, calls) in Called::ALL.into_iter().zip(calls) {
            called.push(block(kind, calls)?);
        }
        spans.push((idle, called));
    }
    let spun = scavenger.end::<Spin>(START + length)?;
    client.stop(START)?;
    scavenger.stop(START)?;
    server.stop(START)?;

    let all = spans.iter().flat_map(|(_, called)| called);
    let errors = all.map(|measured| measured.errors).sum();
    let rounds = spans.iter().filter_map(|(idle, called)| {
        let load = |measured: &Measured| {
            Some(Load {
                left_per_s: spun.per_second(measured.span)?,
                calls_per_s: measured.calls as f64 * 1e9 / measured.elapsed_ns as f64,
            })
        };
        let [orb, raw] = &called[..] else { return None };
        Some(Round {
            idle_per_s: spun.per_second(*idle)?,
            called: [load(orb)?, load(raw)?],
        })
    });
    Ok(SideResult {
        rounds: rounds.collect(),
        errors,
    })
}

fn rows(side: Side, rounds: &[Round], outcome: &mut Outcome) {
    for (place, called) in Called::ALL.into_iter().enumerate() {
        let over_rounds = |of: fn(&Round, Load) -> f64| {
            let values: Vec<f64> = rounds
                .iter()
                .map(|round| of(round, round.called[place]))
                .collect();
            MedianEstimate::of(&values)
        };
        let Some(lost_us) = over_rounds(|round, load| load.lost_us_per_call(round.idle_per_s)) else {
            outcome.unfit(format!(
                "calls took so long that only {} rounds were counted on the {}'s CPU: stop other load and \
                 run it again",
                rounds.len(),
                side.name()
            ));
            return;
        };
        let median = |of| over_rounds(of).map(|estimate| estimate.median);
        outcome.row(
            Row::new()
                .with("kind", "lost")
                .with("side", side.name())
                .with("called", called.name())
                .with("rounds", rounds.len())
                .with("calls_per_s", median(|_, load| load.calls_per_s))
                .with("idle_iterations_per_s", median(|round, _| round.idle_per_s))
                .with("left_iterations_per_s", median(|_, load| load.left_per_s))
                .with(
                    "lost_iterations_per_call",
                    median(|round, load| load.lost_per_call(round.idle_per_s)),
                )
                .with("lost_us_per_call", lost_us.median)
                .with("lost_us_per_call_low", lost_us.low)
                .with("lost_us_per_call_high", lost_us.high),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_call_is_what_the_scavenger_loses() {
        let load = Load {
            left_per_s: 250_000.0,
            calls_per_s: 50_000.0,
        };
        // Three quarters of the CPU for 50,000 calls.
        assert_eq!(load.lost_per_call(1_000_000.0), 15.0);
        assert_eq!(load.lost_us_per_call(1_000_000.0), 15.0);
        assert_eq!(load.lost_us_per_call(250_000.0), 0.0);
    }

    #[test]
    fn expected_durations_are_within_budget() {
        assert!(Extent::of(Length::Quick).expected() <= Duration::from_secs(5));
        assert!(Extent::of(Length::Full).expected() <= Duration::from_secs(40));
    }
}

//! `orb.throughput`: calls per second of a single client, by type of argument.
//!
//! The client calls continuously and checks each result. Client and server share one processor, as in the
//! paper, or have one each. Source: [Schmidt 2002] 3.2, figure 2; TAO's IDL_Cubit.

mod client;
mod operation;

use std::time::Duration;

use punctual_harness::{Claim, MedianEstimate, Outcome, Row, Watchdog, interleave};
use punctual_os::CpuSet;

pub(crate) use self::client::{Measured, State, TimedBlock};
use self::operation::{Call, Operation};
use crate::{
    control::Control,
    cubit,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    testbed::Places,
};

pub(crate) struct Throughput;

/// The amount of measurements per operation.
#[derive(Clone, Copy)]
struct Extent {
    rounds: usize,
    block: Duration,
}

impl Extent {
    fn of(length: Length) -> Self {
        let full = (30, Duration::from_millis(25));
        let (rounds, block) = length.pick((MedianEstimate::FEWEST, Duration::from_millis(10)), full, full);
        Self { rounds, block }
    }

    fn of_placement(self) -> Duration {
        self.block * (self.rounds * Call::all().count()) as u32
    }

    fn expected(self) -> Duration {
        (self.of_placement() + Duration::from_millis(500)) * 2
    }
}

/// Client and server on one processor, as in the paper, or on one each.
const PLACEMENTS: [&str; 2] = ["one processor", "two processors"];
const START: Duration = Duration::from_secs(20);

impl Experiment for Throughput {
    const NAME: &'static str = "orb.throughput";
    const ABOUT: &'static str = "calls and octets per second of one client, by type of argument (IDL_Cubit)";
    const PAGE: &'static str = include_str!("throughput.toml");
    const CONTROLS: &'static [Control] = &[ONE_TYPE, WRONG];

    fn expected(length: Length) -> Duration {
        Extent::of(length).expected()
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let places = trial.testbed.places.clone();
        let extent = Extent::of(trial.length());
        let all_void = trial.testbed.is_under(&ONE_TYPE);
        let fault = trial
            .testbed
            .is_under(&WRONG)
            .then_some(cubit::server::Fault::Wrong);
        trial.outcome.parameter("rounds", extent.rounds);
        trial
            .outcome
            .parameter("seconds_per_block", extent.block.as_secs_f64());
        trial.shortened("6 blocks of 10 ms instead of 30 of 25 ms per type, two-way and one-way");
        let mut placements = vec![(PLACEMENTS[0], &places.pinned)];
        if places.has_driver() {
            placements.push((PLACEMENTS[1], &places.driver));
        } else {
            let reason = "only one CPU is available to this process";
            trial.outcome.skip(None, "throughput on two processors", reason);
        }
        for (name, of_client) in placements {
            trial.stage(name, extent.of_placement());
            let rounds = blocks(&places, of_client, fault, extent, all_void)?;
            rows(name, rounds, &mut trial.outcome);
        }
        let rows = trial.outcome.rows();
        let errors: f64 = rows.iter().filter_map(|row| row.number("errors")).sum();
        claims(&mut trial.outcome);
        trial.claim_no_errors("[Schmidt 2002] 3.2", errors as u64);
        Ok(())
    }
}

const WRONG: Control = Control {
    id: "wrong",
    about: "a servant that adds 1 to its results",
    breaks: &["errors"],
};
const ONE_TYPE: Control = Control {
    id: "one-type",
    about: "a two-way call without arguments in the place of each operation",
    breaks: &["by-type", "oneway-faster", "oneway-types"],
};

/// "Dramatically" in the paper: the slowest type allows at most this share of the calls of the fastest.
const DRAMATICALLY: f64 = 0.5;

/// Claims that throughput depends on the type, and that one-way calls avoid the cost of replies. Values that
/// are not numbers, of operations without calls, do not hold.
fn claims(outcome: &mut Outcome) {
    let of = |mode: &str, column: &str| -> Vec<f64> {
        let rows = outcome.rows().iter();
        let of_mode = rows.filter(|row| row.get("mode").is_some_and(|its| its == mode));
        of_mode.filter_map(|row| row.number(column)).collect()
    };
    // The rows of each mode of a placement follow each other.
    const TYPES: usize = Operation::ALL.len();
    let rates = of("twoway", "calls_per_s");
    let most = |rates: &[f64]| rates.iter().copied().fold(f64::NAN, f64::max);
    let least = |rates: &[f64]| rates.iter().copied().fold(f64::NAN, f64::min);
    let by_type: Vec<f64> = rates
        .chunks(TYPES)
        .map(|rates| least(rates) / most(rates))
        .collect();
    let by_type = Claim::at_most(
        "by-type",
        "two-way calls per second of the slowest type over those of the fastest, larger of both placements",
        "[Schmidt 2002] 3.2",
        most(&by_type),
        DRAMATICALLY,
    );
    let (oneway, twoway) = (of("oneway", "calls_per_s_low"), of("twoway", "calls_per_s_high"));
    let ratios: Vec<f64> = oneway.iter().zip(&twoway).map(|(one, two)| one / two).collect();
    // The first row of a mode is that of the operation without arguments.
    let void: Vec<f64> = ratios.iter().copied().step_by(TYPES).collect();
    outcome.claim(by_type);
    for (id, what, ratios) in [
        ("oneway-faster", "without arguments", void),
        ("oneway-types", "of each type", ratios),
    ] {
        let smallest = least(&ratios);
        let text = format!(
            "one-way over two-way calls per second {what}, at least (limits of the medians), over the \
             placements"
        );
        let faster = smallest > 1.0;
        outcome.claim(Claim::new(id, text, "[Schmidt 2002] 3.2", smallest, 1.0, faster));
    }
}

/// Returns the calls per second that the paper's text states, on Linux, QNX and VxWorks; its figure states no
/// numbers: "around 10,000 operations/sec for the simple data types" on Linux and Linux/RT, "around 6,000" on
/// QNX and "a little lower at 5,500" on VxWorks for void, short and long.
fn paper(call: Call) -> [Option<f64>; 3] {
    let simple = matches!(
        call.operation,
        Operation::Void | Operation::Short | Operation::Long
    );
    let simple = simple && !call.is_oneway;
    [10_000.0, 6_000.0, 5_500.0].map(|calls_per_s| simple.then_some(calls_per_s))
}

/// Measures all operations in turn, in each round; if `all_void`, the first one in the place of each.
fn blocks(
    places: &Places,
    of_client: &CpuSet,
    fault: Option<cubit::server::Fault>,
    extent: Extent,
    all_void: bool,
) -> Result<Vec<Vec<Measured>>, Error> {
    let (server, ready) = cubit::server::spawn_faulty_tcp(fault, &places.pinned, START)?;
    let mut client = cubit::client::spawn(&ready, of_client, &[], START)?;
    let limit = extent.of_placement() * 4 + START;
    let _watchdog = Watchdog::start(limit, vec![server.killer()?, client.killer()?], &places.driver)?;
    let void = Call {
        operation: Operation::Void,
        is_oneway: false,
    };
    let mut ask = |call, length| {
        let call = if all_void { void } else { call };
        client.perform(&TimedBlock { call, length }, START)
    };
    // Warm-up: buffers reach their final size.
    for call in Call::all() {
        ask(call, Duration::from_millis(5))?;
    }
    let calls: Vec<Call> = Call::all().collect();
    let blocks = interleave(&calls, extent.rounds, |call, _| ask(call, extent.block))?;
    client.stop(START)?;
    server.stop(START)?;
    Ok(blocks)
}

fn rows(placement: &str, rounds: Vec<Vec<Measured>>, outcome: &mut Outcome) {
    for (call, blocks) in Call::all().zip(rounds) {
        let sum = |of: fn(&Measured) -> f64| blocks.iter().map(of).sum::<f64>();
        let calls = sum(|block| block.calls as f64);
        let rate = |block: &Measured| block.calls as f64 / block.elapsed.as_secs_f64();
        let rates = MedianEstimate::of(&blocks.iter().map(rate).collect::<Vec<_>>());
        let octets = blocks.first().map_or(0.0, |block| block.octets_per_call);
        let [linux, qnx, vxworks] = paper(call);
        let per_s = calls / sum(|block| block.elapsed.as_secs_f64());
        outcome.row(
            Row::new()
                .with("placement", placement)
                .with("operation", call.operation.name())
                .with("mode", call.mode())
                .with("calls", calls as u64)
                .with("errors", sum(|block| block.errors as f64) as u64)
                .with("calls_per_s", per_s)
                .with("calls_per_s_median", rates.map(|rates| rates.median))
                .with("calls_per_s_low", rates.map(|rates| rates.low))
                .with("calls_per_s_high", rates.map(|rates| rates.high))
                .with(
                    "served_per_s",
                    calls / sum(|block| block.until_served.as_secs_f64()),
                )
                .with("octets_per_call", octets)
                .with("octets_per_s", octets * per_s)
                .with(
                    "client_cpu_us_per_call",
                    sum(|block| block.cpu.as_secs_f64()) * 1e6 / calls,
                )
                .with("paper_linux_calls_per_s", linux)
                .with("paper_qnx_calls_per_s", qnx)
                .with("paper_vxworks_calls_per_s", vxworks),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_calls_over_time() {
        let machine = punctual_harness::MachineFacts::read(&CpuSet::single(0));
        let mut outcome = Outcome::new(Throughput::NAME, machine);
        let block = Measured {
            calls: 100,
            errors: 0,
            elapsed: Duration::from_millis(10),
            until_served: Duration::from_millis(20),
            cpu: Duration::from_millis(5),
            octets_per_call: 8.0,
        };
        rows("here", vec![vec![block; 6]; Call::all().count()], &mut outcome);
        let oneway = outcome.rows().last().unwrap();
        let close = |column: &str, expected: f64| {
            let measured = oneway.number(column).unwrap();
            assert!((measured / expected - 1.0).abs() < 1e-9, "{column}: {measured}");
        };
        close("calls_per_s", 10_000.0);
        close("served_per_s", 5_000.0);
        close("octets_per_s", 80_000.0);
        close("client_cpu_us_per_call", 50.0);
    }

    fn claimed(calls: impl Fn(usize) -> u64) -> Vec<(f64, bool)> {
        let machine = punctual_harness::MachineFacts::read(&CpuSet::single(0));
        let mut outcome = Outcome::new(Throughput::NAME, machine);
        let block = |number| Measured {
            calls: calls(number),
            errors: 0,
            elapsed: Duration::from_millis(10),
            until_served: Duration::from_millis(10),
            cpu: Duration::from_millis(5),
            octets_per_call: 8.0,
        };
        for scale in [1, 3] {
            let scaled = |number| Measured {
                calls: block(number).calls * scale,
                ..block(number)
            };
            let blocks = (0..Call::all().count()).map(|number| vec![scaled(number); 6]);
            rows("a placement", blocks.collect(), &mut outcome);
        }
        claims(&mut outcome);
        let claims = outcome.claims().iter();
        claims
            .map(|claim| {
                let measured = claim.measured.as_f64().unwrap();
                ((measured * 1e6).round() / 1e6, claim.holds())
            })
            .collect()
    }

    #[test]
    fn types_are_compared_within_a_placement() {
        assert_eq!(claimed(|_| 100), [(1.0, false); 3]);
        let types = Operation::ALL.len();
        let calls = |number| match number {
            5 => 40,
            _ if number >= types => 200,
            _ => 100,
        };
        assert_eq!(claimed(calls), [(0.4, true), (2.0, true), (2.0, true)]);
        let one_is_slow = |number| if number == types + 3 { 90 } else { calls(number) };
        assert_eq!(claimed(one_is_slow), [(0.4, true), (2.0, true), (0.9, false)]);
    }

    #[test]
    fn expected_durations_are_within_budget() {
        assert!(Extent::of(Length::Quick).expected() <= Duration::from_secs(6));
        assert!(Extent::of(Length::Full).expected() <= Duration::from_secs(60));
    }
}

//! TAO's MT_Cubit test: clients with rates and priorities call servants that return the cube of an octet, on
//! one CPU. The clients start together; each calls, pauses for the rest of its period, and calls again.
//! Source: [Schmidt 2002] 3.3 and figure 3, TAO's MT_Cubit.

use punctual_harness::{
    Hole, Row, Span,
    statistics::{mean, median, standard_deviation},
    withheld_cpu::cause_of,
};

use crate::load::{Client, Pace, PhaseResult, Placement, PoolSpec, Request, ServerSpec, Setup, Worker};

/// The highest CORBA priority of a client, slightly below the maximum, to leave room for the supervisor.
const HIGHEST: i16 = 32_000;
/// Difference of priorities, large enough for distinct native priorities under the linear mapping, where a
/// step is 331.
const STEP: i16 = 600;

/// The pools of [`lanes_and_pool`].
pub(super) const POOLS: [&str; 2] = ["lanes", "pool without lanes"];

/// Calls per second of a client that never pauses.
pub(super) const WITHOUT_PAUSES: u32 = 1_000_000_000;

/// Returns the priority of a client; number 0 is the most important one. 51 clients have distinct native
/// priorities.
pub(super) fn priority(number: usize) -> i16 {
    let number = i16::try_from(number).unwrap_or(i16::MAX);
    HIGHEST - number.saturating_mul(STEP).min(HIGHEST)
}

/// Returns a client with the priority and the servant of this number.
pub(super) fn client(name: impl Into<String>, number: usize, hz: u32) -> Worker {
    Worker {
        name: name.into(),
        priority: Some(priority(number)),
        pace: Pace::Pausing { hz, slices: None },
        request: Request::Cube,
        servant: number,
        ..Worker::default()
    }
}

/// Returns an ordinary thread of the client process that runs whenever nothing else does, so that the CPU
/// never idles; with `evicts`, the caches hold nothing of the others for long, either.
pub(super) fn keeps_awake(evicts: bool) -> Worker {
    Worker {
        priority: None,
        pace: Pace::Spinning { evicts },
        ..client("awake", 0, 1)
    }
}

/// Returns a pool with a lane for each client, and one without lanes that has as many threads, at the
/// priority of the least important client.
pub(super) fn lanes_and_pool(clients: usize) -> [PoolSpec; 2] {
    let lanes = PoolSpec::Lanes((0..clients).map(priority).collect());
    let without_lanes = PoolSpec::SinglePriority {
        threads: clients,
        priority: priority(clients - 1),
    };
    [lanes, without_lanes]
}

/// Returns server and clients on one CPU; each pool has a servant for each client.
pub(super) fn setup(pools: Vec<PoolSpec>, clients: usize) -> Setup<'static> {
    Setup::new(ServerSpec::of_many(pools, clients), Placement::OneCpu)
}

/// Returns the number of wrong results.
pub(super) fn errors<K>(phases: &[PhaseResult<K>]) -> u64 {
    let clients = phases.iter().flat_map(|phase| &phase.clients);
    clients.map(|client| client.report.wrong).sum()
}

/// Latency as the papers report it, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct MeanAndJitter {
    pub(super) samples: usize,
    pub(super) mean_us: Option<f64>,
    /// The sample standard deviation.
    pub(super) jitter_us: Option<f64>,
    slowest: Option<Span>,
}

impl MeanAndJitter {
    /// Computes the values over the calls of clients; like [`Self::of`].
    pub(super) fn of_clients(clients: &[Client], holes: &[Hole]) -> Self {
        let calls = clients.iter().flat_map(|client| &client.report.calls);
        Self::of(&calls.copied().collect::<Vec<_>>(), holes)
    }

    /// Computes the values over calls, without those that one of `holes` excuses.
    fn of(calls: &[Span], holes: &[Hole]) -> Self {
        let outside = |call: &&Span| !holes.iter().any(|hole| hole.excuses(**call));
        let calls: Vec<Span> = calls.iter().filter(outside).copied().collect();
        let latencies: Vec<f64> = calls.iter().copied().map(us).collect();
        Self {
            samples: latencies.len(),
            mean_us: mean(&latencies),
            jitter_us: standard_deviation(&latencies),
            slowest: calls.into_iter().max_by_key(|call| call.end_ns - call.start_ns),
        }
    }
}

/// Number of consecutive calls of a group: 2.2 s at 20 Hz.
const GROUP: usize = 44;

/// Returns the jitter of a client in microseconds, outside holes: the median over groups of 44 consecutive
/// calls, so that one late call changes one group. `None` for a single call, or none.
pub(super) fn jitter_of_groups(client: &Client, holes: &[Hole]) -> Option<f64> {
    let calls = &client.report.calls;
    let groups = calls.chunks_exact(GROUP.min(calls.len()).max(1));
    let jitters = groups.filter_map(|group| MeanAndJitter::of(group, holes).jitter_us);
    median(&jitters.collect::<Vec<_>>())
}

fn us(call: Span) -> f64 {
    (call.end_ns - call.start_ns) as f64 / 1e3
}

/// Adds the columns of the calls of several clients: over all calls, and over those outside holes.
pub(super) fn columns(row: Row, clients: &[Client], holes: &[Hole]) -> Row {
    let calls = clients.iter().flat_map(|client| &client.report.calls);
    columns_of(row, &calls.copied().collect::<Vec<_>>(), holes)
}

/// Adds the columns of these calls, as [`columns`] does.
pub(super) fn columns_of(row: Row, calls: &[Span], holes: &[Hole]) -> Row {
    let raw = MeanAndJitter::of(calls, &[]);
    let without = MeanAndJitter::of(calls, holes);
    row.with("calls", raw.samples)
        .with("mean_us", raw.mean_us)
        .with("jitter_us", raw.jitter_us)
        .with("max_us", raw.slowest.map(us))
        .with("max_cause", raw.slowest.map(|slowest| cause_of(slowest, holes)))
        .with("calls_in_holes", raw.samples - without.samples)
        .with("mean_without_holes_us", without.mean_us)
        .with("jitter_without_holes_us", without.jitter_us)
}

#[cfg(test)]
mod tests {
    use punctual_harness::withheld_cpu::HoleSource;

    use super::*;

    #[test]
    fn fifty_one_clients_have_distinct_native_priorities() {
        let native = |number| (i32::from(priority(number)) * 98 / 32_767) + 1;
        let natives: std::collections::BTreeSet<_> = (0..=50).map(native).collect();
        assert_eq!(natives.len(), 51);
        let highest = *natives.last().unwrap();
        assert!(highest < 99, "the watchdog has a higher priority");
        assert_eq!(priority(1000), 0);
    }

    #[test]
    fn each_client_has_a_lane_of_its_priority() {
        let [PoolSpec::Lanes(lanes), PoolSpec::SinglePriority { threads, .. }] = lanes_and_pool(51) else {
            panic!("the first pool has lanes, the second one has none");
        };
        assert_eq!(threads, lanes.len());
        let clients = (0..51).map(|number| client("client", number, 10));
        assert!(clients.map(|client| client.priority.unwrap()).eq(lanes));
    }

    #[test]
    fn only_calls_in_holes_are_excluded() {
        let call = |start_ms: u64, ms: u64| Span {
            start_ns: start_ms * 1_000_000,
            end_ns: (start_ms + ms) * 1_000_000,
        };
        let calls = [call(0, 1), call(10, 50), call(60, 3)];
        let hole = Hole {
            start_ns: 30_000_000,
            length_ns: 25_000_000,
            source: HoleSource::OtherTasks,
        };
        let raw = MeanAndJitter::of(&calls, &[]);
        assert_eq!(
            (raw.samples, raw.mean_us, raw.slowest),
            (3, Some(18_000.0), Some(calls[1]))
        );
        let without = MeanAndJitter::of(&calls, &[hole]);
        assert_eq!((without.samples, without.mean_us), (2, Some(2_000.0)));
        assert!((without.jitter_us.unwrap() - 2f64.sqrt() * 1000.0).abs() < 1e-6);
        assert_eq!(MeanAndJitter::of(&[], &[]), MeanAndJitter::default());
        let row = columns_of(Row::new(), &calls, &[hole]);
        assert_eq!(row.number("calls_in_holes"), Some(1.0));
        assert_eq!(
            row.get("max_cause").unwrap(),
            "a hole of 25 ms: the CPU ran other tasks"
        );
    }
}

//! Rows and claims about the calls of one operation.

use punctual_harness::{Claim, Latencies, Outcome, Row, statistics::MedianEstimate};

use super::{
    client::Measured,
    count::Counted,
    operation::Operation,
    placement::Placement,
    raw::Sizes,
    transport::{LaneWait, Transport},
};

/// The source of claims about the cost of a call.
const SOURCE: &str = "Punctual's limit: the design of the request path";

/// Subject of a row.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Target {
    /// Calls through the ORB.
    Call,
    /// The raw ping-pong of the same octets.
    Raw,
}

/// Ratios of the p50 of a call to that of raw exchanges.
#[derive(Clone, Copy, Default)]
pub(super) struct Ratios {
    /// Ratio to the raw exchange over the transport of the call.
    pub(super) raw: Option<MedianEstimate>,
    /// Ratio to the raw exchange over TCP.
    pub(super) raw_tcp: Option<MedianEstimate>,
}

/// Calls or exchanges, summed over the blocks of one operation.
pub(super) struct Side {
    pub(super) latencies: Latencies,
    pub(super) medians: Vec<f64>,
    calls: u64,
    errors: u64,
    elapsed_ns: u64,
    client_allocations: u64,
    server_allocations: u64,
    sizes: Sizes,
}

impl Placement {
    pub(super) fn row(
        &self,
        target: Target,
        operation: Operation,
        side: &Side,
        counted: &Counted,
        ratios: Ratios,
        realtime: bool,
    ) -> Row {
        let Ratios { raw: ratio, raw_tcp } = ratios;
        let raw = target == Target::Raw;
        let name = if raw { "raw" } else { operation.name() };
        let scheduling_class = if realtime { "SCHED_FIFO" } else { "SCHED_OTHER" };
        let per_call = |count: u64| {
            if raw {
                None
            } else {
                Some(count as f64 / side.calls as f64)
            }
        };
        Row::new()
            .with("transport", self.transport.name())
            .with("placement", self.name)
            .with("scheduling_class", scheduling_class)
            .with("lane_wait", if raw { "blocking" } else { self.lane_wait.name() })
            .with("operation", name)
            .with("mode", operation.mode())
            .with("calls", side.calls)
            .with("errors", side.errors)
            .with_fields(&side.latencies.summary())
            .with("calls_per_s", side.calls as f64 * 1e9 / side.elapsed_ns as f64)
            .with("p50_over_raw", ratio.as_ref().map(|ratio| ratio.median))
            .with("p50_over_raw_low", ratio.as_ref().map(|ratio| ratio.low))
            .with("p50_over_raw_high", ratio.as_ref().map(|ratio| ratio.high))
            .with("p50_over_raw_tcp", raw_tcp.map(|ratio| ratio.median))
            .with("allocations_per_call_client", per_call(side.client_allocations))
            .with("allocations_per_call_server", per_call(side.server_allocations))
            .with("context_switches_per_call", counted.context_switches)
            .with("syscalls_per_call_client", counted.client_syscalls)
            .with("syscalls_per_call_server", counted.server_syscalls)
            .with("user_cpu_us_per_call", counted.user_cpu_us)
            .with("request_octets", side.sizes.request)
            .with("reply_octets", side.sizes.reply)
    }

    pub(super) fn claim(
        &self,
        operation: Operation,
        side: &Side,
        counted: &Counted,
        ratio: Option<MedianEstimate>,
        outcome: &mut Outcome,
    ) {
        let place = self.place();
        if operation == Operation::Long {
            self.claim_cost_of_long(counted, ratio, outcome);
        }
        if matches!(
            operation,
            Operation::Long | Operation::String | Operation::LargeLongSequence
        ) {
            let name = operation.name();
            for (side_name, allocations) in [
                ("client", side.client_allocations),
                ("server", side.server_allocations),
            ] {
                let text = format!("heap allocations per call of the {side_name}, {name}, after warm-up");
                let per_call = allocations as f64 / side.calls as f64;
                let id = format!("allocations.{side_name}.{name}.{place}");
                outcome.claim(Claim::at_most(id, text, SOURCE, per_call, 0.0));
            }
        }
        if !matches!(operation, Operation::Oneway | Operation::Void) {
            let text = format!("wrong results of {}", operation.name());
            let id = format!("errors.{}.{place}", operation.name());
            let claim = Claim::at_most(id, text, "TAO's IDL_Cubit", side.errors as f64, 0.0);
            outcome.claim(claim);
        }
    }

    /// Claims the latency and the system calls of a call with a long.
    fn claim_cost_of_long(&self, counted: &Counted, ratio: Option<MedianEstimate>, outcome: &mut Outcome) {
        let place = self.place();
        if let (Some(ratio), Some(limit)) = (ratio, self.limit()) {
            let raw = self.transport.raw();
            let text = format!("p50 of a two-way call with a long over the p50 of a {raw}");
            let id = format!("p50-over-raw.{place}");
            outcome.claim(Claim::at_most(id, text, SOURCE, ratio.median, limit));
        }
        match (counted.client_syscalls, counted.server_syscalls) {
            // For other transports, only the rows have the numbers.
            _ if self.transport != Transport::Tcp => {}
            (Some(client), Some(server)) => {
                let text = "system calls per call of the client: one write and one read";
                outcome.claim(Claim::at_most(
                    format!("client-syscalls.{place}"),
                    text,
                    SOURCE,
                    client,
                    2.0,
                ));
                let text = "system calls per call of a lane of one thread: wait, read, write";
                outcome.claim(Claim::at_most(
                    format!("server-syscalls.{place}"),
                    text,
                    SOURCE,
                    server,
                    3.0,
                ));
            }
            _ => {
                let reason = "the kernel's counter of system calls is not available to this user";
                outcome.skip(
                    Some(&format!("client-syscalls.{place}")),
                    "system calls per call",
                    reason,
                );
                outcome.skip(
                    Some(&format!("server-syscalls.{place}")),
                    "system calls per call",
                    reason,
                );
            }
        }
    }

    /// Returns the largest acceptable ratio of a call to the raw exchange, if there is a limit.
    fn limit(&self) -> Option<f64> {
        let same_cpu = self.client == self.server;
        match (self.transport, self.lane_wait) {
            (Transport::Tcp, LaneWait::Polled) => Some(1.15),
            (Transport::Unix, LaneWait::Polled) => same_cpu.then_some(1.25),
            (Transport::Unix, LaneWait::Blocking) => same_cpu.then_some(1.15),
            (Transport::Shm, LaneWait::Polled) => same_cpu.then_some(1.3),
            (Transport::Tcp | Transport::Shm, LaneWait::Blocking) => None,
        }
    }

    /// Claims the p50 of an operation over that of the calls beside it.
    pub(super) fn claim_beside(&self, operation: Operation, ratio: &MedianEstimate, outcome: &mut Outcome) {
        let place = self.place();
        let claim = match operation {
            Operation::AnyStruct => Claim::at_most(
                format!("any-over-struct.{place}"),
                "p50 of a two-way call with a struct in an any over the p50 of a call with the struct",
                "Punctual's limit: an any carries its value encoded",
                ratio.median,
                1.15,
            ),
            _ if self.client == self.server => Claim::at_most(
                format!("p50-over-raw-tcp.{place}"),
                "p50 of a two-way call with a long over the p50 of a blocking TCP ping-pong",
                "Punctual's limit: calls within a host are common",
                ratio.median,
                0.5,
            ),
            _ => return,
        };
        outcome.claim(claim);
    }

    /// Claims the user CPU per call; `sums` states whether ticks were summed where cycles cannot be counted.
    pub(super) fn claim_cpu(&self, ours: Option<f64>, raw: Option<f64>, sums: bool, outcome: &mut Outcome) {
        let id = format!("user-cpu.{}", self.place());
        match (ours, raw) {
            (Some(ours), Some(raw)) => {
                let text = "user CPU per call over the raw ping-pong, client and server together (µs)";
                outcome.claim(Claim::at_most(id, text, SOURCE, ours - raw, 1.5));
            }
            _ => {
                let reason = if sums {
                    "the processor times of the processes could not be read"
                } else {
                    "this machine counts no cycles, and summing ticks takes a minute: run without --quick"
                };
                outcome.skip(Some(&id), "user CPU per call", reason);
            }
        }
    }
}

impl Side {
    pub(super) fn of(blocks: Vec<Measured>) -> Self {
        let mut side = Self {
            latencies: Latencies::new(),
            medians: Vec::new(),
            calls: 0,
            errors: 0,
            elapsed_ns: 0,
            client_allocations: 0,
            server_allocations: 0,
            sizes: Sizes { request: 0, reply: 0 },
        };
        for block in blocks {
            if let Some(latencies) = &block.latencies {
                side.medians.extend(latencies.quantile_us(0.5));
                side.latencies.merge(latencies);
            }
            side.calls += block.calls;
            side.errors += block.errors;
            side.elapsed_ns += block.elapsed_ns;
            side.client_allocations += block.client_allocations;
            side.server_allocations += block.server_allocations;
            side.sizes = block.sizes;
        }
        side
    }
}

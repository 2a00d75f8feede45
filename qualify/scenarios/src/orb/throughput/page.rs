//! The chapter of `orb.throughput`.

use punctual_harness::{Outcome, Row};
use punctual_report::{Chapter, Figure, Table};

use super::{PLACEMENTS, operation::Operation};

/// Calls per second in the paper's text; its figure states no numbers.
pub(super) struct Paper {
    pub(super) linux: f64,
    pub(super) qnx: f64,
    pub(super) vxworks: f64,
}

/// Returns the paper's values for an operation: "around 10,000 operations/sec for the simple data types" on
/// Linux and Linux/RT, "around 6,000" on QNX and "a little lower at 5,500" on VxWorks for void, short and
/// long.
pub(super) fn paper(operation: Operation) -> Option<Paper> {
    matches!(operation, Operation::Void | Operation::Short | Operation::Long).then_some(Paper {
        linux: 10_000.0,
        qnx: 6_000.0,
        vxworks: 5_500.0,
    })
}

const COLUMNS: &[(&str, &str)] = &[
    ("placement", "placement"),
    ("operation", "argument"),
    ("mode", "mode"),
    ("calls_per_s", "calls/s"),
    ("calls_per_s_low", "from"),
    ("calls_per_s_high", "to"),
    ("served_per_s", "served/s"),
    ("octets_per_call", "octets/call"),
    ("octets_per_s", "octets/s"),
    ("client_cpu_us_per_call", "client CPU (µs)"),
    ("paper_linux_calls_per_s", "[Schmidt 2002] Linux"),
    ("paper_qnx_calls_per_s", "[Schmidt 2002] QNX"),
    ("paper_vxworks_calls_per_s", "[Schmidt 2002] VxWorks"),
    ("note", "note"),
];

/// Creates the chapter of the report.
pub(super) fn chapter(outcome: &Outcome) -> Chapter {
    Chapter::new("Throughput by type of argument")
        .paragraph(
            "One client calls continuously; the servant returns the cube of each number, and the client \
             checks it. Octets are those of argument and result. For the client, a oneway call ends when the \
             request is handed to the transport; served/s counts until the server has served all calls.",
        )
        .paper(
            "[Schmidt 2002] 3.2",
            "performance depends dramatically on the type of data exchanged",
            depends_on_type(outcome),
        )
        .figure(simple(outcome))
        .figure(longer(outcome))
        .figure(octets(outcome))
        .figure(oneway(outcome))
        .table(Table::of(outcome.rows().iter().map(Row::as_map)).columns(COLUMNS))
}

/// Returns whether performance depends "dramatically" on the type: the slowest type allows at most half as
/// many calls as the fastest.
fn depends_on_type(outcome: &Outcome) -> Option<bool> {
    let twoway = outcome
        .rows()
        .iter()
        .filter(|row| row.get("mode").is_some_and(|mode| mode == "twoway"));
    let rates: Vec<f64> = twoway.filter_map(|row| row.number("calls_per_s")).collect();
    let fastest = rates.iter().copied().reduce(f64::max)?;
    let slowest = rates.iter().copied().reduce(f64::min)?;
    Some(slowest <= fastest / 2.0)
}

/// The types of the paper's figure, and later ones.
const SIMPLE: [Operation; 6] = [
    Operation::Void,
    Operation::Short,
    Operation::Octet,
    Operation::Long,
    Operation::Struct,
    Operation::Union,
];
const LONGER: [Operation; 7] = [
    Operation::SmallOctetSequence,
    Operation::LargeOctetSequence,
    Operation::SmallLongSequence,
    Operation::LargeLongSequence,
    Operation::SmallStructSequence,
    Operation::LargeStructSequence,
    Operation::RtiPacket,
];

fn simple(outcome: &Outcome) -> Figure {
    let published = |of: fn(Paper) -> f64| SIMPLE.map(|operation| paper(operation).map_or(f64::NAN, of));
    let figure = Figure::new("Two-way calls per second, simple types")
        .caption(
            "[Schmidt 2002] figure 2: around 10,000 calls/s on Linux, 6,000 on QNX and 5,500 on VxWorks with \
             void, short and long (numbers from its text).",
        )
        .y("calls per second");
    bars(figure, outcome, &SIMPLE, "calls_per_s", 1.0)
        .published_bars("[Schmidt 2002]: Linux", published(|paper| paper.linux))
        .published_bars("[Schmidt 2002]: QNX", published(|paper| paper.qnx))
        .published_bars("[Schmidt 2002]: VxWorks", published(|paper| paper.vxworks))
}

fn longer(outcome: &Outcome) -> Figure {
    let figure = Figure::new("Two-way calls per second, sequences and packets")
        .caption("[Schmidt 2002] figure 2: the cost of marshalling is visible for sequences.")
        .y("calls per second");
    bars(figure, outcome, &LONGER, "calls_per_s", 1.0)
}

fn octets(outcome: &Outcome) -> Figure {
    let figure = Figure::new("Octets per second, sequences and packets")
        .caption(
            "Of arguments and results. Sequences of numbers are borrowed from the message, structs are \
             decoded one by one.",
        )
        .y("million octets per second");
    bars(figure, outcome, &LONGER, "octets_per_s", 1e6)
}

fn oneway(outcome: &Outcome) -> Figure {
    let rows = || {
        outcome
            .rows()
            .iter()
            .filter(|row| row.get("mode").is_some_and(|mode| mode == "oneway"))
    };
    let column =
        |name: &'static str| rows().map(move |row| row.number(name).map_or(f64::NAN, |number| number / 1e3));
    let placements = rows().filter_map(|row| row.get("placement")?.as_str());
    Figure::new("Oneway calls per second")
        .caption("[Schmidt 2002] figure 2: on Linux nearly double that of the other systems.")
        .names(placements)
        .y("thousand calls per second")
        .bars("handed to the transport", column("calls_per_s"))
        .bars("served", column("served_per_s"))
}

/// Adds a bar for each operation and placement, in a unit.
fn bars(figure: Figure, outcome: &Outcome, operations: &[Operation], column: &str, unit: f64) -> Figure {
    let figure = figure.names(operations.iter().map(|operation| operation.short_name()));
    PLACEMENTS.into_iter().fold(figure, |figure, placement| {
        let value = |operation: &Operation| {
            let mut rows = outcome.rows().iter();
            let row = rows.find(|row| {
                let is = |column: &str, text: &str| row.get(column).is_some_and(|value| value == text);
                is("placement", placement) && is("operation", operation.name())
            });
            row.and_then(|row| row.number(column))
                .map_or(f64::NAN, |number| number / unit)
        };
        let values: Vec<f64> = operations.iter().map(value).collect();
        if values.iter().all(|value| value.is_nan()) {
            return figure;
        }
        figure.bars(placement, values)
    })
}

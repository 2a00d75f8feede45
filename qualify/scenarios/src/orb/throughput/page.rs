use punctual_harness::{Outcome, Row};
use punctual_report::{Chapter, Figure, Table};

use super::operation::Operation;

/// Calls per second that the paper's text tells; its figure has no numbers.
pub(super) struct Paper {
    pub(super) linux: f64,
    pub(super) qnx: f64,
    pub(super) vxworks: f64,
}

/// What it tells of an operation: "around 10,000 operations/sec for the simple data types" on Linux and Linux/RT, "around 6,000"
/// on QNX and "a little lower at 5,500" on VxWorks for void, short and long.
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
    ("paper_linux_calls_per_s", "[S0] Linux"),
    ("paper_qnx_calls_per_s", "[S0] QNX"),
    ("paper_vxworks_calls_per_s", "[S0] VxWorks"),
    ("note", "note"),
];

pub(super) fn chapter(outcome: &Outcome) -> Chapter {
    Chapter::new("Throughput by type of argument")
        .paragraph(
            "One client calls as fast as it can; the servant returns the cube of each number, and the client compares it with its \
             own. Octets are those of argument and result. A oneway call is done for the client when the request is handed to \
             the transport; served/s counts until the server had served them all.",
        )
        .paper(
            "[S0] 3.2",
            "performance depends dramatically on the type of data exchanged",
            depends_on_type(outcome),
        )
        .figure(figure(outcome))
        .table(Table::of(outcome.rows().iter().map(Row::as_map)).columns(COLUMNS))
}

/// "Dramatically": the slowest type allows half as many calls as the fastest, or fewer.
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

fn figure(outcome: &Outcome) -> Figure {
    let mut placements: Vec<&str> = Vec::new();
    for row in outcome.rows() {
        if let Some(name) = row.get("placement").and_then(|name| name.as_str())
            && !placements.contains(&name)
        {
            placements.push(name);
        }
    }
    let figure = Figure::new("Calls per second by type of argument")
        .caption(
            "[S0] figure 2: on Linux around 10,000 calls/s with simple types, and oneway nearly double that of the other systems; \
             QNX around 6,000, VxWorks 5,500 (the numbers of its text).",
        )
        .names(Operation::ALL.map(Operation::name))
        .y("calls per second");
    let figure = placements.into_iter().fold(figure, |figure, placement| {
        let of_placement = |row: &&Row| row.get("placement").is_some_and(|name| name == placement);
        let rates = outcome.rows().iter().filter(of_placement);
        figure.bars(
            placement,
            rates.map(|row| row.number("calls_per_s").unwrap_or(f64::NAN)),
        )
    });
    let published =
        |of: fn(Paper) -> f64| Operation::ALL.map(|operation| paper(operation).map_or(f64::NAN, of));
    figure
        .published_bars("[S0]: Linux", published(|paper| paper.linux))
        .published_bars("[S0]: QNX", published(|paper| paper.qnx))
        .published_bars("[S0]: VxWorks", published(|paper| paper.vxworks))
}

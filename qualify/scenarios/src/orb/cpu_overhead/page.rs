//! The chapter of `orb.cpu-overhead`.

use punctual_harness::{Outcome, Row};
use punctual_report::{Chapter, Figure};

use super::{super::tables::WithTable, Called, Side};

const COLUMNS: &[(&str, &str)] = &[
    ("side", "CPU of the"),
    ("called", "called"),
    ("calls_per_s", "calls/s"),
    ("idle_iterations_per_s", "iterations/s, idle"),
    ("left_iterations_per_s", "iterations/s, left"),
    ("lost_iterations_per_call", "lost per call"),
    ("lost_us_per_call", "lost per call (µs)"),
    ("lost_us_per_call_low", "from"),
    ("lost_us_per_call_high", "to"),
];

/// Creates the chapter of the report.
pub(super) fn chapter(outcome: &Outcome) -> Chapter {
    let figure = Figure::new("Processor time per call")
        .caption(
            "[Levine 1999], client and server CPU processing overhead; its figures do not state numbers. The \
             ping-pong is the cost of this system without an ORB.",
        )
        .names([Side::Client, Side::Server].map(|side| format!("{}'s CPU", side.name())))
        .y("µs per call");
    let figure = Called::ALL.into_iter().fold(figure, |figure, called| {
        let of_kind = |row: &&Row| row.get("called").is_some_and(|name| name == called.name());
        let rows = outcome.rows().iter().filter(of_kind);
        figure.bars(
            called.name(),
            rows.map(|row| row.number("lost_us_per_call").unwrap_or(f64::NAN)),
        )
    });
    Chapter::new("Processor time of a call")
        .paragraph(
            "A thread below all others counts its iterations on the client's CPU, then on the server's; the \
             other side has the other CPU. The iterations that it loses during calls show how much of that \
             CPU they use, regardless of the kernel's accounting. On the loopback interface the sender's CPU \
             also does the receiver's protocol work. The ping-pong is one write and one read of the same \
             octets on each side.",
        )
        .paper(
            "[Levine 1999]",
            "real-time operating systems (VxWorks, LynxOS) need less processor time per call than others \
             (Solaris, Windows NT)",
            // One system does not allow a comparison.
            None,
        )
        .figure(figure)
        .rows_of_kind(
            outcome,
            "lost",
            COLUMNS,
            "Processor time that each call takes from the scavenger",
        )
}

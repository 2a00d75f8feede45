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

pub(super) fn chapter(outcome: &Outcome) -> Chapter {
    let figure = Figure::new("Processor time lost for each call")
        .caption(
            "[Levine 1999], client and server CPU processing overhead; its figures have no numbers that \
             could stand here. The ping-pong is what \
             this system takes without an ORB.",
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
            "A thread below all others counts what it gets done on the CPU of the client, then on the \
             server's; the other side has \
             the other CPU. What it gets done less while calls are made is what they took of that CPU, \
             whoever the kernel books \
             it to. On the loopback interface the sender's CPU does the receiver's protocol work as well. \
             The ping-pong is one \
             write and one read of the same octets on each side.",
        )
        .paper(
            "[Levine 1999]",
            "real-time operating systems (VxWorks, LynxOS) take less processor time for a call than others \
             (Solaris, Windows NT)",
            // One system is no comparison.
            None,
        )
        .figure(figure)
        .rows_of_kind(
            outcome,
            "lost",
            COLUMNS,
            "What each call takes from the thread below it",
        )
}

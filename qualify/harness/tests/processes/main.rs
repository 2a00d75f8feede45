//! Tests with child processes: children, the watchdog, the supervisor. The processes are this binary again, which
//! therefore has its own `main`.

mod child;
mod supervisor;
mod watchdog;

use std::process::ExitCode;

use punctual_fixtures::runner::Test;

const TESTS: &[Test] = &[
    (
        "child::answers_until_it_is_stopped",
        child::answers_until_it_is_stopped,
    ),
    ("child::refuses_and_goes_on", child::refuses_and_goes_on),
    (
        "child::that_panics_leaves_its_last_words",
        child::that_panics_leaves_its_last_words,
    ),
    ("child::that_is_late_is_killed", child::that_is_late_is_killed),
    (
        "child::that_is_not_ready_is_killed",
        child::that_is_not_ready_is_killed,
    ),
    (
        "child::that_talks_nonsense_is_killed",
        child::that_talks_nonsense_is_killed,
    ),
    ("child::is_pinned", child::is_pinned),
    ("child::dies_with_its_parent", child::dies_with_its_parent),
    (
        "watchdog::kills_when_the_time_has_passed",
        watchdog::kills_when_the_time_has_passed,
    ),
    (
        "watchdog::that_is_called_off_kills_nobody",
        watchdog::that_is_called_off_kills_nobody,
    ),
    (
        "supervisor::restores_when_it_is_finished",
        supervisor::restores_when_it_is_finished,
    ),
    (
        "supervisor::restores_on_every_other_way_out",
        supervisor::restores_on_every_other_way_out,
    ),
    (
        "supervisor::that_was_killed_too_is_repaired_after",
        supervisor::that_was_killed_too_is_repaired_after,
    ),
    (
        "supervisor::an_isolated_process_is_among_the_others_again",
        supervisor::an_isolated_process_is_among_the_others_again,
    ),
    (
        "supervisor::leaves_the_system_alone",
        supervisor::leaves_the_system_alone,
    ),
    (
        "supervisor::keeps_two_runs_apart",
        supervisor::keeps_two_runs_apart,
    ),
];

fn main() -> ExitCode {
    punctual_harness::supervisor::main_if_asked();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("__child") => return child::main(&arguments[1..]),
        Some("__run") => return supervisor::main(&arguments[1..]),
        _ => {}
    }
    punctual_fixtures::runner::run(TESTS)
}

//! Tests with child processes: children, the watchdog, the supervisor. The processes are this binary again,
//! which therefore has its own `main`.

mod child;
mod role;
mod supervisor;
mod watchdog;

use std::process::ExitCode;

use punctual_fixtures::runner::Test;
use punctual_harness::child::{Control, run_role};

const TESTS: &[Test] = &[
    (
        "child::answers_until_it_is_stopped",
        child::answers_until_it_is_stopped,
    ),
    ("child::refuses_and_continues", child::refuses_and_continues),
    (
        "child::that_panics_is_reported_with_its_message",
        child::that_panics_is_reported_with_its_message,
    ),
    ("child::that_is_late_is_killed", child::that_is_late_is_killed),
    (
        "child::that_is_not_ready_is_killed",
        child::that_is_not_ready_is_killed,
    ),
    (
        "child::that_violates_the_protocol_is_killed",
        child::that_violates_the_protocol_is_killed,
    ),
    ("child::is_pinned", child::is_pinned),
    ("child::dies_with_its_parent", child::dies_with_its_parent),
    (
        "role::answers_each_task_with_its_type_and_keeps_its_state",
        role::answers_each_task_with_its_type_and_keeps_its_state,
    ),
    (
        "role::refuses_a_setup_a_task_and_what_it_does_not_know",
        role::refuses_a_setup_a_task_and_what_it_does_not_know,
    ),
    (
        "watchdog::kills_after_the_timeout",
        watchdog::kills_after_the_timeout,
    ),
    (
        "watchdog::that_is_cancelled_kills_nothing",
        watchdog::that_is_cancelled_kills_nothing,
    ),
    (
        "supervisor::restores_when_it_is_finished",
        supervisor::restores_when_it_is_finished,
    ),
    (
        "supervisor::restores_on_every_other_exit",
        supervisor::restores_on_every_other_exit,
    ),
    (
        "supervisor::the_next_run_repairs_after_a_killed_supervisor",
        supervisor::the_next_run_repairs_after_a_killed_supervisor,
    ),
    (
        "supervisor::isolation_is_undone_on_every_exit",
        supervisor::isolation_is_undone_on_every_exit,
    ),
    (
        "supervisor::leaves_the_system_alone",
        supervisor::leaves_the_system_alone,
    ),
    (
        "supervisor::prevents_concurrent_runs",
        supervisor::prevents_concurrent_runs,
    ),
];

fn main() -> ExitCode {
    punctual_harness::supervisor::main_if_asked();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("__child") => return child::main(&arguments[1..]),
        Some("__adder") => return adder(),
        Some("__run") => return supervisor::main(&arguments[1..]),
        _ => {}
    }
    punctual_fixtures::runner::run(TESTS)
}

/// Runs a child process in a role.
fn adder() -> ExitCode {
    if let Err(error) = run_role::<role::Adder>() {
        Control::refuse(error).unwrap();
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

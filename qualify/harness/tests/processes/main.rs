//! What takes processes of our own: children, the watchdog, the supervisor. They are this binary again, so it has its
//! own `main`; it understands what test runners ask for (`--list`, names as filters).

mod child;
mod supervisor;
mod watchdog;

use std::panic::catch_unwind;
use std::process::ExitCode;

const TESTS: &[(&str, fn())] = &[
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
    let flag = |name| arguments.iter().any(|argument| argument == name);
    let filters: Vec<_> = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let wanted = |name: &str| {
        let matches = |filter: &&String| {
            if flag("--exact") {
                *filter == name
            } else {
                name.contains(filter.as_str())
            }
        };
        (filters.is_empty() || filters.iter().any(matches)) && !flag("--ignored")
    };
    let mut failed = 0;
    for (name, test) in TESTS.iter().filter(|(name, _)| wanted(name)) {
        if flag("--list") {
            println!("{name}: test");
            continue;
        }
        let passed = catch_unwind(test).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += u8::from(!passed);
    }
    failed.min(1).into()
}

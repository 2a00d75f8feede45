//! What a user should know once and not again: which right is missing and how to grant it, what is not recorded.
//!
//! Printed where threads are made or take on a priority, never on the path of a request.

use std::{
    io::Write,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

use punctual_inspect::InspectError;
use punctual_os::{memory, rights};

/// Says on standard error, the first time in this process, that real-time scheduling was denied.
pub(crate) fn realtime_denied() {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::Relaxed) {
        let mut text =
            String::from("threads run without real-time scheduling, so nothing measured is real-time");
        for advice in rights::probe().advice() {
            text.push_str("\n  ");
            text.push_str(advice);
        }
        say(&text);
    }
}

/// Prepares the process for real-time threads, the first time one is asked for: no page of it is to be fetched later.
pub(crate) fn enter_realtime(lock_memory: bool) {
    static ENTERED: Once = Once::new();
    ENTERED.call_once(|| {
        memory::keep_freed_memory();
        if lock_memory && let Err(denied) = memory::lock_all() {
            say(&format!(
                "memory is not locked, so a page fault can delay any thread: {denied}"
            ));
        }
    });
}

/// Turns the flight recorder on where the environment asks for it. Calls work without it, too.
pub(crate) fn start_flight_recorder() {
    if let Err(error) = punctual_flight::start_from_environment() {
        say(&format!("nothing is recorded: {error}"));
    }
}

/// Says that nobody can look into the ORB, though the environment asks for it.
pub(crate) fn not_inspected(error: &InspectError) {
    say(&format!("the ORB cannot be inspected: {error}"));
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "punctual: {text}");
}

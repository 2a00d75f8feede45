//! Messages that are printed once: missing rights and how to grant them, a forgotten setting, disabled
//! recording or inspection. They are printed when threads are created or get a priority and when adapters
//! are built, never on the path of a request.

use std::{
    io::Write,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

use punctual_inspect::InspectError;
use punctual_os::{memory, rights};

/// Reports once per process on standard error, in one line, that real-time scheduling was denied.
pub(crate) fn realtime_denied() {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if !REPORTED.swap(true, Ordering::Relaxed) {
        let rights = rights::probe();
        let remedy = rights.advice().first().map_or("", String::as_str);
        print(&format!(
            "no right to real-time priorities: calls work, but urgent ones may wait for other programs; \
             to grant it: {remedy}"
        ));
    }
}

/// Prepares the memory of the process for real-time threads, once, so that page faults do not delay them.
pub(crate) fn enter_realtime(lock_memory: bool) {
    static ENTERED: Once = Once::new();
    ENTERED.call_once(|| {
        memory::keep_freed_memory();
        // Without the right to real-time priorities, [`realtime_denied`] reports both.
        if lock_memory
            && let Err(denied) = memory::lock_all()
            && rights::probe().realtime
        {
            print(&format!(
                "memory is not locked, so page faults can delay any thread: {denied}"
            ));
        }
    });
}

/// Starts the flight recorder if the environment requests it. Calls work without it as well.
pub(crate) fn start_flight_recorder() {
    if let Err(error) = punctual_flight::start_from_environment() {
        print(&format!("the flight recorder is off: {error}"));
    }
}

/// Reports that the ORB cannot be inspected although the environment requests it.
pub(crate) fn not_inspected(error: &InspectError) {
    print(&format!("the ORB cannot be inspected: {error}"));
}

pub(crate) fn print(text: &str) {
    let _ = writeln!(std::io::stderr(), "punctual: {text}");
}

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
use punctual_poa::Lifespan;

use crate::{PriorityModel, poa_core::PoaCore};

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

/// Reports once per process that an adapter with a priority model has a pool without a chosen priority.
pub(crate) fn unless_priority_set(adapter: &PoaCore) {
    static REPORTED: Once = Once::new();
    if adapter.policies.model.is_none() || !adapter.pool.reads_at_unset_priority {
        return;
    }
    let adapter = &adapter.path;
    REPORTED.call_once(|| {
        print(&format!(
            "adapter `{adapter}` has a priority model, but its thread pool has no lanes and no default priority: \
             its threads wait and read at priority 0, regardless of a request's priority; \
             set `default_priority`, or give the pool lanes"
        ));
    });
}

/// Reports once per process that no lane of an adapter serves requests without a priority.
pub(crate) fn unless_default_served(adapter: &PoaCore) {
    static REPORTED: Once = Once::new();
    let Some(PriorityModel::ClientPropagated { default }) = adapter.policies.model else {
        return;
    };
    let mut lanes = adapter.pool.priorities();
    if !adapter.pool.with_lanes || lanes.any(|lane| adapter.is_served_by(lane, default)) {
        return;
    }
    REPORTED.call_once(|| {
        let lanes: Vec<_> = adapter.pool.priorities().map(|lane| lane.to_string()).collect();
        print(&format!(
            "adapter `{}`: the default priority {default} is not that of a lane ({}), so no lane serves requests \
             without a priority; choose the priority of a lane",
            adapter.path,
            lanes.join(", ")
        ));
    });
}

/// Reports once per process that references to persistent objects end with it: no address has a fixed port.
pub(crate) fn unless_port_fixed(adapter: &PoaCore) {
    static REPORTED: Once = Once::new();
    if adapter.policies.lifespan != Lifespan::Persistent || !adapter.pool.is_at_free_ports {
        return;
    }
    let adapter = &adapter.path;
    REPORTED.call_once(|| {
        print(&format!(
            "adapter `{adapter}` is persistent, but its ports are free ones, which the next run does not \
             have: references end with this process; give the ORB's or the pool's builder a fixed port with \
             `listen`"
        ));
    });
}

fn print(text: &str) {
    let _ = writeln!(std::io::stderr(), "punctual: {text}");
}

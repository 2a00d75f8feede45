//! Notices about the settings of adapters, on standard error, each once per process.

use std::sync::Once;

use punctual_poa::Lifespan;

use crate::{PriorityModel, notice::print, poa_state::core::PoaCore};

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

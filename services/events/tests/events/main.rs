//! The event service: delivery, timeouts, the wire, and hostile clients.

mod allocations;
#[path = "../../../../fuzz/corpus.rs"]
mod corpus;
mod datagrams;
mod deadlines;
mod delivery;
mod federation;
mod following;
mod fuzzed;
mod fuzzed_datagrams;
mod hostile;
mod lanes;
mod links;
mod liveness;
mod placement;
mod reconfiguration;
mod remote;
mod slow;
mod tao;
mod timeouts;
mod urgency;
mod wire;

use punctual_events::{EventType, topic};

#[global_allocator]
static ALLOCATOR: punctual_os::CountingAllocator = punctual_os::CountingAllocator;

punctual::include_idl!("track");

topic!(Track = 16);

const TRACK: EventType = EventType(16);
const ALARM: EventType = EventType(17);

fn track(number: i32) -> Track {
    Track {
        number,
        name: String::new(),
    }
}

//! The event service: delivery, timeouts, the wire, and hostile clients.

mod delivery;
mod hostile;
mod remote;
mod timeouts;
mod wire;

use punctual_events::{EventType, topic};

/// A struct from IDL serves as content.
pub use punctual_events::rtec::rtec_base::DependencyInfo as Track;

topic!(Track = 16);

pub const TRACK: EventType = EventType(16);
pub const ALARM: EventType = EventType(17);

pub fn track(number: i32) -> Track {
    Track {
        number_of_calls: number,
        ..Track::default()
    }
}

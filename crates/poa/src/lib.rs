//! Demultiplexing of requests to objects: object keys, the table of active objects, policies of adapters.
//!
//! Pure: no I/O, no clock, no thread.

mod gate;
mod id_map;
mod object_key;
mod object_table;
mod policy;

pub use id_map::IdMap;
pub use object_key::{Adapter, ObjectKey};
pub use object_table::{InFlight, ObjectTable, SlotId, Slots};
pub use policy::{IdAssignment, Lifespan};

//! How octets get from one ORB to another: listeners that accept streams, and streams.
//!
//! No thread, no buffer, no protocol: the ORB's lanes and callers own all three.

mod address;
mod peer;
mod stream;
pub mod tcp;

pub use address::{Address, AddressError};
pub use peer::Peer;
pub use stream::{Listener, Stream};

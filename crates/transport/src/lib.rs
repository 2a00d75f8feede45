//! Transports between ORBs, with their listeners and streams.
//!
//! They have no threads, buffers or messages: these belong to the lanes and callers.

mod address_error;
pub mod conformance;
mod host_id;
mod host_port;
mod layer;
mod resolver;
mod shm;
mod socket;
mod stream;
mod tcp;
mod transport;
mod transports;
mod unix;

pub use address_error::AddressError;
pub use host_id::host_id;
pub use layer::{
    FaultInjector, Faults, Layer, Layered, Side, Trace, TraceEvent, TraceRecord, Traffic, WrappedStream,
};
pub use punctual_giop::{AssociationOptions, Peer, Protocol, ProtocolPolicy, ProtocolProperties};
pub use shm::Shm;
pub use socket::SocketStream;
pub use stream::{Listener, Origin, Stream};
pub use tcp::Tcp;
pub use transport::{Distrust, Protection, Reach, Transport};
pub use transports::Transports;
pub use unix::{PrivateSocket, Unix};

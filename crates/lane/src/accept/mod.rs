//! Accepting connections: endpoints, rates and shares of descriptors.

pub(crate) mod accepting;
pub(crate) mod acceptor;
pub(crate) mod descriptors;
pub(crate) mod network_mark;
pub(crate) mod peer_rates;
pub(crate) mod socket_options;
pub(crate) mod state;

//! Errors of creating a lane.

use std::io;

use punctual_transport::AddressError;

/// Reason why a lane could not be opened or started.
#[derive(thiserror::Error)]
pub enum LaneError {
    /// The address of an endpoint is malformed or does not exist on this host.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The system refused an acceptor.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// Endpoint as the user configured it.
        address: String,
        /// Error of the system.
        source: io::Error,
    },
    /// The system refused a thread.
    #[error("cannot start thread {name}: {source}")]
    Thread {
        /// Name of the thread.
        name: String,
        /// Error of the system.
        source: io::Error,
    },
    /// The system refused a descriptor.
    #[error("cannot open a descriptor for the lane: {0}")]
    Os(#[from] io::Error),
    /// More lanes borrow threads than the kernel's limit for nested pollers permits.
    #[error("{lanes} lanes borrow threads, but the kernel permits only {limit}")]
    TooManyBorrowingLanes {
        /// Lanes of the pool.
        lanes: usize,
        /// Most lanes that can borrow without request queues.
        limit: usize,
    },
}

punctual_types::debug_as_display!(LaneError);

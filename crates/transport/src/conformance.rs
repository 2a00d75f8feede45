//! Conformance checks for transports, for their tests.
//!
//! [`crate::conformance_tests`] creates a test for each. A check panics if the transport violates the
//! documentation of [`Transport`], [`Stream`] or [`crate::Listener`]. No check depends on the speed of the
//! machine, and each ends within [`STALL_TIMEOUT`] of the last progress.

mod addresses;
mod polling;
mod streams;

use std::{
    io::ErrorKind,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use punctual_os::Poller;

pub use self::{
    addresses::{
        addresses_round_trip_through_references, connecting_without_a_listener_is_refused,
        lanes_have_their_own_addresses, malformed_addresses_are_refused,
    },
    polling::{
        connections_to_accept_are_signalled, data_is_signalled_again_after_each_read,
        looking_at_data_takes_no_signal, room_is_signalled_again_after_a_failed_write,
    },
    streams::{
        a_closed_stream_ends_after_its_last_octet, a_new_stream_has_no_timeout,
        available_data_is_read_without_waiting, connections_are_independent, large_transfers_arrive_whole,
        non_blocking_reads_and_writes_return, octets_arrive_in_order, shutting_down_wakes_a_blocked_reader,
        timeouts_expire,
    },
};
use crate::{Listener, ProtocolProperties, Stream, Transport};

/// A check fails after this period without progress.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::time::Duration;
///
/// use punctual::transport::conformance::STALL_TIMEOUT;
///
/// // A supervisor of such tests has to wait longer.
/// let test_timeout = Duration::from_secs(60);
/// assert!(test_timeout > STALL_TIMEOUT);
/// ```
pub const STALL_TIMEOUT: Duration = Duration::from_secs(20);

/// Creates a test for each check. Arguments: a transport, and an address to listen at (any, if it is empty or
/// has port 0).
///
/// ```
/// mod tcp {
/// #     mod punctual { pub(crate) use punctual_transport as transport; }
///     punctual::transport::conformance_tests!(punctual::transport::Tcp, "127.0.0.1:0");
/// }
/// ```
#[macro_export]
macro_rules! conformance_tests {
    ($transport:expr, $address:expr) => {
        $crate::conformance_tests!(@ $transport, $address;
            octets_arrive_in_order
            large_transfers_arrive_whole
            available_data_is_read_without_waiting
            non_blocking_reads_and_writes_return
            timeouts_expire
            a_new_stream_has_no_timeout
            a_closed_stream_ends_after_its_last_octet
            shutting_down_wakes_a_blocked_reader
            connections_are_independent
            connections_to_accept_are_signalled
            data_is_signalled_again_after_each_read
            looking_at_data_takes_no_signal
            room_is_signalled_again_after_a_failed_write
            addresses_round_trip_through_references
            lanes_have_their_own_addresses
            connecting_without_a_listener_is_refused
            malformed_addresses_are_refused
        );
    };
    (@ $transport:expr, $address:expr; $($check:ident)*) => {
        $(
            #[test]
            fn $check() {
                $crate::conformance::$check(&$transport, $address);
            }
        )*
    };
}

fn listen(transport: &dyn Transport, address: &str) -> Box<dyn Listener> {
    transport
        .listen(address, None, &ProtocolProperties::default())
        .unwrap_or_else(|error| panic!("listening at {address:?}: {error}"))
}

/// Returns a client's stream in blocking mode, and the result of `accept`, which runs concurrently:
/// connecting may wait for it.
fn connect<T>(
    transport: &dyn Transport,
    listener: &dyn Listener,
    accept: impl FnOnce(&dyn Listener) -> T,
) -> (Box<dyn Stream>, T) {
    let address = listener.address();
    thread::scope(|scope| {
        let connecting =
            scope.spawn(move || transport.connect(address, &ProtocolProperties::default(), STALL_TIMEOUT));
        let accepted = accept(listener);
        let client = connecting.join().unwrap();
        let client = client.unwrap_or_else(|error| panic!("connecting to {address:?}: {error}"));
        (client, accepted)
    })
}

/// Accepts the next connection; waits for it like a lane.
fn accept(listener: &dyn Listener) -> Box<dyn Stream> {
    let poller = Arc::new(Poller::new().unwrap());
    listener.watch(&poller, 0).unwrap();
    let deadline = Instant::now() + STALL_TIMEOUT;
    loop {
        match listener.accept() {
            Ok(Some(stream)) => return stream,
            Ok(None) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => panic!("accepting: {error}"),
        }
        listener.watch_again(&poller, 0).unwrap();
        let left = deadline.saturating_duration_since(Instant::now());
        let event = poller.wait_one(Some(left)).unwrap();
        assert!(event.is_some(), "a connection was not signalled");
    }
}

/// Returns a client's stream, in blocking mode with a timeout, and the server's, in non-blocking mode.
fn pair(transport: &dyn Transport, address: &str) -> (Box<dyn Stream>, Box<dyn Stream>) {
    let listener = listen(transport, address);
    let (client, server) = connect(transport, &*listener, accept);
    client.set_timeout(Some(STALL_TIMEOUT)).unwrap();
    (client, server)
}

fn blocking(stream: &dyn Stream) {
    stream.set_nonblocking(false).unwrap();
    stream.set_timeout(Some(STALL_TIMEOUT)).unwrap();
}

fn write_all(stream: &dyn Stream, mut octets: &[u8]) {
    while !octets.is_empty() {
        let count = stream.write(octets).expect("writing");
        assert!(count > 0, "a write that succeeds takes at least one octet");
        octets = &octets[count..];
    }
}

fn read_exactly(stream: &dyn Stream, count: usize) -> Vec<u8> {
    let mut octets = vec![0; count];
    let mut filled = 0;
    while filled < count {
        let read = stream.read(&mut octets[filled..]).expect("reading");
        assert!(read > 0, "the stream ended after {filled} of {count} octets");
        filled += read;
    }
    octets
}

/// Returns octets that reveal loss and reordering.
fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length)
        .map(|at| (at.wrapping_mul(31) ^ (at >> 8) ^ seed) as u8)
        .collect()
}

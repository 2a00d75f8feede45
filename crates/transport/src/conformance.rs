//! What every transport must do: checks to run against one, with the feature `conformance`.
//!
//! [`crate::conformance_tests`] makes a test of each. A check panics where the transport does not do what [`Transport`],
//! [`Stream`] or [`crate::Listener`] say; none depends on how fast the machine is, and each ends within [`PATIENCE`] of the
//! transport's doing nothing more.

mod addresses;
mod polling;
mod streams;

use std::{
    thread,
    time::{Duration, Instant},
};

use punctual_os::{Events, Interest, Poller, Trigger};

pub use self::{
    addresses::{
        addresses_survive_references, connecting_is_refused_where_nobody_listens,
        lanes_have_addresses_of_their_own, malformed_addresses_are_refused,
    },
    polling::{
        what_a_poller_was_told_of_is_heard_again_after_each_read,
        what_is_full_is_writable_again_when_it_was_read, what_waits_to_be_accepted_is_heard,
    },
    streams::{
        a_closed_stream_ends_behind_its_last_octet, a_new_stream_has_no_deadline, deadlines_pass,
        large_transfers_arrive_whole, many_connections_are_kept_apart, non_blocking_reads_and_writes_return,
        octets_arrive_in_order, parts_are_read_as_they_come, shutting_down_wakes_a_blocked_reader,
    },
};
use crate::{Listener, ProtocolProperties, Stream, Transport};

/// After this long without progress a check fails.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Makes a test for each check: a transport, and an address to listen at (any, if it is empty or has port 0).
///
/// ```
/// mod tcp {
///     punctual_transport::conformance_tests!(punctual_transport::Tcp, "127.0.0.1:0");
/// }
/// ```
#[macro_export]
macro_rules! conformance_tests {
    ($transport:expr, $address:expr) => {
        $crate::conformance_tests!(@ $transport, $address;
            octets_arrive_in_order
            large_transfers_arrive_whole
            parts_are_read_as_they_come
            non_blocking_reads_and_writes_return
            deadlines_pass
            a_new_stream_has_no_deadline
            a_closed_stream_ends_behind_its_last_octet
            shutting_down_wakes_a_blocked_reader
            many_connections_are_kept_apart
            what_waits_to_be_accepted_is_heard
            what_a_poller_was_told_of_is_heard_again_after_each_read
            what_is_full_is_writable_again_when_it_was_read
            addresses_survive_references
            lanes_have_addresses_of_their_own
            connecting_is_refused_where_nobody_listens
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

/// A client's stream, in blocking mode, and what `accept` makes of the server's side meanwhile: connecting may wait for it.
fn connect<T>(
    transport: &dyn Transport,
    listener: &dyn Listener,
    accept: impl FnOnce(&dyn Listener) -> T,
) -> (Box<dyn Stream>, T) {
    let address = listener.address();
    thread::scope(|scope| {
        let connecting =
            scope.spawn(move || transport.connect(address, &ProtocolProperties::default(), PATIENCE));
        let accepted = accept(listener);
        let client = connecting.join().unwrap();
        let client = client.unwrap_or_else(|error| panic!("connecting to {address:?}: {error}"));
        (client, accepted)
    })
}

/// The next connection; waits for it as a lane does.
fn accept(listener: &dyn Listener) -> Box<dyn Stream> {
    let poller = Poller::new().unwrap();
    poller
        .add(listener.as_fd(), 0, Interest::READ, Trigger::Level)
        .unwrap();
    let mut events = Events::with_capacity(1);
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(stream) = listener.accept().expect("accepting") {
            return stream;
        }
        let left = until.saturating_duration_since(Instant::now());
        let heard = poller.wait(&mut events, Some(left)).unwrap();
        assert!(heard > 0, "nothing to be accepted, and somebody has connected");
    }
}

/// A client's stream, in blocking mode and with a deadline, and the one of the server, in non-blocking mode.
fn pair(transport: &dyn Transport, address: &str) -> (Box<dyn Stream>, Box<dyn Stream>) {
    let listener = listen(transport, address);
    let (client, server) = connect(transport, &*listener, accept);
    client.set_timeout(Some(PATIENCE)).unwrap();
    (client, server)
}

fn blocking(stream: &dyn Stream) {
    stream.set_nonblocking(false).unwrap();
    stream.set_timeout(Some(PATIENCE)).unwrap();
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

/// Octets that show where they were cut or exchanged.
fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length)
        .map(|at| (at.wrapping_mul(31) ^ (at >> 8) ^ seed) as u8)
        .collect()
}

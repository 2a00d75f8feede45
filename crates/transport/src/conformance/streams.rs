//! Checks of streams.

use std::{
    io::ErrorKind,
    thread,
    time::{Duration, Instant},
};

use super::{STALL_TIMEOUT, accept, blocking, connect, listen, pair, pattern, read_exactly, write_all};
use crate::{ProtocolProperties, Transport};

/// Octets arrive in both directions in the order in which they were written.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Unix, conformance};
///
/// conformance::octets_arrive_in_order(&Unix, "");
/// ```
pub fn octets_arrive_in_order(transport: &dyn Transport, address: &str) {
    let (client, server) = pair(transport, address);
    blocking(&*server);
    for (from, to) in [(&client, &server), (&server, &client)] {
        for length in [1, 2, 12, 100, 1000] {
            write_all(&**from, &pattern(length, length));
        }
        for length in [1, 2, 12, 100, 1000] {
            assert_eq!(read_exactly(&**to, length), pattern(length, length));
        }
    }
}

/// More data than all buffers hold is transferred in both directions concurrently.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Shm, conformance};
///
/// conformance::large_transfers_arrive_whole(&Shm, "");
/// ```
pub fn large_transfers_arrive_whole(transport: &dyn Transport, address: &str) {
    const LENGTH: usize = 5_000_003;
    let (client, server) = pair(transport, address);
    blocking(&*server);
    let (to_server, to_client) = (pattern(LENGTH, 1), pattern(LENGTH, 2));
    thread::scope(|scope| {
        scope.spawn(|| write_all(&*client, &to_server));
        scope.spawn(|| write_all(&*server, &to_client));
        let received = scope.spawn(|| read_exactly(&*server, LENGTH));
        assert!(
            read_exactly(&*client, LENGTH) == to_client,
            "octets changed in transit"
        );
        assert!(received.join().unwrap() == to_server, "octets changed in transit");
    });
}

/// A read takes the available data without waiting for more; the rest remains.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Tcp, conformance};
///
/// conformance::available_data_is_read_without_waiting(&Tcp, "127.0.0.1:0");
/// ```
pub fn available_data_is_read_without_waiting(transport: &dyn Transport, address: &str) {
    let (client, server) = pair(transport, address);
    blocking(&*server);
    write_all(&*client, b"GIO");
    let mut buffer = [0; 64];
    assert!(server.wait_readable(STALL_TIMEOUT).unwrap());
    assert_eq!(
        server.read(&mut buffer).unwrap(),
        3,
        "a read does not wait until the buffer is full"
    );
    write_all(&*client, b"P and more");
    assert_eq!(read_exactly(&*server, 1), b"P");
    assert_eq!(read_exactly(&*server, 9), b" and more");
    write_all(&*client, &pattern(300, 7));
    let expected = pattern(300, 7);
    for (number, octet) in expected.iter().enumerate() {
        assert_eq!(read_exactly(&*server, 1), [*octet], "octet {number}");
    }
}

/// An accepted stream is in non-blocking mode: reads and writes return `WouldBlock`, and continue when
/// possible.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Unix, conformance};
///
/// conformance::non_blocking_reads_and_writes_return(&Unix, "");
/// ```
pub fn non_blocking_reads_and_writes_return(transport: &dyn Transport, address: &str) {
    let (client, server) = pair(transport, address);
    let mut buffer = [0; 64];
    assert_eq!(
        server.read(&mut buffer).unwrap_err().kind(),
        ErrorKind::WouldBlock
    );
    assert!(!server.wait_readable(Duration::ZERO).unwrap());
    let chunk = pattern(60_000, 3);
    let mut written = 0;
    let error = loop {
        match server.write(&chunk[written % chunk.len()..]) {
            Ok(count) => written += count,
            Err(error) => break error,
        }
        assert!(written < 1 << 30, "a gigabyte without a reader");
    };
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    // It may report room where there is none, but must not block forever.
    server.wait_writable(Duration::from_millis(1)).unwrap();
    for at in (0..written).step_by(chunk.len()) {
        let length = chunk.len().min(written - at);
        assert!(
            read_exactly(&*client, length) == chunk[..length],
            "octets changed in transit"
        );
    }
    assert!(
        server.wait_writable(STALL_TIMEOUT).unwrap(),
        "no room after everything was read"
    );
    write_all(&*server, b"again");
    assert_eq!(read_exactly(&*client, 5), b"again");
    write_all(&*client, b"x");
    blocking(&*server);
    assert_eq!(read_exactly(&*server, 1), b"x", "back in blocking mode");
}

/// A read, a write and a wait with a timeout end, but not before it has expired.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Shm, conformance};
///
/// conformance::timeouts_expire(&Shm, "");
/// ```
pub fn timeouts_expire(transport: &dyn Transport, address: &str) {
    const TIMEOUT: Duration = Duration::from_millis(60);
    let (client, _server) = pair(transport, address);
    let ends_in_time = |what: &str, wait: &mut dyn FnMut()| {
        let begun = Instant::now();
        wait();
        let waited = begun.elapsed();
        // The kernel counts whole ticks, and may start within one.
        assert!(
            waited + Duration::from_millis(20) >= TIMEOUT,
            "{what} gave up after {waited:?}"
        );
        assert!(waited < STALL_TIMEOUT, "{what} took {waited:?}");
    };
    client.set_timeout(Some(TIMEOUT)).unwrap();
    ends_in_time("a read", &mut || {
        let error = client.read(&mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    });
    ends_in_time("a fine wait", &mut || {
        assert!(!client.wait_readable(TIMEOUT).unwrap())
    });
    let chunk = pattern(60_000, 3);
    ends_in_time("writing", &mut || {
        let mut written = 0;
        let error = loop {
            match client.write(&chunk) {
                Ok(count) => written += count,
                Err(error) => break error,
            }
            assert!(written < 1 << 30, "a gigabyte without a reader");
        };
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    });
}

/// The timeout of connecting does not apply to the stream.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Tcp, conformance};
///
/// conformance::a_new_stream_has_no_timeout(&Tcp, "127.0.0.1:0");
/// ```
pub fn a_new_stream_has_no_timeout(transport: &dyn Transport, address: &str) {
    const TIMEOUT: Duration = Duration::from_millis(300);
    let listener = listen(transport, address);
    let properties = ProtocolProperties::default();
    let (client, server) = thread::scope(|scope| {
        let connecting = scope.spawn(|| transport.connect(listener.address(), &properties, TIMEOUT));
        let server = accept(&*listener);
        (connecting.join().unwrap().unwrap(), server)
    });
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let chunk = pattern(60_000, 3);
            loop {
                if let Err(error) = client.write(&chunk) {
                    return error.kind();
                }
            }
        });
        let reader = scope.spawn(|| client.read(&mut [0; 8]));
        thread::sleep(TIMEOUT * 3);
        let early = (writer.is_finished(), reader.is_finished());
        server.shutdown();
        client.shutdown();
        assert_ne!(
            writer.join().unwrap(),
            ErrorKind::WouldBlock,
            "writing had a timeout"
        );
        let read = reader.join().unwrap();
        assert!(
            !matches!(&read, Err(error) if error.kind() == ErrorKind::WouldBlock),
            "reading had a timeout"
        );
        assert_eq!(early, (false, false), "writing or reading ended prematurely");
    });
}

/// Data written before closing arrives; then reads return 0 repeatedly.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Unix, conformance};
///
/// conformance::a_closed_stream_ends_after_its_last_octet(&Unix, "");
/// ```
pub fn a_closed_stream_ends_after_its_last_octet(transport: &dyn Transport, address: &str) {
    for shut_down in [false, true] {
        let (client, server) = pair(transport, address);
        write_all(&*server, b"the end");
        if shut_down {
            server.shutdown();
        }
        drop(server);
        assert_eq!(read_exactly(&*client, 7), b"the end");
        for _ in 0..2 {
            assert!(
                client.wait_readable(STALL_TIMEOUT).unwrap(),
                "the end must be readable"
            );
            assert_eq!(client.read(&mut [0; 8]).unwrap(), 0);
        }
        // The first writes may still succeed.
        let failed = (0..100).any(|_| client.write(b"is anybody there?").is_err());
        assert!(failed, "writes to a closed stream keep succeeding");
    }
}

/// A blocked read returns when either side is shut down.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Shm, conformance};
///
/// conformance::shutting_down_wakes_a_blocked_reader(&Shm, "");
/// ```
pub fn shutting_down_wakes_a_blocked_reader(transport: &dyn Transport, address: &str) {
    for own_side in [true, false] {
        let (client, server) = pair(transport, address);
        client.set_timeout(None).unwrap();
        thread::scope(|scope| {
            let reader = scope.spawn(|| client.read(&mut [0; 8]));
            // The reader usually blocks by then; if not, it must not start to block.
            thread::sleep(Duration::from_millis(20));
            if own_side {
                client.shutdown();
            } else {
                server.shutdown();
            }
            let result = reader.join().unwrap();
            assert!(matches!(result, Ok(0) | Err(_)), "read {result:?}");
        });
    }
}

/// Data of each client arrives on its own connection only.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Tcp, conformance};
///
/// conformance::connections_are_independent(&Tcp, "127.0.0.1:0");
/// ```
pub fn connections_are_independent(transport: &dyn Transport, address: &str) {
    const CONNECTIONS: usize = 100;
    let listener = listen(transport, address);
    assert!(listener.accept().unwrap().is_none(), "accepting never blocks");
    let connections: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (client, server) = connect(transport, &*listener, accept);
            client.set_timeout(Some(STALL_TIMEOUT)).unwrap();
            blocking(&*server);
            (client, server)
        })
        .collect();
    for (number, (client, server)) in connections.iter().enumerate() {
        write_all(&**client, &(number as u32).to_be_bytes());
        write_all(&**server, &(!number as u32).to_be_bytes());
    }
    for (number, (client, server)) in connections.iter().enumerate().rev() {
        assert_eq!(read_exactly(&**server, 4), (number as u32).to_be_bytes());
        assert_eq!(read_exactly(&**client, 4), (!number as u32).to_be_bytes());
    }
}

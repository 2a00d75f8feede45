//! A link with delay, as a layer around any transport: what a radio terminal does to the connections of an
//! ORB that knows nothing of it, as in [Gill 2004] figure 9.
//!
//! It uses the public interface of transports only. Octets pass through a relay in user space, since kernels
//! are often built without network emulation.
#![forbid(unsafe_code)]

mod relay;

use std::{io, os::unix::net::UnixStream, sync::Arc, time::Duration};

use punctual::transport::{Layer, NetworkPriority, Origin, Side, SocketStream, Stream, WrappedStream};

/// A link that delays all octets in both directions by the same time.
///
/// ```
/// use std::time::Duration;
///
/// use punctual::{Orb, transport::{Layered, Tcp}};
/// use punctual_link::Link;
///
/// let link = Link::new(Duration::from_millis(250));
/// let orb = Orb::builder().transport(Layered::new(Tcp, link)).build()?;
/// # Ok::<(), punctual::OrbError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Link {
    delay: Duration,
}

impl Link {
    /// Creates a link with this delay in each direction.
    pub fn new(delay: Duration) -> Self {
        Self { delay }
    }
}

impl Layer for Link {
    fn wrap(&self, stream: Box<dyn Stream>, side: Side) -> io::Result<Box<dyn Stream>> {
        let (near, far) = UnixStream::pair()?;
        let near = SocketStream::new(near);
        // As the transport has set it.
        near.set_nonblocking(side == Side::Server)?;
        stream.set_nonblocking(false)?;
        let distant: Arc<dyn Stream> = Arc::from(stream);
        let far: Arc<dyn Stream> = Arc::new(SocketStream::new(far));
        relay::start("link-out", &far, &distant, self.delay)?;
        relay::start("link-in", &distant, &far, self.delay)?;
        Ok(Box::new(Terminal { near, distant }))
    }
}

/// The ORB's end of a connection.
struct Terminal {
    near: SocketStream,
    distant: Arc<dyn Stream>,
}

impl WrappedStream for Terminal {
    fn inner(&self) -> &dyn Stream {
        &self.near
    }

    fn set_network_priority(&self, priority: NetworkPriority) -> io::Result<()> {
        self.distant.set_network_priority(priority)
    }

    fn origin(&self) -> Origin {
        self.distant.origin()
    }
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Instant};

    use super::*;

    const DELAY: Duration = Duration::from_millis(40);

    fn linked() -> (Box<dyn Stream>, SocketStream) {
        let (one, other) = UnixStream::pair().unwrap();
        let link = Link::new(DELAY);
        let near = link.wrap(Box::new(SocketStream::new(one)), Side::Client).unwrap();
        (near, SocketStream::new(other))
    }

    fn read_all(stream: &dyn Stream, mut expected: usize) -> Vec<u8> {
        let mut octets = Vec::new();
        let mut buffer = [0; 4096];
        while expected > 0 {
            let count = stream.read(&mut buffer).unwrap();
            assert_ne!(count, 0, "the end of the stream");
            octets.extend_from_slice(&buffer[..count]);
            expected -= count;
        }
        octets
    }

    #[test]
    fn octets_arrive_unchanged_and_not_before_the_delay() {
        let (near, distant) = linked();
        for (from, to) in [(&*near, &distant as &dyn Stream), (&distant, &*near)] {
            let begun = Instant::now();
            assert_eq!(from.write(b"tile 7").unwrap(), 6);
            assert_eq!(read_all(to, 6), b"tile 7");
            assert!(begun.elapsed() >= DELAY, "{:?}", begun.elapsed());
        }
    }

    #[test]
    fn many_octets_are_under_way_at_once() {
        let (near, distant) = linked();
        let sent: Vec<u8> = (0..1_000_000_u32).map(|octet| (octet / 7) as u8).collect();
        let received = thread::scope(|scope| {
            scope.spawn(|| {
                let mut rest = &sent[..];
                while !rest.is_empty() {
                    let count = near.write(rest).unwrap();
                    rest = &rest[count..];
                }
            });
            read_all(&distant, sent.len())
        });
        assert!(received == sent);
    }

    #[test]
    fn the_end_of_the_stream_comes_after_what_was_sent() {
        let (near, distant) = linked();
        near.write(b"last").unwrap();
        near.shutdown();
        assert_eq!(read_all(&distant, 4), b"last");
        assert_eq!(distant.read(&mut [0; 8]).unwrap(), 0);

        let (near, distant) = linked();
        distant.write(b"last").unwrap();
        distant.shutdown();
        assert_eq!(read_all(&*near, 4), b"last");
        assert_eq!(near.read(&mut [0; 8]).unwrap(), 0);
    }
}

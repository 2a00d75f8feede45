//! A layer that injects faults.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};

use punctual_os::{Doorbell, Interest, Poller, Trigger};
use punctual_types::SplitMix64;

use super::{Layer, Side, WrappedStream};
use crate::Stream;

/// The faults of a [`FaultInjector`], in per mille of the operations. Default: none.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::{io::ErrorKind, time::Duration};
///
/// use punctual::transport::{FaultInjector, Faults, Layered, ProtocolProperties, Tcp, Transport};
///
/// // Every attempt to connect fails, as if the server were down.
/// let faults = Faults { refuse_per_mille: 1000, ..Faults::default() };
/// let tcp = Layered::new(Tcp, FaultInjector::new(faults));
/// let connected = tcp.connect("127.0.0.1:1", &ProtocolProperties::default(), Duration::from_secs(5));
/// assert_eq!(connected.err().map(|error| error.kind()), Some(ErrorKind::ConnectionRefused));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Seed; the same seed has the same effect on the same reads and writes of the same connections, counted
    /// from the first.
    pub seed: u64,
    /// Connecting fails as if no server listened.
    pub refuse_per_mille: u16,
    /// Reads and writes transfer at most 16 octets.
    pub short_per_mille: u16,
    /// Reads and writes are delayed by [`Self::delay`].
    pub delay_per_mille: u16,
    /// Delay.
    pub delay: Duration,
    /// Connections are cut after this many octets of both directions.
    pub cut_after: Option<u64>,
}

/// Simulates a bad network, reproducibly.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::{io::ErrorKind, time::Duration};
///
/// use punctual::transport::{FaultInjector, Faults, Layered, ProtocolProperties, Tcp, Transport};
///
/// let faults = Faults { cut_after: Some(5), ..Faults::default() };
/// let tcp = Layered::new(Tcp, FaultInjector::new(faults));
/// let properties = ProtocolProperties::default();
/// let listener = tcp.listen("127.0.0.1:0", None, &properties)?;
/// let client = tcp.connect(listener.address(), &properties, Duration::from_secs(5))?;
/// assert_eq!(client.write(b"hello, world")?, 5);
/// assert_eq!(client.write(b", world").unwrap_err().kind(), ErrorKind::BrokenPipe);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct FaultInjector {
    faults: Faults,
    connects: Dice,
    connections: AtomicU64,
}

impl FaultInjector {
    /// Creates a layer with these faults.
    pub fn new(faults: Faults) -> Self {
        Self {
            faults,
            connects: Dice::new(faults.seed),
            connections: AtomicU64::new(0),
        }
    }
}

impl Layer for FaultInjector {
    fn connecting(&self, _address: &str) -> io::Result<()> {
        if self.connects.hits(self.faults.refuse_per_mille) {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        Ok(())
    }

    fn wrap(&self, stream: Box<dyn Stream>, _side: Side) -> io::Result<Box<dyn Stream>> {
        let number = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
        let poller = if self.faults.short_per_mille > 0 {
            Some(SignallingPoller::new(&*stream)?)
        } else {
            None
        };
        let dice = |direction| Dice::new(self.faults.seed ^ (number << 1 | direction) << 32);
        Ok(Box::new(Faulty {
            stream,
            poller,
            faults: self.faults,
            reads: dice(0),
            writes: dice(1),
            passed: AtomicU64::new(0),
            cut: AtomicBool::new(false),
        }))
    }
}

/// Random numbers shared by threads, the same for the same seed.
struct Dice(AtomicU64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    fn roll(&self) -> u64 {
        let before = self.0.fetch_add(SplitMix64::STEP, Ordering::Relaxed);
        SplitMix64::mix(before.wrapping_add(SplitMix64::STEP))
    }

    fn hits(&self, per_mille: u16) -> bool {
        per_mille > 0 && self.roll() % 1000 < per_mille.into()
    }

    /// Returns a length from 1 to 16, below `length` if that is above 1: shorter than most messages.
    fn shorten(&self, length: usize, per_mille: u16) -> usize {
        if length > 1 && self.hits(per_mille) {
            1 + self.roll() as usize % (length - 1).min(16)
        } else {
            length
        }
    }
}

/// A poller around a stream: after a short read, the kernel does not signal the remaining data again.
struct SignallingPoller {
    poller: Poller,
    doorbell: Doorbell,
}

impl SignallingPoller {
    fn new(stream: &dyn Stream) -> io::Result<Self> {
        let (poller, doorbell) = (Poller::new()?, Doorbell::new()?);
        poller.add(stream, 0, Interest::READ_WRITE, Trigger::Level)?;
        poller.add(&doorbell, 1, Interest::READ, Trigger::Level)?;
        Ok(Self { poller, doorbell })
    }
}

struct Faulty {
    stream: Box<dyn Stream>,
    poller: Option<SignallingPoller>,
    faults: Faults,
    reads: Dice,
    writes: Dice,
    /// Octets of both directions.
    passed: AtomicU64,
    cut: AtomicBool,
}

impl Faulty {
    fn delay(&self, dice: &Dice) {
        if dice.hits(self.faults.delay_per_mille) {
            thread::sleep(self.faults.delay);
        }
    }

    /// Returns how many of `length` octets may pass before the cut.
    fn allowed(&self, length: usize) -> usize {
        let Some(limit) = self.faults.cut_after else {
            return length;
        };
        let left = limit.saturating_sub(self.passed.load(Ordering::Relaxed));
        length.min(usize::try_from(left).unwrap_or(usize::MAX))
    }

    fn cut(&self, kind: io::ErrorKind) -> io::Error {
        self.cut.store(true, Ordering::Relaxed);
        self.stream.shutdown();
        kind.into()
    }
}

impl WrappedStream for Faulty {
    fn inner(&self) -> &dyn Stream {
        &*self.stream
    }

    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.delay(&self.reads);
        if let Some(poller) = &self.poller {
            poller.doorbell.drain()?;
        }
        let room = self.allowed(buffer.len());
        if room == 0 && !buffer.is_empty() || self.cut.load(Ordering::Relaxed) {
            return Err(self.cut(io::ErrorKind::ConnectionReset));
        }
        let short = self.reads.shorten(room, self.faults.short_per_mille);
        let count = self.inner().read(&mut buffer[..short])?;
        if short < buffer.len() && count == short {
            // More data may remain, which must be signalled.
            if let Some(poller) = &self.poller {
                poller.doorbell.ring()?;
            }
        }
        self.passed.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn write(&self, octets: &[u8]) -> io::Result<usize> {
        self.delay(&self.writes);
        let allowed = self.allowed(octets.len());
        if allowed == 0 && !octets.is_empty() || self.cut.load(Ordering::Relaxed) {
            return Err(self.cut(io::ErrorKind::BrokenPipe));
        }
        let short = self.writes.shorten(allowed, self.faults.short_per_mille);
        let count = self.inner().write(&octets[..short])?;
        self.passed.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.poller {
            Some(poller) => poller.poller.as_fd(),
            None => (*self.stream).as_fd(),
        }
    }
}

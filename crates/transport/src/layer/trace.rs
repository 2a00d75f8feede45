//! A layer that records traffic.

use std::{
    fmt, io,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_giop::{HEADER_SIZE, MessageHeader};
use punctual_os::PiMutex;

use super::{Layer, Side, WrappedStream};
use crate::Stream;

/// Records the traffic of a transport: connections, and the first octets of each read and write.
///
/// Clones share the records. Their number is fixed, the newest replace the oldest, and nothing is allocated
/// after creation: each read and write costs a clock query, a lock that inherits priority, and a copy of 64
/// octets. [`fmt::Display`] prints the records.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::time::Duration;
///
/// use punctual::transport::{Layered, ProtocolProperties, Tcp, Trace, Transport};
///
/// let trace = Trace::new(100);
/// let tcp = Layered::new(Tcp, trace.clone());
/// let properties = ProtocolProperties::default();
/// let listener = tcp.listen("127.0.0.1:0", None, &properties)?;
/// let client = tcp.connect(listener.address(), &properties, Duration::from_secs(5))?;
/// client.write(b"GIOP\x01\x02\x01\x05\0\0\0\0")?;
/// assert_eq!(trace.traffic().written, 12);
/// assert!(trace.to_string().contains("connection 0 wrote 12: GIOP 1.2 CloseConnection"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Trace(Arc<Shared>);

struct Shared {
    begun: Instant,
    connections: AtomicU32,
    reads: AtomicU64,
    read: AtomicU64,
    writes: AtomicU64,
    written: AtomicU64,
    records: PiMutex<Ring>,
}

struct Ring {
    records: Vec<TraceRecord>,
    /// Position of the next record in a full ring.
    next: usize,
    dropped: u64,
}

/// A recorded event.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Layered, ProtocolProperties, Tcp, Trace, TraceEvent, Transport};
/// # use std::time::Duration;
///
/// let trace = Trace::new(100);
/// let tcp = Layered::new(Tcp, trace.clone());
/// # let properties = ProtocolProperties::default();
/// # let listener = tcp.listen("127.0.0.1:0", None, &properties)?;
/// let client = tcp.connect(listener.address(), &properties, Duration::from_secs(5))?;
/// client.write(b"hello")?;
/// let records = trace.records();
/// let written = records.iter().find(|record| record.event == TraceEvent::Wrote).expect("it was written");
/// assert_eq!((written.connection, written.length, written.octets()), (0, 5, &b"hello"[..]));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TraceRecord {
    /// Time since the creation of the [`Trace`].
    pub at: Duration,
    /// Number of the connection, counted from 0 over both sides.
    pub connection: u32,
    /// Type of the event.
    pub event: TraceEvent,
    /// Number of octets read or written.
    pub length: usize,
    head: [u8; HEAD],
}

/// The type of a [`TraceRecord`].
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Layered, ProtocolProperties, Side, Tcp, Trace, TraceEvent, Transport};
/// # use std::time::Duration;
///
/// let trace = Trace::new(100);
/// let tcp = Layered::new(Tcp, trace.clone());
/// # let properties = ProtocolProperties::default();
/// # let listener = tcp.listen("127.0.0.1:0", None, &properties)?;
/// drop(tcp.connect(listener.address(), &properties, Duration::from_secs(5))?);
/// let events: Vec<TraceEvent> = trace.records().iter().map(|record| record.event).collect();
/// assert_eq!(events, [TraceEvent::Opened(Side::Client), TraceEvent::Closed]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TraceEvent {
    /// A new connection.
    Opened(Side),
    /// A read of octets, or of 0 at the end.
    Read,
    /// A write.
    Wrote,
    /// A read or write that failed, `WouldBlock` excepted.
    Failed(io::ErrorKind),
    /// The end of a stream.
    Closed,
}

/// Totals since the creation of a [`Trace`].
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Layered, ProtocolProperties, Tcp, Trace, Traffic, Transport};
/// # use std::time::Duration;
///
/// let trace = Trace::new(100);
/// let tcp = Layered::new(Tcp, trace.clone());
/// # let properties = ProtocolProperties::default();
/// # let listener = tcp.listen("127.0.0.1:0", None, &properties)?;
/// let client = tcp.connect(listener.address(), &properties, Duration::from_secs(5))?;
/// client.write(b"hello")?;
/// let expected = Traffic { connections: 1, writes: 1, written: 5, ..Traffic::default() };
/// assert_eq!(trace.traffic(), expected);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Traffic {
    /// Connections opened by both sides.
    pub connections: u32,
    /// Reads of at least one octet.
    pub reads: u64,
    /// Octets read.
    pub read: u64,
    /// Writes.
    pub writes: u64,
    /// Octets written.
    pub written: u64,
}

/// Number of octets stored of each read and write.
const HEAD: usize = 64;

impl Trace {
    /// Creates a trace with room for this many records of about 100 octets.
    pub fn new(capacity: usize) -> Self {
        Self(Arc::new(Shared {
            begun: Instant::now(),
            connections: AtomicU32::new(0),
            reads: AtomicU64::new(0),
            read: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            written: AtomicU64::new(0),
            records: PiMutex::new(Ring {
                records: Vec::with_capacity(capacity.max(1)),
                next: 0,
                dropped: 0,
            }),
        }))
    }

    /// Returns the stored records, oldest first.
    pub fn records(&self) -> Vec<TraceRecord> {
        let ring = self.0.records.lock();
        let (newer, older) = ring.records.split_at(ring.next);
        [older, newer].concat()
    }

    /// Returns the number of records that have been replaced by newer ones.
    pub fn dropped(&self) -> u64 {
        self.0.records.lock().dropped
    }

    /// Returns the totals.
    pub fn traffic(&self) -> Traffic {
        let shared = &*self.0;
        Traffic {
            connections: shared.connections.load(Ordering::Relaxed),
            reads: shared.reads.load(Ordering::Relaxed),
            read: shared.read.load(Ordering::Relaxed),
            writes: shared.writes.load(Ordering::Relaxed),
            written: shared.written.load(Ordering::Relaxed),
        }
    }
}

impl Layer for Trace {
    fn wrap(&self, stream: Box<dyn Stream>, side: Side) -> io::Result<Box<dyn Stream>> {
        let connection = self.0.connections.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::clone(&self.0);
        shared.record(connection, TraceEvent::Opened(side), &[]);
        Ok(Box::new(Traced {
            stream,
            connection,
            shared,
        }))
    }
}

impl Shared {
    fn record(&self, connection: u32, event: TraceEvent, octets: &[u8]) {
        let mut head = [0; HEAD];
        let kept = octets.len().min(HEAD);
        head[..kept].copy_from_slice(&octets[..kept]);
        let record = TraceRecord {
            at: self.begun.elapsed(),
            connection,
            event,
            length: octets.len(),
            head,
        };
        let mut ring = self.records.lock();
        if ring.records.len() < ring.records.capacity() {
            ring.records.push(record);
        } else {
            let next = ring.next;
            ring.records[next] = record;
            ring.next = (next + 1) % ring.records.len();
            ring.dropped += 1;
        }
    }
}

impl TraceRecord {
    /// Returns the first octets, up to 64.
    pub fn octets(&self) -> &[u8] {
        &self.head[..self.length.min(HEAD)]
    }
}

/// Formats the record as one line.
impl fmt::Display for TraceRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>12.6} connection {} ",
            self.at.as_secs_f64(),
            self.connection
        )?;
        match self.event {
            TraceEvent::Opened(Side::Client) => return f.write_str("connected"),
            TraceEvent::Opened(Side::Server) => return f.write_str("accepted"),
            TraceEvent::Failed(kind) => return write!(f, "failed: {kind}"),
            TraceEvent::Closed => return f.write_str("closed"),
            TraceEvent::Read if self.length == 0 => return f.write_str("ended"),
            TraceEvent::Read => write!(f, "read {}:", self.length)?,
            TraceEvent::Wrote => write!(f, "wrote {}:", self.length)?,
        }
        let octets = self.octets();
        if let Some(Ok(header)) = octets
            .get(..HEADER_SIZE)
            .map(|header| MessageHeader::parse(header, usize::MAX))
        {
            write!(
                f,
                " GIOP {} {:?} {}",
                header.version, header.message_type, header.size
            )?;
        }
        octets.iter().try_for_each(|octet| write!(f, " {octet:02x}"))?;
        f.write_str(if self.length > HEAD { " …" } else { "" })
    }
}

/// Formats one line for each record, oldest first.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dropped() {
            0 => {}
            dropped => writeln!(f, "({dropped} earlier records were replaced)")?,
        }
        self.records()
            .iter()
            .try_for_each(|record| writeln!(f, "{record}"))
    }
}

struct Traced {
    stream: Box<dyn Stream>,
    connection: u32,
    shared: Arc<Shared>,
}

impl Traced {
    fn failed(&self, error: &io::Error) {
        if error.kind() != io::ErrorKind::WouldBlock {
            self.shared
                .record(self.connection, TraceEvent::Failed(error.kind()), &[]);
        }
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        self.shared.record(self.connection, TraceEvent::Closed, &[]);
    }
}

impl WrappedStream for Traced {
    fn inner(&self) -> &dyn Stream {
        &*self.stream
    }

    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.inner().read(buffer);
        match &result {
            Ok(count) => {
                self.shared
                    .reads
                    .fetch_add(u64::from(*count > 0), Ordering::Relaxed);
                self.shared.read.fetch_add(*count as u64, Ordering::Relaxed);
                self.shared
                    .record(self.connection, TraceEvent::Read, &buffer[..*count]);
            }
            Err(error) => self.failed(error),
        }
        result
    }

    fn write(&self, octets: &[u8]) -> io::Result<usize> {
        let result = self.inner().write(octets);
        match &result {
            Ok(count) => {
                self.shared.writes.fetch_add(1, Ordering::Relaxed);
                self.shared.written.fetch_add(*count as u64, Ordering::Relaxed);
                self.shared
                    .record(self.connection, TraceEvent::Wrote, &octets[..*count]);
            }
            Err(error) => self.failed(error),
        }
        result
    }
}

//! Layers between a transport and the ORB, such as a tracer or a fault injector.

mod fault_injector;
mod trace;
mod wrapped_stream;

use std::{io, os::fd::BorrowedFd, sync::Arc, time::Duration};

use punctual_cdr::{CdrError, Decoder, Encoder};
use punctual_os::Poller;

pub use self::{
    fault_injector::{FaultInjector, Faults},
    trace::{Trace, TraceEvent, TraceRecord, Traffic},
    wrapped_stream::WrappedStream,
};
use crate::{Listener, Origin, Protection, ProtocolProperties, Reach, Stream, Transport};

/// A wrapper around the streams of a transport.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::{io, sync::atomic::{AtomicUsize, Ordering}};
///
/// use punctual::transport::{Layer, Layered, Side, Stream, Tcp, Transport};
///
/// /// Counts connections.
/// #[derive(Default)]
/// struct Counter(AtomicUsize);
///
/// impl Layer for Counter {
///     fn wrap(&self, stream: Box<dyn Stream>, _side: Side) -> io::Result<Box<dyn Stream>> {
///         self.0.fetch_add(1, Ordering::Relaxed);
///         Ok(stream)
///     }
/// }
/// assert_eq!(Layered::new(Tcp, Counter::default()).scheme(), "iiop", "the same for the ORB");
/// ```
pub trait Layer: Send + Sync {
    /// Called before connecting to an address; an error is returned to the caller. Default: no action.
    fn connecting(&self, _address: &str) -> io::Result<()> {
        Ok(())
    }

    /// Wraps a new stream; an error closes it and is returned to the caller.
    fn wrap(&self, stream: Box<dyn Stream>, side: Side) -> io::Result<Box<dyn Stream>>;
}

/// The side of a connection.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::io;
///
/// use punctual::transport::{Layer, Side, Stream};
///
/// /// Accepts connections, and opens none.
/// struct ServerOnly;
///
/// impl Layer for ServerOnly {
///     fn wrap(&self, stream: Box<dyn Stream>, side: Side) -> io::Result<Box<dyn Stream>> {
///         match side {
///             Side::Server => Ok(stream),
///             Side::Client => Err(io::ErrorKind::PermissionDenied.into()),
///         }
///     }
/// }
/// # use punctual_transport::{Layered, ProtocolProperties, Tcp, Transport};
/// # let (tcp, properties) = (Layered::new(Tcp, ServerOnly), ProtocolProperties::default());
/// # let listener = tcp.listen("127.0.0.1:0", None, &properties)?;
/// # let connected = tcp.connect(listener.address(), &properties, std::time::Duration::from_secs(5));
/// # assert_eq!(connected.err().map(|error| error.kind()), Some(io::ErrorKind::PermissionDenied));
/// # Ok::<(), io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// The side that has connected.
    Client,
    /// The side that has accepted.
    Server,
}

/// A transport with a [`Layer`] around its streams.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{FaultInjector, Faults, Layered, Tcp, Trace, Transport};
///
/// // Layers can be stacked: the trace sees what the injector lets through.
/// let faults = Faults { seed: 1, short_per_mille: 100, ..Faults::default() };
/// let tcp = Layered::new(Layered::new(Tcp, Trace::new(100)), FaultInjector::new(faults));
/// assert_eq!((tcp.scheme(), tcp.profile_tag()), ("iiop", Tcp.profile_tag()));
/// ```
pub struct Layered<T, L> {
    transport: T,
    layer: Arc<L>,
}

impl<T: Transport, L: Layer> Layered<T, L> {
    /// Wraps `transport`, and keeps its scheme and tag.
    pub fn new(transport: T, layer: L) -> Self {
        let layer = Arc::new(layer);
        Self { transport, layer }
    }
}

impl<T: Transport, L: Layer + 'static> Transport for Layered<T, L> {
    fn scheme(&self) -> &str {
        self.transport.scheme()
    }

    fn profile_tag(&self) -> u32 {
        self.transport.profile_tag()
    }

    fn reach(&self) -> Reach {
        self.transport.reach()
    }

    fn protection(&self) -> Option<Protection> {
        self.transport.protection()
    }

    fn default_address(&self) -> &str {
        self.transport.default_address()
    }

    fn descriptors_per_connection(&self) -> usize {
        self.transport.descriptors_per_connection()
    }

    fn can_listen(&self) -> bool {
        self.transport.can_listen()
    }

    fn listen(
        &self,
        address: &str,
        published: Option<&str>,
        properties: &ProtocolProperties,
    ) -> io::Result<Box<dyn Listener>> {
        let inner = self.transport.listen(address, published, properties)?;
        let layer = Arc::clone(&self.layer);
        Ok(Box::new(LayeredListener { inner, layer }))
    }

    fn connect(
        &self,
        address: &str,
        properties: &ProtocolProperties,
        timeout: Duration,
    ) -> io::Result<Box<dyn Stream>> {
        self.layer.connecting(address)?;
        let stream = self.transport.connect(address, properties, timeout)?;
        self.layer.wrap(stream, Side::Client)
    }

    fn lane_address(&self, address: &str, lane: &str) -> String {
        self.transport.lane_address(address, lane)
    }

    fn numbered_address(&self, address: &str, number: u16) -> String {
        self.transport.numbered_address(address, number)
    }

    fn encode_address(&self, address: &str, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.transport.encode_address(address, encoder)
    }

    fn decode_address(&self, decoder: &mut Decoder<'_>) -> Result<String, CdrError> {
        self.transport.decode_address(decoder)
    }
}

struct LayeredListener<L> {
    inner: Box<dyn Listener>,
    layer: Arc<L>,
}

impl<L: Layer> Listener for LayeredListener<L> {
    fn accept(&self) -> io::Result<Option<Box<dyn Stream>>> {
        self.accept_from(&mut |_| true)
    }

    fn accept_from(&self, admits: &mut dyn FnMut(Origin) -> bool) -> io::Result<Option<Box<dyn Stream>>> {
        let Some(stream) = self.inner.accept_from(admits)? else {
            return Ok(None);
        };
        // A stream that the layer refuses is closed.
        let stream = self.layer.wrap(stream, Side::Server);
        Ok(Some(stream.map_err(|_| io::ErrorKind::Interrupted)?))
    }

    fn watch(&self, poller: &Arc<Poller>, token: u64) -> io::Result<()> {
        self.inner.watch(poller, token)
    }

    fn watch_again(&self, poller: &Poller, token: u64) -> io::Result<()> {
        self.inner.watch_again(poller, token)
    }

    fn shutdown(&self) {
        self.inner.shutdown();
    }

    fn address(&self) -> &str {
        self.inner.address()
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}

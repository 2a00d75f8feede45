//! Wrappers: what stands between a transport and the ORB, such as a tracer or an injector of faults.

mod fault_injector;
mod trace;

use std::{io, os::fd::BorrowedFd, sync::Arc, time::Duration};

use punctual_cdr::{CdrError, Decoder, Encoder};

pub use self::{
    fault_injector::{FaultInjector, Faults},
    trace::{Trace, TraceEvent, TraceRecord, Traffic},
};
use crate::{Listener, ProtocolProperties, Reach, Stream, Transport};

/// What a wrapper does with the streams of a transport.
///
/// ```
/// use std::{io, sync::atomic::{AtomicUsize, Ordering}};
///
/// use punctual_transport::{Layer, Layered, Side, Stream, Tcp, Transport};
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
/// assert_eq!(Layered::new(Tcp, Counter::default()).scheme(), "iiop", "to the ORB it is the same transport");
/// ```
pub trait Layer: Send + Sync {
    /// Before connecting to an address; an error is the caller's. Default: nothing.
    fn connecting(&self, _address: &str) -> io::Result<()> {
        Ok(())
    }

    /// What the ORB is to use in place of a new stream; an error is the caller's, and closes it.
    fn wrap(&self, stream: Box<dyn Stream>, side: Side) -> io::Result<Box<dyn Stream>>;
}

/// Which side of a connection a stream is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// It has connected.
    Client,
    /// It was accepted.
    Server,
}

/// A transport with a [`Layer`] around its streams.
pub struct Layered<T, L> {
    transport: T,
    layer: Arc<L>,
}

impl<T: Transport, L: Layer> Layered<T, L> {
    /// Takes the place of `transport`, whose scheme and tag it has.
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

    fn default_address(&self) -> &str {
        self.transport.default_address()
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
        while let Some(stream) = self.inner.accept()? {
            // One that the layer refuses is closed, and the next one may do.
            if let Ok(stream) = self.layer.wrap(stream, Side::Server) {
                return Ok(Some(stream));
            }
        }
        Ok(None)
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

//! Shared memory.

mod handshake;
mod listener;
mod stream;

use std::{
    io,
    time::{Duration, Instant},
};

use punctual_cdr::{CdrError, Decoder, Encoder};
use punctual_giop::TAG_PUNCTUAL_SHM;
use punctual_os::shm::{MAX_RING_SIZE, MIN_RING_SIZE};

use self::{handshake::Incarnation, listener::ShmListener};
use crate::{AddressError, Listener, ProtocolProperties, Reach, Stream, Transport, Unix, socket, unix};

/// GIOP over shared memory: `shmiop://PATH`, the fastest way between two processes of a host.
///
/// Clients connect to a Unix domain socket at an absolute path of at most 107 octets; without a path, a new
/// one in the directory for temporary files is used. There the server gives each client, on request, a sealed
/// memfd with a ring of octets for each direction, and two doorbells, which are pipes. Needs Linux 5.1. The
/// permissions of the socket's file control the access; it is replaced and removed like that of
/// [`crate::Unix`].
///
/// The larger of [`ProtocolProperties::send_buffer_size`] and [`ProtocolProperties::recv_buffer_size`] on the
/// server's side is the size of each ring, rounded up to a power of two from 4 KiB to 16 MiB. Default: 64
/// KiB. Messages may be larger.
///
/// A published address has a random number after the path, `PATH?NUMBER`. A later server at the same path, or
/// one in another container, has another number, so that it is detected before a request is sent.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{ProtocolProperties, Shm, Transport};
///
/// // Rings of 1 MiB.
/// let mut properties = ProtocolProperties::default();
/// properties.send_buffer_size = Some(1 << 20);
/// let listener = Shm.listen("", None, &properties)?;
/// let (path, number) = listener.address().split_once('?').expect("a number distinguishes servers");
/// assert!(path.starts_with('/') && !number.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Shm;

const DEFAULT_RING_SIZE: usize = 64 << 10;

impl Transport for Shm {
    fn scheme(&self) -> &str {
        SCHEME
    }

    fn profile_tag(&self) -> u32 {
        TAG_PUNCTUAL_SHM
    }

    fn reach(&self) -> Reach {
        Reach::Host { preference: 200 }
    }

    fn descriptors_per_connection(&self) -> usize {
        // Two bells, and one more while a thread blocks in a read.
        3
    }

    fn listen(
        &self,
        address: &str,
        published: Option<&str>,
        properties: &ProtocolProperties,
    ) -> io::Result<Box<dyn Listener>> {
        let published = published.map(parse).transpose()?;
        let listening = unix::listening(SCHEME, parse(address)?.0, &ProtocolProperties::DEFAULT)?;
        let (path, incarnation) = match published {
            Some((path, incarnation)) => (unix::parse(SCHEME, path)?.to_owned(), incarnation),
            None => (listening.path.clone(), None),
        };
        let incarnation = incarnation.map_or_else(Incarnation::new, Ok)?;
        let path = unix::text(&path)?;
        Ok(Box::new(ShmListener::new(
            listening,
            format!("{path}{SEPARATOR}{incarnation}"),
            incarnation,
            ring_size(properties),
        )))
    }

    fn connect(
        &self,
        address: &str,
        _properties: &ProtocolProperties,
        timeout: Duration,
    ) -> io::Result<Box<dyn Stream>> {
        let deadline = Instant::now() + timeout;
        let (path, incarnation) = parse(address)?;
        let path = unix::parse(SCHEME, path)?;
        let socket = unix::connected(path, &ProtocolProperties::DEFAULT, timeout)?;
        let left = deadline.saturating_duration_since(Instant::now());
        let accepted = handshake::accepted(&socket, incarnation, left)?;
        Ok(Box::new(stream::connected(accepted, socket::origin(&socket))?))
    }

    fn lane_address(&self, address: &str, lane: &str) -> String {
        let path = address.split(SEPARATOR).next().unwrap_or(address);
        Unix.lane_address(path, lane)
    }

    fn encode_address(&self, address: &str, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        Unix.encode_address(address, encoder)
    }

    fn decode_address(&self, decoder: &mut Decoder<'_>) -> Result<String, CdrError> {
        Unix.decode_address(decoder)
    }
}

const SCHEME: &str = "shmiop";
const SEPARATOR: char = '?';

/// Splits an address into the path and the number of the server.
fn parse(address: &str) -> Result<(&str, Option<Incarnation>), AddressError> {
    let Some((path, incarnation)) = address.rsplit_once(SEPARATOR) else {
        return Ok((address, None));
    };
    let incarnation = incarnation.parse().map_err(|()| {
        AddressError::new(
            &format!("{SCHEME}://{address}"),
            "use the published number of 32 hexadecimal digits after `?`, or omit both",
        )
    })?;
    Ok((path, Some(incarnation)))
}

fn ring_size(properties: &ProtocolProperties) -> usize {
    let requested = properties.send_buffer_size.max(properties.recv_buffer_size);
    requested.map_or(DEFAULT_RING_SIZE, |size| {
        (size as usize)
            .clamp(MIN_RING_SIZE, MAX_RING_SIZE)
            .next_power_of_two()
    })
}

#[cfg(test)]
mod tests;

//! Unix domain sockets.

mod private_socket;
mod socket_file;

use std::{
    io,
    net::Shutdown,
    os::fd::{AsFd, BorrowedFd},
    path::{Path, PathBuf},
    time::Duration,
};

use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder};
use punctual_giop::TAG_UIOP;
use socket2::{Domain, SockAddr, Socket, Type};

pub use self::private_socket::PrivateSocket;
use self::socket_file::SocketFile;
use crate::{
    AddressError, Listener, ProtocolProperties, Reach, SocketStream, Stream, Transport,
    socket::{self, BACKLOG},
};

/// GIOP over Unix domain sockets, in TAO's profile: `uiop://PATH`.
///
/// `PATH` is absolute with at most 107 octets; without a path, a new one in the directory for temporary files
/// is used. The file of a dead server is replaced; a server that shuts down removes its file.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::time::Duration;
///
/// use punctual::transport::{ProtocolProperties, Transport, Unix};
///
/// let properties = ProtocolProperties::default();
/// let listener = Unix.listen("", None, &properties)?;
/// assert!(listener.address().starts_with('/'), "a new path");
/// let client = Unix.connect(listener.address(), &properties, Duration::from_secs(5))?;
/// assert_eq!(client.write(b"GIOP")?, 4);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Unix;

impl Transport for Unix {
    fn scheme(&self) -> &str {
        "uiop"
    }

    fn profile_tag(&self) -> u32 {
        TAG_UIOP
    }

    fn reach(&self) -> Reach {
        Reach::Host { preference: 100 }
    }

    fn listen(
        &self,
        address: &str,
        published: Option<&str>,
        properties: &ProtocolProperties,
    ) -> io::Result<Box<dyn Listener>> {
        let published = published.map(|published| parse("uiop", published)).transpose()?;
        let listening = listening("uiop", address, properties)?;
        let published = text(published.unwrap_or(&listening.path))?;
        Ok(Box::new(UnixListener {
            listening,
            published,
            properties: properties.clone(),
        }))
    }

    fn connect(
        &self,
        address: &str,
        properties: &ProtocolProperties,
        timeout: Duration,
    ) -> io::Result<Box<dyn Stream>> {
        let socket = connected(parse("uiop", address)?, properties, timeout)?;
        Ok(Box::new(SocketStream::new(socket)))
    }

    fn lane_address(&self, address: &str, lane: &str) -> String {
        if address.is_empty() {
            String::new()
        } else {
            format!("{address}.{lane}")
        }
    }

    fn encode_address(&self, address: &str, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        if address.is_empty() {
            return Err(encoder.error(CdrErrorKind::ValueNotRepresentable));
        }
        address.encode(encoder)
    }

    fn decode_address(&self, decoder: &mut Decoder<'_>) -> Result<String, CdrError> {
        String::decode(decoder)
    }
}

/// Parses an address as a path.
pub(crate) fn parse<'a>(scheme: &str, address: &'a str) -> Result<&'a Path, AddressError> {
    let path = Path::new(address);
    if path.is_absolute() {
        Ok(path)
    } else {
        Err(AddressError::new(
            &format!("{scheme}://{address}"),
            format!("use `{scheme}://` and an absolute path, such as `{scheme}:///run/radar.sock`"),
        ))
    }
}

/// A listening socket and its file.
pub(crate) struct Listening {
    pub(crate) socket: Socket,
    file: SocketFile,
    pub(crate) path: PathBuf,
}

impl Listening {
    pub(crate) fn shutdown(&self) {
        self.file.remove();
        // It stops listening, and cannot fail on a listening socket.
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// Listens at a path, or at a new one if the address is empty.
pub(crate) fn listening(
    scheme: &str,
    address: &str,
    properties: &ProtocolProperties,
) -> io::Result<Listening> {
    let path = if address.is_empty() {
        new_path()?
    } else {
        parse(scheme, address)?.to_owned()
    };
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket::set_buffers(&socket, properties)?;
    let file = SocketFile::listen(&socket, &path, BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(Listening { socket, file, path })
}

/// Connects to the socket at a path.
pub(crate) fn connected(
    path: &Path,
    properties: &ProtocolProperties,
    timeout: Duration,
) -> io::Result<Socket> {
    let address = socket_address(path)?;
    if timeout.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket::set_buffers(&socket, properties)?;
    // If the backlog is full, connecting blocks up to the write timeout.
    socket.set_write_timeout(Some(timeout))?;
    socket.connect(&address).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
        // No file, no server.
        io::ErrorKind::NotFound => io::Error::new(io::ErrorKind::ConnectionRefused, error),
        _ => error,
    })?;
    socket.set_write_timeout(None)?;
    Ok(socket)
}

fn socket_address(path: &Path) -> io::Result<SockAddr> {
    SockAddr::unix(path).map_err(|_| {
        let length = path.as_os_str().len();
        let problem = format!("path too long: {length} of at most 107 octets");
        AddressError::new(&path.display().to_string(), problem).into()
    })
}

/// Returns a new path, which no other user can guess and occupy.
fn new_path() -> io::Result<PathBuf> {
    let name = format!("punctual-{}-{:016x}.sock", std::process::id(), random_number()?);
    Ok(std::env::temp_dir().join(name))
}

fn random_number() -> io::Result<u64> {
    let mut octets = [0; 8];
    punctual_os::random::fill(&mut octets)?;
    Ok(u64::from_ne_bytes(octets))
}

pub(crate) fn text(path: &Path) -> io::Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8"))
}

struct UnixListener {
    listening: Listening,
    published: String,
    properties: ProtocolProperties,
}

impl Listener for UnixListener {
    fn accept(&self) -> io::Result<Option<Box<dyn Stream>>> {
        let Some(socket) = socket::accept(&self.listening.socket)? else {
            return Ok(None);
        };
        // Unlike TCP sockets, these do not inherit the options of the listening socket.
        socket::set_buffers(&socket, &self.properties)?;
        Ok(Some(Box::new(SocketStream::new(socket))))
    }

    fn shutdown(&self) {
        self.listening.shutdown();
    }

    fn address(&self) -> &str {
        &self.published
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listening.socket.as_fd()
    }
}

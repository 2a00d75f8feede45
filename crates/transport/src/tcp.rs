//! TCP.

use std::{
    io,
    net::{Shutdown, SocketAddr},
    os::fd::{AsFd, BorrowedFd},
    time::{Duration, Instant},
};

use punctual_cdr::{CdrError, Decode, Decoder, Encode, Encoder};
use punctual_giop::TAG_INTERNET_IOP;
use punctual_os::socket_option::set_dont_route;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::{
    AddressError, Listener, ProtocolProperties, SocketStream, Stream, Transport,
    host_port::HostPort,
    resolver::{resolve, resolve_until},
    socket::{self, BACKLOG},
};

/// GIOP over TCP, IIOP: `iiop://HOST:PORT`.
///
/// `HOST` is a name or an address (IPv6 in brackets). `0.0.0.0` means all IPv4 interfaces, and `[::]` those
/// of IPv6, too. Without a port, or with port 0, any free one is used.
///
/// The timeout of connecting includes the resolution of a name. While a name other than `localhost` is being
/// resolved there is a thread `orb-resolver`, because the system's resolver cannot be interrupted. It has the
/// scheduling of the caller, who waits for it until the timeout at most; a caller has at most four unfinished
/// ones. Addresses in numbers need none.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::time::Duration;
///
/// use punctual::transport::{ProtocolProperties, Tcp, Transport};
///
/// let mut properties = ProtocolProperties::default();
/// properties.keep_alive = true;
/// let listener = Tcp.listen("127.0.0.1:0", None, &properties)?;
/// let client = Tcp.connect(listener.address(), &properties, Duration::from_secs(5))?;
/// assert_eq!(client.write(b"GIOP")?, 4);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Tcp;

impl Transport for Tcp {
    fn scheme(&self) -> &str {
        "iiop"
    }

    fn profile_tag(&self) -> u32 {
        TAG_INTERNET_IOP
    }

    fn default_address(&self) -> &str {
        "localhost"
    }

    fn listen(
        &self,
        address: &str,
        published: Option<&str>,
        properties: &ProtocolProperties,
    ) -> io::Result<Box<dyn Listener>> {
        let bound: HostPort = parse(address)?;
        let mut published = match published {
            Some(published) => parse(published)?,
            None => HostPort {
                host: reachable_host(&bound.host),
                port: 0,
            },
        };
        let mut failure = no_address(&bound.host);
        for address in resolve(&bound)? {
            match listening(address, properties) {
                Ok(socket) => {
                    if published.port == 0 {
                        published.port = local_port(&socket)?;
                    }
                    return Ok(Box::new(TcpListener {
                        socket,
                        published: published.to_string(),
                        properties: properties.clone(),
                    }));
                }
                // Not a local address, or of an unsupported family: try the other addresses of the host. A
                // port in use is an error: its server would be reached under the same name.
                Err(error) if is_unusable(&error) => failure = error,
                Err(error) => return Err(error),
            }
        }
        Err(failure)
    }

    fn connect(
        &self,
        address: &str,
        properties: &ProtocolProperties,
        timeout: Duration,
    ) -> io::Result<Box<dyn Stream>> {
        let deadline = Instant::now() + timeout;
        let place: HostPort = parse(address)?;
        let mut failure = no_address(&place.host);
        for address in resolve_until(&place, deadline)? {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match connected(address, properties, left) {
                Ok(stream) => return Ok(Box::new(stream)),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn lane_address(&self, address: &str, _lane: &str) -> String {
        match address.parse::<HostPort>() {
            Ok(place) => HostPort { port: 0, ..place }.to_string(),
            // Listening at it will report the error.
            Err(_) => address.to_owned(),
        }
    }

    fn numbered_address(&self, address: &str, number: u16) -> String {
        match address.parse::<HostPort>() {
            Ok(HostPort { port: 0, .. }) => address.to_owned(),
            Ok(HostPort { host, port }) => match port.checked_add(number) {
                Some(port) => HostPort { host, port }.to_string(),
                None => format!("{host}:{}", u32::from(port) + u32::from(number)),
            },
            // Listening at it will report the error.
            Err(_) => address.to_owned(),
        }
    }

    fn encode_address(&self, address: &str, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        let HostPort { host, port } = address
            .parse()
            .map_err(|_| encoder.error(punctual_cdr::CdrErrorKind::ValueNotRepresentable))?;
        (&host, port).encode(encoder)
    }

    fn decode_address(&self, decoder: &mut Decoder<'_>) -> Result<String, CdrError> {
        let host = String::decode(decoder)?;
        let port = u16::decode(decoder)?;
        Ok(HostPort { host, port }.to_string())
    }
}

fn parse(address: &str) -> Result<HostPort, AddressError> {
    address.parse().map_err(|()| {
        let port = |text: &str| text.parse::<u32>().ok();
        let hint = match address.rsplit(':').next().and_then(port) {
            Some(port) if port > u16::MAX.into() => format!(
                "port {port} is above {}, the last one: choose a lower one (the lanes of a pool listen at \
                 consecutive ports from the first one)",
                u16::MAX
            ),
            Some(port) if !address.contains(':') => {
                format!("{port} is a port without a host: use `iiop://localhost:{port}`, or the host's name")
            }
            _ => "use `iiop://HOST:PORT`, such as `iiop://localhost:2809`".to_owned(),
        };
        AddressError::new(&format!("iiop://{address}"), hint)
    })
}

fn no_address(host: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{host} has no address"))
}

/// Returns the host for references: the machine's name if the acceptor listens on all interfaces.
fn reachable_host(host: &str) -> String {
    if host == "0.0.0.0" || host == "::" {
        let name = rustix::system::uname();
        return name.nodename().to_string_lossy().into_owned();
    }
    host.to_owned()
}

fn listening(address: SocketAddr, properties: &ProtocolProperties) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if let SocketAddr::V6(address) = address {
        // `[::]` includes IPv4.
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    // Accepted sockets inherit both.
    socket::set_buffers(&socket, properties)?;
    set_dont_route(&socket, properties.dont_route)?;
    socket.bind(&SockAddr::from(address))?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn is_unusable(error: &io::Error) -> bool {
    let unsupported = Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error());
    error.kind() == io::ErrorKind::AddrNotAvailable || error.raw_os_error() == unsupported
}

fn local_port(socket: &Socket) -> io::Result<u16> {
    let address = socket.local_addr()?;
    Ok(address.as_socket().map_or(0, |address| address.port()))
}

fn connected(
    address: SocketAddr,
    properties: &ProtocolProperties,
    timeout: Duration,
) -> io::Result<SocketStream> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket::set_buffers(&socket, properties)?;
    set_dont_route(&socket, properties.dont_route)?;
    socket::connect(&socket, &SockAddr::from(address), timeout)?;
    stream(socket, properties)
}

fn stream(socket: Socket, properties: &ProtocolProperties) -> io::Result<SocketStream> {
    socket.set_tcp_nodelay(properties.no_delay)?;
    socket.set_keepalive(properties.keep_alive)?;
    Ok(SocketStream::new(socket))
}

struct TcpListener {
    socket: Socket,
    published: String,
    properties: ProtocolProperties,
}

impl Listener for TcpListener {
    fn accept(&self) -> io::Result<Option<Box<dyn Stream>>> {
        let Some(socket) = socket::accept(&self.socket)? else {
            return Ok(None);
        };
        // A socket that refuses its options is already closed.
        let stream = stream(socket, &self.properties).map_err(|_| io::ErrorKind::Interrupted)?;
        Ok(Some(Box::new(stream)))
    }

    fn shutdown(&self) {
        // It stops listening, and cannot fail on a listening socket.
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    fn address(&self) -> &str {
        &self.published
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_of_a_pool_have_consecutive_ports() {
        for (address, second) in [
            ("localhost:2811", "localhost:2813"),
            ("[::1]:2811", "[::1]:2813"),
            ("localhost", "localhost"),
            ("localhost:65534", "localhost:65536"),
        ] {
            assert_eq!(Tcp.numbered_address(address, 2), second);
        }
        let beyond = parse("localhost:65536").unwrap_err().to_string();
        assert!(beyond.contains("port 65536 is above 65535"), "{beyond}");
    }

    #[test]
    fn connecting_without_a_server_is_refused() {
        let properties = ProtocolProperties::default();
        let listener = Tcp.listen("127.0.0.1:0", None, &properties).unwrap();
        let address = listener.address().to_owned();
        drop(listener);
        let error = Tcp
            .connect(&address, &properties, Duration::from_secs(5))
            .err()
            .unwrap();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }
}

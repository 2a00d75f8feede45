//! GIOP over sockets in Linux's abstract namespace: like Unix sockets, but without a file.
//!
//! This is a complete transport.

use std::{
    io,
    net::Shutdown,
    os::fd::{AsFd, BorrowedFd},
    time::Duration,
};

use punctual::transport::{
    AddressError, CdrError, Decode, Decoder, Encode, Encoder, Listener, ProtocolProperties, Reach,
    SocketStream, Stream, Transport,
};
use socket2::{Domain, SockAddr, Socket, Type};

/// Tag of its profiles, equal on both sides. The OMG assigns ranges of tags; this one is unassigned.
pub const TAG: u32 = 0x4142_5300;

/// The transport of endpoints `abstract://NAME`.
pub struct Abstract;

impl Transport for Abstract {
    fn scheme(&self) -> &str {
        "abstract"
    }

    fn profile_tag(&self) -> u32 {
        TAG
    }

    // Clients on other hosts skip the profile; clients on this host try the highest preference first.
    fn reach(&self) -> Reach {
        Reach::Host { preference: 110 }
    }

    fn listen(
        &self,
        address: &str,
        published: Option<&str>,
        _properties: &ProtocolProperties,
    ) -> io::Result<Box<dyn Listener>> {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.bind(&socket_address(address)?)?;
        socket.listen(128)?;
        // Lanes wait in a poller, never in `accept`.
        socket.set_nonblocking(true)?;
        let published = published.unwrap_or(address).to_owned();
        Ok(Box::new(AbstractListener { socket, published }))
    }

    fn connect(
        &self,
        address: &str,
        _properties: &ProtocolProperties,
        timeout: Duration,
    ) -> io::Result<Box<dyn Stream>> {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        // Connecting succeeds at once, or waits for the listener's queue with the timeout of writes.
        socket.set_write_timeout(Some(timeout))?;
        socket
            .connect(&socket_address(address)?)
            .map_err(|error| match error.kind() {
                io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
                _ => error,
            })?;
        socket.set_write_timeout(None)?;
        Ok(Box::new(SocketStream::new(socket)))
    }

    // Each lane has its own acceptor, in addition to the ORB's.
    fn lane_address(&self, address: &str, lane: &str) -> String {
        format!("{address}.{lane}")
    }

    // In references, an address is a string.
    fn encode_address(&self, address: &str, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        address.encode(encoder)
    }

    fn decode_address(&self, decoder: &mut Decoder<'_>) -> Result<String, CdrError> {
        String::decode(decoder)
    }
}

/// Abstract names begin with a NUL.
fn socket_address(name: &str) -> io::Result<SockAddr> {
    const LONGEST: usize = 100;
    if name.is_empty() || name.len() > LONGEST || name.contains(|c: char| c.is_control()) {
        let hint = format!("write `abstract://NAME` with a name of at most {LONGEST} printable octets");
        return Err(AddressError::new(&format!("abstract://{name}"), hint).into());
    }
    SockAddr::unix(format!("\0{name}"))
}

struct AbstractListener {
    socket: Socket,
    published: String,
}

impl Listener for AbstractListener {
    fn accept(&self) -> io::Result<Option<Box<dyn Stream>>> {
        match self.socket.accept() {
            Ok((socket, _)) => {
                socket.set_nonblocking(true)?;
                Ok(Some(Box::new(SocketStream::new(socket))))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn shutdown(&self) {
        // Cannot fail on a listening socket.
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    fn address(&self) -> &str {
        &self.published
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

//! TCP, without delay (Nagle's algorithm off) and with keep-alive.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs},
    os::fd::{AsFd, BorrowedFd},
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::{Address, Listener, Peer, Stream};

/// Listens at an address.
pub fn listen(address: &Address) -> io::Result<Box<dyn Listener>> {
    let socket_address = resolve(&address.host, address.port)?.next().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("{} has no address", address.host),
        )
    })?;
    let socket = Socket::new(
        Domain::for_address(socket_address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    if let SocketAddr::V6(address) = socket_address {
        // All interfaces means those of IPv4 as well.
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    socket.bind(&SockAddr::from(socket_address))?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    let port = socket
        .local_addr()?
        .as_socket()
        .map_or(0, |address| address.port());
    Ok(Box::new(TcpListener { socket, port }))
}

/// Connects to a host and port, trying each of the host's addresses until `timeout` has passed.
///
/// Name resolution is the system's and has its own time-outs.
pub fn connect(host: &str, port: u16, timeout: Duration) -> io::Result<Box<dyn Stream>> {
    let deadline = Instant::now() + timeout;
    let mut failure = io::Error::new(io::ErrorKind::NotFound, format!("{host} has no address"));
    for address in resolve(host, port)? {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => return prepare(stream.into()).map(|stream| Box::new(stream) as _),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

const BACKLOG: i32 = 128;

/// IPv4 first: a name with both is mostly the loopback, and peers more often reach IPv4.
fn resolve(host: &str, port: u16) -> io::Result<impl Iterator<Item = SocketAddr>> {
    let mut addresses: Vec<_> = (host, port).to_socket_addrs()?.collect();
    addresses.sort_by_key(SocketAddr::is_ipv6);
    Ok(addresses.into_iter())
}

fn prepare(socket: Socket) -> io::Result<Tcp> {
    socket.set_tcp_nodelay(true)?;
    socket.set_keepalive(true)?;
    Ok(Tcp {
        stream: socket.into(),
    })
}

struct TcpListener {
    socket: Socket,
    port: u16,
}

impl Listener for TcpListener {
    fn accept(&self) -> io::Result<Option<Box<dyn Stream>>> {
        loop {
            match self.socket.accept() {
                Ok((socket, _)) => {
                    socket.set_nonblocking(true)?;
                    return Ok(Some(Box::new(prepare(socket)?)));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                // The peer gave up before it was accepted: look for the next one.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted
                    ) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn shutdown(&self) {
        // On a listening socket this ends the listening; it cannot fail otherwise.
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

struct Tcp {
    stream: TcpStream,
}

impl Stream for Tcp {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        retry_interrupted(|| (&self.stream).read(buffer))
    }

    fn write(&self, octets: &[u8]) -> io::Result<usize> {
        retry_interrupted(|| (&self.stream).write(octets))
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.stream.set_read_timeout(timeout)?;
        self.stream.set_write_timeout(timeout)
    }

    fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec {
                tv_sec: left.as_secs() as i64,
                tv_nsec: left.subsec_nanos().into(),
            };
            match poll(&mut [PollFd::new(&self.stream, PollFlags::IN)], Some(&timeout)) {
                Ok(ready) => return Ok(ready > 0),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn shutdown(&self) {
        // It fails where the peer was faster, which comes to the same.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn peer(&self) -> Peer {
        let (Ok(peer), Ok(own)) = (self.stream.peer_addr(), self.stream.local_addr()) else {
            // It has gone already, and gets nothing.
            return Peer::Unknown;
        };
        let (peer, own) = (peer.ip().to_canonical(), own.ip().to_canonical());
        if peer.is_loopback() || peer == own {
            Peer::Loopback
        } else {
            Peer::Network(peer)
        }
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn retry_interrupted(mut operation: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match operation() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_arrive_in_both_directions() {
        let listener = listen(&"iiop://localhost:0".parse().unwrap()).unwrap();
        assert!(listener.accept().unwrap().is_none(), "accepting never blocks");
        let client = connect("localhost", listener.port(), Duration::from_secs(5)).unwrap();
        let server = loop {
            if let Some(stream) = listener.accept().unwrap() {
                break stream;
            }
        };
        let mut buffer = [0; 8];
        assert_eq!(
            server.read(&mut buffer).unwrap_err().kind(),
            io::ErrorKind::WouldBlock
        );
        assert_eq!((server.peer(), client.peer()), (Peer::Loopback, Peer::Loopback));
        client.write(b"ping").unwrap();
        assert!(server.wait_readable(Duration::from_secs(5)).unwrap());
        assert_eq!(server.read(&mut buffer).unwrap(), 4);
        assert!(!client.wait_readable(Duration::from_millis(1)).unwrap());
        server.write(b"pong!").unwrap();
        assert_eq!(client.read(&mut buffer).unwrap(), 5);
        server.shutdown();
        assert_eq!(client.read(&mut buffer).unwrap(), 0);
    }

    #[test]
    fn nobody_listening_is_said_as_such() {
        let port = listen(&"iiop://127.0.0.1:0".parse().unwrap()).unwrap().port();
        let error = connect("127.0.0.1", port, Duration::from_secs(5)).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }
}

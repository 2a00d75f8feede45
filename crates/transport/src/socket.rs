use std::{
    io::{self, Read, Write},
    net::Shutdown,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{SockAddr, Socket};

use crate::{Peer, ProtocolProperties, Stream};

/// A stream that is a socket, connected and of type SOCK_STREAM: TCP, Unix, or any other that a transport opens.
pub struct SocketStream {
    socket: Socket,
    peer: Peer,
}

impl SocketStream {
    /// Takes over a connected socket.
    pub fn new(socket: impl Into<OwnedFd>, peer: Peer) -> Self {
        Self {
            socket: Socket::from(socket.into()),
            peer,
        }
    }
}

impl Stream for SocketStream {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        retry_interrupted(|| (&self.socket).read(buffer))
    }

    fn write(&self, octets: &[u8]) -> io::Result<usize> {
        retry_interrupted(|| (&self.socket).write(octets))
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.socket.set_nonblocking(nonblocking)
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.socket.set_read_timeout(timeout)?;
        self.socket.set_write_timeout(timeout)
    }

    fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec {
                tv_sec: left.as_secs() as i64,
                tv_nsec: left.subsec_nanos().into(),
            };
            match poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(&timeout)) {
                Ok(ready) => return Ok(ready > 0),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn shutdown(&self) {
        // It fails where the peer was faster, which comes to the same.
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    fn peer(&self) -> Peer {
        self.peer
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The next connection of a listening socket in non-blocking mode, itself in non-blocking mode.
pub(crate) fn accept(listening: &Socket) -> io::Result<Option<(Socket, SockAddr)>> {
    loop {
        match listening.accept() {
            Ok((socket, peer)) => {
                socket.set_nonblocking(true)?;
                return Ok(Some((socket, peer)));
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

/// Sets the buffers of a socket, before it listens or connects: TCP agrees upon its window then.
pub(crate) fn set_buffers(socket: &Socket, properties: &ProtocolProperties) -> io::Result<()> {
    if let Some(size) = properties.send_buffer_size {
        socket.set_send_buffer_size(size as usize)?;
    }
    if let Some(size) = properties.recv_buffer_size {
        socket.set_recv_buffer_size(size as usize)?;
    }
    Ok(())
}

/// Connections that wait to be accepted.
pub(crate) const BACKLOG: i32 = 128;

fn retry_interrupted(mut operation: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match operation() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

//! A raw connection to a lane.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Ipv4Addr, SocketAddrV4, TcpStream},
    time::{Duration, Instant},
};

use rustix::net::{
    AddressFamily, RecvFlags, SocketFlags, SocketType, bind, connect, recv, socket_with, sockopt,
};

use super::target::Target;

/// Address of well-behaved clients.
pub(super) const CLIENT: Ipv4Addr = Ipv4Addr::LOCALHOST;
/// Address of attackers: limits per address must not hit the others.
pub(super) const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 66);

/// A connection over TCP.
pub(super) struct Line(TcpStream);

impl Line {
    /// Connects from this address; this and each later wait ends after `timeout`.
    pub(super) fn connect(target: &Target, from: Ipv4Addr, timeout: Duration) -> io::Result<Self> {
        let socket = socket_with(
            AddressFamily::INET,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )?;
        bind(&socket, &SocketAddrV4::new(from, 0))?;
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(timeout))?;
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(timeout))?;
        // Closing resets the connection: thousands in TIME_WAIT would use up the ports.
        sockopt::set_socket_linger(&socket, Some(Duration::ZERO))?;
        connect(&socket, &target.tcp)?;
        let stream = TcpStream::from(socket);
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }

    /// Sends octets, and reads and ignores what the server answers meanwhile. `false`: the time was over
    /// before all were sent.
    ///
    /// # Errors
    /// The server has closed the connection.
    pub(super) fn push(&mut self, octets: &[u8], deadline: Instant) -> io::Result<bool> {
        self.discard()?;
        self.push_unread(octets, deadline, Self::discard)
    }

    /// Like [`Self::push`], without reading.
    pub(super) fn push_only(&mut self, octets: &[u8], deadline: Instant) -> io::Result<bool> {
        self.push_unread(octets, deadline, |_| Ok(()))
    }

    fn push_unread(
        &mut self,
        mut octets: &[u8],
        deadline: Instant,
        meanwhile: impl Fn(&mut Self) -> io::Result<()>,
    ) -> io::Result<bool> {
        while !octets.is_empty() {
            if Instant::now() >= deadline {
                return Ok(false);
            }
            match self.0.write(octets) {
                Ok(count) => octets = &octets[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => meanwhile(self)?,
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Reads and ignores what has arrived.
    fn discard(&mut self) -> io::Result<()> {
        let mut octets = [0; 16 << 10];
        loop {
            match recv(&self.0, &mut octets, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(ErrorKind::ConnectionAborted.into()),
                Ok(_) => {}
                Err(rustix::io::Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads exactly this many octets.
    pub(super) fn read(&mut self, octets: &mut [u8]) -> io::Result<()> {
        self.0.read_exact(octets)
    }
}

//! What passes over the Unix socket, once, from server to client; the socket is then closed.
//!
//! A message of 32 octets, a magic text with a version and the [`Incarnation`], with three descriptors: the memory, the end of
//! the bell to hear the server, and the end of the bell to ring for it. The client says nothing, so the server never waits.

use std::{
    fmt,
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, OwnedFd},
    str::FromStr,
    time::Duration,
};

use punctual_os::shm::{Ear, Ringer, Segment, bell};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use socket2::Socket;

const MAGIC: [u8; 16] = *b"Punctual shm 1\0\0";

/// A server's random number, by which its clients know that they have come to the right one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Incarnation(u128);

impl Incarnation {
    pub(super) fn new() -> io::Result<Self> {
        let mut octets = [0; 16];
        let count = rustix::rand::getrandom(&mut octets, rustix::rand::GetRandomFlags::empty())?;
        debug_assert_eq!(count, octets.len(), "so few octets always come at once");
        Ok(Self(u128::from_ne_bytes(octets)))
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Incarnation {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let well_formed = text.len() == 32 && text.bytes().all(|octet| octet.is_ascii_hexdigit());
        let number = well_formed.then(|| u128::from_str_radix(text, 16).ok()).flatten();
        number.map(Self).ok_or(())
    }
}

/// One side's part of a connection.
pub(super) struct Connection {
    pub(super) segment: Segment,
    pub(super) ear: Ear,
    pub(super) ringer: Ringer,
}

/// The server's side: makes a connection and gives the client its part. Never blocks.
pub(super) fn offer(socket: &Socket, incarnation: Incarnation, ring_size: usize) -> io::Result<Connection> {
    let (segment, memory) = Segment::create(ring_size)?;
    let (ear, of_client) = bell()?;
    let (for_client, ringer) = bell()?;
    let (for_client, of_client) = (OwnedFd::from(for_client), OwnedFd::from(of_client));
    let descriptors = [memory.as_fd(), for_client.as_fd(), of_client.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    assert!(ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)));
    let number = incarnation.0.to_be_bytes();
    let text = [IoSlice::new(&MAGIC), IoSlice::new(&number)];
    sendmsg(
        socket,
        &text,
        &mut ancillary,
        SendFlags::DONTWAIT | SendFlags::NOSIGNAL,
    )?;
    Ok(Connection { segment, ear, ringer })
}

/// The client's side: waits for its part, for `timeout` at most, and checks it.
pub(super) fn accepted(
    socket: &Socket,
    incarnation: Option<Incarnation>,
    timeout: Duration,
) -> io::Result<Connection> {
    if timeout.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    socket.set_read_timeout(Some(timeout))?;
    let mut octets = [0; 32];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut octets)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )
    .map_err(|error| match error {
        rustix::io::Errno::AGAIN => io::ErrorKind::TimedOut.into(),
        error => io::Error::from(error),
    })?;
    let descriptors: Vec<OwnedFd> = ancillary
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    if received.bytes == 0 {
        let problem = "the server has closed the connection at once; has it reached its limit of open files?";
        return Err(io::Error::new(io::ErrorKind::ConnectionRefused, problem));
    }
    let (magic, number) = octets.split_at(MAGIC.len());
    if received.bytes != octets.len() || magic != MAGIC {
        return Err(invalid(
            "what listens there does not speak this shared-memory protocol",
        ));
    }
    if received.flags.contains(ReturnFlags::CTRUNC) {
        return Err(io::Error::other(
            "not all descriptors could be received: raise the limit of open files",
        ));
    }
    let number = u128::from_be_bytes(number.try_into().expect("sixteen octets"));
    if incarnation.is_some_and(|meant| meant.0 != number) {
        let problem = "another server than the one that is meant listens there";
        return Err(io::Error::new(io::ErrorKind::ConnectionRefused, problem));
    }
    let [memory, ear, ringer] = <[OwnedFd; 3]>::try_from(descriptors)
        .map_err(|descriptors| invalid(&format!("{} descriptors came and not 3", descriptors.len())))?;
    Ok(Connection {
        segment: Segment::open(memory)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?,
        ear: Ear::from_peer(ear)?,
        ringer: Ringer::from_peer(ringer)?,
    })
}

fn invalid(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

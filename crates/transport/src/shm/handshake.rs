//! The handshake over the Unix socket, which is closed afterwards.

use std::{
    fmt,
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, OwnedFd},
    str::FromStr,
    time::Duration,
};

use punctual_os::shm::{DoorbellReceiver, DoorbellSender, Segment, doorbell};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recv, recvmsg, send, sendmsg,
};
use socket2::Socket;

const MAGIC: [u8; 16] = *b"Punctual shm 2\0\0";
/// Size of the first two messages in octets.
const HELLO: usize = 32;
/// Last message.
const OPENED: u8 = 1;

/// The random number by which clients identify their server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Incarnation(u128);

impl Incarnation {
    pub(super) fn new() -> io::Result<Self> {
        let mut octets = [0; 16];
        let count = rustix::rand::getrandom(&mut octets, rustix::rand::GetRandomFlags::empty())?;
        debug_assert_eq!(count, octets.len(), "a few octets are always returned together");
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
    pub(super) receiver: DoorbellReceiver,
    pub(super) sender: DoorbellSender,
}

/// Server: a connection that the client has not opened yet.
///
/// | from | message |
/// |---|---|
/// | client | [`HELLO`] octets: a magic text with a version, and the [`Incarnation`] that it expects, or 0 |
/// | server | the same with its own incarnation, and three descriptors: the memory, the receiving end of the server's bell, and the ringing end of the client's |
/// | client | one octet: it has opened and sealed the memory |
///
/// The server never waits: [`Offer`] is created when the first message has arrived, and completed when the
/// last has. So a peer that only connects costs no memory.
pub(super) struct Offer {
    connection: Connection,
    memory: OwnedFd,
}

/// Server: receives the first message, which has arrived.
pub(super) fn receive_hello(socket: &Socket, incarnation: Incarnation) -> io::Result<()> {
    // One more octet than permitted.
    let mut octets = [0; HELLO + 1];
    let (count, _) = recv(socket, &mut octets[..], RecvFlags::DONTWAIT)?;
    let (magic, number) = octets[..HELLO].split_at(MAGIC.len());
    let expected = incarnation.0.to_be_bytes();
    let fits = number == expected || number == [0; 16];
    if count == HELLO && magic == MAGIC && fits {
        Ok(())
    } else {
        Err(io::ErrorKind::InvalidData.into())
    }
}

impl Offer {
    /// Server: creates a connection and sends the client its part. Never blocks.
    pub(super) fn send(socket: &Socket, incarnation: Incarnation, ring_size: usize) -> io::Result<Self> {
        let (segment, memory) = Segment::create(ring_size)?;
        let (receiver, of_client) = doorbell()?;
        let (for_client, sender) = doorbell()?;
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
        Ok(Self {
            connection: Connection {
                segment,
                receiver,
                sender,
            },
            memory,
        })
    }

    /// Server: receives the last message, which has arrived, and allocates the memory.
    pub(super) fn complete(self, socket: &Socket) -> io::Result<Connection> {
        let mut octets = [0; 2];
        let (count, _) = recv(socket, &mut octets[..], RecvFlags::DONTWAIT)?;
        if count != 1 || octets[0] != OPENED {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.connection
            .segment
            .complete(&self.memory)
            .map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(self.connection)
    }
}

/// Client: requests its part, receives it within `timeout` and validates it.
pub(super) fn accepted(
    socket: &Socket,
    incarnation: Option<Incarnation>,
    timeout: Duration,
) -> io::Result<Connection> {
    if timeout.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    socket.set_read_timeout(Some(timeout))?;
    let expected = incarnation.map_or(0, |expected| expected.0);
    let hello = [MAGIC, expected.to_be_bytes()].concat();
    // A server that has closed the connection is detected by the receiver.
    let _ = send(socket, &hello, SendFlags::NOSIGNAL);
    let mut octets = [0; HELLO];
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
        rustix::io::Errno::CONNRESET => refused(),
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
        return Err(refused());
    }
    let number = match octets[..received.bytes].split_last_chunk() {
        Some((magic, number)) if magic == MAGIC => u128::from_be_bytes(*number),
        _ => return Err(invalid("the server does not use this shared-memory protocol")),
    };
    if received.flags.contains(ReturnFlags::CTRUNC) {
        return Err(io::Error::other(
            "not all descriptors could be received; raise the limit of open files",
        ));
    }
    if incarnation.is_some_and(|expected| expected.0 != number) {
        let problem = "another server listens at this path";
        return Err(io::Error::new(io::ErrorKind::ConnectionRefused, problem));
    }
    let [memory, receiver, sender] = <[OwnedFd; 3]>::try_from(descriptors).map_err(|descriptors| {
        invalid(&format!(
            "received {} descriptors instead of 3",
            descriptors.len()
        ))
    })?;
    let connection = Connection {
        segment: Segment::open(memory)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?,
        receiver: DoorbellReceiver::from_peer(receiver)?,
        sender: DoorbellSender::from_peer(sender)?,
    };
    // A server that has gone is detected by the first call.
    let _ = send(socket, &[OPENED], SendFlags::NOSIGNAL);
    Ok(connection)
}

fn refused() -> io::Error {
    let problem = "the server closed the connection immediately: another one listens at this path, or it has \
                   reached a limit of connections or open files";
    io::Error::new(io::ErrorKind::ConnectionRefused, problem)
}

fn invalid(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

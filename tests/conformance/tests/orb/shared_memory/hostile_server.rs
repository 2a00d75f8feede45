//! Hostile servers over shared memory cost the client their own connection only.

use std::{
    fs::File,
    io::IoSlice,
    mem::MaybeUninit,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::{UnixListener, UnixStream},
    },
    time::{Duration, Instant},
};

use punctual_fixtures::wire::COMMON;
use punctual_os::shm::{DoorbellReceiver, DoorbellSender, Segment, doorbell};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::mapped::Mapped;

/// A server's side of a connection that was made gracefully, and does what it likes with the memory.
pub struct HostileServer {
    segment: Segment,
    mapped: Mapped,
    receiver: DoorbellReceiver,
    sender: DoorbellSender,
    random: u64,
}

/// Offset of the client's words. Those of the server stand before them; then come both rings.
const CONTROL: u64 = 512;
const RINGS: u64 = 4096;
const RING_SIZE: usize = 64 << 10;

impl HostileServer {
    /// Serves the next client, as the server with this number.
    pub fn accept(listener: &UnixListener, number: u128, seed: u64) -> Self {
        let (socket, _) = listener.accept().unwrap();
        Self::offer(&socket, number, seed)
    }

    fn offer(socket: &UnixStream, number: u128, seed: u64) -> Self {
        let (segment, memory) = Segment::create(RING_SIZE).unwrap();
        let memory = File::from(memory);
        let mapped = Mapped::find(&memory, &[]);
        let (receiver, of_client) = doorbell().unwrap();
        let (for_client, sender) = doorbell().unwrap();
        let (for_client, of_client) = (OwnedFd::from(for_client), OwnedFd::from(of_client));
        let descriptors = [memory.as_fd(), for_client.as_fd(), of_client.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        assert!(ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)));
        let number = number.to_be_bytes();
        let text = [IoSlice::new(b"Punctual shm 2\0\0"), IoSlice::new(&number)];
        // Should the client have gone, the first look at the bell shows it.
        let _ = sendmsg(socket, &text, &mut ancillary, SendFlags::NOSIGNAL);
        Self {
            segment,
            mapped,
            receiver,
            sender,
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        }
    }

    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    /// The id of the next request; `None`: the client has gone, or nothing came for a while.
    pub fn receive(&self) -> Option<u32> {
        let (mut octets, mut buffer) = (Vec::new(), [0; 4096]);
        let until = Instant::now() + Duration::from_secs(1);
        while Instant::now() < until && !self.receiver.is_hung_up() {
            let read = self.segment.read(&mut buffer, false).ok()?;
            octets.extend_from_slice(&buffer[..read.count]);
            if let Some(id) = octets.get(12..16) {
                return Some(u32::from_ne_bytes(id.try_into().unwrap()));
            }
            std::thread::sleep(Duration::from_micros(50));
        }
        None
    }

    /// Writes as an honest server does, though always ringing.
    pub fn send(&self, octets: &[u8]) {
        let _ = self.segment.write(octets);
        self.sender.ring();
    }

    /// The honest answer, 42.
    pub fn answer(&self, id: u32) {
        self.send(&COMMON.reply(id, 0, |body| body.i32(42)));
    }

    /// Changes something, mostly what says where everything is, and rings.
    pub fn scribble(&mut self) {
        let (value, shift) = (self.random(), self.random() % 64);
        let at = match self.random() % 4 {
            0 => RINGS + self.random() % (2 * RING_SIZE as u64 - 8),
            _ => self.random() % (CONTROL / 8) * 8,
        };
        self.mapped.write_all_at(&(value >> shift).to_ne_bytes(), at);
        self.sender.ring();
    }
}

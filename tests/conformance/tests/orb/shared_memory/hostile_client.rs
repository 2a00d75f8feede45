//! Hostile clients over shared memory cost the server their own connection only.

use std::{
    fs::File,
    io::{self, IoSliceMut, Write},
    mem::MaybeUninit,
    os::{
        fd::OwnedFd,
        unix::{fs::FileExt, net::UnixStream},
    },
    time::Duration,
};

use punctual_fixtures::{conformance::ProbeRef, eventually};
use punctual_os::shm::Segment;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::mapped::{self, Mapped};

/// A client that has come by the memory of a connection gracefully, and does what it likes with it.
pub struct HostileClient {
    memory: File,
    mapped: Mapped,
    _segment: Segment,
    receiver: OwnedFd,
    sender: OwnedFd,
    random: u64,
    written: u64,
}

/// Version 2, and any server.
const HELLO: &[u8; 32] = b"Punctual shm 2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// Where the words of control stand: what the server says as a writer and as a reader of the first ring, from
/// server to client, then what the client says of the second one.
const OF_SERVER: u64 = 0;
const OF_CLIENT: u64 = 256;
const RINGS: u64 = 4096;
const RING_SIZE: u64 = 64 << 10;

/// The path of the Unix socket at which clients of an object come by their memory.
pub fn address(probe: &ProbeRef) -> String {
    address_in(probe, 0)
}

/// Like [`address`], in this one of the reference's profiles.
pub fn address_in(probe: &ProbeRef, profile: usize) -> String {
    published(probe, profile).0
}

/// The path, and the random number of the server that listens there.
pub fn published(probe: &ProbeRef, profile: usize) -> (String, u128) {
    let profile = &probe.ior().profiles[profile].data;
    // Byte order, version and padding, then a string with its length.
    let length = u32::from_ne_bytes(profile[4..8].try_into().unwrap()) as usize;
    let address = String::from_utf8(profile[8..8 + length - 1].to_vec()).unwrap();
    let (path, number) = address.split_once('?').unwrap();
    (path.to_owned(), u128::from_str_radix(number, 16).unwrap())
}

impl HostileClient {
    pub fn connect(path: &str, seed: u64) -> Self {
        let mut socket = UnixStream::connect(path).unwrap();
        socket.write_all(HELLO).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut octets = [0; 32];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut text = [IoSliceMut::new(&mut octets)];
        let received = recvmsg(&socket, &mut text, &mut ancillary, RecvFlags::empty()).unwrap();
        assert_eq!(received.bytes, 32);
        let mut descriptors: Vec<OwnedFd> = ancillary
            .drain()
            .filter_map(|message| match message {
                RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
                _ => None,
            })
            .flatten()
            .collect();
        let sender = descriptors.pop().unwrap();
        let receiver = descriptors.pop().unwrap();
        let memory = File::from(descriptors.pop().unwrap());
        let others = mapped::addresses(&memory);
        // Only who seals the memory is connected.
        let segment = Segment::open(&memory).unwrap();
        let mapped = Mapped::find(&memory, &others);
        socket.write_all(&[1]).unwrap();
        Self {
            memory,
            mapped,
            _segment: segment,
            receiver,
            sender,
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            written: 0,
        }
    }

    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    /// Changes something, anywhere, and rings. `true`: the server has given the connection up.
    pub fn scribble(&mut self) -> bool {
        let (value, shift) = (self.random(), self.random() % 64);
        let at = match self.random() % 4 {
            0 => OF_SERVER + self.random() % 64 * 8,
            1 => OF_CLIENT,
            2 => OF_CLIENT + self.random() % 32 * 8,
            _ => RINGS + self.random() % (2 * RING_SIZE - 8),
        };
        self.mapped.write_all_at(&(value >> shift).to_ne_bytes(), at);
        self.ring()
    }

    fn ring(&self) -> bool {
        match rustix::io::write(&self.sender, &[1]) {
            Ok(_) | Err(rustix::io::Errno::AGAIN) => false,
            Err(error) => {
                assert_eq!(error, rustix::io::Errno::PIPE);
                true
            }
        }
    }

    /// Writes as an honest client does, though always ringing.
    pub fn write(&mut self, octets: &[u8]) {
        self.mapped.write_all_at(octets, RINGS + RING_SIZE + self.written);
        self.written += octets.len() as u64;
        self.mapped.write_all_at(&self.written.to_ne_bytes(), OF_CLIENT);
        self.ring();
    }

    /// Returns the first octets that the server has written.
    pub fn read(&self, count: usize) -> Vec<u8> {
        let mut written = [0; 8];
        eventually("the server has answered", || {
            self.memory.read_exact_at(&mut written, OF_SERVER).unwrap();
            u64::from_ne_bytes(written) >= count as u64
        });
        let mut rings = [0; 64];
        let rung = rustix::io::read(&self.receiver, &mut rings).map_err(io::Error::from);
        assert!(rung.unwrap() > 0, "and has rung");
        let mut octets = vec![0; count];
        self.memory.read_exact_at(&mut octets, RINGS).unwrap();
        octets
    }
}

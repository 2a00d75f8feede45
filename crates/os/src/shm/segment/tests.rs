//! Two sides of one segment in one process, and a hostile third.

use std::os::fd::AsRawFd;

use rustix::fs::{MemfdFlags, SealFlags};

use super::super::mapping::FIXED_SIZE;
use super::*;
use crate::ThreadSpec;

/// Returns both sides and the descriptor.
fn pair(ring_size: usize) -> (Segment, Segment, OwnedFd) {
    let (server, memory) = Segment::create(ring_size).unwrap();
    let client = Segment::open(&memory).unwrap();
    server.complete(&memory).unwrap();
    (server, client, memory)
}

/// Returns both sides, and another mapping that was made before the memory was sealed.
fn scribbled_pair(ring_size: usize) -> (Segment, Segment, Scribbler) {
    let (server, memory) = Segment::create(ring_size).unwrap();
    let scribbler = Scribbler::new(&memory, ring_size);
    let client = Segment::open(&memory).unwrap();
    server.complete(&memory).unwrap();
    (server, client, scribbler)
}

#[test]
fn a_stream_of_octets_arrives_in_order_across_the_rings_end() {
    let (server, client, _memory) = pair(MIN_RING_SIZE);
    let (mut sent, mut received) = (0_u32, 0_u32);
    let mut buffer = [0; 1000];
    for round in 0..2_000 {
        let octets: Vec<u8> = (0..(round * 37) % 1500)
            .map(|index| (sent + index) as u8)
            .collect();
        sent += client.write(&octets).unwrap().count as u32;
        let count = server.read(&mut buffer, false).unwrap().count;
        for octet in &buffer[..count] {
            assert_eq!(*octet, received as u8);
            received += 1;
        }
    }
    assert!(received > 100 * MIN_RING_SIZE as u32);
}

#[test]
fn the_doorbell_is_rung_only_if_the_peer_sleeps() {
    let (server, client, _memory) = pair(MIN_RING_SIZE);
    let mut buffer = [0; 8];
    assert!(client.write(b"a").unwrap().wake, "the reader starts asleep");
    assert!(!client.write(b"b").unwrap().wake, "already rung");
    assert_eq!(server.read(&mut buffer[..2], true).unwrap().count, 2);
    assert!(
        !client.write(b"c").unwrap().wake,
        "a read that filled its buffer does not sleep"
    );
    assert_eq!(server.read(&mut buffer, true).unwrap().count, 1);
    assert!(client.write(b"d").unwrap().wake, "this read emptied the ring");
    assert!(server.sleep().unwrap(), "an octet is available");
    assert_eq!(server.read(&mut buffer, false).unwrap().count, 1);
    assert!(!server.sleep().unwrap());
}

#[test]
fn a_full_ring_wakes_its_writer_when_half_of_it_is_read() {
    let (server, client, _memory) = pair(MIN_RING_SIZE);
    let octets = [7; MIN_RING_SIZE + 1];
    assert_eq!(client.write(&octets).unwrap().count, MIN_RING_SIZE);
    assert_eq!(client.write(&octets).unwrap().count, 0);
    assert!(!client.wait_for_room().unwrap());
    let mut buffer = [0; MIN_RING_SIZE / 2];
    let little = server.read(&mut buffer[..100], false).unwrap();
    assert!(!little.wake);
    assert!(client.wait_for_room().unwrap());
    assert!(server.read(&mut buffer, false).unwrap().wake);
}

#[test]
fn unread_octets_can_be_taken_back() {
    let (server, client, _memory) = pair(MIN_RING_SIZE);
    client.write(b"kept").unwrap();
    client.write(b"gone").unwrap();
    assert!(client.take_back(4));
    let mut buffer = [0; 16];
    assert_eq!(server.read(&mut buffer, false).unwrap().count, 4);
    assert_eq!(&buffer[..4], b"kept");
    client.write(b"read").unwrap();
    server.read(&mut buffer[..1], false).unwrap();
    assert!(!client.take_back(4));
}

#[test]
fn only_the_peer_sees_a_close() {
    let (server, client, _memory) = pair(MIN_RING_SIZE);
    client.close();
    assert!(server.is_closed_by_peer());
    assert!(!client.is_closed_by_peer());
}

#[test]
fn unsealed_memory_is_refused() {
    let memfd = |seals: SealFlags, length: u64| {
        let memory =
            rustix::fs::memfd_create(c"test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
        rustix::fs::ftruncate(&memory, length).unwrap();
        rustix::fs::fcntl_add_seals(&memory, seals).unwrap();
        memory
    };
    let good = (CONTROL + 2 * MIN_RING_SIZE) as u64;
    assert!(Segment::open(memfd(FIXED_SIZE, good)).is_ok());
    let refused = Segment::open(memfd(FIXED_SIZE | SealFlags::SEAL, good)).err();
    assert!(
        matches!(refused, Some(SegmentError::Holes)),
        "holes cannot be prevented"
    );
    for seals in [SealFlags::empty(), SealFlags::SHRINK, SealFlags::GROW] {
        let refused = Segment::open(memfd(seals, good)).err();
        assert!(matches!(refused, Some(SegmentError::NotSealed)), "{seals:?}");
    }
    for length in [0, 1, good - 1, good + 1, good + 4096, 1 << 40] {
        let refused = Segment::open(memfd(FIXED_SIZE, length)).err();
        assert!(matches!(refused, Some(SegmentError::Size(_))), "{length}");
    }
    let file = std::fs::File::open("/proc/self/exe").unwrap();
    assert!(matches!(Segment::open(file), Err(SegmentError::NotSealed)));
    for size in [0, 1, 4095, 5000, 2 * MAX_RING_SIZE] {
        assert_eq!(
            Segment::create(size).err().map(|error| error.kind()),
            Some(io::ErrorKind::InvalidInput)
        );
    }
}

#[test]
fn a_segment_cannot_be_resized() {
    let (_server, memory) = Segment::create(MIN_RING_SIZE).unwrap();
    for length in [0, 1 << 20] {
        assert_eq!(
            rustix::fs::ftruncate(&memory, length),
            Err(rustix::io::Errno::PERM)
        );
    }
    assert!(memory.as_raw_fd() > 2);
}

/// A hole would be filled at the next access, at the expense of the side that accesses it; without memory,
/// that would end its process.
#[test]
fn no_side_can_make_holes() {
    use rustix::fs::{FallocateFlags, fallocate, fstat};
    let punch = |memory: &OwnedFd| {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(memory, flags, 0, (CONTROL + 2 * MIN_RING_SIZE) as u64)
    };
    let allocated = |memory: &OwnedFd| fstat(memory).unwrap().st_blocks * 512;
    let (server, memory) = Segment::create(MIN_RING_SIZE).unwrap();
    assert!(
        matches!(server.complete(&memory), Err(SegmentError::Holes)),
        "not sealed"
    );
    assert_eq!(
        allocated(&memory),
        CONTROL as i64,
        "nothing is allocated for a peer that has not opened it"
    );
    punch(&memory).unwrap();
    let _client = Segment::open(&memory).unwrap();
    assert_eq!(punch(&memory), Err(rustix::io::Errno::PERM));
    server.complete(&memory).unwrap();
    assert_eq!(allocated(&memory), (CONTROL + 2 * MIN_RING_SIZE) as i64);
    assert!(
        Mapping::new(&memory, CONTROL).is_err(),
        "another mapping could release pages"
    );
}

#[test]
fn dropped_segments_are_unmapped() {
    let mapped = || {
        std::fs::read_to_string("/proc/self/maps")
            .unwrap()
            .matches("memfd:punctual")
            .count()
    };
    // Other tests map and unmap at the same time, a few each.
    for _ in 0..1_000 {
        drop(pair(MIN_RING_SIZE));
    }
    assert!(mapped() < 100);
}

/// Another mapping of the same memory, through which a test acts as a hostile peer.
struct Scribbler {
    mapping: Mapping,
}

// SAFETY: the mapping is not bound to a thread, and is accessed by atomic operations only.
unsafe impl Send for Scribbler {}

impl Scribbler {
    fn new(memory: &OwnedFd, ring_size: usize) -> Self {
        let mapping = Mapping::new(memory, CONTROL + 2 * ring_size).unwrap();
        Self { mapping }
    }

    fn write(&self, word: usize, value: u64) {
        assert!(word < self.mapping.length() / 8);
        // SAFETY: within the mapping, aligned, and atomic as all other accesses.
        unsafe {
            let at = self.mapping.start().as_ptr().cast::<u64>().add(word);
            std::sync::atomic::AtomicU64::from_ptr(at).store(value, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

#[test]
fn impossible_positions_are_errors() {
    let (server, client, scribbler) = scribbled_pair(MIN_RING_SIZE);
    let client_wrote = size_of::<Control>() / 8;
    let mut buffer = [0; 16];
    for lie in [MIN_RING_SIZE as u64 + 1, u64::MAX, 1 << 63] {
        scribbler.write(client_wrote, lie);
        assert_eq!(server.read(&mut buffer, true), Err(Corrupted::WrittenPosition));
        assert_eq!(server.sleep(), Err(Corrupted::WrittenPosition));
        assert_eq!(server.is_readable(), Err(Corrupted::WrittenPosition));
    }
    let client_read = 128 / 8;
    scribbler.write(client_read, 1);
    let full = [0; MIN_RING_SIZE];
    assert_eq!(server.write(&full).unwrap().count, full.len());
    for lie in [full.len() as u64 + 1, u64::MAX] {
        scribbler.write(client_read, lie);
        assert_eq!(server.write(&full), Err(Corrupted::ReadPosition));
        assert_eq!(server.wait_for_room(), Err(Corrupted::ReadPosition));
    }
    drop(client);
}

/// Every word of the control area changes continuously: both sides get octets, nothing, or an error.
#[test]
fn random_control_words_do_no_harm() {
    let (server, client, scribbler) = scribbled_pair(MIN_RING_SIZE);
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let scribbling = {
        let stop = std::sync::Arc::clone(&stop);
        ThreadSpec::new("scribbler")
            .spawn(move || {
                let mut random = 0x9E37_79B9_7F4A_7C15_u64;
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    let word = random as usize % (2 * size_of::<Control>() / 8);
                    // Sometimes an arbitrary number, sometimes a plausible one.
                    scribbler.write(word, random >> (random % 64));
                    std::hint::spin_loop();
                }
            })
            .unwrap()
    };
    let mut buffer = [0; 300];
    let (mut lies, mut moved) = (0, 0);
    for round in 0..20_000 {
        for side in [&server, &client] {
            match side.write(&buffer[..round % 300]) {
                Ok(Written { count, .. }) => {
                    moved += count;
                    side.take_back(count / 2);
                }
                Err(_) => lies += 1,
            }
            match side.read(&mut buffer, round % 2 == 0) {
                Ok(read) => assert!(read.count <= buffer.len()),
                Err(_) => lies += 1,
            }
            lies += usize::from(side.wait_for_room().is_err());
        }
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    scribbling.join().unwrap();
    assert!(lies > 0 && moved > 0, "{lies} lies, {moved} octets");
}

//! The cheapest exchange through shared memory, as a baseline for measurements.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::futex;

use super::mapping::{Mapping, sealed_length};
use super::octets::Octets;

/// Requests and replies between two processes through shared memory with one futex per direction: the
/// operating system's own cost, as a baseline for measurements. Peers must trust each other; the death of a
/// peer is not detected.
///
/// ```
/// use punctual_os::{ThreadSpec, shm::Exchange};
/// let (server, memory) = Exchange::create()?;
/// let serving = ThreadSpec::new("echo").spawn(move || {
///     let mut request = [0; 4];
///     while server.serve(&mut request, b"pong") {}
///     request
/// })?;
/// let client = Exchange::open(&memory)?;
/// let mut reply = [0; 4];
/// client.call(b"ping", &mut reply);
/// drop(client);
/// assert_eq!((&reply, &serving.join().unwrap()), (b"pong", b"ping"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Exchange {
    mapping: Mapping,
    /// Whether this is the client's end; dropping it ends the server.
    is_client: bool,
}

/// Largest size of a request and of a reply, in octets.
const ROOM: usize = 64 << 10;
const CONTROL: usize = 4 << 10;

#[repr(C)]
struct Turns {
    /// Twice the number of requests; odd if the client has closed.
    requests: Turn,
    replies: Turn,
}

#[repr(C, align(128))]
struct Turn(AtomicU32);

const GONE: u32 = 1;
const NEXT: u32 = 2;

// SAFETY: the mapping is not bound to a thread, and its contents are accessed by atomic operations only.
unsafe impl Send for Exchange {}
// SAFETY: as above.
unsafe impl Sync for Exchange {}

impl Exchange {
    /// Creates the server's end; returns it with the descriptor of the memory.
    ///
    /// # Errors
    /// The limit of open files (RLIMIT_NOFILE) or of memory is reached.
    pub fn create() -> io::Result<(Self, OwnedFd)> {
        let (mapping, memory) = Mapping::create(CONTROL + 2 * ROOM)?;
        let is_client = false;
        Ok((Self { mapping, is_client }, memory))
    }

    /// Opens the client's end.
    ///
    /// # Errors
    /// The memory is not that of an exchange, or cannot be mapped.
    pub fn open(memory: impl AsFd) -> io::Result<Self> {
        let length = sealed_length(memory.as_fd()).map_err(io::Error::other)?;
        if usize::try_from(length) != Ok(CONTROL + 2 * ROOM) {
            return Err(io::Error::other("not the memory of an exchange: wrong size"));
        }
        Ok(Self {
            mapping: Mapping::new(memory, length as usize)?,
            is_client: true,
        })
    }

    /// Sends a request and waits, without a deadline, for the reply. Both are limited to 64 KiB.
    pub fn call(&self, request: &[u8], reply: &mut [u8]) {
        let Turns { requests, replies } = self.turns();
        let seen = replies.0.load(Ordering::Relaxed);
        self.octets(0).copy_from(0, request);
        requests.0.fetch_add(NEXT, Ordering::Release);
        wake(&requests.0);
        wait(&replies.0, seen);
        self.octets(1).copy_to(0, reply);
    }

    /// Waits, without a deadline, for a request and replies. Returns `false` if the client has closed.
    pub fn serve(&self, request: &mut [u8], reply: &[u8]) -> bool {
        let Turns { requests, replies } = self.turns();
        // The client waits for its reply, so the numbers of replies and requests are equal.
        let seen = replies.0.load(Ordering::Relaxed);
        if wait(&requests.0, seen) & GONE != 0 {
            return false;
        }
        self.octets(0).copy_to(0, request);
        self.octets(1).copy_from(0, reply);
        replies.0.fetch_add(NEXT, Ordering::Release);
        wake(&replies.0);
        true
    }

    fn turns(&self) -> &Turns {
        // SAFETY: at the start of the mapping, which is aligned to a page, large enough, and lives as long as
        // `self`; `Turns` consists of atomics, for which every value is valid.
        unsafe { self.mapping.start().cast::<Turns>().as_ref() }
    }

    fn octets(&self, index: usize) -> Octets {
        // SAFETY: within the mapping, whose size was checked, aligned, and used while `self` lives.
        unsafe { Octets::new(self.mapping.start().as_ptr().add(CONTROL + index * ROOM), ROOM) }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if self.is_client {
            let requests = &self.turns().requests.0;
            requests.fetch_or(GONE, Ordering::Release);
            wake(requests);
        }
    }
}

/// Waits until the value differs from `seen`.
fn wait(turn: &AtomicU32, seen: u32) -> u32 {
    loop {
        let now = turn.load(Ordering::Acquire);
        if now != seen {
            return now;
        }
        // Interrupted, or changed just before: check again.
        let _ = futex::wait(turn, futex::Flags::empty(), seen, None);
    }
}

fn wake(turn: &AtomicU32) {
    // The only error is that of an invalid address.
    let _ = futex::wake(turn, futex::Flags::empty(), 1);
}

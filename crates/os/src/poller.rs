//! Waiting for many file descriptors at once (epoll).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::event::epoll::{self, EventFlags};
use rustix::io::Errno;

/// An epoll instance: where the threads of a lane wait for everything.
///
/// All methods take `&self`, so that several threads can wait at the same time; with [`Trigger::Edge`] and
/// [`Trigger::OneShot`] each event wakes one of them. A descriptor must be [removed](Self::remove) before it
/// is closed unless it is the only descriptor of its file.
///
/// ```
/// use punctual_os::{Doorbell, Events, Interest, Poller, Trigger};
/// let (poller, doorbell) = (Poller::new()?, Doorbell::new()?);
/// poller.add(&doorbell, 7, Interest::READ, Trigger::Edge)?;
/// doorbell.ring()?;
/// let mut events = Events::with_capacity(16);
/// poller.wait(&mut events, None)?;
/// assert!(events.iter().all(|event| event.token() == 7 && event.is_readable()));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
}

/// Events to report for a descriptor. Closing by the peer and errors are always reported.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Interest(EventFlags);

impl Interest {
    /// Data can be read.
    pub const READ: Self = Self(EventFlags::IN);
    /// Data can be written.
    pub const WRITE: Self = Self(EventFlags::OUT);
    /// Both.
    pub const READ_WRITE: Self = Self(EventFlags::IN.union(EventFlags::OUT));
}

/// How often an event is reported.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Trigger {
    /// Reported by every wait while the condition holds. Wakes more threads than necessary if several wait.
    Level,
    /// Once per arrival, to one waiting thread. The reader must read until a read returns less than
    /// requested. The cheapest.
    Edge,
    /// Once, to one waiting thread, until [`Poller::modify`] arms it again (one more system call).
    OneShot,
}

impl Poller {
    /// Creates an empty poller.
    ///
    /// # Errors
    /// The limit of open files (RLIMIT_NOFILE) or of epoll instances is reached.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
        })
    }

    /// Starts to report events of `source` under `token`. The next wait reports what is ready already.
    ///
    /// # Errors
    /// `AlreadyExists`: already added. `PermissionDenied`: a regular file or directory, which is always
    /// ready.
    pub fn add(&self, source: impl AsFd, token: u64, interest: Interest, trigger: Trigger) -> io::Result<()> {
        let data = epoll::EventData::new_u64(token);
        Ok(epoll::add(&self.epoll, source, data, flags(interest, trigger))?)
    }

    /// Changes what is reported of `source`, and arms it again. The next wait reports what is ready already.
    ///
    /// # Errors
    /// `NotFound`: not added.
    pub fn modify(
        &self,
        source: impl AsFd,
        token: u64,
        interest: Interest,
        trigger: Trigger,
    ) -> io::Result<()> {
        let data = epoll::EventData::new_u64(token);
        Ok(epoll::modify(
            &self.epoll,
            source,
            data,
            flags(interest, trigger),
        )?)
    }

    /// Stops reporting events of `source`. Another thread may still handle events that it has already
    /// received.
    ///
    /// # Errors
    /// `NotFound`: not added.
    pub fn remove(&self, source: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, source)?)
    }

    /// Waits for events, for at most `timeout` (never returns earlier; `None`: no limit; zero: only polls).
    /// Returns the number of events, 0 after the timeout.
    ///
    /// Replaces the contents of `events`. One system call, no allocation. Signals do not end the wait.
    ///
    /// # Errors
    /// None is known for a valid poller.
    pub fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<usize> {
        events.ready.clear();
        let room = events.ready.spare_capacity_mut();
        let count = retry_interrupted(timeout, |limit| wait_once(&self.epoll, room, limit))?;
        // SAFETY: the kernel has filled the first `count` elements.
        unsafe { events.ready.set_len(count) };
        Ok(count)
    }

    /// Like [`wait`](Self::wait), for one event; `None` after the timeout.
    ///
    /// Preferable if several threads wait: each event that one thread does not fetch is available to the
    /// others.
    ///
    /// # Errors
    /// None is known for a valid poller.
    pub fn wait_one(&self, timeout: Option<Duration>) -> io::Result<Option<Event>> {
        let mut room = [const { MaybeUninit::<epoll::Event>::uninit() }; 1];
        retry_interrupted(timeout, |limit| {
            let count = wait_once(&self.epoll, &mut room, limit)?;
            // SAFETY: the kernel has filled the first `count` elements.
            Ok((count > 0).then(|| Event::from(unsafe { room[0].assume_init_ref() })))
        })
    }
}

/// Waits once and returns the number of elements of `events` that it has filled. Without a limit it uses the
/// older system call, which saves 1 % of a call through shared memory, and not by its function of the C
/// library, which would allow the thread to be cancelled: 40 instructions.
fn wait_once(
    epoll: &OwnedFd,
    events: &mut [MaybeUninit<epoll::Event>],
    limit: Option<&Timespec>,
) -> Result<usize, Errno> {
    if limit.is_some() {
        return epoll::wait(epoll, events, limit).map(|(ready, _)| ready.len());
    }
    const {
        assert!(size_of::<epoll::Event>() == size_of::<libc::epoll_event>());
        assert!(align_of::<epoll::Event>() == align_of::<libc::epoll_event>());
    }
    let capacity: i32 = events.len().try_into().unwrap_or(i32::MAX);
    let no_mask = ptr::null::<libc::sigset_t>();
    // SAFETY: both types are the kernel's `struct epoll_event`, and `events` has room for `capacity` of them.
    // Without a mask, its size does not matter.
    let count = unsafe {
        let events = events.as_mut_ptr();
        libc::syscall(
            libc::SYS_epoll_pwait,
            epoll.as_raw_fd(),
            events,
            capacity,
            -1,
            no_mask,
            0_usize,
        )
    };
    usize::try_from(count).map_err(|_| {
        let error = io::Error::last_os_error();
        Errno::from_io_error(&error).unwrap_or(Errno::INVAL)
    })
}

/// Repeats an interrupted wait for the rest of its time.
fn retry_interrupted<T>(
    timeout: Option<Duration>,
    mut wait: impl FnMut(Option<&Timespec>) -> Result<T, Errno>,
) -> io::Result<T> {
    // The clock is read only if it may be needed again.
    let deadline = timeout
        .filter(|t| !t.is_zero())
        .and_then(|t| Instant::now().checked_add(t));
    let mut remaining = timeout;
    loop {
        // A timeout that the kernel's type cannot hold is no limit.
        let limit = remaining.and_then(|t| Timespec::try_from(t).ok());
        match wait(limit.as_ref()) {
            Ok(result) => return Ok(result),
            Err(Errno::INTR) => {
                remaining = match deadline {
                    Some(deadline) => Some(deadline.saturating_duration_since(Instant::now())),
                    None => timeout,
                };
            }
            Err(error) => return Err(error.into()),
        }
    }
}

impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// Buffer for the events of [`Poller::wait`]; allocated once and reused.
pub struct Events {
    ready: Vec<epoll::Event>,
}

impl Events {
    /// Allocates room for `capacity` events (at least 1) per wait. Excess events are reported by the next
    /// wait.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            ready: Vec::with_capacity(capacity.max(1)),
        }
    }

    /// Returns the events of the last wait.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Event> + '_ {
        self.ready.iter().map(Event::from)
    }

    /// Returns the number of events of the last wait.
    pub fn len(&self) -> usize {
        self.ready.len()
    }

    /// Returns whether the last wait reported no events.
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// Returns the event at `index`, so that a loop can borrow the owner of `events` between events.
    pub fn get(&self, index: usize) -> Option<Event> {
        self.ready.get(index).map(Event::from)
    }
}

/// Event of one descriptor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Event {
    token: u64,
    flags: EventFlags,
}

impl From<&epoll::Event> for Event {
    fn from(event: &epoll::Event) -> Self {
        Self {
            token: event.data.u64(),
            flags: event.flags,
        }
    }
}

impl Event {
    /// Returns the token under which the descriptor was added.
    pub fn token(self) -> u64 {
        self.token
    }

    /// Returns whether a read will not block. Also true if the peer has closed or an error is pending, which
    /// the read then returns.
    pub fn is_readable(self) -> bool {
        self.flags
            .intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR)
    }

    /// Returns whether a write will not block. Also true if an error is pending, which the write then
    /// returns.
    pub fn is_writable(self) -> bool {
        self.flags
            .intersects(EventFlags::OUT | EventFlags::HUP | EventFlags::ERR)
    }

    /// Returns whether the peer will send nothing more. Earlier data may still be readable.
    pub fn is_peer_closed(self) -> bool {
        self.flags.intersects(EventFlags::RDHUP | EventFlags::HUP)
    }

    /// Returns whether an error is pending, which the next read or write returns.
    pub fn is_error(self) -> bool {
        self.flags.contains(EventFlags::ERR)
    }
}

fn flags(interest: Interest, trigger: Trigger) -> EventFlags {
    let trigger = match trigger {
        Trigger::Level => EventFlags::empty(),
        Trigger::Edge => EventFlags::ET,
        Trigger::OneShot => EventFlags::ONESHOT,
    };
    interest.0 | EventFlags::RDHUP | trigger
}

#[cfg(test)]
mod tests;

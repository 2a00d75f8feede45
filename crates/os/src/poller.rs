//! Waiting for many file descriptors at once.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::event::epoll::{self, EventFlags};
use rustix::io::Errno;

/// A lane's one waiting place: an epoll instance.
///
/// All methods take `&self`, so that several threads may wait in it; with [`Trigger::Edge`] and [`Trigger::OneShot`]
/// each event wakes one of them. A descriptor must be [removed](Self::remove) before it is closed, or be the only one
/// for what it refers to.
///
/// ```
/// use punctual_os::{Doorbell, Events, Interest, Poller, Trigger};
/// let (poller, bell) = (Poller::new()?, Doorbell::new()?);
/// poller.add(&bell, 7, Interest::READ, Trigger::Edge)?;
/// bell.ring()?;
/// let mut events = Events::with_capacity(16);
/// poller.wait(&mut events, None)?;
/// assert!(events.iter().all(|event| event.token() == 7 && event.is_readable()));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
}

/// What a waiter wants to hear of a descriptor. That the peer has closed, and errors, are always reported.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Interest(EventFlags);

impl Interest {
    /// There is something to read.
    pub const READ: Self = Self(EventFlags::IN);
    /// There is room to write.
    pub const WRITE: Self = Self(EventFlags::OUT);
    /// Either.
    pub const READ_WRITE: Self = Self(EventFlags::IN.union(EventFlags::OUT));
}

/// How often a waiter hears of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Trigger {
    /// In every wait for as long as it is so. Wakes more threads than needed when several wait.
    Level,
    /// Once each time something new arrives, in one waiting thread. The reader must read until a read gives less than
    /// it asked for. The cheapest.
    Edge,
    /// Once, in one waiting thread, and not again before [`Poller::modify`] arms it again (one system call more).
    OneShot,
}

impl Poller {
    /// A waiting place for nothing yet.
    ///
    /// # Errors
    /// The limits of open files (RLIMIT_NOFILE) or of epoll instances are reached.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
        })
    }

    /// Starts to report events of `source` under `token`. What is ready already is reported by the next wait.
    ///
    /// # Errors
    /// `AlreadyExists`: it was added before. `PermissionDenied`: it is a file or directory, which are always ready.
    pub fn add(&self, source: impl AsFd, token: u64, interest: Interest, trigger: Trigger) -> io::Result<()> {
        let data = epoll::EventData::new_u64(token);
        Ok(epoll::add(&self.epoll, source, data, flags(interest, trigger))?)
    }

    /// Changes what is reported of `source`, and arms it again. What is ready already is reported by the next wait.
    ///
    /// # Errors
    /// `NotFound`: it has not been added.
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

    /// Stops to report events of `source`. Events that another thread has already taken may still be handled there.
    ///
    /// # Errors
    /// `NotFound`: it has not been added.
    pub fn remove(&self, source: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, source)?)
    }

    /// Waits until something happens or `timeout` has passed (at the resolution of the system's timer, never
    /// earlier; `None`: no deadline; zero: only looks), and gives the number of events, 0 after the timeout.
    ///
    /// Replaces what is in `events`. One system call and no allocation. Signals do not end it.
    ///
    /// # Errors
    /// None is known for a valid poller.
    pub fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<usize> {
        events.ready.clear();
        let room = events.ready.spare_capacity_mut();
        let count = retry_interrupted(timeout, |limit| wait_once(&self.epoll, room, limit))?;
        // SAFETY: so many have been filled, from the start.
        unsafe { events.ready.set_len(count) };
        Ok(count)
    }

    /// As [`wait`](Self::wait), for one event, which it gives; `None` after the timeout.
    ///
    /// What several threads wait for in one place should be fetched so: what one does not fetch, another one can.
    ///
    /// # Errors
    /// None is known for a valid poller.
    pub fn wait_one(&self, timeout: Option<Duration>) -> io::Result<Option<Event>> {
        let mut room = [const { MaybeUninit::<epoll::Event>::uninit() }; 1];
        retry_interrupted(timeout, |limit| {
            let count = wait_once(&self.epoll, &mut room, limit)?;
            // SAFETY: so many have been filled, from the start.
            Ok((count > 0).then(|| Event::from(unsafe { room[0].assume_init_ref() })))
        })
    }
}

/// Waits once, and gives how many of `events` it has filled, from the start. Without a limit by the older system call, which
/// saves a hundredth of a call through shared memory.
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
    let capacity = events.len().try_into().unwrap_or(i32::MAX);
    // SAFETY: both types are the kernel's `struct epoll_event`, and there is room for as many as it is told.
    let count = unsafe { libc::epoll_wait(epoll.as_raw_fd(), events.as_mut_ptr().cast(), capacity, -1) };
    usize::try_from(count).map_err(|_| {
        let error = io::Error::last_os_error();
        Errno::from_io_error(&error).unwrap_or(Errno::INVAL)
    })
}

/// Signals do not end a wait, and do not make it longer.
fn retry_interrupted<T>(
    timeout: Option<Duration>,
    mut wait: impl FnMut(Option<&Timespec>) -> Result<T, Errno>,
) -> io::Result<T> {
    // The clock is read only where it may be needed again.
    let deadline = timeout
        .filter(|t| !t.is_zero())
        .and_then(|t| Instant::now().checked_add(t));
    let mut remaining = timeout;
    loop {
        // A timeout too long for the kernel's type is none.
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

/// Where [`Poller::wait`] puts what has happened; made once and reused.
pub struct Events {
    ready: Vec<epoll::Event>,
}

impl Events {
    /// Room for `capacity` events (at least 1) from one wait. Those that find no room come with the next wait.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            ready: Vec::with_capacity(capacity.max(1)),
        }
    }

    /// What the last wait has seen.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Event> + '_ {
        self.ready.iter().map(Event::from)
    }

    /// The number of events the last wait has seen.
    pub fn len(&self) -> usize {
        self.ready.len()
    }

    /// Whether the last wait has seen nothing.
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// The event at `index`, so that a loop over them can borrow the owner of `events` in between.
    pub fn get(&self, index: usize) -> Option<Event> {
        self.ready.get(index).map(Event::from)
    }
}

/// What has happened to one descriptor.
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
    /// What the descriptor was added under.
    pub fn token(self) -> u64 {
        self.token
    }

    /// A read will not block. Also true when the peer has closed or an error is pending, which the read then tells.
    pub fn is_readable(self) -> bool {
        self.flags
            .intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR)
    }

    /// A write will not block, or will tell of an error at once.
    pub fn is_writable(self) -> bool {
        self.flags
            .intersects(EventFlags::OUT | EventFlags::HUP | EventFlags::ERR)
    }

    /// The peer will send nothing more; data that it sent before may still be there to read.
    pub fn is_peer_closed(self) -> bool {
        self.flags.intersects(EventFlags::RDHUP | EventFlags::HUP)
    }

    /// An error is pending; the next read or write gives it.
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

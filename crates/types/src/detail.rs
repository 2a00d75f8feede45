//! Details of system exceptions: the numbers and names that their texts mention.

use core::{
    fmt::{self, Write},
    num::NonZeroU16,
    sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering, fence},
    time::Duration,
};

use crate::{Priority, PriorityBand};

/// Subject of a system exception. Its text follows that of the minor code.
///
/// ```
/// # use punctual_types as punctual;
/// use punctual::{Completion, Detail, Minor, Priority, SystemException, SystemExceptionKind};
///
/// let (own, lanes) = (Priority::MIN, [Priority::MAX]);
/// let detail = Detail::priorities(own, lanes);
/// let exception = SystemException::new(
///     SystemExceptionKind::InvPolicy,
///     Minor::NO_ENDPOINT_FOR_PRIORITY,
///     Completion::No,
/// );
/// let detailed = exception.with_detail(&detail);
/// assert_eq!(detailed, exception);
/// let text = detailed.to_string();
/// assert!(text.ends_with("(this thread has priority 0, the reference offers 32767)"));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Detail {
    kind: Kind,
    /// Number of octets in use.
    length: usize,
    octets: [u8; OCTETS],
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// The caller's priority, then those that are offered.
    Priorities,
    /// The caller's priority, then lower and upper bounds.
    Bands,
    /// The priority of a refused request, then the highest accepted one.
    Refused,
    /// The address of the peer.
    Address,
    /// The address of a peer that has accepted a connection and sent nothing.
    Silent,
    /// Why the peer is not trusted.
    Distrust,
    /// An object key.
    Key,
    /// Maximum number of octets of a message.
    Size,
}

const KINDS: [Kind; 8] = [
    Kind::Priorities,
    Kind::Bands,
    Kind::Refused,
    Kind::Address,
    Kind::Silent,
    Kind::Distrust,
    Kind::Key,
    Kind::Size,
];

/// Octets of a detail; longer ones are cut.
const OCTETS: usize = 88;
const WORDS: usize = OCTETS / 8;
/// Number of details that are kept at one time.
const SLOTS: usize = 64;

impl Detail {
    /// Creates a detail: the caller's priority, and those that a reference offers.
    pub fn priorities(own: Priority, offered: impl IntoIterator<Item = Priority>) -> Self {
        let mut detail = Self::new(Kind::Priorities);
        detail.number(own);
        for priority in offered {
            // A lane may have several endpoints.
            if !detail.numbers().skip(1).any(|known| known == priority.value()) {
                detail.number(priority);
            }
        }
        detail
    }

    /// Creates a detail: the priority of a request, and the highest one that its server accepts from the
    /// client.
    pub fn refused(asked: Priority, highest: Priority) -> Self {
        let mut detail = Self::new(Kind::Refused);
        detail.number(asked);
        detail.number(highest);
        detail
    }

    /// Returns the numbers of [`Self::refused`]; `None` for other details.
    pub fn as_refused(&self) -> Option<(Priority, Priority)> {
        let mut numbers = self.numbers().filter_map(|number| Priority::new(number).ok());
        let both = numbers.next().zip(numbers.next());
        both.filter(|_| self.kind == Kind::Refused)
    }

    /// Creates a detail: the caller's priority, and the bands that do not contain it.
    pub fn bands(own: Priority, bands: impl IntoIterator<Item = PriorityBand>) -> Self {
        let mut detail = Self::new(Kind::Bands);
        detail.number(own);
        for band in bands {
            if detail.length + 4 <= OCTETS {
                detail.number(band.low);
                detail.number(band.high);
            }
        }
        detail
    }

    /// Creates a detail, the address of the peer: the scheme of its transport, such as `iiop`, and what follows `://`.
    pub fn address(scheme: &str, address: &str) -> Self {
        let mut detail = Self::new(Kind::Address);
        for part in [scheme, "://", address] {
            detail.text(part.as_bytes());
        }
        detail
    }

    /// Adds the name of an operation to the address of a peer. Other details remain unchanged.
    #[must_use]
    pub fn in_operation(self, name: &str) -> Self {
        self.with_text(format_args!(" in `{name}`"))
    }

    /// Adds the timeout of a call to the address of a peer. Other details remain unchanged.
    #[must_use]
    pub fn after(self, timeout: Duration) -> Self {
        // What is left of a longer one differs from it by the time that has passed.
        let shown = match u64::try_from((timeout.as_micros() + 500) / 1000) {
            Ok(milliseconds) if timeout.as_secs() > 0 => Duration::from_millis(milliseconds),
            _ => timeout,
        };
        self.with_text(format_args!(" after {shown:?}"))
    }

    /// Adds to the address of a peer what it has sent instead of a message: the first octets, at most 16.
    /// Other details remain unchanged.
    #[must_use]
    pub fn which_sent(mut self, octets: &[u8]) -> Self {
        if self.is_address() {
            for part in [b", which sent `", &octets[..octets.len().min(16)], b"`"] {
                self.text(part);
            }
        }
        self
    }

    /// Adds to the address of a peer that it has accepted the connection and sent nothing. Other details
    /// remain unchanged.
    #[must_use]
    pub fn silent(self) -> Self {
        match self.kind {
            Kind::Address => Self {
                kind: Kind::Silent,
                ..self
            },
            _ => self,
        }
    }

    fn with_text(mut self, text: fmt::Arguments<'_>) -> Self {
        if self.is_address() {
            // Never fails: what does not fit is cut.
            let _ = self.write_fmt(text);
        }
        self
    }

    /// Returns whether it is the address of a peer.
    pub(crate) fn is_address(&self) -> bool {
        matches!(self.kind, Kind::Address | Kind::Silent)
    }

    /// Creates a detail: why no trusted connection to this address could be made. The address is cut before
    /// the reason.
    pub fn distrust(scheme: &str, address: &str, reason: &str) -> Self {
        let mut detail = Self::new(Kind::Distrust);
        let room = OCTETS.saturating_sub(reason.len() + scheme.len() + 5);
        let address = &address.as_bytes()[..address.len().min(room)];
        for part in [scheme.as_bytes(), b"://", address, b": ", reason.as_bytes()] {
            detail.text(part);
        }
        detail
    }

    /// Creates a detail: an object key.
    pub fn key(key: &[u8]) -> Self {
        let mut detail = Self::new(Kind::Key);
        detail.text(key);
        detail
    }

    /// Creates a detail: the maximum number of octets of a message.
    pub fn size_limit(octets: usize) -> Self {
        let mut detail = Self::new(Kind::Size);
        detail.text(&(octets as u64).to_ne_bytes());
        detail
    }

    fn new(kind: Kind) -> Self {
        Self {
            kind,
            length: 0,
            octets: [0; OCTETS],
        }
    }

    fn number(&mut self, priority: Priority) {
        if let Some(target) = self.octets.get_mut(self.length..self.length + 2) {
            target.copy_from_slice(&priority.value().to_ne_bytes());
            self.length += 2;
        }
    }

    fn text(&mut self, octets: &[u8]) {
        let target = &mut self.octets[self.length..];
        let length = octets.len().min(target.len());
        target[..length].copy_from_slice(&octets[..length]);
        self.length += length;
    }

    fn used(&self) -> &[u8] {
        &self.octets[..self.length]
    }

    fn numbers(&self) -> impl Iterator<Item = i16> {
        self.used()
            .chunks_exact(2)
            .map(|pair| i16::from_ne_bytes([pair[0], pair[1]]))
    }
}

impl fmt::Write for Detail {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text(text.as_bytes());
        Ok(())
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut numbers = self.numbers();
        match self.kind {
            Kind::Priorities => {
                let own = numbers.next().unwrap_or_default();
                write!(f, "this thread has priority {own}, the reference offers ")?;
                let mut none = true;
                for priority in numbers {
                    write!(f, "{}{priority}", if none { "" } else { ", " })?;
                    none = false;
                }
                if none { f.write_str("none") } else { Ok(()) }
            }
            Kind::Bands => {
                let own = numbers.next().unwrap_or_default();
                write!(f, "the priority is {own}, the bands are ")?;
                let mut before = "";
                while let Some((low, high)) = numbers.next().zip(numbers.next()) {
                    write!(f, "{before}{low} to {high}")?;
                    before = ", ";
                }
                Ok(())
            }
            Kind::Refused => {
                let (asked, highest) = (
                    numbers.next().unwrap_or_default(),
                    numbers.next().unwrap_or_default(),
                );
                write!(
                    f,
                    "the request has priority {asked}, the highest accepted from this client is {highest}"
                )
            }
            Kind::Address => write!(f, "at {}", self.used().escape_ascii()),
            Kind::Silent => write!(
                f,
                "at {}: the peer accepted the connection and has sent nothing; does the operation take longer, \
                 is the peer an ORB, and has it called `Orb::run`?",
                self.used().escape_ascii()
            ),
            Kind::Distrust => write!(f, "{}", self.used().escape_ascii()),
            Kind::Key if self.length == 0 => f.write_str("the URL names no object: append `/NAME`"),
            Kind::Key => write!(f, "the key is `{}`", self.used().escape_ascii()),
            Kind::Size => {
                let octets = self
                    .used()
                    .first_chunk()
                    .map_or(0, |octets| u64::from_ne_bytes(*octets));
                write!(f, "it has more than {octets} octets")
            }
        }
    }
}

/// Identifies a kept detail.
pub(crate) type DetailId = NonZeroU16;

/// Keeps a detail; `None` if another thread writes to the same slot.
pub(crate) fn keep(detail: &Detail) -> Option<DetailId> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let id = NonZeroU16::new(NEXT.fetch_add(1, Ordering::Relaxed).max(1))?;
    TABLE[usize::from(id.get()) % SLOTS]
        .write(id, detail)
        .then_some(id)
}

/// Returns a detail, unless others have replaced it.
pub(crate) fn kept(id: DetailId) -> Option<Detail> {
    TABLE[usize::from(id.get()) % SLOTS].read(id)
}

/// Details that are kept.
///
/// A [`SystemException`](crate::SystemException) is small, and is created on threads that must neither
/// allocate nor format. So the thread that creates one writes the detail into a slot of a fixed table, and
/// the text is made when the exception is printed. The table keeps the latest [`SLOTS`] details; an older
/// exception prints without its detail.
static TABLE: [Slot; SLOTS] = [const { Slot::empty() }; SLOTS];

/// A detail that one thread writes while others may read: a sequence lock without waiting.
struct Slot {
    /// The id of the detail; 0: it is being written, or was never.
    id: AtomicU32,
    /// Kind and length.
    head: AtomicU64,
    words: [AtomicU64; WORDS],
}

/// An id that no detail has, while a thread writes.
const WRITING: u32 = u32::MAX;

impl Slot {
    const fn empty() -> Self {
        Self {
            id: AtomicU32::new(0),
            head: AtomicU64::new(0),
            words: [const { AtomicU64::new(0) }; WORDS],
        }
    }

    fn write(&self, id: DetailId, detail: &Detail) -> bool {
        if self.id.swap(WRITING, Ordering::Acquire) == WRITING {
            return false;
        }
        fence(Ordering::Release);
        let kind = KINDS
            .iter()
            .position(|kind| *kind == detail.kind)
            .unwrap_or_default();
        let head = (kind as u64) << 32 | detail.length as u64;
        self.head.store(head, Ordering::Relaxed);
        let (words, _) = detail.octets.as_chunks::<8>();
        for (slot, word) in self.words.iter().zip(words) {
            slot.store(u64::from_ne_bytes(*word), Ordering::Relaxed);
        }
        self.id.store(id.get().into(), Ordering::Release);
        true
    }

    fn read(&self, id: DetailId) -> Option<Detail> {
        let is_current = |order| self.id.load(order) == u32::from(id.get());
        if !is_current(Ordering::Acquire) {
            return None;
        }
        let head = self.head.load(Ordering::Relaxed);
        let mut detail = Detail::new(*KINDS.get((head >> 32) as usize)?);
        detail.length = (head as u32 as usize).min(OCTETS);
        let (words, _) = detail.octets.as_chunks_mut::<8>();
        for (word, slot) in words.iter_mut().zip(&self.words) {
            *word = slot.load(Ordering::Relaxed).to_ne_bytes();
        }
        fence(Ordering::Acquire);
        is_current(Ordering::Relaxed).then_some(detail)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{format, string::ToString, vec::Vec};

    use super::*;

    fn priority(value: i16) -> Priority {
        Priority::new(value).unwrap()
    }

    #[test]
    fn a_detail_is_kept_until_others_replace_it() {
        let slot = Slot::empty();
        let [one, other] = [7, 71].map(|id| DetailId::new(id).unwrap());
        let first = Detail::address("iiop", "radar:2809");
        assert_eq!(slot.read(one), None);
        assert!(slot.write(one, &first));
        assert_eq!(slot.read(one), Some(first));
        assert!(slot.write(other, &Detail::key(b"radar")));
        assert_eq!(
            (slot.read(one), slot.read(other)),
            (None, Some(Detail::key(b"radar")))
        );
    }

    #[test]
    fn two_threads_do_not_write_at_one_time() {
        let slot = Slot::empty();
        slot.id.store(WRITING, Ordering::Relaxed);
        let id = DetailId::new(7).unwrap();
        assert!(!slot.write(id, &Detail::key(b"")) && slot.read(id).is_none());
    }

    #[test]
    fn readers_see_whole_details() {
        let slot = Slot::empty();
        let detail = |id: u16| Detail::priorities(priority(id as i16), [priority(id as i16); 40]);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for id in 1..20_000 {
                    slot.write(DetailId::new(id).unwrap(), &detail(id));
                }
            });
            for _ in 0..20_000 {
                let current = slot.id.load(Ordering::Acquire);
                let Ok(Some(id)) = u16::try_from(current).map(DetailId::new) else {
                    continue;
                };
                if let Some(read) = slot.read(id) {
                    assert_eq!(read, detail(id.get()));
                }
            }
        });
    }

    #[test]
    fn texts_name_numbers_and_are_cut() {
        let lanes = [10, 20].map(priority);
        let text = Detail::priorities(priority(7), lanes).to_string();
        assert_eq!(text, "this thread has priority 7, the reference offers 10, 20");
        let protocols = Detail::priorities(priority(10), [10, 20, 10, 20].map(priority)).to_string();
        assert!(protocols.ends_with("offers 10, 20"), "{protocols}");
        let refused = Detail::refused(priority(7), priority(5));
        let expected = "the request has priority 7, the highest accepted from this client is 5";
        assert_eq!(refused.to_string(), expected);
        let large = Detail::size_limit(8 << 20);
        assert_eq!(large.to_string(), "it has more than 8388608 octets");
        assert_eq!(refused.as_refused(), Some((priority(7), priority(5))));
        assert_eq!(Detail::key(b"abcd").as_refused(), None);
        let add = |detail: Detail| detail.in_operation("move").after(Duration::from_millis(20));
        let call = add(Detail::address("iiop", "radar:1"));
        assert_eq!(call.to_string(), "at iiop://radar:1 in `move` after 20ms");
        assert_eq!(add(refused), refused, "numbers remain numbers");
        let rest = Detail::address("iiop", "radar:1").after(Duration::from_nanos(9_999_912_345));
        assert_eq!(rest.to_string(), "at iiop://radar:1 after 10s");
        let silent = add(Detail::address("iiop", "radar:1").silent()).to_string();
        assert!(
            silent.starts_with("at iiop://radar:1 in `move` after 20ms: the peer accepted the connection"),
            "{silent}"
        );
        let other = Detail::address("iiop", "radar:1").which_sent(b"HTTP/1.1 400 Bad Request\r\n");
        let other = other.in_operation("move").to_string();
        assert_eq!(
            other,
            "at iiop://radar:1, which sent `HTTP/1.1 400 Bad` in `move`"
        );
        assert_eq!(refused.silent().which_sent(b"x"), refused);
        let none = Detail::priorities(priority(7), []).to_string();
        assert!(none.ends_with("offers none"), "{none}");
        let bands = [PriorityBand::new(priority(1), priority(2)); 100];
        let text = Detail::bands(priority(7), bands).to_string();
        assert!(
            text.starts_with("the priority is 7, the bands are 1 to 2, 1 to 2, "),
            "{text}"
        );
        assert_eq!(text.matches(" to ").count(), (OCTETS - 2) / 4);
        assert_eq!(Detail::key(b"a\n").to_string(), "the key is `a\\n`");
        let long: Vec<u8> = (0..200).map(|_| b'x').collect();
        assert_eq!(
            Detail::key(&long).to_string(),
            format!("the key is `{}`", "x".repeat(OCTETS))
        );
    }
}

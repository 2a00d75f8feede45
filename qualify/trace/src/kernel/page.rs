//! Pages of the kernel's ring buffer, as read from `trace_pipe_raw`.
//!
//! Source: Documentation/trace/ring-buffer-design.rst and include/linux/ring_buffer.h of the kernel.

use super::format::{Field, fields};

/// Layout of a page, as described by `events/header_page`.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageLayout {
    time: Field,
    commit: Field,
    data: usize,
}

/// Facts about a page.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct PageFacts {
    /// Events were lost before this page.
    pub(super) missed: bool,
    /// The page violates the format; the rest of it was skipped.
    pub(super) malformed: bool,
}

const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
const TIME_BITS: u32 = 27;
/// Restores the highest bits of an absolute time stamp, which are those of the previous time.
const STAMP_BITS: u32 = 59;
const MISSED_EVENTS: u64 = 1 << 31;
const SIZE_MASK: u64 = (1 << 20) - 1;

impl PageLayout {
    /// Parses a description; `None` for other texts.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let fields = fields(text);
        Some(Self {
            time: *fields.get("timestamp")?,
            commit: *fields.get("commit")?,
            data: fields.get("data")?.offset,
        })
    }

    /// Passes the time and the octets of each event of a page to `each`, in order.
    pub(super) fn events<'p>(&self, page: &'p [u8], mut each: impl FnMut(u64, &'p [u8])) -> PageFacts {
        let (Some(time), Some(commit)) = (self.time.number(page), self.commit.number(page)) else {
            return PageFacts {
                malformed: true,
                ..PageFacts::default()
            };
        };
        let (mut time, commit) = (time as u64, commit as u64);
        let mut facts = PageFacts {
            missed: commit & MISSED_EVENTS != 0,
            malformed: false,
        };
        let end = self.data.saturating_add((commit & SIZE_MASK) as usize);
        let Some(mut rest) = page.get(self.data..end) else {
            facts.malformed = true;
            return facts;
        };
        while let Some(head) = word(rest, 0) {
            // The bit order in a word follows its byte order.
            let (kind, delta) = if cfg!(target_endian = "little") {
                (head & 31, u64::from(head >> 5))
            } else {
                (head >> TIME_BITS, u64::from(head & ((1 << TIME_BITS) - 1)))
            };
            let length = match kind {
                // The rest of the page is empty.
                PADDING if delta == 0 => return facts,
                TIME_EXTEND | TIME_STAMP => 8,
                // Its length is in the next word and includes that word.
                0 | PADDING => match word(rest, 4) {
                    Some(length) if length >= 4 => 4 + length as usize,
                    _ => break,
                },
                words => 4 + 4 * words as usize,
            };
            // Sizes are multiples of four.
            let Some(event) = rest.get(..length.next_multiple_of(4)) else {
                break;
            };
            match kind {
                TIME_EXTEND => time += delta + (u64::from(word(event, 4).unwrap_or(0)) << TIME_BITS),
                TIME_STAMP => {
                    let stamp = delta + (u64::from(word(event, 4).unwrap_or(0)) << TIME_BITS);
                    time = time >> STAMP_BITS << STAMP_BITS | stamp;
                }
                PADDING => time += delta,
                _ => {
                    time += delta;
                    each(time, &event[if kind == 0 { 8 } else { 4 }..]);
                }
            }
            rest = &rest[event.len()..];
        }
        facts.malformed = !rest.is_empty();
        facts
    }
}

fn word(octets: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(octets.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "	field: u64 timestamp;	offset:0;	size:8;	signed:0;
	field: local_t commit;	offset:8;	size:8;	signed:1;
	field: int overwrite;	offset:8;	size:1;	signed:1;
	field: char data;	offset:16;	size:4080;	signed:0;
";

    fn head(kind: u32, delta: u32) -> [u8; 4] {
        (kind | delta << 5).to_ne_bytes()
    }

    fn page(time: u64, flags: u64, data: &[&[u8]]) -> Vec<u8> {
        let data = data.concat();
        let mut page = time.to_ne_bytes().to_vec();
        page.extend((data.len() as u64 | flags).to_ne_bytes());
        page.extend(&data);
        page.resize(4096, 0);
        page
    }

    fn parse(page: &[u8]) -> (Vec<(u64, Vec<u8>)>, PageFacts) {
        let mut events = Vec::new();
        let layout = PageLayout::parse(HEADER).unwrap();
        let facts = layout.events(page, |time, event| events.push((time, event.to_vec())));
        (events, facts)
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn short_and_long_events_and_steps_of_time() {
        let page = page(
            1000,
            0,
            &[
                &head(1, 5),
                b"abcd",
                &head(TIME_EXTEND, 3),
                &2_u32.to_ne_bytes(),
                &head(2, 0),
                b"efghijkl",
                &head(0, 7),
                &12_u32.to_ne_bytes(),
                b"mnopqrst",
                // Discarded by the kernel after writing.
                &head(PADDING, 1),
                &8_u32.to_ne_bytes(),
                b"....",
                &head(TIME_STAMP, 9),
                &64_u32.to_ne_bytes(),
                &head(1, 1),
                b"uvwx",
            ],
        );
        let (events, facts) = parse(&page);
        let extended = 1005 + 3 + (2 << 27);
        assert_eq!(
            events,
            [
                (1005, b"abcd".to_vec()),
                (extended, b"efghijkl".to_vec()),
                (extended + 7, b"mnopqrst".to_vec()),
                ((64 << 27) + 9 + 1, b"uvwx".to_vec()),
            ]
        );
        assert_eq!(facts, PageFacts::default());
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn padding_ends_the_page_and_losses_are_reported() {
        let (events, facts) = parse(&page(
            7,
            MISSED_EVENTS,
            &[&head(1, 0), b"abcd", &head(PADDING, 0), &[0; 40]],
        ));
        assert_eq!(events.len(), 1);
        assert_eq!(
            facts,
            PageFacts {
                missed: true,
                malformed: false
            }
        );
        assert_eq!(parse(&page(7, 0, &[])), (vec![], PageFacts::default()));
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn malformed_pages_are_reported_and_harmless() {
        let malformed = |page: &[u8]| parse(page).1.malformed;
        assert!(malformed(&[]));
        assert!(
            malformed(&page(7, 0, &[&head(3, 0), b"abcd"])),
            "longer than the page states"
        );
        assert!(
            malformed(&page(7, 0, &[&head(0, 0), &3_u32.to_ne_bytes()])),
            "too short for its own length"
        );
        assert!(malformed(&page(7, 0, &[&head(0, 0), &u32::MAX.to_ne_bytes()])));
        let mut long = page(7, 0, &[]);
        long[8..16].copy_from_slice(&SIZE_MASK.to_ne_bytes());
        assert!(malformed(&long), "more data than there is page");
    }
}

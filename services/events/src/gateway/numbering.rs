//! Counting of numbered messages that have not arrived. Numbers and senders may be forged.

use std::time::{Duration, Instant};

/// Time after which a sender is forgotten in favour of another one.
const SILENCE: Duration = Duration::from_secs(10);

/// Last messages of the senders of a network without acknowledgements.
///
/// ```
/// use std::time::Instant;
/// use punctual_events::Numbering;
///
/// let (mut numbering, now) = (Numbering::new(64, 65_536), Instant::now());
/// assert_eq!(numbering.missing(7, 1, now), Some(0));
/// assert_eq!(numbering.missing(7, 4, now), Some(2), "2 and 3");
/// assert_eq!(numbering.missing(7, u64::MAX, now), None, "forged");
/// assert_eq!(numbering.missing(7, 5, now), Some(0));
/// ```
#[derive(Debug)]
pub struct Numbering {
    limit: usize,
    gap: u64,
    /// The one that was heard last at the end.
    senders: Vec<Sender>,
}

#[derive(Debug)]
struct Sender {
    id: u64,
    last: u64,
    /// Implausible number of its last message.
    doubtful: Option<u64>,
    heard: Instant,
}

impl Numbering {
    /// Remembers up to `senders` senders, at least one, and considers it plausible that up to `gap` messages
    /// in a row do not arrive.
    pub fn new(senders: usize, gap: u64) -> Self {
        Self {
            limit: senders.max(1),
            gap,
            senders: Vec::new(),
        }
    }

    /// Returns how many messages of a sender did not arrive between its last one and this one.
    ///
    /// `None`: the number is implausible, and counts only if the next message has the number after it; or
    /// there were too many senders in the last ten seconds.
    pub fn missing(&mut self, sender: u64, number: u64, now: Instant) -> Option<u64> {
        let Some(place) = self.senders.iter().position(|one| one.id == sender) else {
            return self.add(sender, number, now);
        };
        let mut known = self.senders.remove(place);
        known.heard = now;
        let missing = known.missing(number, self.gap);
        self.senders.push(known);
        missing
    }

    fn add(&mut self, id: u64, last: u64, heard: Instant) -> Option<u64> {
        if self.senders.len() == self.limit {
            if heard.saturating_duration_since(self.senders[0].heard) < SILENCE {
                return None;
            }
            self.senders.remove(0);
        }
        let doubtful = None;
        self.senders.push(Sender {
            id,
            last,
            doubtful,
            heard,
        });
        Some(0)
    }
}

impl Sender {
    fn missing(&mut self, number: u64, gap: u64) -> Option<u64> {
        let doubtful = self.doubtful.take();
        let ahead = number.checked_sub(self.last);
        let missing = ahead
            .map(|ahead| ahead.saturating_sub(1))
            .filter(|missing| *missing <= gap);
        let follows = || doubtful.and_then(|one| one.checked_add(1)) == Some(number);
        match missing {
            Some(_) => self.last = number,
            None if follows() => {
                self.last = number;
                return Some(0);
            }
            None => self.doubtful = Some(number),
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_do_not_arrive_are_counted_once() {
        let (mut numbering, now) = (Numbering::new(2, 100), Instant::now());
        let mut missing = |sender, number| numbering.missing(sender, number, now);
        assert_eq!([missing(1, 50), missing(1, 51), missing(1, 51)], [Some(0); 3]);
        assert_eq!(
            [missing(1, 54), missing(2, 9), missing(1, 55)],
            [Some(2), Some(0), Some(0)]
        );
        assert_eq!([missing(1, 156), missing(2, 11)], [Some(100), Some(1)]);
    }

    #[test]
    fn absurd_numbers_count_nothing_and_the_sender_is_counted_on() {
        let (mut numbering, now) = (Numbering::new(2, 100), Instant::now());
        let mut missing = |number| numbering.missing(1, number, now);
        assert_eq!(missing(1_000), Some(0));
        for forged in [u64::MAX, 0, 1_102, 999, u64::MAX] {
            assert_eq!(missing(forged), None, "{forged}");
        }
        assert_eq!([missing(1_001), missing(1_003)], [Some(0), Some(1)]);
        // A plausible one costs at most the gap, and two messages later all is as it was.
        assert_eq!([missing(1_104), missing(1_004)], [Some(100), None]);
        assert_eq!([missing(1_005), missing(1_008)], [Some(0), Some(2)]);
    }

    #[test]
    fn a_sender_that_was_away_for_long_is_counted_again() {
        let (mut numbering, now) = (Numbering::new(2, 100), Instant::now());
        let mut missing = |number| numbering.missing(1, number, now);
        assert_eq!(
            [missing(1), missing(1 << 40), missing((1 << 40) + 1)],
            [Some(0), None, Some(0)]
        );
        assert_eq!(missing((1 << 40) + 4), Some(2));
    }

    #[test]
    fn forged_senders_take_no_memory_and_displace_nobody_who_sends() {
        let (mut numbering, now) = (Numbering::new(2, 100), Instant::now());
        assert_eq!(numbering.missing(1, 7, now), Some(0));
        let known = |number: u64| if number == 0 { Some(0) } else { None };
        for number in 0..1_000 {
            assert_eq!(numbering.missing(1_000 + number, number, now), known(number));
        }
        assert_eq!(
            (numbering.senders.len(), numbering.missing(1, 9, now)),
            (2, Some(1))
        );
        // The forged one gives way, as it is silent.
        assert_eq!(numbering.missing(1, 10, now + SILENCE / 2), Some(0));
        assert_eq!(numbering.missing(2, 1, now + SILENCE), Some(0));
        assert_eq!(numbering.missing(1, 12, now + SILENCE), Some(1));
        assert_eq!(numbering.senders.len(), 2);
    }
}

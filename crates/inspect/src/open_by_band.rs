//! Number of open connections by priority band.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Number of open connections for each priority band, readable without a lock.
///
/// Bands are configured, so there are few; those beyond the 15th are counted together.
#[derive(Debug, Default)]
pub struct OpenByBand([Slot; SLOTS]);

/// Connections to which one count refers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Counted {
    /// Connections of references without bands.
    Unbanded,
    /// Connections of this band.
    Band(Band),
    /// Connections of all further bands.
    Others,
}

#[derive(Debug, Default)]
struct Slot {
    /// Band as [`code`] packs it; 0: unused.
    counted: AtomicU64,
    open: AtomicUsize,
}

/// Lowest and highest priority.
type Band = (i16, i16);

const SLOTS: usize = 16;
const UNBANDED: u64 = 1;
const OTHERS: u64 = 2;
const FIRST_BAND: u64 = 3;

impl OpenByBand {
    /// Counts a connection, until [`Self::leave`] with the slot that this returns.
    pub fn enter(&self, band: Option<Band>) -> usize {
        let code = code(band);
        let [slots @ .., last] = &self.0;
        let own = slots.iter().position(|slot| {
            let taken = slot
                .counted
                .compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
            taken.is_ok() || taken == Err(code)
        });
        let slot = own.unwrap_or_else(|| {
            last.counted.store(OTHERS, Ordering::Relaxed);
            SLOTS - 1
        });
        self.0[slot].open.fetch_add(1, Ordering::Relaxed);
        slot
    }

    /// Stops counting a connection that [`Self::enter`] has counted.
    pub fn leave(&self, slot: usize) {
        self.0[slot].open.fetch_sub(1, Ordering::Relaxed);
    }

    /// Every band that has had a connection, with the number of those open now.
    pub fn counts(&self) -> impl Iterator<Item = (Counted, usize)> + '_ {
        let used = |slot: &Slot| {
            let counted = counted(slot.counted.load(Ordering::Relaxed))?;
            Some((counted, slot.open.load(Ordering::Relaxed)))
        };
        self.0.iter().filter_map(used)
    }
}

fn code(band: Option<Band>) -> u64 {
    let octets = |priority: i16| u64::from(priority.cast_unsigned());
    band.map_or(UNBANDED, |(low, high)| {
        FIRST_BAND + (octets(low) << 16 | octets(high))
    })
}

fn counted(code: u64) -> Option<Counted> {
    let priority = |octets: u64| (octets as u16).cast_signed();
    match code {
        0 => None,
        UNBANDED => Some(Counted::Unbanded),
        OTHERS => Some(Counted::Others),
        code => {
            let octets = code - FIRST_BAND;
            Some(Counted::Band((priority(octets >> 16), priority(octets))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_by_band() {
        let open = OpenByBand::default();
        let bands = [None, Some((0, 100)), None, Some((101, 32_767)), Some((-5, 0))];
        let slots = bands.map(|band| open.enter(band));
        open.leave(slots[1]);
        let counts: Vec<_> = open.counts().collect();
        let expected = [
            (Counted::Unbanded, 2),
            (Counted::Band((0, 100)), 0),
            (Counted::Band((101, 32_767)), 1),
            (Counted::Band((-5, 0)), 1),
        ];
        assert_eq!(counts, expected);
    }

    #[test]
    fn bands_without_a_place_are_counted_together() {
        let open = OpenByBand::default();
        let slots: Vec<_> = (0..20).map(|low| open.enter(Some((low, 100)))).collect();
        let counts: Vec<_> = open.counts().collect();
        assert_eq!((counts.len(), counts[15]), (16, (Counted::Others, 5)));
        open.leave(slots[19]);
        assert_eq!(open.counts().last(), Some((Counted::Others, 4)));
    }
}

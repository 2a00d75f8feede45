//! Priority band that a connection is bound to.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicUsize, Ordering},
};

use punctual_inspect::OpenByBand;
use punctual_types::{Priority, PriorityBand};

/// Band that a client has bound its connection to, if any. A binding does not change.
#[derive(Debug)]
pub(crate) struct BoundBand {
    band: AtomicU32,
    /// Counts of open connections, and the index of this one's count.
    open: Arc<OpenByBand>,
    counter: AtomicUsize,
}

/// No band: its ends are not valid priorities.
const UNBOUND: u32 = u32::MAX;
/// The connection is not open yet, or closed.
const UNCOUNTED: usize = usize::MAX;

impl BoundBand {
    /// Creates the binding of a connection that will be counted in `open`.
    pub(crate) fn among(open: &Arc<OpenByBand>) -> Self {
        Self {
            band: AtomicU32::new(UNBOUND),
            open: Arc::clone(open),
            counter: AtomicUsize::new(UNCOUNTED),
        }
    }

    /// Counts the connection, which has been opened and is not bound yet.
    pub(crate) fn count(&self) {
        self.counter.store(self.open.enter(None), Ordering::Relaxed);
    }

    /// Stops counting the connection, which has been closed. Repeated calls have no effect.
    pub(crate) fn release(&self) {
        let counter = self.counter.swap(UNCOUNTED, Ordering::Relaxed);
        if counter != UNCOUNTED {
            self.open.leave(counter);
        }
    }

    fn count_in(&self, band: PriorityBand) {
        let from = self.counter.load(Ordering::Relaxed);
        let to = self.open.enter(Some((band.low.value(), band.high.value())));
        let moved = from != UNCOUNTED
            && self
                .counter
                .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        // The connection may have been closed in the meantime.
        self.open.leave(if moved { from } else { to });
    }

    /// Returns the band; `None` if the connection serves all priorities.
    pub(crate) fn get(&self) -> Option<PriorityBand> {
        unpack(self.band.load(Ordering::Relaxed))
    }

    /// Binds the connection. Returns `false` if it is bound to another band.
    pub(crate) fn bind(&self, band: PriorityBand) -> bool {
        let packed = pack(band);
        // Requests that follow the reply observe the binding under any memory order.
        match self
            .band
            .compare_exchange(UNBOUND, packed, Ordering::Relaxed, Ordering::Relaxed)
        {
            Ok(_) => {
                self.count_in(band);
                true
            }
            Err(before) => before == packed,
        }
    }
}

fn pack(PriorityBand { low, high }: PriorityBand) -> u32 {
    u32::from(low.value().cast_unsigned()) << 16 | u32::from(high.value().cast_unsigned())
}

fn unpack(packed: u32) -> Option<PriorityBand> {
    let end = |value: u32| Priority::new((value as u16).cast_signed()).ok();
    Some(PriorityBand::new(end(packed >> 16)?, end(packed)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_inspect::Counted;

    #[test]
    fn a_connection_is_bound_once() {
        let [low, middle, high] = [0, 10_922, 32_767].map(|value| Priority::new(value).unwrap());
        let open = Arc::<OpenByBand>::default();
        let bound = BoundBand::among(&open);
        assert_eq!(bound.get(), None);
        let (band, other) = (PriorityBand::new(low, high), PriorityBand::new(middle, high));
        assert!(
            bound.bind(band) && bound.bind(band),
            "binding to the same band again succeeds"
        );
        assert!(!bound.bind(other));
        assert_eq!(bound.get(), Some(band));
        let top = BoundBand::among(&open);
        assert!(top.bind(PriorityBand::new(high, high)));
        assert_eq!(top.get(), Some(PriorityBand::new(high, high)));
        assert!(open.counts().all(|(_, open)| open == 0), "no connection is open");
    }

    #[test]
    fn it_is_counted_while_its_connection_is_open() {
        let open = Arc::<OpenByBand>::default();
        let counts = || open.counts().collect::<Vec<_>>();
        let bound = BoundBand::among(&open);
        bound.count();
        assert_eq!(counts(), [(Counted::Unbanded, 1)]);
        assert!(bound.bind(PriorityBand::new(Priority::MIN, Priority::MAX)));
        let band = Counted::Band((0, 32_767));
        assert_eq!(counts(), [(Counted::Unbanded, 0), (band, 1)]);
        bound.release();
        bound.release();
        assert_eq!(counts(), [(Counted::Unbanded, 0), (band, 0)]);
        // A request that was still being served when its connection was closed.
        let late = BoundBand::among(&open);
        late.count();
        late.release();
        assert!(late.bind(PriorityBand::new(Priority::MIN, Priority::MAX)));
        assert_eq!(counts(), [(Counted::Unbanded, 0), (band, 0)]);
    }
}

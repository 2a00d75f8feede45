use std::sync::atomic::{AtomicU32, Ordering};

use punctual_types::{Priority, PriorityBand};

/// The band that a client has bound its connection to, once and for all; mostly none.
#[derive(Debug)]
pub(crate) struct BoundBand(AtomicU32);

/// No band: its ends are no priorities.
const UNBOUND: u32 = u32::MAX;

impl BoundBand {
    /// `None`: the connection is for all priorities.
    pub(crate) fn get(&self) -> Option<PriorityBand> {
        unpack(self.0.load(Ordering::Relaxed))
    }

    /// Binds it. `false`: it is bound to another one.
    pub(crate) fn bind(&self, band: PriorityBand) -> bool {
        let packed = pack(band);
        // Requests that follow the reply come after it in any order of memory.
        match self
            .0
            .compare_exchange(UNBOUND, packed, Ordering::Relaxed, Ordering::Relaxed)
        {
            Ok(_) => true,
            Err(before) => before == packed,
        }
    }
}

impl Default for BoundBand {
    fn default() -> Self {
        Self(AtomicU32::new(UNBOUND))
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

    #[test]
    fn a_connection_is_bound_once() {
        let [low, middle, high] = [0, 10_922, 32_767].map(|value| Priority::new(value).unwrap());
        let bound = BoundBand::default();
        assert_eq!(bound.get(), None);
        let (band, other) = (PriorityBand::new(low, high), PriorityBand::new(middle, high));
        assert!(bound.bind(band) && bound.bind(band), "again is no change");
        assert!(!bound.bind(other));
        assert_eq!(bound.get(), Some(band));
        let top = BoundBand::default();
        assert!(top.bind(PriorityBand::new(high, high)));
        assert_eq!(top.get(), Some(PriorityBand::new(high, high)));
    }
}

//! CORBA priorities and the seven of Zenoh for data.

use punctual::Priority;
use zenoh::qos::Priority as ZenohPriority;

/// Levels from the lowest to the highest.
const LEVELS: [ZenohPriority; 7] = [
    ZenohPriority::Background,
    ZenohPriority::DataLow,
    ZenohPriority::Data,
    ZenohPriority::DataHigh,
    ZenohPriority::InteractiveLow,
    ZenohPriority::InteractiveHigh,
    ZenohPriority::RealTime,
];

/// Returns the priority of Zenoh for a CORBA priority: seven bands of about the same width.
pub fn to_zenoh(priority: Priority) -> ZenohPriority {
    let levels = i32::from(Priority::MAX.value()) + 1;
    let band = i32::from(priority.value()) * 7 / levels;
    LEVELS[usize::try_from(band).unwrap_or_default()]
}

/// Returns the lowest CORBA priority of a band.
pub fn from_zenoh(priority: ZenohPriority) -> Priority {
    let levels = i32::from(Priority::MAX.value()) + 1;
    let band = LEVELS
        .iter()
        .position(|level| *level == priority)
        .unwrap_or_default();
    let lowest = (i32::try_from(band).unwrap_or_default() * levels + 6) / 7;
    i16::try_from(lowest)
        .ok()
        .and_then(|value| Priority::new(value).ok())
        .unwrap_or(Priority::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bands_cover_all_priorities_in_order() {
        let all: Vec<_> = (0..=i16::MAX)
            .map(|value| to_zenoh(Priority::new(value).unwrap()))
            .collect();
        // Zenoh's highest has the lowest number.
        assert!(all.is_sorted_by_key(|priority| std::cmp::Reverse(*priority as u8)));
        assert_eq!(
            (all.first(), all.last()),
            (Some(&ZenohPriority::Background), Some(&ZenohPriority::RealTime))
        );
        for level in LEVELS {
            let lowest = from_zenoh(level);
            assert_eq!(to_zenoh(lowest), level);
            assert!(lowest == Priority::MIN || all[lowest.value() as usize - 1] != level);
            let width = all.iter().filter(|one| **one == level).count();
            assert!((4_680..=4_683).contains(&width), "{level:?}: {width}");
        }
    }
}

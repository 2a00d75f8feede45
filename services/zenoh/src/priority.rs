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
            let width = all.iter().filter(|one| **one == level).count();
            assert!((4_680..=4_683).contains(&width), "{level:?}: {width}");
        }
    }
}

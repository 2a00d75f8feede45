//! Network priorities and their mapping.

use punctual_types::Priority;

/// Priority of packets in the network and in this host's queues.
///
/// ```
/// # use punctual_sched as punctual;
/// use punctual::NetworkPriority;
///
/// assert_eq!(NetworkPriority::EXPEDITED.dscp, 46);
/// assert_eq!(NetworkPriority::EXPEDITED.ds_field(), 0xb8);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct NetworkPriority {
    /// Differentiated services code point, 0 to 63: the network's traffic class. Source: RFC 2474, RFC 4594.
    pub dscp: u8,
    /// SO_PRIORITY, the queue of this host: 0 to 6; higher values require CAP_NET_ADMIN.
    pub queue: u8,
}

impl NetworkPriority {
    /// Best effort: the priority of unmarked packets.
    pub const BEST_EFFORT: Self = Self { dscp: 0, queue: 0 };
    /// Expedited forwarding: low loss, delay and jitter. Source: RFC 3246.
    pub const EXPEDITED: Self = Self { dscp: 46, queue: 6 };

    /// Returns the octet of the packet header, with the code point in the upper six bits.
    pub const fn ds_field(self) -> u8 {
        self.dscp << 2
    }
}

/// Mapping from CORBA to network priorities: TAO's `RTCORBA::NetworkPriorityMapping`.
///
/// It is called on the path of requests and must not block or allocate.
///
/// ```
/// # mod punctual { pub use {punctual_sched::*, punctual_types::*}; }
/// use punctual::{NetworkPriority, NetworkPriorityMapping, Priority};
///
/// /// Only the highest priority is expedited.
/// struct Alarms;
///
/// impl NetworkPriorityMapping for Alarms {
///     fn to_network(&self, priority: Priority) -> NetworkPriority {
///         if priority == Priority::MAX { NetworkPriority::EXPEDITED } else { NetworkPriority::BEST_EFFORT }
///     }
/// }
/// ```
pub trait NetworkPriorityMapping: Send + Sync {
    /// Returns the network priority of messages of this CORBA priority.
    fn to_network(&self, priority: Priority) -> NetworkPriority;
}

/// Distributes CORBA priorities evenly over 21 code points, as TAO's `linear` mapping does: best effort, the
/// class selectors 1 to 7, assured forwarding 11 to 43, expedited forwarding; and over the queues 0 to 6.
///
/// ```
/// # mod punctual { pub use {punctual_sched::*, punctual_types::*}; }
/// use punctual::{LinearNetworkMapping, NetworkPriority, NetworkPriorityMapping, Priority};
///
/// assert_eq!(LinearNetworkMapping.to_network(Priority::MIN), NetworkPriority::BEST_EFFORT);
/// assert_eq!(LinearNetworkMapping.to_network(Priority::MAX), NetworkPriority::EXPEDITED);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct LinearNetworkMapping;

const CODE_POINTS: [u8; 21] = [
    0, // best effort
    8, 16, 24, 32, 40, 48, 56, // CS1 to CS7
    10, 12, 14, 18, 20, 22, 26, 28, 30, 34, 36, 38, // AF11 to AF43
    46, // EF
];
const QUEUES: usize = 7;

impl NetworkPriorityMapping for LinearNetworkMapping {
    fn to_network(&self, priority: Priority) -> NetworkPriority {
        // 0 to 32767.
        let value = priority.value() as usize;
        let share = |parts: usize| value * parts / (Priority::MAX.value() as usize + 1);
        NetworkPriority {
            dscp: CODE_POINTS[share(CODE_POINTS.len())],
            queue: share(QUEUES) as u8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_evenly_distributed_over_code_points() {
        let mut seen = [0_u32; 64];
        for value in 0..=i16::MAX {
            let network = LinearNetworkMapping.to_network(Priority::new(value).unwrap());
            seen[usize::from(network.dscp)] += 1;
            assert!(network.queue <= 6);
        }
        for dscp in CODE_POINTS {
            assert!((1560..=1561).contains(&seen[usize::from(dscp)]), "{dscp}");
        }
        assert_eq!(seen.iter().filter(|count| **count > 0).count(), 21);
        let middle = LinearNetworkMapping.to_network(Priority::new(16_384).unwrap());
        assert_eq!(
            (middle.dscp, middle.queue),
            (14, 3),
            "the eleventh of 21, the fourth of 7"
        );
    }
}

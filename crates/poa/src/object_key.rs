//! Object keys.

use crate::SlotId;

/// An object key of this ORB, decoded. Keys are opaque to clients and other ORBs.
///
/// ```text
/// 'P' 'U' 1 kind
/// kind 0   system id, transient      boot (8)  slot (4)  generation (4)
/// kind 1   user id, transient        boot (8)  adapter length (2)  adapter  id
/// kind 2   any id, persistent                  adapter length (2)  adapter  id
/// ```
/// Numbers are big-endian. `boot` differs in each run, so that transient references from an earlier run, or
/// from another server at the same address, are detected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ObjectKey<'k> {
    /// An object identified by its slot.
    Slot {
        /// Run of the ORB that created the key.
        boot: u64,
        /// Slot of the object.
        slot: SlotId,
    },
    /// An object identified by its name.
    Named {
        /// Adapter, and whether the object outlives the run.
        adapter: Adapter<'k>,
        /// The object id.
        id: &'k [u8],
    },
}

/// The adapter part of a named key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Adapter<'k> {
    /// Run of the ORB that created the key; `None` for persistent objects.
    pub boot: Option<u64>,
    /// Names of the adapter and its parents below the root, joined by `/`; empty for the root.
    pub path: &'k [u8],
}

const MAGIC: [u8; 3] = [b'P', b'U', 1];
const SLOT: u8 = 0;
const TRANSIENT: u8 = 1;
const PERSISTENT: u8 = 2;

impl<'k> ObjectKey<'k> {
    /// Decodes a key; `None` for a key of another ORB.
    pub fn parse(key: &'k [u8]) -> Option<Self> {
        let (kind, mut rest) = key.strip_prefix(&MAGIC)?.split_first()?;
        let boot = match *kind {
            SLOT | TRANSIENT => Some(u64::from_be_bytes(*take(&mut rest)?)),
            PERSISTENT => None,
            _ => return None,
        };
        if let (SLOT, Some(boot)) = (*kind, boot) {
            let index = u32::from_be_bytes(*take(&mut rest)?);
            let generation = u32::from_be_bytes(*take(&mut rest)?);
            return rest.is_empty().then_some(Self::Slot {
                boot,
                slot: SlotId { index, generation },
            });
        }
        let length = u16::from_be_bytes(*take(&mut rest)?);
        let (path, id) = rest.split_at_checked(length.into())?;
        Some(Self::Named {
            adapter: Adapter { boot, path },
            id,
        })
    }

    /// Encodes the key for [`Self::parse`]. The adapter path must be shorter than 64 KiB.
    pub fn to_octets(&self) -> Vec<u8> {
        let mut octets = MAGIC.to_vec();
        match self {
            Self::Slot { boot, slot } => {
                octets.push(SLOT);
                octets.extend(boot.to_be_bytes());
                octets.extend(slot.index.to_be_bytes());
                octets.extend(slot.generation.to_be_bytes());
            }
            Self::Named { adapter, id } => {
                match adapter.boot {
                    Some(boot) => {
                        octets.push(TRANSIENT);
                        octets.extend(boot.to_be_bytes());
                    }
                    None => octets.push(PERSISTENT),
                }
                let length =
                    u16::try_from(adapter.path.len()).expect("adapter paths are shorter than 64 KiB");
                octets.extend(length.to_be_bytes());
                octets.extend(adapter.path);
                octets.extend(*id);
            }
        }
        octets
    }

    /// Returns the run of the ORB that created the key, for transient objects.
    pub fn boot(&self) -> Option<u64> {
        match self {
            Self::Slot { boot, .. } => Some(*boot),
            Self::Named { adapter, .. } => adapter.boot,
        }
    }
}

fn take<'k, const N: usize>(octets: &mut &'k [u8]) -> Option<&'k [u8; N]> {
    let (taken, rest) = octets.split_first_chunk()?;
    *octets = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_round_trip_and_no_prefix_is_a_key() {
        let slot = SlotId {
            index: 7,
            generation: 9,
        };
        let named = |boot| ObjectKey::Named {
            adapter: Adapter {
                boot,
                path: b"rt/radar",
            },
            id: b"one",
        };
        for key in [
            ObjectKey::Slot { boot: 1 << 60, slot },
            named(Some(5)),
            named(None),
        ] {
            let octets = key.to_octets();
            assert_eq!(ObjectKey::parse(&octets), Some(key));
            let without_id = octets.len() - 3;
            for end in 0..without_id {
                assert_ne!(ObjectKey::parse(&octets[..end]), Some(key));
            }
        }
    }

    #[test]
    fn foreign_keys_are_refused() {
        assert_eq!(ObjectKey::parse(b""), None);
        assert_eq!(ObjectKey::parse(b"NameService"), None);
        assert_eq!(ObjectKey::parse(b"PU\x01\x03"), None);
        assert_eq!(ObjectKey::parse(b"PU\x01\x02\xff\xff"), None);
    }
}

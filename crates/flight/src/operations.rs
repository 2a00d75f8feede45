//! Names of the operations that a thread has recorded, kept in its file so that readers can name them.
//!
//! A record has only the [hash](operation_id) of its operation. The file has [`PLACES`] places for names, of
//! [`WORDS`] words each: the hash, and the name, truncated to [`NAME_OCTETS`] octets and padded with zeros. A
//! name is at the place of its hash, modulo their number, or at one of the next seven.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::fnv::fnv;

/// Number of names in a file.
pub const PLACES: usize = 64;
/// Size of a place in words.
pub const WORDS: usize = 1 + NAME_OCTETS / 8;
/// Number of places that a name may have; if all are taken, it replaces that at the first.
const TRIES: usize = 8;
/// Octets of a name that are kept.
pub const NAME_OCTETS: usize = 40;

/// Returns the hash of the name of an operation, the same in every process (FNV-1a).
pub fn operation_id(name: &str) -> u64 {
    fnv(name.as_bytes())
}

/// Writes a name to its place, unless it is there. `places`: those of the calling thread's file.
pub(crate) fn keep(places: &[AtomicU64], name: &str) -> u64 {
    let id = operation_id(name);
    if let Some((hash, words)) = place(places, id)
        && hash.load(Ordering::Relaxed) != id
    {
        let mut octets = [0; NAME_OCTETS];
        for (octet, source) in octets.iter_mut().zip(name.bytes()) {
            *octet = source;
        }
        let (values, _) = octets.as_chunks::<8>();
        for (word, value) in words.iter().zip(values) {
            word.store(u64::from_ne_bytes(*value), Ordering::Relaxed);
        }
        hash.store(id, Ordering::Release);
    }
    id
}

/// Returns the place of a name: its own, or a free one, or the first of those that it may have.
fn place(places: &[AtomicU64], id: u64) -> Option<(&AtomicU64, &[AtomicU64])> {
    let (places, _) = places.as_chunks::<WORDS>();
    let first = (id % PLACES as u64) as usize;
    let candidates = (0..TRIES).filter_map(|step| places.get((first + step) % PLACES));
    let found = candidates.clone().find(|place| {
        let hash = place[0].load(Ordering::Relaxed);
        hash == id || hash == 0
    });
    found.or(candidates.into_iter().next())?.split_first()
}

/// Returns the hashes and names of a file.
pub(crate) fn parse(places: &[u64]) -> Vec<(u64, String)> {
    let (places, _) = places.as_chunks::<WORDS>();
    places.iter().filter_map(name).collect()
}

/// Returns the name of a place; `None` if it has none, or is being written.
fn name(place: &[u64; WORDS]) -> Option<(u64, String)> {
    let (id, words) = place.split_first()?;
    let octets = words.iter().flat_map(|word| word.to_ne_bytes());
    let octets: Vec<u8> = octets.take_while(|octet| *octet != 0).collect();
    let is_whole = octets.len() < NAME_OCTETS;
    let name = String::from_utf8_lossy(&octets).into_owned();
    if *id == 0 || (is_whole && operation_id(&name) != *id) {
        return None;
    }
    Some((*id, if is_whole { name } else { format!("{name}...") }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Vec<AtomicU64> {
        (0..PLACES * WORDS).map(|_| AtomicU64::new(0)).collect()
    }

    fn kept(places: &[AtomicU64]) -> Vec<(u64, String)> {
        let words: Vec<u64> = places.iter().map(|word| word.load(Ordering::Relaxed)).collect();
        parse(&words)
    }

    #[test]
    fn operations_differ() {
        assert_eq!(operation_id(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(operation_id("a"), 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn names_are_found_by_their_hashes() {
        let places = places();
        assert!(kept(&places).is_empty());
        let long = "n".repeat(NAME_OCTETS + 1);
        for name in ["track", "_get_position", &long, "track"] {
            assert_eq!(keep(&places, name), operation_id(name));
        }
        let mut names = kept(&places);
        names.sort();
        let mut expected = vec![
            (operation_id("track"), "track".to_owned()),
            (operation_id("_get_position"), "_get_position".to_owned()),
            (operation_id(&long), format!("{}...", "n".repeat(NAME_OCTETS))),
        ];
        expected.sort();
        assert_eq!(names, expected);
    }

    /// Names with the same hash modulo the number of places.
    fn colliding(count: usize) -> Vec<String> {
        let at = |name: &str| operation_id(name) % PLACES as u64;
        let others = (0..).map(|number| format!("other{number}"));
        others.filter(|name| at(name) == 63).take(count).collect()
    }

    #[test]
    fn names_that_collide_are_kept_until_all_places_are_taken() {
        let (places, mut names) = (places(), colliding(TRIES + 1));
        let last = names.pop().unwrap();
        let found = || {
            let kept = kept(&places);
            let mut names: Vec<String> = kept.into_iter().map(|(_, name)| name).collect();
            names.sort();
            names
        };
        for _ in 0..2 {
            names.iter().for_each(|name| {
                keep(&places, name);
            });
        }
        names.sort_by_key(|name| name.clone());
        assert_eq!(found(), names);
        keep(&places, &last);
        assert_eq!(found().len(), TRIES);
        assert!(found().contains(&last));
    }

    #[test]
    fn half_a_name_is_none() {
        let (places, name) = (places(), &colliding(1)[0]);
        keep(&places, name);
        let at = operation_id(name) as usize % PLACES;
        places[at * WORDS + 1].store(u64::from_ne_bytes(*b"halfname"), Ordering::Relaxed);
        assert!(kept(&places).is_empty());
    }
}

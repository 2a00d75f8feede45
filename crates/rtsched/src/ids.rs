//! Ids of distributable threads: globally unique and unpredictable, without a system call for each.

use std::sync::atomic::{AtomicU64, Ordering};

use punctual_types::DistributableThreadId;

/// Creates ids: a counter and 64 random bits of this endsystem, encrypted by a permutation of 128-bit words
/// (Speck128/128) under a random key.
///
/// The permutation creates no id twice; ids of two endsystems collide with the probability of two random
/// 128-bit numbers. Ids reveal neither the key nor the next id as long as the cipher is secure. The cost is
/// one atomic addition and 32 rounds of three operations, without a lock.
pub(crate) struct Ids {
    round_keys: [u64; ROUNDS],
    random: u64,
    next: AtomicU64,
}

const ROUNDS: usize = 32;

impl Ids {
    /// Takes randomness from the kernel.
    pub(crate) fn new() -> std::io::Result<Self> {
        let word = || {
            let mut octets = [0; 8];
            punctual_os::random::fill(&mut octets)?;
            Ok::<_, std::io::Error>(u64::from_le_bytes(octets))
        };
        Ok(Self {
            round_keys: round_keys([word()?, word()?]),
            random: word()?,
            next: AtomicU64::new(0),
        })
    }

    /// Creates an id.
    pub(crate) fn next(&self) -> DistributableThreadId {
        let count = self.next.fetch_add(1, Ordering::Relaxed);
        let [high, low] = encrypt(&self.round_keys, [self.random, count]);
        DistributableThreadId(u128::from(high) << 64 | u128::from(low))
    }
}

/// Key schedule of Speck128/128. Source: \[Beaulieu 2013\] section 4.
fn round_keys([mut other, mut key]: [u64; 2]) -> [u64; ROUNDS] {
    std::array::from_fn(|round| {
        let round_key = key;
        [other, key] = mix([other, key], round as u64);
        round_key
    })
}

fn encrypt(round_keys: &[u64; ROUNDS], block: [u64; 2]) -> [u64; 2] {
    round_keys.iter().fold(block, |block, key| mix(block, *key))
}

fn mix([x, y]: [u64; 2], key: u64) -> [u64; 2] {
    let x = x.rotate_right(8).wrapping_add(y) ^ key;
    [x, y.rotate_left(3) ^ x]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// The test vector of the paper, appendix C.
    #[test]
    fn the_permutation_is_speck() {
        let keys = round_keys([0x0f0e_0d0c_0b0a_0908, 0x0706_0504_0302_0100]);
        let encrypted = encrypt(&keys, [0x6c61_7669_7571_6520, 0x7469_2065_6461_6d20]);
        assert_eq!(encrypted, [0xa65d_9851_7978_3265, 0x7860_fedf_5c57_0d18]);
    }

    #[test]
    fn ids_differ_within_and_between_endsystems() {
        let endsystems = [Ids::new().unwrap(), Ids::new().unwrap()];
        let mut seen = HashSet::new();
        for number in 0..20_000 {
            assert!(seen.insert(endsystems[number % 2].next()));
        }
    }

    #[test]
    fn neighbours_share_no_more_octets_than_chance() {
        let ids = Ids::new().unwrap();
        let octets: Vec<[u8; 16]> = (0..256).map(|_| ids.next().to_octets()).collect();
        let equal: usize = octets
            .windows(2)
            .map(|pair| pair[0].iter().zip(&pair[1]).filter(|(a, b)| a == b).count())
            .sum();
        // 255 × 16 pairs of octets, each equal with 1/256: 16 expected.
        assert!(equal < 64, "{equal}");
    }
}

//! Numbers of quadruple precision, which few ORBs have: a servant of `Quad::Rotor`, and a client that checks
//! such a server.

use punctual::{LongDouble, Orb, SystemException};

pub use crate::generated_quad::quad::RotorRef;
use crate::generated_quad::quad::{Pair, Rotor};

/// The servant.
pub struct RotorServant;

impl Rotor for RotorServant {
    fn echo(&self, value: LongDouble, given: &Pair) -> Result<(LongDouble, Pair), SystemException> {
        Ok((value, given.clone()))
    }
}

/// Bits of 0, -0, 1, -2, 1/3, the largest and the smallest number, infinity and a NaN (IEEE 754 binary128).
const BITS: [u128; 9] = [
    0,
    1 << 127,
    0x3fff << 112,
    0xc000 << 112,
    0x3ffd_5555_5555_5555_5555_5555_5555_5555,
    0x7ffe_ffff_ffff_ffff_ffff_ffff_ffff_ffff,
    1,
    0x7fff << 112,
    0x7fff_8000_0000_0000_0000_0000_0000_0001,
];

/// Sends each number alone and behind an octet, so that it has to be aligned. Returns how many were right.
///
/// # Panics
/// If one comes back changed.
pub fn check(orb: &Orb, reference: &str) -> usize {
    let rotor: RotorRef = orb.resolve(reference).expect("a reference to a rotor");
    for bits in BITS {
        let value = LongDouble(bits);
        let pair = Pair { before: 7, value };
        let (returned, back) = rotor.echo(value, &pair).expect("an answer");
        assert_eq!(returned.0, bits, "{bits:#x}, alone");
        assert_eq!((back.before, back.value.0), (7, bits), "{bits:#x}, in a struct");
    }
    BITS.len()
}

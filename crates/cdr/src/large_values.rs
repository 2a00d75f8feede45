//! Large values, lent or in a box: long arrays, and the members of large structs.
//!
//! Their decoding is never a part of a larger function: several of them are never on a stack together.

use alloc::boxed::Box;

use crate::{CdrError, Decode, Decoder, Encode, Encoder};

impl<T: Encode> Encode for Box<T> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        T::encode(self, encoder)
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for Box<T> {
    const MIN_SIZE: usize = T::MIN_SIZE;

    #[inline(never)]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        T::decode_boxed(decoder)
    }

    fn decode_into(&mut self, decoder: &mut Decoder<'a>) -> Result<(), CdrError> {
        T::decode_into(self, decoder)
    }
}

/// Numbers in the native byte order are lent from the message, all other values from the arena.
impl<'a, T: Decode<'a>> Decode<'a> for &'a T {
    const MIN_SIZE: usize = T::MIN_SIZE;

    #[inline(never)]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        T::decode_lent(decoder)
    }
}

/// Puts the value of a function in a box, for generated code.
#[doc(hidden)]
#[inline(never)]
pub fn boxed<T>(make: impl FnOnce() -> T) -> Box<T> {
    Box::new(make())
}

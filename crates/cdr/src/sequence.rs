//! Sequences: a length, then the elements. Source: CORBA 3.3 part 2, 9.3.2.5.

use alloc::vec::Vec;

use crate::{CdrError, Decode, Decoder, Encode, Encoder};

impl<T: Encode> Encode for [T] {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        encoder.length(self.len())?;
        T::encode_elements(self, encoder)
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.as_slice().encode(encoder)
    }
}

/// Numbers in the native byte order are lent from the message, all other elements from the arena.
impl<'a, T: Decode<'a>> Decode<'a> for &'a [T] {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let count = decoder.length(T::MIN_SIZE)?;
        T::decode_slice(decoder, count)
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for Vec<T> {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let mut elements = Self::new();
        elements.decode_into(decoder)?;
        Ok(elements)
    }

    fn decode_into(&mut self, decoder: &mut Decoder<'a>) -> Result<(), CdrError> {
        let count = decoder.length(T::MIN_SIZE)?;
        T::decode_elements_into(self, count, decoder)
    }
}

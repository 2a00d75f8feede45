//! Arrays: the elements alone, the last dimension fastest. Source: CORBA 3.3 part 2, 9.3.2.4.

use core::array;

use crate::{CdrError, Decode, Decoder, Encode, Encoder};

impl<T: Encode, const N: usize> Encode for [T; N] {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        T::encode_elements(self, encoder)
    }
}

impl<'a, T: Decode<'a>, const N: usize> Decode<'a> for [T; N] {
    const MIN_SIZE: usize = T::MIN_SIZE * N;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        // `array::try_from_fn` is not stable: collect into options, which costs no heap either.
        let mut failure = None;
        let elements: [Option<T>; N] = array::from_fn(|_| match failure {
            None => T::decode(decoder).map_err(|error| failure = Some(error)).ok(),
            Some(_) => None,
        });
        match failure {
            Some(error) => Err(error),
            None => Ok(elements.map(|element| element.expect("no element failed"))),
        }
    }

    fn decode_into(&mut self, decoder: &mut Decoder<'a>) -> Result<(), CdrError> {
        self.iter_mut()
            .try_for_each(|element| element.decode_into(decoder))
    }
}

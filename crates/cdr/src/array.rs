//! Arrays: the elements alone, the last dimension fastest. Source: CORBA 3.3 part 2, 9.3.2.4.
//!
//! Long arrays are lent, or owned in a box: they are decoded in place and never pass through the stack.

use alloc::{boxed::Box, vec, vec::Vec};

use crate::{CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder};

impl<T: Encode, const N: usize> Encode for [T; N] {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        T::encode_elements(self, encoder)
    }
}

impl<'a, T: Decode<'a>, const N: usize> Decode<'a> for [T; N] {
    const MIN_SIZE: usize = T::MIN_SIZE.saturating_mul(N);

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        T::decode_array(decoder)
    }

    fn decode_into(&mut self, decoder: &mut Decoder<'a>) -> Result<(), CdrError> {
        T::decode_each_into(self, decoder)
    }

    fn decode_slice(decoder: &mut Decoder<'a>, count: usize) -> Result<&'a [Self], CdrError> {
        // Without padding in between: what the elements' elements are lent from lends the elements.
        T::decode_slice(decoder, count.saturating_mul(N)).map(|elements| elements.as_chunks().0)
    }

    fn decode_boxed(decoder: &mut Decoder<'a>) -> Result<Box<Self>, CdrError> {
        decoder.expect(Self::MIN_SIZE)?;
        let mut elements = Vec::new();
        T::decode_elements_into(&mut elements, N, decoder)?;
        Box::try_from(elements).map_err(|_| decoder.error(CdrErrorKind::Truncated))
    }

    fn decode_lent(decoder: &mut Decoder<'a>) -> Result<&'a Self, CdrError> {
        decoder.expect(Self::MIN_SIZE)?;
        let elements = T::decode_slice(decoder, N)?;
        elements
            .try_into()
            .map_err(|_| decoder.error(CdrErrorKind::Truncated))
    }
}

/// Returns a long array of equal elements, for generated code and its users.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as rt; }
/// use punctual::rt::filled_array;
///
/// let frame: Box<[u8; 1_000_000]> = filled_array(0);
/// assert_eq!(frame[999_999], 0);
/// ```
pub fn filled_array<T: Clone, const N: usize>(element: T) -> Box<[T; N]> {
    exact(vec![element; N])
}

/// Returns a long array of these elements, for generated code.
///
/// # Panics
/// If there are not `N` elements.
#[doc(hidden)]
pub fn boxed_array<T, const N: usize>(elements: impl Iterator<Item = T>) -> Box<[T; N]> {
    exact(elements.collect())
}

fn exact<T, const N: usize>(elements: Vec<T>) -> Box<[T; N]> {
    match elements.try_into() {
        Ok(array) => array,
        Err(_) => panic!("an array of {N} elements has as many"),
    }
}

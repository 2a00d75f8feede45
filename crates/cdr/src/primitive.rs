//! Numbers, booleans and characters: aligned to their size. Source: CORBA 3.3 part 2, 9.3.1.

use alloc::vec::Vec;

use zerocopy::{FromBytes, IntoBytes};

use crate::{CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, Endian, decoder::growth};

macro_rules! number {
    ($($type:ty),*) => {$(
        impl Encode for $type {
            #[inline]
            fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
                let octets = match encoder.endian() {
                    Endian::Big => self.to_be_bytes(),
                    Endian::Little => self.to_le_bytes(),
                };
                encoder.number(octets)
            }

            fn encode_elements(elements: &[Self], encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
                if elements.is_empty() {
                    return Ok(());
                }
                encoder.align(size_of::<Self>())?;
                if size_of::<Self>() == 1 || !encoder.endian().is_foreign() {
                    return encoder.octets(elements.as_bytes());
                }
                encoder.expect_room(size_of_val(elements))?;
                elements.iter().try_for_each(|element| element.encode(encoder))
            }
        }

        impl<'a> Decode<'a> for $type {
            const MIN_SIZE: usize = size_of::<Self>();

            #[inline(always)]
            fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
                let octets = decoder.number::<{ size_of::<Self>() }>()?;
                Ok(match decoder.endian() {
                    Endian::Big => Self::from_be_bytes(octets),
                    Endian::Little => Self::from_le_bytes(octets),
                })
            }

            fn decode_elements_into(
                elements: &mut Vec<Self>,
                count: usize,
                decoder: &mut Decoder<'a>,
            ) -> Result<(), CdrError> {
                elements.clear();
                if count == 0 {
                    return Ok(());
                }
                decoder.reserve(count.saturating_mul(size_of::<Self>()))?;
                growth::reserve(elements, count, decoder)?;
                if size_of::<Self>() > 1 && decoder.is_fragmented() {
                    for _ in 0..count {
                        elements.push(Self::decode(decoder)?);
                    }
                    return Ok(());
                }
                decoder.align(size_of::<Self>())?;
                let endian = decoder.endian();
                let foreign = size_of::<Self>() > 1 && endian.is_foreign();
                let octets = decoder.octets(count * size_of::<Self>())?;
                match <[Self]>::ref_from_bytes(octets) {
                    Ok(native) if !foreign => elements.extend_from_slice(native),
                    _ => {
                        let octets = octets.chunks_exact(size_of::<Self>());
                        elements.extend(octets.map(|octets| from_octets!($type, octets, endian)));
                    }
                }
                Ok(())
            }

            fn decode_each_into(elements: &mut [Self], decoder: &mut Decoder<'a>) -> Result<(), CdrError> {
                if size_of::<Self>() > 1 && decoder.is_fragmented() {
                    for element in elements {
                        *element = Self::decode(decoder)?;
                    }
                    return Ok(());
                }
                decoder.align(size_of::<Self>())?;
                let endian = decoder.endian();
                let octets = decoder.octets(size_of_val(elements))?;
                if size_of::<Self>() == 1 || !endian.is_foreign() {
                    elements.as_mut_bytes().copy_from_slice(octets);
                } else {
                    for (element, octets) in elements.iter_mut().zip(octets.chunks_exact(size_of::<Self>())) {
                        *element = from_octets!($type, octets, endian);
                    }
                }
                Ok(())
            }

            fn decode_array<const N: usize>(decoder: &mut Decoder<'a>) -> Result<[Self; N], CdrError> {
                let mut elements = [<$type>::default(); N];
                Self::decode_each_into(&mut elements, decoder)?;
                Ok(elements)
            }

            fn decode_slice(decoder: &mut Decoder<'a>, count: usize) -> Result<&'a [Self], CdrError> {
                if count == 0 {
                    return Ok(&[]);
                }
                if size_of::<Self>() > 1 && decoder.is_fragmented() {
                    return growth::decode_into_arena(count, decoder);
                }
                decoder.align(size_of::<Self>())?;
                let endian = decoder.endian();
                let foreign = size_of::<Self>() > 1 && endian.is_foreign();
                let octets = decoder.octets(count * size_of::<Self>())?;
                if !foreign && let Ok(native) = <[Self]>::ref_from_bytes(octets) {
                    return Ok(native);
                }
                decoder.reserve(octets.len())?;
                let elements = octets.chunks_exact(size_of::<Self>());
                let elements = elements.map(|octets| from_octets!($type, octets, endian));
                match decoder.arena()?.try_alloc_slice_fill_iter(elements) {
                    Ok(elements) => Ok(elements),
                    Err(_) => Err(decoder.error(CdrErrorKind::OutOfMemory)),
                }
            }
        }
    )*};
}

macro_rules! from_octets {
    ($type:ty, $octets:expr, $endian:expr) => {{
        let mut octets = [0; size_of::<$type>()];
        octets.copy_from_slice($octets);
        match $endian {
            Endian::Big => <$type>::from_be_bytes(octets),
            Endian::Little => <$type>::from_le_bytes(octets),
        }
    }};
}

number!(u8, i8, i16, u16, i32, u32, i64, u64, f32, f64);

impl Encode for bool {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        u8::from(*self).encode(encoder)
    }
}

impl<'a> Decode<'a> for bool {
    const MIN_SIZE: usize = 1;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        match u8::decode(decoder)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(decoder.error(CdrErrorKind::BooleanInvalid)),
        }
    }
}

/// IDL `char`: one octet in the code set of the connection.
impl Encode for char {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        let octet = encoder.char_set().octet(*self);
        octet
            .ok_or_else(|| encoder.error(CdrErrorKind::TextNotInCodeSet))?
            .encode(encoder)
    }
}

impl<'a> Decode<'a> for char {
    const MIN_SIZE: usize = 1;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let octet = u8::decode(decoder)?;
        let character = decoder.char_set().character(octet);
        character.ok_or_else(|| decoder.error(CdrErrorKind::TextInvalid))
    }
}

/// IDL `long double`: the bits of an IEEE 754 binary128, for which Rust has no stable type.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_cdr as value, punctual_cdr::*}; }
/// use punctual::{LongDouble, value::{Encode, Encoder, Endian}};
///
/// let one = LongDouble(0x3fff << 112);
/// let mut message = Vec::new();
/// one.encode(&mut Encoder::new(&mut message, Endian::Big))?;
/// assert_eq!(message[..3], [0x3f, 0xff, 0]);
/// assert_eq!(message.len(), 16);
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct LongDouble(pub u128);

impl Encode for LongDouble {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        encoder.align(8)?;
        encoder.octets(&match encoder.endian() {
            Endian::Big => self.0.to_be_bytes(),
            Endian::Little => self.0.to_le_bytes(),
        })
    }
}

impl<'a> Decode<'a> for LongDouble {
    const MIN_SIZE: usize = 16;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        decoder.align(8)?;
        let endian = decoder.endian();
        let octets = decoder.octets(16)?;
        Ok(Self(from_octets!(u128, octets, endian)))
    }
}

/// A `void` result.
impl Encode for () {
    fn encode(&self, _: &mut Encoder<'_>) -> Result<(), CdrError> {
        Ok(())
    }
}

impl<'a> Decode<'a> for () {
    const MIN_SIZE: usize = 0;

    fn decode(_: &mut Decoder<'a>) -> Result<Self, CdrError> {
        Ok(())
    }
}

macro_rules! tuple {
    ($($name:ident)*) => {
        #[allow(non_snake_case)]
        impl<$($name: Encode),*> Encode for ($($name,)*) {
            fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
                let ($($name,)*) = self;
                $($name.encode(encoder)?;)*
                Ok(())
            }
        }
    };
}

tuple!(A);
tuple!(A B);
tuple!(A B C);
tuple!(A B C D);
tuple!(A B C D E);
tuple!(A B C D E F);

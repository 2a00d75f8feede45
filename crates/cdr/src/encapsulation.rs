//! Encapsulations: sequences of octets with their own byte order and alignment.
//!
//! Source: CORBA 3.3 part 2, 9.3.3.

use crate::{CdrError, Decode, Decoder, Encode, Encoder};

/// Appends an encapsulation: its length, the byte-order octet and the output of `write`, in the encoder's
/// byte order.
pub fn encode_encapsulation<R>(
    encoder: &mut Encoder<'_>,
    write: impl FnOnce(&mut Encoder<'_>) -> Result<R, CdrError>,
) -> Result<R, CdrError> {
    encoder.length(0)?;
    let start = encoder.position();
    let result = encoder.encapsulated(|inner| {
        inner.endian().flag().encode(inner)?;
        write(inner)
    })?;
    let length = encoder.position() - start;
    encoder.patch_u32(start - 4, length as u32);
    Ok(result)
}

/// Creates a decoder for the encapsulation in `octets`, positioned after its byte-order octet.
///
/// Its code set, arena, nesting limit and context are those of `outer`.
pub fn decode_encapsulation<'a>(outer: &Decoder<'a>, octets: &'a [u8]) -> Result<Decoder<'a>, CdrError> {
    let mut decoder = outer.inside(octets, outer.endian(), 0);
    let flag = u8::decode(&mut decoder)?;
    Ok(outer.inside(octets, crate::Endian::from_flag(flag), 1))
}

//! Separate encapsulations, as in profiles, components and service contexts.

use alloc::vec::Vec;

use punctual_cdr::{CdrError, CharSet, Decoder, Encode, Encoder, Endian, decode_encapsulation};

/// Returns the octets of an encapsulation: the byte order, then the output of `write` with text in UTF-8.
pub(crate) fn encapsulate(
    endian: Endian,
    write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Result<Vec<u8>, CdrError> {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, endian).with_char_set(CharSet::Utf8);
    endian.flag().encode(&mut encoder)?;
    write(&mut encoder)?;
    Ok(octets)
}

/// Returns a decoder after the byte-order octet, for text in UTF-8.
pub(crate) fn open(octets: &[u8]) -> Result<Decoder<'_>, CdrError> {
    decode_encapsulation(
        &Decoder::new(&[], Endian::NATIVE).with_char_set(CharSet::Utf8),
        octets,
    )
}

//! Strings: length including the final NUL, octets in the code set of the connection, NUL.
//!
//! Source: CORBA 3.3 part 2, 9.3.2.7 (strings) and 9.3.1.6 (code sets of GIOP 1.2).

use alloc::string::String;
use core::str;

use bumpalo::collections::Vec as ArenaVec;

use crate::{CdrError, CdrErrorKind, CharSet, Decode, Decoder, Encode, Encoder};

impl Encode for str {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        if self.as_bytes().contains(&0) {
            return Err(encoder.error(CdrErrorKind::ValueNotRepresentable));
        }
        if encoder.char_set() != CharSet::Utf8 && !self.is_ascii() {
            return encode_characters(self.chars(), encoder);
        }
        encoder.length(self.len() + 1)?;
        encoder.octets(self.as_bytes())?;
        encoder.octets(&[0])
    }
}

impl Encode for String {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.as_str().encode(encoder)
    }
}

/// Lent from the message, except that text with non-ASCII characters in a code set other than UTF-8 is
/// transcoded into the arena.
impl<'a> Decode<'a> for &'a str {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        match text(decoder)? {
            Text::Utf8(text) => Ok(text),
            Text::SingleOctets(octets, char_set) => lend_transcoded(octets, char_set, decoder),
        }
    }
}

#[inline(never)]
fn lend_transcoded<'a>(
    octets: &[u8],
    char_set: CharSet,
    decoder: &mut Decoder<'a>,
) -> Result<&'a str, CdrError> {
    let length = utf8_length(octets, char_set);
    decoder.reserve(length)?;
    let mut utf8 = ArenaVec::new_in(decoder.arena()?);
    utf8.try_reserve_exact(length)
        .map_err(|_| decoder.error(CdrErrorKind::OutOfMemory))?;
    for character in characters(octets, char_set) {
        utf8.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    str::from_utf8(utf8.into_bump_slice()).map_err(|_| decoder.error(CdrErrorKind::TextInvalid))
}

impl<'a> Decode<'a> for String {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let mut string = Self::new();
        string.decode_into(decoder)?;
        Ok(string)
    }

    fn decode_into(&mut self, decoder: &mut Decoder<'a>) -> Result<(), CdrError> {
        self.clear();
        match text(decoder)? {
            Text::Utf8(text) => {
                reserve(self, text.len(), decoder)?;
                self.push_str(text);
            }
            Text::SingleOctets(octets, char_set) => transcode_into(self, octets, char_set, decoder)?,
        }
        Ok(())
    }
}

#[inline(never)]
fn transcode_into(
    text: &mut String,
    octets: &[u8],
    char_set: CharSet,
    decoder: &mut Decoder<'_>,
) -> Result<(), CdrError> {
    // `extend` alone would grow in steps, each of which could allocate.
    reserve(text, utf8_length(octets, char_set), decoder)?;
    text.extend(characters(octets, char_set));
    Ok(())
}

fn reserve(text: &mut String, octets: usize, decoder: &mut Decoder<'_>) -> Result<(), CdrError> {
    decoder.reserve(octets)?;
    text.try_reserve(octets)
        .map_err(|_| decoder.error(CdrErrorKind::OutOfMemory))
}

/// Text in the form of the message: what is only passed on needs no memory of its own.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a> {
    /// UTF-8, or ASCII.
    Utf8(&'a str),
    /// Text with at least one non-ASCII character in a code set that has one octet for each character. Octets
    /// that stand for none are left out.
    SingleOctets(&'a [u8], CharSet),
}

impl<'a> Decode<'a> for Text<'a> {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        text(decoder)
    }
}

impl Encode for Text<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        let (octets, char_set) = match self {
            Self::Utf8(text) => return text.encode(encoder),
            Self::SingleOctets(octets, char_set) => (*octets, *char_set),
        };
        if encoder.char_set() == char_set {
            encoder.length(octets.len() + 1)?;
            encoder.octets(octets)?;
        } else if encoder.char_set() == CharSet::Utf8 {
            encoder.length(utf8_length(octets, char_set) + 1)?;
            for character in characters(octets, char_set) {
                encoder.octets(character.encode_utf8(&mut [0; 4]).as_bytes())?;
            }
        } else {
            return encode_characters(characters(octets, char_set), encoder);
        }
        encoder.octets(&[0])
    }
}

/// Encodes text in the encoder's code set, which has one octet for each character.
#[cold]
#[inline(never)]
fn encode_characters(
    characters: impl Iterator<Item = char> + Clone,
    encoder: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    let length = characters.clone().count() + 1;
    encoder.length(length)?;
    encoder.expect_room(length)?;
    for character in characters {
        let octet = encoder.char_set().octet(character);
        encoder.push(octet.ok_or_else(|| encoder.error(CdrErrorKind::TextNotInCodeSet))?);
    }
    encoder.push(0);
    Ok(())
}

fn characters(octets: &[u8], char_set: CharSet) -> impl Iterator<Item = char> + Clone {
    octets.iter().filter_map(move |octet| char_set.character(*octet))
}

#[inline(never)]
fn utf8_length(octets: &[u8], char_set: CharSet) -> usize {
    characters(octets, char_set).map(char::len_utf8).sum()
}

fn text<'a>(decoder: &mut Decoder<'a>) -> Result<Text<'a>, CdrError> {
    let length = decoder.length(1)?;
    let octets = decoder.octets(length)?;
    let Some((0, octets)) = octets.split_last() else {
        // Some peers encode an empty string as length 0, without the NUL.
        return if length == 0 {
            Ok(Text::Utf8(""))
        } else {
            Err(decoder.error(CdrErrorKind::StringUnterminated))
        };
    };
    if octets.contains(&0) {
        return Err(decoder.error(CdrErrorKind::StringUnterminated));
    }
    match str::from_utf8(octets) {
        Ok(text) if decoder.char_set() == CharSet::Utf8 || octets.is_ascii() => Ok(Text::Utf8(text)),
        _ => text_in_single_octets(octets, decoder),
    }
}

#[inline(never)]
fn text_in_single_octets<'a>(octets: &'a [u8], decoder: &Decoder<'_>) -> Result<Text<'a>, CdrError> {
    let char_set = decoder.char_set();
    if octets.iter().all(|octet| char_set.character(*octet).is_some()) {
        Ok(Text::SingleOctets(octets, char_set))
    } else {
        Err(decoder.error(CdrErrorKind::TextInvalid))
    }
}

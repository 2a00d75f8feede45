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
        let char_set = encoder.char_set();
        if char_set == CharSet::Utf8 || self.is_ascii() {
            encoder.length(self.len() + 1)?;
            encoder.octets(self.as_bytes())?;
        } else if char_set == CharSet::Ascii {
            return Err(encoder.error(CdrErrorKind::TextNotInCodeSet));
        } else {
            let length = self.chars().count() + 1;
            encoder.length(length)?;
            encoder.expect_room(length)?;
            for character in self.chars() {
                let octet =
                    u8::try_from(character).map_err(|_| encoder.error(CdrErrorKind::TextNotInCodeSet))?;
                encoder.push(octet);
            }
        }
        encoder.octets(&[0])
    }
}

impl Encode for String {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.as_str().encode(encoder)
    }
}

/// Lent from the message, except that ISO-8859-1 text with non-ASCII characters is transcoded into the arena.
impl<'a> Decode<'a> for &'a str {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        match text(decoder)? {
            Text::Utf8(text) => Ok(text),
            Text::Latin1(octets) => {
                decoder.reserve(octets.len() * 2)?;
                let mut utf8 = ArenaVec::new_in(decoder.arena()?);
                utf8.try_reserve_exact(octets.len() * 2)
                    .map_err(|_| decoder.error(CdrErrorKind::OutOfMemory))?;
                for character in octets.iter().copied().map(char::from) {
                    utf8.extend_from_slice(character.encode_utf8(&mut [0; 2]).as_bytes());
                }
                str::from_utf8(utf8.into_bump_slice()).map_err(|_| decoder.error(CdrErrorKind::TextInvalid))
            }
        }
    }
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
            Text::Latin1(octets) => {
                // `extend` alone would grow in steps, each of which could allocate.
                reserve(self, octets.len() * 2, decoder)?;
                self.extend(octets.iter().copied().map(char::from));
            }
        }
        Ok(())
    }
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
    /// ISO-8859-1 with at least one non-ASCII character.
    Latin1(&'a [u8]),
}

impl<'a> Decode<'a> for Text<'a> {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        text(decoder)
    }
}

impl Encode for Text<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        let octets = match self {
            Self::Utf8(text) => return text.encode(encoder),
            Self::Latin1(octets) => *octets,
        };
        match encoder.char_set() {
            CharSet::Latin1 => {
                encoder.length(octets.len() + 1)?;
                encoder.octets(octets)?;
            }
            CharSet::Utf8 => {
                let characters = || octets.iter().copied().map(char::from);
                encoder.length(characters().map(char::len_utf8).sum::<usize>() + 1)?;
                for character in characters() {
                    encoder.octets(character.encode_utf8(&mut [0; 2]).as_bytes())?;
                }
            }
            CharSet::Ascii => return Err(encoder.error(CdrErrorKind::TextNotInCodeSet)),
        }
        encoder.octets(&[0])
    }
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
        _ if decoder.char_set() == CharSet::Latin1 => Ok(Text::Latin1(octets)),
        _ => Err(decoder.error(CdrErrorKind::TextInvalid)),
    }
}

//! Wide text: UTF-16, the only code set of `wchar` and `wstring` that this ORB announces.
//!
//! From GIOP 1.2 on, a length in octets precedes the octets, big-endian unless a byte order mark states
//! otherwise; ours have none. In GIOP 1.1, characters are numbers of two octets, and a NUL ends a string.
//! GIOP 1.0 has no wide text. Source: CORBA 3.3 part 2, 9.3.1.6 and 9.3.2.7.

use alloc::{string::String, vec::Vec};
use core::{fmt, ops::Deref};

use crate::{CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, TooLong, WideCharSet};

/// IDL `wchar`.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_cdr as value, punctual_cdr::*}; }
/// use punctual::{WChar, value::{Encode, Encoder, Endian}};
///
/// let mut message = Vec::new();
/// WChar('ö').encode(&mut Encoder::new(&mut message, Endian::Little))?;
/// assert_eq!(message, [2, 0, 0xf6]);
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct WChar(pub char);

impl From<char> for WChar {
    fn from(character: char) -> Self {
        Self(character)
    }
}

/// IDL `wstring<N>`, of at most `N` characters; `WString` is `wstring`, without bound.
///
/// ```
/// # use punctual_cdr as punctual;
/// use punctual::WString;
///
/// let name = WString::from("größer");
/// assert_eq!(name.len(), 8, "octets, as of a str");
/// assert_eq!(&*name, "größer");
/// assert!(WString::<5>::new("größer").is_err(), "six characters");
/// assert_eq!(WString::<6>::new("größer")?.into_inner(), "größer");
/// # Ok::<(), punctual_cdr::TooLong>(())
/// ```
#[derive(Clone, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct WString<const N: usize = { usize::MAX }>(String);

impl<const N: usize> WString<N> {
    /// Creates one. Fails beyond the bound.
    pub fn new(text: impl Into<String>) -> Result<Self, TooLong> {
        let text = text.into();
        match text.chars().count() {
            length if length > N => Err(TooLong { length, bound: N }),
            _ => Ok(Self(text)),
        }
    }

    /// Returns the text.
    pub fn into_inner(self) -> String {
        self.0
    }

    /// Removes all text but keeps the memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl From<&str> for WString {
    fn from(text: &str) -> Self {
        Self(String::from(text))
    }
}

impl From<String> for WString {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl WString {
    /// Passes over a wide string, and appends it to another message, if there is one, in its form. It needs
    /// no memory of its own, except in GIOP 1.1. Returns the number of its characters.
    ///
    /// # Errors
    /// As when it is decoded and encoded.
    pub fn pass(from: &mut Decoder<'_>, to: Option<&mut Encoder<'_>>) -> Result<usize, CdrError> {
        if from.has_fixed_wide_form() {
            let text = Self::decode(from)?;
            to.map_or(Ok(()), |to| text.encode(to))?;
            return Ok(text.chars().count());
        }
        from.expect_wide_text()?;
        let length = from.length(1)?;
        let units = marked_units(from.octets(length)?, from)?;
        let mut characters = 0;
        for character in char::decode_utf16(units.clone()) {
            character.map_err(|_| from.error(CdrErrorKind::TextInvalid))?;
            characters += 1;
        }
        to.map_or(Ok(()), |to| encode_units(units, to))?;
        Ok(characters)
    }
}

impl<const N: usize> Deref for WString<N> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const N: usize> fmt::Debug for WString<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<const N: usize> fmt::Display for WString<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Returns the byte order mark, if what begins with this unit would be taken to have one.
fn mark_before(first: Option<u16>) -> Option<u16> {
    matches!(first, Some(0xfeff | 0xfffe)).then_some(0xfeff)
}

impl Encode for WChar {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        let mut units = [0; 2];
        let units = self.0.encode_utf16(&mut units);
        encoder.expect_wide_text()?;
        if encoder.has_fixed_wide_form() {
            return match units {
                [unit] => unit.encode(encoder),
                _ => Err(encoder.error(CdrErrorKind::TextNotInCodeSet)),
            };
        }
        let mark = mark_before(units.first().copied());
        let mut units = mark.into_iter().chain(units.iter().copied());
        (2 * units.clone().count() as u8).encode(encoder)?;
        units.try_for_each(|unit| encoder.octets(&unit.to_be_bytes()))
    }
}

impl<'a> Decode<'a> for WChar {
    const MIN_SIZE: usize = 1;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let mut units = Vec::new();
        decoder.expect_wide_text()?;
        if decoder.has_fixed_wide_form() {
            units.push(u16::decode(decoder)?);
        } else {
            let length = u8::decode(decoder)?;
            // A mark, and at most two units.
            if length > 6 {
                return Err(decoder.error(CdrErrorKind::TextInvalid));
            }
            units.extend(marked_units(decoder.octets(length.into())?, decoder)?);
        }
        let mut characters = char::decode_utf16(units);
        match (characters.next(), characters.next()) {
            (Some(Ok(character)), None) => Ok(Self(character)),
            _ => Err(decoder.error(CdrErrorKind::TextInvalid)),
        }
    }
}

impl<const N: usize> Encode for WString<N> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        encode_units(self.0.encode_utf16(), encoder)
    }
}

fn encode_units(units: impl Iterator<Item = u16> + Clone, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
    encoder.expect_wide_text()?;
    if encoder.has_fixed_wide_form() {
        if units.clone().any(|unit| unit == 0) {
            return Err(encoder.error(CdrErrorKind::ValueNotRepresentable));
        }
        encoder.length(units.clone().count() + 1)?;
        return units.chain([0]).try_for_each(|unit| unit.encode(encoder));
    }
    let mark = mark_before(units.clone().next());
    let mut units = mark.into_iter().chain(units);
    encoder.length(2 * units.clone().count())?;
    units.try_for_each(|unit| encoder.octets(&unit.to_be_bytes()))
}

impl<'a, const N: usize> Decode<'a> for WString<N> {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let mut text = Self::default();
        text.decode_into(decoder)?;
        Ok(text)
    }

    fn decode_into(&mut self, decoder: &mut Decoder<'a>) -> Result<(), CdrError> {
        self.0.clear();
        decoder.expect_wide_text()?;
        if decoder.has_fixed_wide_form() {
            let length = decoder.length(2)?;
            // A unit is at most three octets of UTF-8.
            decoder.reserve(3 * length)?;
            let units: Result<Vec<u16>, _> = (0..length).map(|_| u16::decode(decoder)).collect();
            let units = units?;
            let text = units.strip_suffix(&[0]).unwrap_or(&units);
            append(&mut self.0, text.iter().copied(), decoder)?;
        } else {
            let length = decoder.length(1)?;
            decoder.reserve(length.saturating_mul(2))?;
            let octets = decoder.octets(length)?;
            append(&mut self.0, marked_units(octets, decoder)?, decoder)?;
        }
        match self.0.chars().count() > N {
            true => Err(decoder.error(CdrErrorKind::BoundExceeded)),
            false => Ok(()),
        }
    }
}

fn append(
    text: &mut String,
    units: impl Iterator<Item = u16>,
    decoder: &Decoder<'_>,
) -> Result<(), CdrError> {
    for character in char::decode_utf16(units) {
        text.push(character.map_err(|_| decoder.error(CdrErrorKind::TextInvalid))?);
    }
    Ok(())
}

/// Returns the units in octets that may begin with a byte order mark.
fn marked_units<'a>(
    octets: &'a [u8],
    decoder: &Decoder<'_>,
) -> Result<impl Iterator<Item = u16> + Clone + use<'a>, CdrError> {
    let (units, rest) = octets.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(decoder.error(CdrErrorKind::TextInvalid));
    }
    let (is_little, units) = match units {
        [[0xff, 0xfe], units @ ..] => (true, units),
        [[0xfe, 0xff], units @ ..] => (false, units),
        _ => (false, units),
    };
    let unit = move |octets: &[u8; 2]| match is_little {
        true => u16::from_le_bytes(*octets),
        false => u16::from_be_bytes(*octets),
    };
    Ok(units.iter().map(unit))
}

impl Encoder<'_> {
    /// Returns whether wide text has the form of GIOP 1.1, as the header of the message states.
    pub fn has_fixed_wide_form(&self) -> bool {
        is_giop_1_1(self.message())
    }

    /// Fails if the message, or the peer that it is for, cannot have wide text: CORBA 3.3 part 2, 7.10.2.6
    /// and 9.3.1.6.
    fn expect_wide_text(&self) -> Result<(), CdrError> {
        let kind = refused_by_version(self.message()).or(match self.code_sets().wchar {
            WideCharSet::None => Some(CdrErrorKind::WideTextWithoutCodeSet),
            WideCharSet::Unknown => Some(CdrErrorKind::TextNotInCodeSet),
            WideCharSet::Utf16 => None,
        });
        kind.map_or(Ok(()), |kind| Err(self.error(kind)))
    }
}

impl Decoder<'_> {
    /// Returns whether wide text has the form of GIOP 1.1, as the header of the message states.
    pub fn has_fixed_wide_form(&self) -> bool {
        is_giop_1_1(self.message())
    }

    /// Fails if the message cannot have wide text, or has it in an unknown code set.
    fn expect_wide_text(&self) -> Result<(), CdrError> {
        let kind = refused_by_version(self.message()).or(match self.code_sets().wchar {
            WideCharSet::Unknown => Some(CdrErrorKind::TextInvalid),
            WideCharSet::Utf16 | WideCharSet::None => None,
        });
        kind.map_or(Ok(()), |kind| Err(self.error(kind)))
    }
}

/// Returns why a message cannot have wide text: GIOP 1.0 does not define it.
fn refused_by_version(message: &[u8]) -> Option<CdrErrorKind> {
    const REQUEST: u8 = 0;
    match message {
        [b'G', b'I', b'O', b'P', 1, 0, _, REQUEST, ..] => Some(CdrErrorKind::WideTextInRequest),
        [b'G', b'I', b'O', b'P', 1, 0, ..] => Some(CdrErrorKind::WideTextInReply),
        _ => None,
    }
}

/// GIOP 1.0 has no wide text.
fn is_giop_1_1(message: &[u8]) -> bool {
    matches!(message, [b'G', b'I', b'O', b'P', 1, 1, ..])
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use punctual_types::{Completion, Minor, SystemExceptionKind};

    use super::*;
    use crate::{CharSet, CodeSets, Endian};

    fn encoded(value: &impl Encode, header: &[u8]) -> Vec<u8> {
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, Endian::Little);
        encoder.octets(header).unwrap();
        value.encode(&mut encoder).unwrap();
        octets.split_off(header.len())
    }

    fn refused(value: &impl Encode, header: &[u8]) -> CdrErrorKind {
        let mut octets = header.to_vec();
        let refused = value.encode(&mut Encoder::resume(&mut octets, Endian::Little));
        refused.unwrap_err().kind
    }

    fn decoded<T: for<'a> Decode<'a>>(header: &[u8], octets: &[u8]) -> Result<T, CdrError> {
        let message = [header, octets].concat();
        let mut decoder = Decoder::new(&message, Endian::Little).at(header.len());
        let value = T::decode(&mut decoder)?;
        assert_eq!(decoder.remaining(), 0);
        Ok(value)
    }

    const OLD: &[u8] = b"GIOP\x01\x01\x01\x00\0\0\0\0";
    const NEW: &[u8] = b"GIOP\x01\x02\x01\x00\0\0\0\0";

    #[test]
    fn the_version_determines_the_form() {
        let text = <WString>::from("aö");
        assert_eq!(encoded(&text, OLD), [3, 0, 0, 0, 97, 0, 0xf6, 0, 0, 0]);
        assert_eq!(encoded(&text, NEW), [4, 0, 0, 0, 0, 97, 0, 0xf6]);
        assert_eq!(encoded(&WChar('ö'), OLD), [0xf6, 0]);
        assert_eq!(encoded(&WChar('ö'), NEW), [2, 0, 0xf6]);
        for header in [OLD, NEW, &[]] {
            for text in ["", "größer", "💧 and \u{ffff}"] {
                let text = <WString>::from(text);
                assert_eq!(decoded::<WString>(header, &encoded(&text, header)).unwrap(), text);
            }
            assert_eq!(
                decoded::<WChar>(header, &encoded(&WChar('€'), header)).unwrap(),
                WChar('€')
            );
        }
        assert_eq!(
            decoded::<WChar>(NEW, &encoded(&WChar('💧'), NEW)).unwrap(),
            WChar('💧')
        );
        let mut octets = OLD.to_vec();
        let error = WChar('💧')
            .encode(&mut Encoder::resume(&mut octets, Endian::Little))
            .unwrap_err();
        assert_eq!(error.kind, CdrErrorKind::TextNotInCodeSet);
    }

    #[test]
    fn messages_of_giop_1_0_have_no_wide_text() {
        for (kind, expected) in [
            (0, CdrErrorKind::WideTextInRequest),
            (1, CdrErrorKind::WideTextInReply),
        ] {
            let header = [&b"GIOP\x01\x00\x01"[..], &[kind, 0, 0, 0, 0]].concat();
            assert_eq!(refused(&WChar('a'), &header), expected);
            assert_eq!(refused(&<WString>::from("a"), &header), expected);
            assert_eq!(decoded::<WChar>(&header, &[97, 0]).unwrap_err().kind, expected);
            let text = [2, 0, 0, 0, 97, 0, 0, 0];
            assert_eq!(decoded::<WString>(&header, &text).unwrap_err().kind, expected);
        }
    }

    #[test]
    fn a_peer_that_has_stated_no_wide_code_set_gets_no_wide_text() {
        let code_sets = CodeSets {
            wchar: WideCharSet::None,
            char: CharSet::Utf8,
        };
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, Endian::Little).with_code_sets(code_sets);
        for error in [
            WChar('a').encode(&mut encoder),
            <WString>::from("").encode(&mut encoder),
        ] {
            let error = error.unwrap_err();
            assert_eq!(error.kind, CdrErrorKind::WideTextWithoutCodeSet);
            let exception = error.system_exception(Completion::No);
            assert_eq!(exception.kind, SystemExceptionKind::InvObjref);
            assert_eq!(exception.minor, Minor(0x4f4d_0001));
        }
        assert_eq!("ö".encode(&mut encoder), Ok(()), "text is not affected");
        assert_eq!(octets, [3, 0, 0, 0, 0xc3, 0xb6, 0]);
    }

    #[test]
    fn a_mark_states_the_byte_order() {
        assert_eq!(
            &*decoded::<WString>(NEW, &[4, 0, 0, 0, 0xff, 0xfe, 97, 0]).unwrap(),
            "a"
        );
        assert_eq!(
            &*decoded::<WString>(NEW, &[4, 0, 0, 0, 0xfe, 0xff, 0, 97]).unwrap(),
            "a"
        );
        assert_eq!(
            decoded::<WChar>(NEW, &[4, 0xff, 0xfe, 97, 0]).unwrap(),
            WChar('a')
        );
    }

    #[test]
    fn malformed_wide_text_is_refused() {
        let refused: [&[u8]; 5] = [
            &[3, 0, 0, 0, 0, 97, 0],
            &[2, 0, 0, 0, 0xd8, 0],
            &[0xff; 4],
            &[4, 0, 0, 0, 0],
            &[0xff; 8],
        ];
        for octets in refused {
            assert!(decoded::<WString>(NEW, octets).is_err(), "{octets:?}");
        }
        let refused: [&[u8]; 5] = [
            &[0],
            &[1, 97],
            &[7, 0, 0, 0, 0, 0, 0, 0],
            &[2, 0xd8, 0],
            &[4, 0, 97, 0, 97],
        ];
        for octets in refused {
            assert!(decoded::<WChar>(NEW, octets).is_err(), "{octets:?}");
        }
        let long = encoded(&<WString>::from("abc"), NEW);
        assert_eq!(
            decoded::<WString<2>>(NEW, &long).unwrap_err().kind,
            CdrErrorKind::BoundExceeded
        );
        assert!(decoded::<WString>(OLD, &[0xff; 10]).is_err());
    }
}

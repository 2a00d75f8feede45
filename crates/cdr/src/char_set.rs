//! Transmission code sets.

mod upper_halves;

#[cfg(test)]
mod tests;

use upper_halves::UPPER_HALVES;

/// The transmission code set of `char` and `string` on a connection.
///
/// ```
/// # use punctual_cdr as punctual;
/// use punctual::CharSet;
///
/// // What peers use that have not agreed on another one.
/// assert_eq!(CharSet::default(), CharSet::Latin1);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum CharSet {
    /// ISO-8859-1: the code set of peers that have negotiated none.
    #[default]
    Latin1,
    /// UTF-8.
    Utf8,
    /// ASCII: what is understood of text in a code set that this ORB does not have.
    Ascii,
    /// ISO-8859-2, Latin alphabet No. 2: Central Europe.
    Iso8859_2,
    /// ISO-8859-3, Latin alphabet No. 3: Esperanto and Maltese.
    Iso8859_3,
    /// ISO-8859-4, Latin alphabet No. 4: the Baltic.
    Iso8859_4,
    /// ISO-8859-5, Cyrillic.
    Iso8859_5,
    /// ISO-8859-6, Arabic.
    Iso8859_6,
    /// ISO-8859-7, Greek.
    Iso8859_7,
    /// ISO-8859-8, Hebrew.
    Iso8859_8,
    /// ISO-8859-9, Latin alphabet No. 5: Turkish.
    Iso8859_9,
    /// ISO-8859-10, Latin alphabet No. 6: Northern Europe.
    Iso8859_10,
    /// ISO-8859-11, Thai.
    Iso8859_11,
    /// ISO-8859-13, Latin alphabet No. 7: the Baltic.
    Iso8859_13,
    /// ISO-8859-14, Latin alphabet No. 8: Celtic languages.
    Iso8859_14,
    /// ISO-8859-15, Latin alphabet No. 9: Western Europe, with the euro sign.
    Iso8859_15,
    /// ISO-8859-16, Latin alphabet No. 10: South-Eastern Europe.
    Iso8859_16,
    /// windows-1250, Central Europe.
    Windows1250,
    /// windows-1251, Cyrillic.
    Windows1251,
    /// windows-1252, Western Europe.
    Windows1252,
    /// windows-1253, Greek.
    Windows1253,
    /// windows-1254, Turkish.
    Windows1254,
    /// windows-1255, Hebrew.
    Windows1255,
    /// windows-1256, Arabic.
    Windows1256,
    /// windows-1257, the Baltic.
    Windows1257,
    /// windows-1258, Vietnamese.
    Windows1258,
}

impl CharSet {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 26] = [
        Self::Latin1,
        Self::Utf8,
        Self::Ascii,
        Self::Iso8859_2,
        Self::Iso8859_3,
        Self::Iso8859_4,
        Self::Iso8859_5,
        Self::Iso8859_6,
        Self::Iso8859_7,
        Self::Iso8859_8,
        Self::Iso8859_9,
        Self::Iso8859_10,
        Self::Iso8859_11,
        Self::Iso8859_13,
        Self::Iso8859_14,
        Self::Iso8859_15,
        Self::Iso8859_16,
        Self::Windows1250,
        Self::Windows1251,
        Self::Windows1252,
        Self::Windows1253,
        Self::Windows1254,
        Self::Windows1255,
        Self::Windows1256,
        Self::Windows1257,
        Self::Windows1258,
    ];

    /// Returns the octet that stands for a character; `None` if no single one does.
    #[inline]
    pub(crate) fn octet(self, character: char) -> Option<u8> {
        match u8::try_from(character) {
            Ok(octet) if octet.is_ascii() || self == Self::Latin1 => Some(octet),
            _ => self.upper_octet(character),
        }
    }

    /// Returns the character that a single octet stands for; `None` if there is none.
    #[inline]
    pub(crate) fn character(self, octet: u8) -> Option<char> {
        if octet.is_ascii() || self == Self::Latin1 {
            return Some(octet.into());
        }
        self.upper_character(octet)
    }

    // Cold, like its counterpart: the code for ASCII stays short where it is inlined.
    #[cold]
    #[inline(never)]
    fn upper_octet(self, character: char) -> Option<u8> {
        let unit = u16::try_from(character).ok()?;
        let index = self.upper_half()?.iter().position(|known| *known == unit)?;
        u8::try_from(0x80 + index).ok()
    }

    #[cold]
    #[inline(never)]
    fn upper_character(self, octet: u8) -> Option<char> {
        let unit = self.upper_half()?[usize::from(octet & 0x7f)];
        char::from_u32(unit.into()).filter(|character| *character != '\0')
    }

    fn upper_half(self) -> Option<&'static [u16; 0x80]> {
        let index = (self as usize).checked_sub(Self::Iso8859_2 as usize)?;
        UPPER_HALVES.get(index)
    }
}

/// The transmission code sets of a connection.
///
/// ```
/// use punctual_cdr::{CharSet, CodeSets, WideCharSet};
///
/// // Between encoder and decoder of one process, nothing needs to be negotiated.
/// assert_eq!(CodeSets::from(CharSet::Utf8).wchar, WideCharSet::Utf16);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct CodeSets {
    /// That of `wchar` and `wstring`.
    pub wchar: WideCharSet,
    /// That of `char` and `string`.
    pub char: CharSet,
}

impl From<CharSet> for CodeSets {
    fn from(char: CharSet) -> Self {
        Self {
            wchar: WideCharSet::Utf16,
            char,
        }
    }
}

/// The transmission code set of `wchar` and `wstring` on a connection.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum WideCharSet {
    /// UTF-16, the only one that this ORB announces.
    #[default]
    Utf16,
    /// None: the peer has stated no code set for wide text, so that none can be sent to it.
    None,
    /// One that this ORB does not have: wide text is neither understood nor sent.
    Unknown,
}

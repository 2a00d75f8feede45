//! Transmission code sets.

/// The transmission code set of `char` and `string` on a connection.
///
/// ```
/// use punctual_cdr::CharSet;
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

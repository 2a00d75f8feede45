//! Code sets of narrow and wide characters: those of each side, and their negotiation.
//!
//! Source: CORBA 3.3 part 2, 7.10.2; the ids are those of the OSF code set registry.

use alloc::{vec, vec::Vec};

use punctual_cdr::{CdrError, CharSet, CodeSets, Decode, Decoder, Encode, Encoder, WideCharSet};

use crate::CodeSetIncompatible;

/// ISO-8859-1, Latin alphabet No. 1: the code set of peers that negotiate none.
pub const ISO_8859_1: u32 = 0x0001_0001;
/// ASCII: ISO 646:1991, international reference version.
pub const ISO_646: u32 = 0x0001_0020;
/// UTF-8; the fallback for `char`.
pub const UTF_8: u32 = 0x0501_0001;
/// UTF-16; the fallback for `wchar`.
pub const UTF_16: u32 = 0x0001_0109;

/// The ids of all code sets of `char`, in the order of [`CharSet::ALL`].
const IDS: [u32; CharSet::ALL.len()] = [
    ISO_8859_1,
    UTF_8,
    ISO_646,
    0x0001_0002,
    0x0001_0003,
    0x0001_0004,
    0x0001_0005,
    0x0001_0006,
    0x0001_0007,
    0x0001_0008,
    0x0001_0009,
    0x0001_000a,
    0x0001_000b,
    0x0001_000d,
    0x0001_000e,
    0x0001_000f,
    0x0001_0010,
    0x1002_04e2,
    0x1002_04e3,
    0x1002_04e4,
    0x1002_04e5,
    0x1002_04e6,
    0x1002_04e7,
    0x1002_04e8,
    0x1002_04e9,
    0x1002_04ea,
];

/// The code sets of one side, in a `TAG_CODE_SETS` component.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct CodeSetComponentInfo {
    /// Code sets of `char` and `string`.
    pub char: CodeSetComponent,
    /// Code sets of `wchar` and `wstring`.
    pub wchar: CodeSetComponent,
}

/// The code sets of one side for one kind of character.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct CodeSetComponent {
    /// Native code set; 0 for none.
    pub native: u32,
    /// Conversion code sets, the preferred one first.
    pub conversion: Vec<u32>,
}

impl CodeSetComponentInfo {
    /// Returns the code sets of this ORB as a client: UTF-8 with conversion to all others but ASCII, which
    /// would only lose characters, and UTF-16 for wide characters.
    pub fn ours() -> Self {
        Self::of(
            UTF_8,
            [&[ISO_8859_1], &IDS[CharSet::Iso8859_2 as usize..]].concat(),
        )
    }

    /// Returns the code sets that references of this ORB state, with this native one for `char`: UTF-8 and
    /// ISO-8859-1 are converted. Others are not stated: every client has UTF-8, which has every character.
    pub fn with_native(native: Option<CharSet>) -> Self {
        let native = native.map_or(0, char_set_id);
        let others = [UTF_8, ISO_8859_1].into_iter();
        Self::of(native, others.filter(|other| *other != native).collect())
    }

    fn of(native: u32, conversion: Vec<u32>) -> Self {
        Self {
            char: CodeSetComponent { native, conversion },
            wchar: CodeSetComponent {
                native: UTF_16,
                conversion: vec![],
            },
        }
    }
}

/// Negotiates the code sets of a connection, on the client's side.
///
/// `server` is the component of the server's reference; without one the result is ISO-8859-1, and no wide
/// text.
///
/// Fails if the server has no code set for `char`, or if this ORB does not support the result. A server
/// without a code set for `wchar` cannot be sent wide text.
pub fn negotiate(
    client: &CodeSetComponentInfo,
    server: Option<&CodeSetComponentInfo>,
) -> Result<CodeSets, CodeSetIncompatible> {
    let Some(server) = server else {
        return Ok(CodeSets {
            char: CharSet::Latin1,
            wchar: WideCharSet::None,
        });
    };
    let char = client.char.transmission(&server.char, UTF_8);
    let char = char.and_then(char_set_from_id).ok_or(CodeSetIncompatible {
        server_native: server.char.native,
    })?;
    let wchar = match client.wchar.transmission(&server.wchar, UTF_16) {
        Some(id) => wide_char_set_from_id(id),
        None => WideCharSet::None,
    };
    Ok(CodeSets { char, wchar })
}

impl CodeSetComponent {
    /// Returns the code set in which this side, the client, and a server transmit characters; `None`: the
    /// server has no code set for them.
    ///
    /// In the order of CORBA 3.3 part 2, 7.10.2.6: a common native code set, the server's native one if the
    /// client can convert, the client's native one if the server can convert, a common conversion code set
    /// (by the server's preference), the fallback. Every native code set in use is compatible with the
    /// fallback, which has all characters and which every ORB must support.
    fn transmission(&self, server: &Self, fallback: u32) -> Option<u32> {
        let native = (server.native != 0).then_some(server.native);
        let common = || {
            let mut offered = server.conversion.iter().copied();
            offered.find(|id| self.conversion.contains(id))
        };
        native
            .filter(|id| self.supports(*id))
            .or_else(|| server.conversion.contains(&self.native).then_some(self.native))
            .or_else(common)
            .or(native.and(Some(fallback)))
    }

    /// Returns whether this side supports the code set.
    pub fn supports(&self, id: u32) -> bool {
        self.native == id || self.conversion.contains(&id)
    }
}

/// Returns the code set with this id, if this ORB supports it.
pub fn char_set_from_id(id: u32) -> Option<CharSet> {
    let index = IDS.iter().position(|known| *known == id)?;
    CharSet::ALL.get(index).copied()
}

/// Returns the code set for wide text with this id, which a client has announced; one that has announced
/// none does not send any.
pub const fn wide_char_set_from_id(id: u32) -> WideCharSet {
    match id {
        UTF_16 | 0 => WideCharSet::Utf16,
        _ => WideCharSet::Unknown,
    }
}

/// Returns the id of a code set.
pub const fn char_set_id(char_set: CharSet) -> u32 {
    IDS[char_set as usize]
}

impl Encode for CodeSetComponentInfo {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        (&self.char, &self.wchar).encode(encoder)
    }
}

impl<'a> Decode<'a> for CodeSetComponentInfo {
    const MIN_SIZE: usize = 16;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        Ok(Self {
            char: CodeSetComponent::decode(decoder)?,
            wchar: CodeSetComponent::decode(decoder)?,
        })
    }
}

impl Encode for CodeSetComponent {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        (self.native, &self.conversion).encode(encoder)
    }
}

impl<'a> Decode<'a> for CodeSetComponent {
    const MIN_SIZE: usize = 8;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        Ok(Self {
            native: u32::decode(decoder)?,
            conversion: Vec::decode(decoder)?,
        })
    }
}

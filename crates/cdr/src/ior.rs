//! Interoperable object references as they stand on the wire, profiles not looked into.
//!
//! Source: CORBA 3.3 Part 2, 7.6.2. What the profiles mean is in `punctual-giop`.

use alloc::{string::String, vec::Vec};

use crate::{CdrError, Decode, Decoder, Encode, Encoder};

/// An object reference: the type it was made for and the ways to reach it. No profile: nil.
///
/// ```
/// use punctual_cdr::{Ior, TaggedProfile};
///
/// let ior = Ior {
///     type_id: "IDL:radar/Tracker:1.0".to_owned(),
///     profiles: vec![TaggedProfile { tag: 0, data: vec![0, 1, 2, 0] }],
/// };
/// assert!(!ior.is_nil());
/// ```
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Ior {
    /// The repository id of its interface; empty where the maker did not say.
    pub type_id: String,
    /// The ways to reach it, the preferred one first.
    pub profiles: Vec<TaggedProfile>,
}

impl Ior {
    /// Whether it refers to no object.
    ///
    /// ```
    /// # use punctual_cdr::Ior;
    /// assert!(Ior::default().is_nil());
    /// ```
    pub fn is_nil(&self) -> bool {
        self.profiles.is_empty()
    }
}

/// One way to reach an object, `IOP::TaggedProfile`.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct TaggedProfile {
    /// Which protocol; 0 is IIOP.
    pub tag: u32,
    /// An encapsulation that the protocol defines.
    pub data: Vec<u8>,
}

/// A detail of a profile, `IOP::TaggedComponent`.
///
/// ```
/// use punctual_cdr::TaggedComponent;
///
/// // Whose meaning is the application's: the tag is one that nobody else uses.
/// let rack = TaggedComponent { tag: 0x5241_434b, data: vec![0, 7] };
/// assert_ne!(rack, TaggedComponent::default());
/// ```
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct TaggedComponent {
    /// Which detail.
    pub tag: u32,
    /// Mostly an encapsulation.
    pub data: Vec<u8>,
}

impl Encode for Ior {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.type_id.encode(encoder)?;
        self.profiles.encode(encoder)
    }
}

impl<'a> Decode<'a> for Ior {
    const MIN_SIZE: usize = 8;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        Ok(Self {
            type_id: String::decode(decoder)?,
            profiles: Vec::decode(decoder)?,
        })
    }
}

macro_rules! tagged {
    ($name:ident) => {
        impl Encode for $name {
            fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
                self.tag.encode(encoder)?;
                self.data.encode(encoder)
            }
        }

        impl<'a> Decode<'a> for $name {
            const MIN_SIZE: usize = 8;

            fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
                Ok(Self {
                    tag: u32::decode(decoder)?,
                    data: Vec::decode(decoder)?,
                })
            }
        }
    };
}

tagged!(TaggedComponent);
tagged!(TaggedProfile);

//! Interoperable object references in their wire form, with opaque profiles.
//!
//! Source: CORBA 3.3 part 2, 7.6.2. `punctual-giop` decodes the profiles.

use alloc::{string::String, vec::Vec};

use crate::{CdrError, Decode, Decoder, Encode, Encoder};

/// An object reference: the type of the object and the ways to reach it. A reference without profiles is nil.
///
/// ```
/// # use punctual_cdr as punctual;
/// use punctual::{Ior, TaggedProfile};
///
/// let ior = Ior {
///     type_id: "IDL:radar/Tracker:1.0".to_owned(),
///     profiles: vec![TaggedProfile { tag: 0, data: vec![0, 1, 2, 0] }],
/// };
/// assert!(!ior.is_nil());
/// ```
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Ior {
    /// Repository id of the interface; empty if not stated.
    pub type_id: String,
    /// Ways to reach the object, the preferred one first.
    pub profiles: Vec<TaggedProfile>,
}

impl Ior {
    /// Returns whether the reference is nil.
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
///
/// ```
/// # use punctual_cdr as punctual;
/// use punctual::{Ior, TaggedProfile};
///
/// let profile = TaggedProfile { tag: 0, data: vec![0, 1, 2, 0] };
/// let ior = Ior { profiles: vec![profile.clone()], ..Ior::default() };
/// assert_eq!(ior.profiles, [profile]);
/// ```
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct TaggedProfile {
    /// Protocol of the profile; 0 is IIOP.
    pub tag: u32,
    /// Encapsulation defined by the protocol.
    pub data: Vec<u8>,
}

/// A detail of a profile, `IOP::TaggedComponent`.
///
/// ```
/// # use punctual_cdr as punctual;
/// use punctual::TaggedComponent;
///
/// // A component of the application, with an otherwise unused tag.
/// let rack = TaggedComponent { tag: 0x5241_434b, data: vec![0, 7] };
/// assert_ne!(rack, TaggedComponent::default());
/// ```
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct TaggedComponent {
    /// Kind of the component.
    pub tag: u32,
    /// Usually an encapsulation.
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

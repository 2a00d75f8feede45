//! Targets of requests and locate requests. Source: CORBA 3.3 part 2, 9.4.2.1.

use alloc::vec::Vec;
use core::fmt;

use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, Ior, TaggedProfile};

use crate::{
    TAG_DIOP, TAG_INTERNET_IOP, TAG_SHMIOP, TAG_UIOP, Version, encapsulation,
    tagged_list::{TaggedEntries, TaggedList},
};

/// The forms of a target in GIOP 1.2, `GIOP::AddressingDisposition`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u16)]
pub enum AddressingDisposition {
    /// The object key.
    KeyAddr = 0,
    /// A profile of the reference.
    ProfileAddr = 1,
    /// The whole reference and the index of the chosen profile.
    ReferenceAddr = 2,
}

impl Encode for AddressingDisposition {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        (*self as u16).encode(encoder)
    }
}

impl<'a> Decode<'a> for AddressingDisposition {
    const MIN_SIZE: usize = 2;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        match u16::decode(decoder)? {
            0 => Ok(Self::KeyAddr),
            1 => Ok(Self::ProfileAddr),
            2 => Ok(Self::ReferenceAddr),
            _ => Err(decoder.error(CdrErrorKind::EnumOutOfRange)),
        }
    }
}

/// The target of a received message, borrowing from it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Target<'a> {
    /// The object key, the only form before GIOP 1.2.
    Key(&'a [u8]),
    /// A profile of the reference.
    Profile(ProfileView<'a>),
    /// The whole reference.
    Reference {
        /// Index of the profile that the client chose.
        index: u32,
        /// The reference.
        ior: IorView<'a>,
    },
}

impl<'a> Target<'a> {
    /// Decodes a target of this version from `decoder`, which reads `message`.
    pub(crate) fn decode(
        decoder: &mut Decoder<'a>,
        message: &'a [u8],
        version: Version,
    ) -> Result<Self, CdrError> {
        if version < Version::V1_2 {
            return <&[u8]>::decode(decoder).map(Self::Key);
        }
        match AddressingDisposition::decode(decoder)? {
            AddressingDisposition::KeyAddr => <&[u8]>::decode(decoder).map(Self::Key),
            AddressingDisposition::ProfileAddr => ProfileView::decode(decoder).map(Self::Profile),
            AddressingDisposition::ReferenceAddr => Ok(Self::Reference {
                index: u32::decode(decoder)?,
                ior: IorView::decode(decoder, message)?,
            }),
        }
    }

    /// Returns the object key, extracted from the profile if necessary.
    ///
    /// `None` if the profile is malformed or of an unknown form: no object has such a key.
    #[inline]
    pub fn object_key(&self) -> Option<&'a [u8]> {
        match self {
            Self::Key(key) => Some(key),
            Self::Profile(profile) => profile.object_key(),
            Self::Reference { index, ior } => ior.profile(*index)?.object_key(),
        }
    }

    /// Returns the form of the target.
    pub fn disposition(&self) -> AddressingDisposition {
        match self {
            Self::Key(_) => AddressingDisposition::KeyAddr,
            Self::Profile(_) => AddressingDisposition::ProfileAddr,
            Self::Reference { .. } => AddressingDisposition::ReferenceAddr,
        }
    }
}

/// The target of a message to send.
///
/// Use the key unless the server has requested another form: not all servers understand the other forms.
#[derive(Clone, Copy, Debug)]
pub enum TargetAddress<'a> {
    /// The object key, the only form before GIOP 1.2.
    Key(&'a [u8]),
    /// A profile of the reference.
    Profile(&'a TaggedProfile),
    /// The whole reference.
    Reference {
        /// Index of the profile that the client chose.
        index: u32,
        /// The reference.
        ior: &'a Ior,
    },
}

impl TargetAddress<'_> {
    /// Encodes the target. Before GIOP 1.2, it must be a key.
    pub(crate) fn encode(&self, encoder: &mut Encoder<'_>, version: Version) -> Result<(), CdrError> {
        if version < Version::V1_2 {
            return match self {
                Self::Key(key) => key.encode(encoder),
                _ => Err(encoder.error(CdrErrorKind::ValueNotRepresentable)),
            };
        }
        match self {
            Self::Key(key) => {
                AddressingDisposition::KeyAddr.encode(encoder)?;
                key.encode(encoder)
            }
            Self::Profile(profile) => {
                AddressingDisposition::ProfileAddr.encode(encoder)?;
                profile.encode(encoder)
            }
            Self::Reference { index, ior } => {
                AddressingDisposition::ReferenceAddr.encode(encoder)?;
                index.encode(encoder)?;
                ior.encode(encoder)
            }
        }
    }
}

/// A profile that borrows from a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ProfileView<'a> {
    /// Tag of the protocol; 0 is IIOP.
    pub tag: u32,
    /// Encapsulation defined by the protocol.
    pub data: &'a [u8],
}

impl<'a> ProfileView<'a> {
    /// Returns the object key of an IIOP profile, or of another one that starts like it.
    pub fn object_key(&self) -> Option<&'a [u8]> {
        let mut decoder = encapsulation::open(self.data).ok()?;
        let version = Version::decode(&mut decoder).ok()?;
        if version.major != 1 {
            return None;
        }
        // The host, or the rendezvous point of UIOP, is a string: a length and its octets.
        <&[u8]>::decode(&mut decoder).ok()?;
        match self.tag {
            TAG_INTERNET_IOP | TAG_SHMIOP | TAG_DIOP => {
                u16::decode(&mut decoder).ok()?;
            }
            TAG_UIOP => {}
            _ => return None,
        }
        <&[u8]>::decode(&mut decoder).ok()
    }

    /// Returns an owned copy.
    pub fn to_profile(&self) -> TaggedProfile {
        TaggedProfile {
            tag: self.tag,
            data: self.data.into(),
        }
    }
}

impl<'a> Decode<'a> for ProfileView<'a> {
    const MIN_SIZE: usize = 8;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        Ok(Self {
            tag: u32::decode(decoder)?,
            data: <&[u8]>::decode(decoder)?,
        })
    }
}

/// Most profiles of a reference in the header of a request, as of one that a client can use by default.
const MAX_PROFILES: usize = 256;

/// An object reference that borrows from a message.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct IorView<'a> {
    /// Repository id of the interface; empty if not stated.
    pub type_id: &'a str,
    profiles: TaggedList<'a>,
}

impl<'a> IorView<'a> {
    fn decode(decoder: &mut Decoder<'a>, message: &'a [u8]) -> Result<Self, CdrError> {
        Ok(Self {
            type_id: <&str>::decode(decoder)?,
            profiles: TaggedList::decode(decoder, message, MAX_PROFILES)?,
        })
    }

    /// Iterates over tag and data of each profile, in order.
    pub fn profiles(&self) -> TaggedEntries<'a> {
        self.profiles.iter()
    }

    /// Returns the profile at `index`.
    pub fn profile(&self, index: u32) -> Option<ProfileView<'a>> {
        self.profiles()
            .nth(index as usize)
            .map(|(tag, data)| ProfileView { tag, data })
    }

    /// Returns an owned copy.
    pub fn to_ior(&self) -> Ior {
        let profile = |(tag, data): (u32, &[u8])| TaggedProfile {
            tag,
            data: data.into(),
        };
        Ior {
            type_id: self.type_id.into(),
            profiles: self.profiles().map(profile).collect::<Vec<_>>(),
        }
    }
}

impl fmt::Debug for IorView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IorView")
            .field("type_id", &self.type_id)
            .field("profiles", &self.profiles().collect::<Vec<_>>())
            .finish()
    }
}

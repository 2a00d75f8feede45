//! Profiles: where an object is and under which key. Source: CORBA 3.3 part 2, 9.7.2.

use alloc::{string::String, vec::Vec};

use punctual_cdr::{
    CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, Endian, TaggedComponent, TaggedProfile,
};

use crate::{
    Component, Version,
    encapsulation::{encapsulate, open},
};

/// GIOP over TCP.
pub const TAG_INTERNET_IOP: u32 = 0;
/// Components without an address.
pub const TAG_MULTIPLE_COMPONENTS: u32 = 1;
/// TAO: GIOP over Unix domain sockets.
pub const TAG_UIOP: u32 = 0x5441_4f00;
/// TAO: GIOP over shared memory.
pub const TAG_SHMIOP: u32 = 0x5441_4f02;
/// Punctual: GIOP over shared memory, not as TAO does it (with TAO's tag a TAO would take it for its own). The address is a
/// string, the path of a Unix domain socket.
pub const TAG_PUNCTUAL_SHM: u32 = 0x5055_4e02;
/// TAO: GIOP over UDP.
pub const TAG_DIOP: u32 = 0x5441_4f04;
/// TAO: GIOP over SCTP.
pub(crate) const TAG_SCIOP: u32 = 0x5441_4f0e;

/// A profile in the form that IIOP and all protocols of TAO share, whatever an address is in them.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Profile<A> {
    /// Which protocol.
    pub tag: u32,
    /// The highest version of GIOP the server speaks.
    pub version: Version,
    /// Where the server is.
    pub address: A,
    /// Names the object within the server; opaque to all others.
    pub object_key: Vec<u8>,
    /// Details; none in version 1.0.
    pub components: Vec<TaggedComponent>,
}

impl<A> Profile<A> {
    /// Understands the data of a profile of this form; `address` reads what stands between version and object key.
    pub fn decode_with<'p>(
        profile: &'p TaggedProfile,
        address: impl FnOnce(&mut Decoder<'p>) -> Result<A, CdrError>,
    ) -> Result<Self, CdrError> {
        let decoder = &mut open(&profile.data)?;
        let version = version(decoder)?;
        Ok(Self {
            tag: profile.tag,
            version,
            address: address(decoder)?,
            object_key: Vec::decode(decoder)?,
            components: components(decoder, version)?,
        })
    }

    /// The profile in this byte order; `address` writes what stands between version and object key.
    ///
    /// Fails where `address` does, or where a 1.0 profile has components.
    pub fn encode_with(
        &self,
        endian: Endian,
        address: impl FnOnce(&A, &mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<TaggedProfile, CdrError> {
        let data = encapsulate(endian, |encoder| {
            self.version.encode(encoder)?;
            address(&self.address, encoder)?;
            self.object_key.encode(encoder)?;
            encode_components(encoder, self.version, &self.components)
        })?;
        Ok(TaggedProfile { tag: self.tag, data })
    }

    /// The first component with this tag, understood.
    pub fn component(&self, tag: u32) -> Result<Option<Component>, CdrError> {
        self.components
            .iter()
            .find(|component| component.tag == tag)
            .map(Component::decode)
            .transpose()
    }
}

/// An IIOP profile, and those of TAO that have the same form: SHMIOP and DIOP.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct IiopProfile {
    /// The highest version of GIOP the server speaks.
    pub version: Version,
    /// A host name or address; an IPv6 address has no brackets.
    pub host: String,
    /// A TCP port.
    pub port: u16,
    /// Names the object within the server; opaque to all others.
    pub object_key: Vec<u8>,
    /// Details; none in version 1.0.
    pub components: Vec<TaggedComponent>,
}

impl IiopProfile {
    /// Understands the data of a profile of this form, whatever its tag.
    pub fn decode(profile: &TaggedProfile) -> Result<Self, CdrError> {
        let profile = Profile::decode_with(profile, |decoder| {
            Ok((String::decode(decoder)?, u16::decode(decoder)?))
        })?;
        let (host, port) = profile.address;
        Ok(Self {
            version: profile.version,
            host,
            port,
            object_key: profile.object_key,
            components: profile.components,
        })
    }

    /// The profile with [`TAG_INTERNET_IOP`] in the byte order of this machine.
    ///
    /// Fails where the host holds a NUL, or where a 1.0 profile has components.
    pub fn encode(&self) -> Result<TaggedProfile, CdrError> {
        self.encode_in(Endian::NATIVE)
    }

    /// The profile with [`TAG_INTERNET_IOP`] in this byte order.
    pub fn encode_in(&self, endian: Endian) -> Result<TaggedProfile, CdrError> {
        let data = encapsulate(endian, |encoder| {
            (self.version, &self.host, self.port, &self.object_key).encode(encoder)?;
            encode_components(encoder, self.version, &self.components)
        })?;
        Ok(TaggedProfile {
            tag: TAG_INTERNET_IOP,
            data,
        })
    }

    /// The first component with this tag, understood.
    pub fn component(&self, tag: u32) -> Result<Option<Component>, CdrError> {
        self.components
            .iter()
            .find(|component| component.tag == tag)
            .map(Component::decode)
            .transpose()
    }
}

/// The components of a profile with [`TAG_MULTIPLE_COMPONENTS`].
pub fn decode_multiple_components(profile: &TaggedProfile) -> Result<Vec<TaggedComponent>, CdrError> {
    Vec::decode(&mut open(&profile.data)?)
}

/// A profile with [`TAG_MULTIPLE_COMPONENTS`].
pub fn encode_multiple_components(components: &[TaggedComponent]) -> Result<TaggedProfile, CdrError> {
    let data = encapsulate(Endian::NATIVE, |encoder| components.encode(encoder))?;
    Ok(TaggedProfile {
        tag: TAG_MULTIPLE_COMPONENTS,
        data,
    })
}

/// Higher minor versions only append to the profile; nothing is known of other major ones.
fn version(decoder: &mut Decoder<'_>) -> Result<Version, CdrError> {
    let version = Version::decode(decoder)?;
    version
        .to_speak()
        .map(|_| version)
        .ok_or_else(|| decoder.error(CdrErrorKind::EnumOutOfRange))
}

fn components(decoder: &mut Decoder<'_>, version: Version) -> Result<Vec<TaggedComponent>, CdrError> {
    if version == Version::V1_0 {
        Ok(Vec::new())
    } else {
        Vec::decode(decoder)
    }
}

fn encode_components(
    encoder: &mut Encoder<'_>,
    version: Version,
    components: &[TaggedComponent],
) -> Result<(), CdrError> {
    match version {
        Version::V1_0 if components.is_empty() => Ok(()),
        Version::V1_0 => Err(encoder.error(CdrErrorKind::ValueNotRepresentable)),
        _ => components.encode(encoder),
    }
}

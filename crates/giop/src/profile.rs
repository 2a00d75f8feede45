//! Profiles: the address and key of an object. Source: CORBA 3.3 part 2, 9.7.2.

use alloc::{string::String, vec::Vec};

use punctual_cdr::{
    CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, Endian, TaggedComponent, TaggedProfile,
};

use crate::{
    Component, TAG_INTERNET_IOP, TAG_MULTIPLE_COMPONENTS, Version,
    encapsulation::{encapsulate, open},
};

/// A profile in the common form of IIOP and all protocols of TAO, with addresses of type `A`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Profile<A> {
    /// Tag of the protocol.
    pub tag: u32,
    /// Highest GIOP version of the server.
    pub version: Version,
    /// Address of the server.
    pub address: A,
    /// Identifies the object within the server; opaque to others.
    pub object_key: Vec<u8>,
    /// Components; none in version 1.0.
    pub components: Vec<TaggedComponent>,
}

impl<A> Profile<A> {
    /// Decodes a profile of this form; `address` reads the data between version and object key.
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

    /// Encodes the profile in this byte order; `address` writes the data between version and object key.
    ///
    /// Fails if `address` does, or if a 1.0 profile has components.
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

    /// Decodes the first component with this tag.
    pub fn component(&self, tag: u32) -> Result<Option<Component>, CdrError> {
        self.components
            .iter()
            .find(|component| component.tag == tag)
            .map(Component::decode)
            .transpose()
    }
}

/// An IIOP profile, or one of TAO's with the same form: SHMIOP and DIOP.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct IiopProfile {
    /// Highest GIOP version of the server.
    pub version: Version,
    /// A host name or address; an IPv6 address has no brackets.
    pub host: String,
    /// A TCP port.
    pub port: u16,
    /// Identifies the object within the server; opaque to others.
    pub object_key: Vec<u8>,
    /// Components; none in version 1.0.
    pub components: Vec<TaggedComponent>,
}

impl IiopProfile {
    /// Decodes a profile of this form with any tag.
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

    /// Encodes the profile with [`TAG_INTERNET_IOP`] in the native byte order.
    ///
    /// Fails if the host contains a NUL, or if a 1.0 profile has components.
    pub fn encode(&self) -> Result<TaggedProfile, CdrError> {
        self.encode_in(Endian::NATIVE)
    }

    /// Encodes the profile with [`TAG_INTERNET_IOP`] in this byte order.
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

    /// Decodes the first component with this tag.
    pub fn component(&self, tag: u32) -> Result<Option<Component>, CdrError> {
        self.components
            .iter()
            .find(|component| component.tag == tag)
            .map(Component::decode)
            .transpose()
    }
}

/// Decodes a profile with [`TAG_MULTIPLE_COMPONENTS`].
pub fn decode_multiple_components(profile: &TaggedProfile) -> Result<Vec<TaggedComponent>, CdrError> {
    Vec::decode(&mut open(&profile.data)?)
}

/// Encodes a profile with [`TAG_MULTIPLE_COMPONENTS`].
pub fn encode_multiple_components(components: &[TaggedComponent]) -> Result<TaggedProfile, CdrError> {
    let data = encapsulate(Endian::NATIVE, |encoder| components.encode(encoder))?;
    Ok(TaggedProfile {
        tag: TAG_MULTIPLE_COMPONENTS,
        data,
    })
}

/// Decodes a version. Higher minor versions only append to the profile; other major versions are unknown.
fn version(decoder: &mut Decoder<'_>) -> Result<Version, CdrError> {
    let version = Version::decode(decoder)?;
    version
        .negotiated()
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

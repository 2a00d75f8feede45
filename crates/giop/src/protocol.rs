//! Protocols that a client may use, with the properties of their transports.
//!
//! Their form in references is not standardised: this is TAO's.

use alloc::string::String;

use punctual_cdr::{CdrError, Decode, Decoder, Encode, Encoder};

use crate::{TAG_INTERNET_IOP, TAG_SHMIOP, TAG_UIOP, profile::TAG_SCIOP};

/// A protocol a client may use.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ProtocolEntry {
    /// The tag of its profiles.
    pub profile_tag: u32,
    /// How to set up its transport.
    pub properties: ProtocolProperties,
}

/// How to set up a transport; sizes are octets.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[allow(missing_docs)] // The members have the names of RTCORBA's interfaces.
pub enum ProtocolProperties {
    /// `RTCORBA::TCPProtocolProperties`.
    Tcp {
        send_buffer_size: i32,
        recv_buffer_size: i32,
        keep_alive: bool,
        dont_route: bool,
        no_delay: bool,
    },
    /// TAO: Unix domain sockets.
    UnixDomain {
        send_buffer_size: i32,
        recv_buffer_size: i32,
    },
    /// TAO: shared memory.
    SharedMemory {
        send_buffer_size: i32,
        recv_buffer_size: i32,
        keep_alive: bool,
        dont_route: bool,
        no_delay: bool,
        preallocate_buffer_size: i32,
        mmap_filename: String,
        mmap_lockname: String,
    },
    /// A protocol without properties.
    None,
}

impl Encode for ProtocolEntry {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.profile_tag.encode(encoder)?;
        match &self.properties {
            ProtocolProperties::Tcp {
                send_buffer_size,
                recv_buffer_size,
                keep_alive,
                dont_route,
                no_delay,
            } => (
                *send_buffer_size,
                *recv_buffer_size,
                *keep_alive,
                *dont_route,
                *no_delay,
            )
                .encode(encoder),
            ProtocolProperties::UnixDomain {
                send_buffer_size,
                recv_buffer_size,
            } => (*send_buffer_size, *recv_buffer_size).encode(encoder),
            ProtocolProperties::SharedMemory {
                send_buffer_size,
                recv_buffer_size,
                keep_alive,
                dont_route,
                no_delay,
                preallocate_buffer_size,
                mmap_filename,
                mmap_lockname,
            } => {
                (
                    *send_buffer_size,
                    *recv_buffer_size,
                    *keep_alive,
                    *dont_route,
                    *no_delay,
                )
                    .encode(encoder)?;
                (*preallocate_buffer_size, mmap_filename, mmap_lockname).encode(encoder)
            }
            ProtocolProperties::None => Ok(()),
        }
    }
}

impl<'a> Decode<'a> for ProtocolEntry {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let profile_tag = u32::decode(decoder)?;
        let properties = match profile_tag {
            TAG_INTERNET_IOP | TAG_SCIOP => ProtocolProperties::Tcp {
                send_buffer_size: i32::decode(decoder)?,
                recv_buffer_size: i32::decode(decoder)?,
                keep_alive: bool::decode(decoder)?,
                dont_route: bool::decode(decoder)?,
                no_delay: bool::decode(decoder)?,
            },
            TAG_UIOP => ProtocolProperties::UnixDomain {
                send_buffer_size: i32::decode(decoder)?,
                recv_buffer_size: i32::decode(decoder)?,
            },
            TAG_SHMIOP => ProtocolProperties::SharedMemory {
                send_buffer_size: i32::decode(decoder)?,
                recv_buffer_size: i32::decode(decoder)?,
                keep_alive: bool::decode(decoder)?,
                dont_route: bool::decode(decoder)?,
                no_delay: bool::decode(decoder)?,
                preallocate_buffer_size: i32::decode(decoder)?,
                mmap_filename: String::decode(decoder)?,
                mmap_lockname: String::decode(decoder)?,
            },
            _ => ProtocolProperties::None,
        };
        Ok(Self {
            profile_tag,
            properties,
        })
    }
}

use punctual_giop::{
    ProtocolEntry, ProtocolProperties as WireProperties, TAG_INTERNET_IOP, TAG_PUNCTUAL_SHM, TAG_SHMIOP,
    TAG_UIOP,
};

use crate::ProtocolProperties;

/// A protocol and how to set it up: `RTCORBA::Protocol`.
///
/// ```
/// use punctual_transport::{Protocol, ProtocolProperties};
///
/// let mut properties = ProtocolProperties::default();
/// properties.no_delay = false;
/// let tcp = Protocol::IIOP.with(properties);
/// assert_eq!(tcp.profile_tag, 0);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Protocol {
    /// The tag of its profiles in references; [`crate::Transport::profile_tag`].
    pub profile_tag: u32,
    /// How its connections are set up.
    pub properties: ProtocolProperties,
}

impl Protocol {
    /// GIOP over TCP.
    pub const IIOP: Self = Self::tagged(TAG_INTERNET_IOP);
    /// GIOP over Unix domain sockets, as TAO does it.
    pub const UIOP: Self = Self::tagged(TAG_UIOP);
    /// GIOP over shared memory; [`crate::Shm`].
    pub const SHM: Self = Self::tagged(TAG_PUNCTUAL_SHM);

    /// The protocol whose profiles have this tag.
    pub const fn tagged(profile_tag: u32) -> Self {
        Self {
            profile_tag,
            properties: ProtocolProperties::DEFAULT,
        }
    }

    /// The same protocol, set up otherwise.
    pub fn with(self, properties: ProtocolProperties) -> Self {
        Self { properties, ..self }
    }
}

/// Protocols in order of preference: the value of `RTCORBA::ServerProtocolPolicy` and `RTCORBA::ClientProtocolPolicy`.
///
/// ```
/// use punctual_transport::{Protocol, ProtocolPolicy};
///
/// // Unix sockets where they lead to the server, TCP otherwise.
/// let policy = ProtocolPolicy::new([Protocol::UIOP, Protocol::IIOP]);
/// assert_eq!(policy.protocols().len(), 2);
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ProtocolPolicy {
    protocols: Vec<Protocol>,
    /// The same in short, for those who only choose.
    tags: Vec<u32>,
}

impl ProtocolPolicy {
    /// The first one is preferred. Of a protocol that is named twice, the first counts.
    pub fn new(protocols: impl IntoIterator<Item = Protocol>) -> Self {
        let mut policy = Self::default();
        for protocol in protocols {
            if policy.properties(protocol.profile_tag).is_none() {
                policy.tags.push(protocol.profile_tag);
                policy.protocols.push(protocol);
            }
        }
        policy
    }

    /// In order of preference.
    pub fn protocols(&self) -> &[Protocol] {
        &self.protocols
    }

    /// The tags of their profiles, in the same order.
    pub fn tags(&self) -> &[u32] {
        &self.tags
    }

    /// How to set up the protocol with this tag; `None` where the policy does not name it.
    pub fn properties(&self, profile_tag: u32) -> Option<&ProtocolProperties> {
        let mut protocols = self.protocols.iter();
        let protocol = protocols.find(|protocol| protocol.profile_tag == profile_tag)?;
        Some(&protocol.properties)
    }

    /// As it stands in references, where it tells clients what to use. Source: TAO; see [`ProtocolEntry`].
    pub fn to_entries(&self) -> Vec<ProtocolEntry> {
        self.protocols.iter().map(entry).collect()
    }

    /// What a reference says.
    pub fn from_entries(entries: &[ProtocolEntry]) -> Self {
        Self::new(entries.iter().map(protocol))
    }
}

fn entry(protocol: &Protocol) -> ProtocolEntry {
    let of = &protocol.properties;
    let octets = |size: Option<u32>| size.map_or(0, |size| i32::try_from(size).unwrap_or(i32::MAX));
    let (send_buffer_size, recv_buffer_size) = (octets(of.send_buffer_size), octets(of.recv_buffer_size));
    ProtocolEntry {
        profile_tag: protocol.profile_tag,
        properties: match protocol.profile_tag {
            TAG_INTERNET_IOP => WireProperties::Tcp {
                send_buffer_size,
                recv_buffer_size,
                keep_alive: of.keep_alive,
                dont_route: of.dont_route,
                no_delay: of.no_delay,
            },
            TAG_UIOP => WireProperties::UnixDomain {
                send_buffer_size,
                recv_buffer_size,
            },
            TAG_SHMIOP => WireProperties::SharedMemory {
                send_buffer_size,
                recv_buffer_size,
                keep_alive: of.keep_alive,
                dont_route: of.dont_route,
                no_delay: of.no_delay,
                preallocate_buffer_size: 0,
                mmap_filename: String::new(),
                mmap_lockname: String::new(),
            },
            _ => WireProperties::None,
        },
    }
}

fn protocol(entry: &ProtocolEntry) -> Protocol {
    let octets = |size: i32| u32::try_from(size).ok().filter(|size| *size > 0);
    let mut properties = ProtocolProperties::default();
    match entry.properties {
        WireProperties::Tcp {
            send_buffer_size,
            recv_buffer_size,
            keep_alive,
            dont_route,
            no_delay,
        }
        | WireProperties::SharedMemory {
            send_buffer_size,
            recv_buffer_size,
            keep_alive,
            dont_route,
            no_delay,
            ..
        } => {
            properties.send_buffer_size = octets(send_buffer_size);
            properties.recv_buffer_size = octets(recv_buffer_size);
            properties.keep_alive = keep_alive;
            properties.dont_route = dont_route;
            properties.no_delay = no_delay;
        }
        WireProperties::UnixDomain {
            send_buffer_size,
            recv_buffer_size,
        } => {
            properties.send_buffer_size = octets(send_buffer_size);
            properties.recv_buffer_size = octets(recv_buffer_size);
        }
        WireProperties::None => {}
    }
    Protocol {
        profile_tag: entry.profile_tag,
        properties,
    }
}

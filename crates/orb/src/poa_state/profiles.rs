//! Profiles of a reference: the addresses of its object for each protocol.

use std::sync::Arc;

use punctual_cdr::{CdrError, CharSet, Encode, Encoder, Endian, TaggedComponent, TaggedProfile};
use punctual_giop::{
    AssociationOptions, CodeSetComponentInfo, Component, PUNCTUAL_ORB_TYPE, PolicyValue, Profile,
    SslTransport, TAG_ALTERNATE_IIOP_ADDRESS, TAG_INTERNET_IOP, Version, encode_endpoints_with,
};
use punctual_transport::{Reach, Transport, host_id};

use crate::pools::info::PoolEndpoint;

/// Punctual's component in the profiles of protocols that do not leave the host: the [`host_id`].
pub(crate) const TAG_HOST: u32 = PUNCTUAL_ORB_TYPE + 1;

/// Creates one profile for each protocol, in the order of the endpoints, with all endpoints of the protocol;
/// the first one is the address of the profile. `policies`: those of a real-time adapter, whose references
/// state the priority of each endpoint. `more`: adds the other components of the profile with a tag.
///
/// IIOP over TLS has no profiles of its own: its ports are stated in the profile of IIOP, beside the
/// endpoints of the same host and priority, and those without such a neighbour in another profile of IIOP,
/// whose ports for TCP are 0.
///
/// For the ORB an address is opaque text; only its transport interprets it. `profiles.rs` writes one profile
/// per protocol, `client/route.rs` reads and orders them. Profiles of protocols that do not leave the host
/// identify the host (boot id and the namespaces of files and network): a client elsewhere skips them, a
/// client on the same host prefers them. The network priority of a connection is set only when it changes.
///
/// Source: TAO, as captured; see [`Profile`] and [`encode_endpoints_with`].
pub(crate) fn profiles(
    endpoints: &[PoolEndpoint],
    object_key: &[u8],
    policies: Option<&[PolicyValue]>,
    more: impl Fn(u32, &mut Vec<TaggedComponent>),
    native_code_set: Option<CharSet>,
) -> Result<Vec<TaggedProfile>, CdrError> {
    grouped(endpoints)
        .into_iter()
        .map(|(transport, own)| {
            let tag = match transport.protection() {
                Some(_) => TAG_INTERNET_IOP,
                None => transport.profile_tag(),
            };
            let mut components = components(tag, transport, &own, policies, native_code_set)?;
            more(tag, &mut components);
            Profile {
                tag,
                version: Version::V1_2,
                address: &own[0].address,
                object_key: object_key.to_vec(),
                components,
            }
            .encode_with(Endian::NATIVE, |address, encoder| {
                transport.encode_address(address, encoder)
            })
        })
        .collect()
}

/// An endpoint as a profile states it.
struct StatedEndpoint {
    /// Without a port for TCP if it is reached over TLS only.
    address: String,
    priority: i16,
    ssl: SslTransport,
}

/// The endpoints of each profile, with the transport that encodes their addresses.
fn grouped(endpoints: &[PoolEndpoint]) -> Vec<(&dyn Transport, Vec<StatedEndpoint>)> {
    let mut groups: Vec<(&dyn Transport, Vec<StatedEndpoint>)> = Vec::new();
    let (secured, plain): (Vec<_>, Vec<_>) = endpoints
        .iter()
        .partition(|endpoint| endpoint.transport.protection().is_some());
    for endpoint in plain {
        let stated = StatedEndpoint {
            address: endpoint.address.clone(),
            priority: endpoint.priority,
            ssl: SslTransport::default(),
        };
        add(&mut groups, endpoint, stated);
    }
    for endpoint in secured {
        let alone = secured_endpoint(endpoint);
        let iiop = groups
            .iter_mut()
            .find(|(transport, _)| transport.profile_tag() == TAG_INTERNET_IOP);
        let host = |address: &str| address.rsplit_once(':').map(|(host, _)| host.to_owned());
        let neighbour = iiop.and_then(|(_, stated)| {
            stated.iter_mut().find(|other| {
                other.ssl.port == 0
                    && other.priority == alone.priority
                    && host(&other.address) == host(&alone.address)
            })
        });
        match neighbour {
            // The server also accepts unprotected connections.
            Some(neighbour) => {
                neighbour.ssl = SslTransport {
                    supports: alone.ssl.supports.and(AssociationOptions::NO_PROTECTION),
                    requires: AssociationOptions::default(),
                    ..alone.ssl
                }
            }
            None => add(&mut groups, endpoint, alone),
        }
    }
    // A port for TLS in the first endpoint, which all ORBs read; the order of lanes of different priorities
    // stays.
    for (_, stated) in &mut groups {
        if stated[0].ssl.port == 0
            && let Some(first) = stated
                .iter()
                .position(|other| other.ssl.port != 0 && other.priority == stated[0].priority)
        {
            stated[..=first].rotate_right(1);
        }
    }
    let place = |tag: u32| {
        endpoints
            .iter()
            .position(|endpoint| endpoint.profile_tag() == tag)
    };
    groups.sort_by_key(|(transport, _)| place(transport.profile_tag()));
    groups
}

fn add<'e>(
    groups: &mut Vec<(&'e dyn Transport, Vec<StatedEndpoint>)>,
    endpoint: &'e PoolEndpoint,
    stated: StatedEndpoint,
) {
    let tag = endpoint.profile_tag();
    match groups.iter_mut().find(|(other, _)| other.profile_tag() == tag) {
        Some((_, group)) => group.push(stated),
        None => groups.push((&*endpoint.transport, vec![stated])),
    }
}

/// Returns an endpoint that can be reached over TLS only.
fn secured_endpoint(endpoint: &PoolEndpoint) -> StatedEndpoint {
    let (host, port) = endpoint.address.rsplit_once(':').unwrap_or_default();
    let protection = endpoint.transport.protection();
    let (supports, requires) = protection.map_or_else(Default::default, |protection| {
        (protection.supports, protection.requires)
    });
    StatedEndpoint {
        address: format!("{host}:0"),
        priority: endpoint.priority,
        ssl: SslTransport {
            supports,
            requires,
            port: port.parse().unwrap_or_default(),
        },
    }
}

/// Creates the profile of an address for TLS from a URL.
pub(crate) fn secured_profile(
    transport: &Arc<dyn Transport>,
    version: Version,
    address: String,
    object_key: &[u8],
) -> Result<TaggedProfile, CdrError> {
    let stated = secured_endpoint(&PoolEndpoint {
        transport: Arc::clone(transport),
        address,
        priority: -1,
    });
    Profile {
        tag: TAG_INTERNET_IOP,
        // Profiles of version 1.0 have no components, so that servers with TLS have 1.1 at least.
        version: version.max(Version::V1_1),
        address: stated.address,
        object_key: object_key.to_vec(),
        components: vec![Component::Ssl(stated.ssl).encode()?],
    }
    .encode_with(Endian::NATIVE, |address, encoder| {
        transport.encode_address(address, encoder)
    })
}

/// Returns the components in the order of TAO: ORB type, code sets, then for real-time adapters endpoints and
/// policies.
fn components(
    tag: u32,
    transport: &dyn Transport,
    endpoints: &[StatedEndpoint],
    policies: Option<&[PolicyValue]>,
    native_code_set: Option<CharSet>,
) -> Result<Vec<TaggedComponent>, CdrError> {
    let mut components = vec![
        Component::OrbType(PUNCTUAL_ORB_TYPE).encode()?,
        Component::CodeSets(CodeSetComponentInfo::with_native(native_code_set)).encode()?,
    ];
    let in_iiop = tag == TAG_INTERNET_IOP;
    let secured_beside = endpoints[1..].iter().any(|endpoint| endpoint.ssl.port != 0);
    if policies.is_some() || (!in_iiop || secured_beside) && endpoints.len() > 1 {
        let with_priorities: Vec<_> = endpoints
            .iter()
            .map(|endpoint| (&endpoint.address, endpoint.priority))
            .collect();
        let address =
            |address: &&String, encoder: &mut Encoder<'_>| transport.encode_address(address, encoder);
        components.push(encode_endpoints_with(Endian::NATIVE, &with_priorities, address)?);
    } else {
        // The standard form, which ORBs without priorities read.
        for endpoint in &endpoints[1..] {
            components.push(alternate(transport, endpoint)?);
        }
    }
    if endpoints[0].ssl.port != 0 || secured_beside {
        components.push(Component::Ssl(endpoints[0].ssl).encode()?);
        // Also if all its ports are 0: TAO refuses profiles with several endpoints without it.
        if endpoints.len() > 1 {
            let beside = endpoints[1..].iter().map(|endpoint| endpoint.ssl);
            components.push(Component::TaoSslEndpoints(beside.collect()).encode()?);
        }
    }
    if let Some(policies) = policies {
        components.push(Component::Policies(policies.to_vec()).encode()?);
    }
    if let (Reach::Host { .. }, Some(host)) = (transport.reach(), host_id()) {
        components.push(TaggedComponent {
            tag: TAG_HOST,
            data: host.to_vec(),
        });
    }
    Ok(components)
}

/// Returns an alternate address, which has the same form in this component as in the profile.
fn alternate(transport: &dyn Transport, endpoint: &StatedEndpoint) -> Result<TaggedComponent, CdrError> {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::NATIVE);
    Endian::NATIVE.flag().encode(&mut encoder)?;
    transport.encode_address(&endpoint.address, &mut encoder)?;
    Ok(TaggedComponent {
        tag: TAG_ALTERNATE_IIOP_ADDRESS,
        data: octets,
    })
}

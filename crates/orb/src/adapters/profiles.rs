//! Profiles of a reference: the addresses of its object for each protocol.

use punctual_cdr::{CdrError, CharSet, Encode, Encoder, Endian, TaggedComponent, TaggedProfile};
use punctual_giop::{
    CodeSetComponentInfo, Component, PUNCTUAL_ORB_TYPE, PolicyValue, Profile, TAG_ALTERNATE_IIOP_ADDRESS,
    TAG_INTERNET_IOP, Version, encode_endpoints_with,
};
use punctual_transport::{Reach, Transport, host_id};

use crate::pools::info::PoolEndpoint;

/// Punctual's component in the profiles of protocols that do not leave the host: the [`host_id`].
pub(crate) const TAG_HOST: u32 = PUNCTUAL_ORB_TYPE + 1;

/// Creates one profile for each protocol, in the order of the endpoints, with all endpoints of the protocol;
/// the first one is the address of the profile. `policies`: those of a real-time adapter, whose references
/// state the priority of each endpoint. `more`: adds the other components of the profile with a tag.
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
    let mut tags: Vec<_> = endpoints.iter().map(PoolEndpoint::profile_tag).collect();
    let mut seen = Vec::new();
    tags.retain(|tag| {
        let new = !seen.contains(tag);
        seen.push(*tag);
        new
    });
    tags.into_iter()
        .map(|tag| {
            let own: Vec<_> = endpoints
                .iter()
                .filter(|endpoint| endpoint.profile_tag() == tag)
                .collect();
            let transport = &*own[0].transport;
            let mut components = components(transport, &own, policies, native_code_set)?;
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

/// Returns the components in the order of TAO: ORB type, code sets, then for real-time adapters endpoints and
/// policies.
fn components(
    transport: &dyn Transport,
    endpoints: &[&PoolEndpoint],
    policies: Option<&[PolicyValue]>,
    native_code_set: Option<CharSet>,
) -> Result<Vec<TaggedComponent>, CdrError> {
    let mut components = vec![
        Component::OrbType(PUNCTUAL_ORB_TYPE).encode()?,
        Component::CodeSets(CodeSetComponentInfo::with_native(native_code_set)).encode()?,
    ];
    let in_iiop = transport.profile_tag() == TAG_INTERNET_IOP;
    if policies.is_some() || !in_iiop && endpoints.len() > 1 {
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
fn alternate(transport: &dyn Transport, endpoint: &PoolEndpoint) -> Result<TaggedComponent, CdrError> {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::NATIVE);
    Endian::NATIVE.flag().encode(&mut encoder)?;
    transport.encode_address(&endpoint.address, &mut encoder)?;
    Ok(TaggedComponent {
        tag: TAG_ALTERNATE_IIOP_ADDRESS,
        data: octets,
    })
}

//! Addresses for TLS that IIOP profiles state beside those for TCP.

use punctual_cdr::TaggedComponent;
use punctual_giop::{
    Component, Profile, SslTransport, TAG_INTERNET_IOP, TAG_SSL_SEC_TRANS, TAO_TAG_SSL_ENDPOINTS,
};

/// Returns the port for TLS that the components of a profile with this tag state.
pub(super) fn port(tag: u32, components: &[TaggedComponent]) -> Option<u16> {
    if tag != TAG_INTERNET_IOP {
        return None;
    }
    match decoded(components, TAG_SSL_SEC_TRANS)? {
        Component::Ssl(SslTransport { port, .. }) if port != 0 => Some(port),
        _ => None,
    }
}

/// Returns the address for TLS of a profile.
pub(crate) fn address(profile: &Profile<String>) -> Option<String> {
    Some(with_port(
        &profile.address,
        port(profile.tag, &profile.components)?,
    ))
}

/// Returns the addresses for TLS beside these, the first of which is that of the profile, with the same
/// priorities.
pub(super) fn addresses(
    tag: u32,
    components: &[TaggedComponent],
    plain: &[(String, i16)],
) -> Vec<(String, i16)> {
    let more = match decoded(components, TAO_TAG_SSL_ENDPOINTS) {
        Some(Component::TaoSslEndpoints(more)) => more,
        _ => Vec::new(),
    };
    if tag != TAG_INTERNET_IOP {
        return Vec::new();
    }
    let first = port(tag, components).unwrap_or(0);
    let ports = std::iter::once(first).chain(more.iter().map(|ssl| ssl.port));
    let both = plain.iter().zip(ports).filter(|(_, port)| *port != 0);
    both.map(|((address, priority), port)| (with_port(address, port), *priority))
        .collect()
}

/// Returns whether an address has no port for TCP: the server can be reached over TLS only.
pub(super) fn has_no_port(address: &str) -> bool {
    address.ends_with(":0")
}

fn decoded(components: &[TaggedComponent], tag: u32) -> Option<Component> {
    let component = components.iter().find(|component| component.tag == tag)?;
    Component::decode(component).ok()
}

fn with_port(address: &str, port: u16) -> String {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    format!("{host}:{port}")
}

//! How a route is read from the profiles of a reference.

use std::{
    cmp::Reverse,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use punctual_cdr::{CdrErrorKind, CharSet, CodeSets, Ior, TaggedComponent};
use punctual_giop::{
    CodeSetComponentInfo, Component, PUNCTUAL_ORB_TYPE, PolicyValue, Profile, TAG_INTERNET_IOP, TAG_ORB_TYPE,
    TAG_PUNCTUAL_TLS, TAO_TAG_ENDPOINTS, UTF_8, Version, decode_endpoints_with, negotiate,
};
use punctual_transport::{Reach, Transport, host_id};
use punctual_types::{Minor, SystemException, SystemExceptionKind};

use super::{Addressing, Route, RoutedEndpoint, error};
use crate::{
    client::{core::ClientCore, tls_addresses},
    poa_state::profiles::TAG_HOST,
};

impl Route {
    /// Reads the profiles whose protocols this ORB has.
    ///
    /// Fails with INV_OBJREF if none of them is well formed, with TRANSIENT if the reference has only other
    /// protocols, or sockets of another host, and with IMP_LIMIT if it names more endpoints or bands than
    /// [`crate::Limits::max_endpoints`].
    pub(crate) fn new(ior: &Arc<Ior>, core: &ClientCore) -> Result<Self, SystemException> {
        let mut problem = error(SystemExceptionKind::Transient, Minor::NO_USABLE_PROFILE);
        let mut profiles = Vec::new();
        let limit = core.configuration.limits.max_endpoints;
        for (index, profile) in ior.profiles.iter().enumerate() {
            let Some(transport) = core.configuration.transports.with_tag(profile.tag) else {
                continue;
            };
            match core.configuration.decode_profile(profile) {
                Some(Ok(profile)) => match rank(&**transport, &profile) {
                    // Each has at least one endpoint.
                    Some(_) if profiles.len() == limit => return Err(too_many_endpoints()),
                    Some(rank) => profiles.push((rank, transport, profile, Addressing::new(ior, index))),
                    None => continue,
                },
                _ => problem = error(SystemExceptionKind::InvObjref, Minor::REFERENCE_MALFORMED),
            }
        }
        // Stable: equal ranks keep the server's order.
        profiles.sort_by_key(|(rank, ..)| Reverse(*rank));
        let mut route: Option<Route> = None;
        for (_, transport, profile, addressing) in profiles {
            match &mut route {
                None => match Self::from_profile(transport, profile, addressing, core) {
                    Ok(first) => route = Some(first),
                    Err(error) if error.kind == SystemExceptionKind::ImpLimit => return Err(error),
                    // The other profiles may be usable.
                    Err(error) => problem = error,
                },
                // One key for all: a profile with another one counts as that of another object.
                Some(route) if route.object_key == profile.object_key => {
                    match Self::from_profile(transport, profile, addressing, core) {
                        Ok(other) if route.endpoints.len() + other.endpoints.len() <= limit => {
                            route.join(other);
                        }
                        Err(error) if error.kind != SystemExceptionKind::ImpLimit => {}
                        _ => return Err(too_many_endpoints()),
                    }
                }
                Some(_) => {}
            }
        }
        let mut route = route.ok_or(problem)?;
        if route.endpoints.is_empty() && !route.is_local {
            return Err(problem_of_plain(core));
        }
        // Calls look at each: those that this ORB has, once.
        let mut tags: Vec<u32> = Vec::new();
        for tag in std::mem::take(&mut route.tags) {
            if core.configuration.transports.with_tag(tag).is_some() && !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        // A client with TLS prefers it, also if the server has stated it in a later profile.
        if !route.exposes_protocols {
            let place = |sought| tags.iter().position(|tag| *tag == sought);
            if let (Some(tls), Some(tcp)) = (place(TAG_PUNCTUAL_TLS), place(TAG_INTERNET_IOP)) {
                tags[tls.min(tcp)] = TAG_PUNCTUAL_TLS;
                tags[tls.max(tcp)] = TAG_INTERNET_IOP;
            }
        }
        route.tags = tags;
        Ok(route)
    }

    /// The route of a reference that this ORB keeps for others, but cannot use itself.
    pub(crate) fn unusable(ior: &Arc<Ior>, problem: SystemException) -> Self {
        Self {
            number: next_number(),
            version: Version::V1_0,
            is_local: false,
            object_key: Vec::new(),
            addressing: Addressing::new(ior, 0),
            endpoints: Vec::new(),
            tags: Vec::new(),
            exposes_protocols: false,
            model: None,
            bands: Vec::new(),
            orb_type: 0,
            unusable: Some(Box::new(problem)),
        }
    }

    fn from_profile(
        transport: &Arc<dyn Transport>,
        profile: Profile<String>,
        addressing: Addressing,
        core: &ClientCore,
    ) -> Result<Self, SystemException> {
        let malformed = || error(SystemExceptionKind::InvObjref, Minor::REFERENCE_MALFORMED);
        let limit = core.configuration.limits.max_endpoints;
        let within = |count| (count <= limit).then_some(()).ok_or_else(too_many_endpoints);
        let mut code_sets = None;
        let mut lanes = Vec::new();
        let mut alternates = Vec::new();
        let mut route = Route {
            number: next_number(),
            version: profile.version.negotiated().ok_or_else(malformed)?,
            is_local: core.owns(&profile),
            object_key: profile.object_key,
            addressing,
            endpoints: Vec::new(),
            tags: vec![profile.tag],
            exposes_protocols: false,
            model: None,
            bands: Vec::new(),
            orb_type: 0,
            unusable: None,
        };
        let is_ours = profile.components.iter().any(is_of_punctual);
        for component in &profile.components {
            // A malformed or unknown component does not affect the rest of the reference.
            if component.tag == TAO_TAG_ENDPOINTS {
                lanes = endpoints_in(component, &**transport, limit)?;
                continue;
            }
            match Component::decode(component) {
                Ok(Component::CodeSets(server)) => {
                    code_sets = Some(negotiated(&server, is_ours)?);
                }
                Ok(Component::OrbType(orb)) => route.orb_type = orb,
                Ok(Component::AlternateIiopAddress { host, port }) => {
                    alternates.push(iiop_address(&host, port));
                    within(alternates.len())?;
                }
                Ok(Component::Policies(policies)) => policies.into_iter().for_each(|policy| match policy {
                    PolicyValue::PriorityModel(model) => route.model = Some(model),
                    PolicyValue::PriorityBands(bands) => route.bands = bands,
                    PolicyValue::ClientProtocols(protocols) => {
                        route.exposes_protocols = !protocols.tags().is_empty();
                        route.tags = protocols.tags().to_vec();
                    }
                    PolicyValue::Other { .. } => {}
                }),
                _ => {}
            }
        }
        if lanes.is_empty() {
            lanes.push((profile.address, -1));
        }
        let secured = tls_addresses::addresses(profile.tag, &profile.components, &lanes);
        lanes.extend(alternates.into_iter().map(|address| (address, -1)));
        within((lanes.len() + secured.len()).max(route.bands.len()))?;
        if lanes.iter().any(|(address, _)| address.len() > MAX_ADDRESS) {
            return Err(malformed());
        }
        route.add_endpoints(transport, lanes, secured, code_sets, core);
        if route.orb_type != 0 {
            let endpoints = route.endpoints.iter();
            endpoints.for_each(|routed| routed.endpoint.set_orb_type(route.orb_type));
        }
        Ok(route)
    }

    /// Adds the endpoints of a profile, as far as this ORB may connect to them.
    fn add_endpoints(
        &mut self,
        transport: &Arc<dyn Transport>,
        mut plain: Vec<(String, i16)>,
        secured: Vec<(String, i16)>,
        code_sets: Option<CodeSets>,
        core: &ClientCore,
    ) {
        let mut add = |transport: &Arc<dyn Transport>, addresses: Vec<(String, i16)>| {
            let endpoint = |(address, priority)| RoutedEndpoint {
                endpoint: core.endpoints.get(transport, address, code_sets),
                profile_tag: transport.profile_tag(),
                priority,
            };
            self.endpoints.extend(addresses.into_iter().map(endpoint));
        };
        let protected = core.configuration.transports.protected();
        if !secured.is_empty() {
            // A server without a port for TCP.
            plain.retain(|(address, _)| !tls_addresses::has_no_port(address));
            if !self.exposes_protocols {
                self.tags.insert(0, TAG_PUNCTUAL_TLS);
            }
        }
        if let Some((tls, _)) = protected {
            add(tls, secured);
        }
        if protected.is_none_or(|(_, protection)| !protection.is_mandatory) {
            add(transport, plain);
        }
    }

    /// Adds another profile of the same object.
    fn join(&mut self, other: Self) {
        // A server understands the same version over all protocols.
        self.version = self.version.min(other.version);
        self.is_local |= other.is_local;
        if self.orb_type == 0 {
            self.orb_type = other.orb_type;
        }
        self.endpoints.extend(other.endpoints);
        match (self.exposes_protocols, other.exposes_protocols) {
            (false, false) => self.tags.extend(other.tags),
            (false, true) => self.tags = other.tags,
            (true, _) => {}
        }
        self.exposes_protocols |= other.exposes_protocols;
        self.model = self.model.or(other.model);
        if self.bands.is_empty() {
            self.bands = other.bands;
        }
    }
}

/// Returns why no endpoint of a reference is one that this ORB may connect to.
#[cold]
fn problem_of_plain(core: &ClientCore) -> SystemException {
    let minor = match core.configuration.transports.protected() {
        Some(_) => Minor::TLS_REQUIRED,
        None => Minor::TLS_NOT_AVAILABLE,
    };
    error(SystemExceptionKind::NoPermission, minor)
}

fn is_of_punctual(component: &TaggedComponent) -> bool {
    component.tag == TAG_ORB_TYPE
        && matches!(
            Component::decode(component),
            Ok(Component::OrbType(PUNCTUAL_ORB_TYPE))
        )
}

/// Returns the code sets of connections to a server: as the specification negotiates them, but between our
/// own ORBs UTF-8, which has every character. Fails with CODESET_INCOMPATIBLE.
fn negotiated(server: &CodeSetComponentInfo, is_ours: bool) -> Result<CodeSets, SystemException> {
    let mut code_sets = negotiate(&CodeSetComponentInfo::ours(), Some(server)).map_err(|_| {
        error(
            SystemExceptionKind::CodesetIncompatible,
            Minor::TEXT_NOT_IN_CODE_SET,
        )
    })?;
    if is_ours && server.char.supports(UTF_8) {
        code_sets.char = CharSet::Utf8;
    }
    Ok(code_sets)
}

fn next_number() -> u64 {
    static ROUTES: AtomicU64 = AtomicU64::new(0);
    ROUTES.fetch_add(1, Ordering::Relaxed)
}

/// Returns the addresses and priorities in the component of TAO; none if it is malformed. Fails with
/// IMP_LIMIT.
fn endpoints_in(
    component: &TaggedComponent,
    transport: &dyn Transport,
    limit: usize,
) -> Result<Vec<(String, i16)>, SystemException> {
    let mut count = 0;
    let decoded = decode_endpoints_with(component, |decoder| {
        count += 1;
        if count > limit {
            return Err(decoder.error(CdrErrorKind::BoundExceeded));
        }
        transport.decode_address(decoder)
    });
    if count > limit {
        return Err(too_many_endpoints());
    }
    Ok(decoded.unwrap_or_default())
}

/// Octets of the longest address that a reference may name; those of sockets are shorter.
const MAX_ADDRESS: usize = 1024;

/// Returns the rank of a profile, the highest first; `None`: it cannot be reached from this host.
fn rank(transport: &dyn Transport, profile: &Profile<String>) -> Option<u16> {
    let Reach::Host { preference } = transport.reach() else {
        return Some(0);
    };
    let stated = profile
        .components
        .iter()
        .find(|component| component.tag == TAG_HOST);
    match (stated, host_id()) {
        (Some(stated), Some(own)) => (stated.data == own).then(|| 1 + u16::from(preference)),
        // Other ORBs state no host: it may be this one, so the profile keeps its place.
        _ => Some(0),
    }
}

/// Returns the address in the form of `punctual_transport::Tcp`.
fn iiop_address(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

fn too_many_endpoints() -> SystemException {
    error(SystemExceptionKind::ImpLimit, Minor::TOO_MANY_ENDPOINTS)
}

use std::{cmp::Reverse, sync::Arc};

use punctual_cdr::{CharSet, Decoder, Ior};
use punctual_giop::{
    CodeSetComponentInfo, Component, PolicyValue, PriorityModel, Profile, TAO_TAG_ENDPOINTS, Version,
    decode_endpoints_with, negotiate,
};
use punctual_transport::{Reach, Transport, host_id};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::Endpoint;
use crate::{orb_core::OrbCore, profiles::TAG_HOST};

/// What a reference says about how to reach its object.
pub(crate) struct Route {
    /// The GIOP version to speak.
    pub(crate) version: Version,
    pub(crate) object_key: Vec<u8>,
    /// Those of one protocol stand together, the preferred protocol first.
    endpoints: Vec<RoutedEndpoint>,
    /// The tags of the protocols, in that order.
    tags: Vec<u32>,
    /// The server says which protocols to use, so the client may not.
    exposes_protocols: bool,
    /// The caller's priority chooses the endpoint, and travels with the request.
    pub(crate) propagates_priority: bool,
    /// What the server declares for the object, where it does.
    declared_priority: Option<Priority>,
    bands: Vec<(i16, i16)>,
    /// The object is one of this ORB's: no request needs to be sent.
    pub(crate) is_local: bool,
}

struct RoutedEndpoint {
    endpoint: Arc<Endpoint>,
    profile_tag: u32,
    /// -1: serves all.
    priority: i16,
}

impl Route {
    /// Reads the profiles whose protocols this ORB has.
    ///
    /// Fails with INV_OBJREF where none of them is well formed, and with TRANSIENT where the reference names other protocols
    /// only, or another host's sockets.
    pub(crate) fn new(ior: &Ior, core: &OrbCore) -> Result<Self, SystemException> {
        let mut problem = error(SystemExceptionKind::Transient, Minor::NO_USABLE_PROFILE);
        let mut profiles = Vec::new();
        for profile in &ior.profiles {
            let Some(transport) = core.transports.with_tag(profile.tag) else {
                continue;
            };
            match core.decode_profile(profile) {
                Some(Ok(profile)) => match rank(&**transport, &profile) {
                    Some(rank) => profiles.push((rank, transport, profile)),
                    None => continue,
                },
                _ => problem = error(SystemExceptionKind::InvObjref, Minor::REFERENCE_MALFORMED),
            }
        }
        // Stable: among equals the server's order holds.
        profiles.sort_by_key(|(rank, ..)| Reverse(*rank));
        let mut route: Option<Route> = None;
        for (_, transport, profile) in profiles {
            match &mut route {
                None => route = Some(Self::from_profile(transport, profile, core)?),
                // One key and one version for all: what differs is as good as another object's.
                Some(route) if route.object_key == profile.object_key => {
                    if let Ok(other) = Self::from_profile(transport, profile, core) {
                        route.join(other);
                    }
                }
                Some(_) => {}
            }
        }
        let mut route = route.ok_or(problem)?;
        let mut tags = std::mem::take(&mut route.tags);
        tags.dedup();
        route.tags = tags;
        Ok(route)
    }

    fn from_profile(
        transport: &Arc<dyn Transport>,
        profile: Profile<String>,
        core: &OrbCore,
    ) -> Result<Self, SystemException> {
        let malformed = || error(SystemExceptionKind::InvObjref, Minor::REFERENCE_MALFORMED);
        let mut char_set = None;
        let mut lanes = Vec::new();
        let mut alternates = Vec::new();
        let mut route = Route {
            version: profile.version.to_speak().ok_or_else(malformed)?,
            is_local: core.owns(&profile),
            object_key: profile.object_key,
            endpoints: Vec::new(),
            tags: vec![profile.tag],
            exposes_protocols: false,
            propagates_priority: false,
            declared_priority: None,
            bands: Vec::new(),
        };
        for component in &profile.components {
            // A component that is malformed or unknown takes nothing from the rest of the reference.
            if component.tag == TAO_TAG_ENDPOINTS {
                let address = |decoder: &mut Decoder<'_>| transport.decode_address(decoder);
                lanes = decode_endpoints_with(component, address).unwrap_or_default();
                continue;
            }
            match Component::decode(component) {
                Ok(Component::CodeSets(server)) => {
                    char_set = Some(negotiate(&CodeSetComponentInfo::ours(), Some(&server)).map_err(
                        |_| {
                            error(
                                SystemExceptionKind::CodesetIncompatible,
                                Minor::TEXT_NOT_IN_CODE_SET,
                            )
                        },
                    )?);
                }
                Ok(Component::AlternateIiopAddress { host, port }) => {
                    alternates.push(iiop_address(&host, port));
                }
                Ok(Component::Policies(policies)) => policies.into_iter().for_each(|policy| match policy {
                    PolicyValue::PriorityModel {
                        model,
                        server_priority,
                    } => {
                        route.propagates_priority = model == PriorityModel::ClientPropagated;
                        route.declared_priority = Priority::new(server_priority).ok();
                    }
                    PolicyValue::PriorityBands(bands) => route.bands = bands,
                    PolicyValue::ClientProtocols(protocols) => {
                        route.exposes_protocols = !protocols.is_empty();
                        route.tags = protocols.iter().map(|protocol| protocol.profile_tag).collect();
                    }
                    PolicyValue::Other { .. } => {}
                }),
                _ => {}
            }
        }
        if lanes.is_empty() {
            lanes.push((profile.address, -1));
        }
        lanes.extend(alternates.into_iter().map(|address| (address, -1)));
        let endpoint = |(address, priority): (String, i16)| RoutedEndpoint {
            endpoint: core.endpoints.get(transport, &address, char_set),
            profile_tag: transport.profile_tag(),
            priority,
        };
        route.endpoints = lanes.into_iter().map(endpoint).collect();
        Ok(route)
    }

    /// Adds what another profile of the same object says.
    fn join(&mut self, other: Self) {
        // What the server understands in one protocol it understands in all.
        self.version = self.version.min(other.version);
        self.is_local |= other.is_local;
        self.endpoints.extend(other.endpoints);
        match (self.exposes_protocols, other.exposes_protocols) {
            (false, false) => self.tags.extend(other.tags),
            (false, true) => self.tags = other.tags,
            (true, _) => {}
        }
        self.exposes_protocols |= other.exposes_protocols;
        self.propagates_priority |= other.propagates_priority;
        self.declared_priority = self.declared_priority.or(other.declared_priority);
        if self.bands.is_empty() {
            self.bands = other.bands;
        }
    }

    /// The endpoints for a caller of this priority, the preferred one first.
    ///
    /// Source: the rules that TAO's clients follow, so that the same reference leads to the same lane. Fails with INV_POLICY
    /// where the priority has no endpoint, where the client's `protocols` (the tags of their profiles; none: all) leave none,
    /// and where client and server both say which protocols to use.
    pub(crate) fn endpoints<'r>(
        &'r self,
        priority: Priority,
        protocols: &'r [u32],
    ) -> Result<impl Iterator<Item = &'r Arc<Endpoint>>, SystemException> {
        let (low, high) = if !self.propagates_priority || self.serves_all() {
            (i16::MIN, i16::MAX)
        } else if self.bands.is_empty() {
            (priority.value(), priority.value())
        } else {
            let band = self
                .bands
                .iter()
                .find(|(low, high)| (*low..=*high).contains(&priority.value()));
            *band.ok_or_else(|| error(SystemExceptionKind::InvPolicy, Minor::NO_ENDPOINT_FOR_PRIORITY))?
        };
        if self.exposes_protocols && !protocols.is_empty() {
            return Err(error(SystemExceptionKind::InvPolicy, Minor::POLICY_CONFLICT));
        }
        let tags = if protocols.is_empty() {
            &self.tags
        } else {
            protocols
        };
        let mut endpoints = tags
            .iter()
            .flat_map(|tag| {
                let endpoints = self.endpoints.iter();
                endpoints.filter(move |endpoint| endpoint.profile_tag == *tag)
            })
            .filter(move |endpoint| (low..=high).contains(&endpoint.priority))
            .map(|endpoint| &endpoint.endpoint)
            .peekable();
        if endpoints.peek().is_none() {
            let minor = if protocols.is_empty() && !self.exposes_protocols {
                Minor::NO_ENDPOINT_FOR_PRIORITY
            } else {
                Minor::NO_USABLE_PROFILE
            };
            return Err(error(SystemExceptionKind::InvPolicy, minor));
        }
        Ok(endpoints)
    }

    /// At which priority the requests of a caller travel: its own or the object's. `None`: the reference has no priority model.
    pub(crate) fn network_priority(&self, caller: Priority) -> Option<Priority> {
        if self.propagates_priority {
            Some(caller)
        } else {
            self.declared_priority
        }
    }

    /// A peer without lanes, or one whose endpoints we cannot read.
    fn serves_all(&self) -> bool {
        self.endpoints.iter().all(|endpoint| endpoint.priority < 0)
    }
}

/// The order in which to try a profile, the highest first; `None`: it leads nowhere from here.
fn rank(transport: &dyn Transport, profile: &Profile<String>) -> Option<u16> {
    let Reach::Host { preference } = transport.reach() else {
        return Some(0);
    };
    let said = profile
        .components
        .iter()
        .find(|component| component.tag == TAG_HOST);
    match (said, host_id()) {
        (Some(said), Some(own)) => (said.data == own).then(|| 1 + u16::from(preference)),
        // Other ORBs do not say: it may be this host, so it stays where the server has put it.
        _ => Some(0),
    }
}

/// As `punctual_transport::Tcp` writes it.
fn iiop_address(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

fn error(kind: SystemExceptionKind, minor: Minor) -> SystemException {
    SystemException::new(kind, minor, Completion::No)
}

/// The code set in which a connection without negotiation speaks.
pub(crate) fn char_set_in_force(negotiated: Option<CharSet>) -> CharSet {
    negotiated.unwrap_or(CharSet::Latin1)
}

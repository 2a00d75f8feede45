use std::sync::Arc;

use punctual_cdr::{CharSet, Ior};
use punctual_giop::{
    CodeSetComponentInfo, Component, IiopProfile, PolicyValue, PriorityModel, TAG_INTERNET_IOP, Version,
    negotiate,
};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{Endpoint, connection_cache::Band};
use crate::orb_core::OrbCore;

/// What a reference says about how to reach its object.
pub(crate) struct Route {
    /// The GIOP version to speak.
    pub(crate) version: Version,
    pub(crate) object_key: Vec<u8>,
    endpoints: Vec<RoutedEndpoint>,
    /// Whose priority a request runs at, and the server's, where the reference says.
    pub(super) model: Option<(PriorityModel, i16)>,
    /// Those that the reference has itself.
    pub(super) bands: Vec<Band>,
    /// The reference itself says which protocols its clients prefer.
    pub(super) names_protocols: bool,
    /// The object is one of this ORB's: no request needs to be sent.
    pub(crate) is_local: bool,
}

struct RoutedEndpoint {
    endpoint: Arc<Endpoint>,
    /// -1: serves all.
    priority: i16,
}

impl Route {
    /// Reads the first IIOP profile that is well formed.
    ///
    /// Fails with INV_OBJREF where none is, and with TRANSIENT where the reference names other protocols only.
    pub(crate) fn new(ior: &Ior, core: &OrbCore) -> Result<Self, SystemException> {
        let mut iiop = ior
            .profiles
            .iter()
            .filter(|profile| profile.tag == TAG_INTERNET_IOP)
            .peekable();
        if iiop.peek().is_none() {
            return Err(error(SystemExceptionKind::Transient, Minor::NO_USABLE_PROFILE));
        }
        let malformed = error(SystemExceptionKind::InvObjref, Minor::REFERENCE_MALFORMED);
        Self::from_profile(
            iiop.find_map(|profile| IiopProfile::decode(profile).ok())
                .ok_or(malformed)?,
            core,
        )
    }

    fn from_profile(profile: IiopProfile, core: &OrbCore) -> Result<Self, SystemException> {
        let version = profile
            .version
            .to_speak()
            .ok_or_else(|| error(SystemExceptionKind::InvObjref, Minor::REFERENCE_MALFORMED))?;
        let mut char_set = None;
        let mut lanes = Vec::new();
        let mut alternates = Vec::new();
        let mut route = Route {
            version,
            is_local: core.owns(&profile),
            object_key: profile.object_key,
            endpoints: Vec::new(),
            model: None,
            bands: Vec::new(),
            names_protocols: false,
        };
        for component in &profile.components {
            // A component that is malformed or unknown takes nothing from the rest of the reference.
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
                Ok(Component::TaoEndpoints(endpoints)) => lanes = endpoints,
                Ok(Component::AlternateIiopAddress { host, port }) => alternates.push((host, port)),
                Ok(Component::Policies(policies)) => {
                    for policy in policies {
                        match policy {
                            PolicyValue::PriorityModel {
                                model,
                                server_priority,
                            } => route.model = Some((model, server_priority)),
                            PolicyValue::PriorityBands(bands) => route.bands = bands,
                            PolicyValue::ClientProtocols(protocols) => {
                                route.names_protocols = !protocols.is_empty();
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        let mut add = |host: &str, port: u16, priority: i16| {
            route.endpoints.push(RoutedEndpoint {
                endpoint: core.endpoints.get(host, port, char_set),
                priority,
            });
        };
        if lanes.is_empty() {
            add(&profile.host, profile.port, -1);
        }
        lanes
            .iter()
            .for_each(|lane| add(&lane.host, lane.port, lane.priority));
        alternates.iter().for_each(|(host, port)| add(host, *port, -1));
        Ok(route)
    }

    /// The endpoints for a caller of this priority, the preferred one first.
    ///
    /// Source: the rules that TAO's clients follow, so that the same reference leads to the same lane. Fails with INV_POLICY
    /// where the priority has no endpoint.
    pub(crate) fn endpoints(
        &self,
        priority: Priority,
        band: Option<Band>,
    ) -> Result<impl Iterator<Item = &Arc<Endpoint>>, SystemException> {
        let (low, high) = if !self.propagates_priority() || self.serves_all() {
            (i16::MIN, i16::MAX)
        } else {
            band.unwrap_or((priority.value(), priority.value()))
        };
        let mut endpoints = self
            .endpoints
            .iter()
            .filter(move |endpoint| (low..=high).contains(&endpoint.priority))
            .map(|endpoint| &endpoint.endpoint)
            .peekable();
        if endpoints.peek().is_none() {
            let minor = if band.is_some() {
                Minor::NO_ENDPOINT_IN_BAND
            } else {
                Minor::NO_ENDPOINT_FOR_PRIORITY
            };
            return Err(error(SystemExceptionKind::InvPolicy, minor));
        }
        Ok(endpoints)
    }

    /// Whether the caller's priority chooses the endpoint, and travels with the request.
    pub(crate) fn propagates_priority(&self) -> bool {
        matches!(self.model, Some((PriorityModel::ClientPropagated, _)))
    }

    /// A peer without lanes, or one whose endpoints we cannot read.
    fn serves_all(&self) -> bool {
        self.endpoints.iter().all(|endpoint| endpoint.priority < 0)
    }
}

fn error(kind: SystemExceptionKind, minor: Minor) -> SystemException {
    SystemException::new(kind, minor, Completion::No)
}

/// The code set in which a connection without negotiation speaks.
pub(crate) fn char_set_in_force(negotiated: Option<CharSet>) -> CharSet {
    negotiated.unwrap_or(CharSet::Latin1)
}

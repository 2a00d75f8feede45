use std::sync::Arc;

use punctual_cdr::{CharSet, Ior};
use punctual_giop::{
    CodeSetComponentInfo, Component, IiopProfile, PolicyValue, PriorityModel, TAG_INTERNET_IOP, Version,
    negotiate,
};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::Endpoint;
use crate::orb_core::OrbCore;

/// What a reference says about how to reach its object.
pub(crate) struct Route {
    /// The GIOP version to speak.
    pub(crate) version: Version,
    pub(crate) object_key: Vec<u8>,
    endpoints: Vec<RoutedEndpoint>,
    /// The caller's priority chooses the endpoint, and travels with the request.
    pub(crate) propagates_priority: bool,
    bands: Vec<(i16, i16)>,
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
            propagates_priority: false,
            bands: Vec::new(),
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
                            PolicyValue::PriorityModel { model, .. } => {
                                route.propagates_priority = model == PriorityModel::ClientPropagated;
                            }
                            PolicyValue::PriorityBands(bands) => route.bands = bands,
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
    ) -> Result<impl Iterator<Item = &Arc<Endpoint>>, SystemException> {
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
        let mut endpoints = self
            .endpoints
            .iter()
            .filter(move |endpoint| (low..=high).contains(&endpoint.priority))
            .map(|endpoint| &endpoint.endpoint)
            .peekable();
        if endpoints.peek().is_none() {
            return Err(error(
                SystemExceptionKind::InvPolicy,
                Minor::NO_ENDPOINT_FOR_PRIORITY,
            ));
        }
        Ok(endpoints)
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

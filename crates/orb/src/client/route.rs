//! Step 2 of a call, its route: the endpoints and policies that a reference states, and the choice by
//! priority.

mod profiles;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use punctual_cdr::Ior;
use punctual_giop::{AddressingDisposition, TargetAddress, Version};
use punctual_stub::PoliciesInForce;
use punctual_types::{
    Completion, Detail, Minor, Priority, PriorityModel, SystemException, SystemExceptionKind,
};

use super::{connection::Band, endpoint::Endpoint};

/// Endpoints and policies that a reference states.
pub(crate) struct Route {
    /// Number that is unique among all routes of this process.
    pub(super) number: u64,
    /// GIOP version of requests.
    pub(crate) version: Version,
    pub(crate) object_key: Vec<u8>,
    pub(super) addressing: Addressing,
    /// Endpoints, grouped by protocol, the preferred protocol first.
    endpoints: Vec<RoutedEndpoint>,
    /// Tags of the protocols, in that order.
    tags: Vec<u32>,
    /// Whether the server determines the protocols, so that the client may not.
    pub(super) exposes_protocols: bool,
    /// Priority model, if the reference states one.
    pub(super) model: Option<PriorityModel>,
    /// Bands that the reference states.
    pub(super) bands: Vec<Band>,
    /// Type of the ORB that created the reference; 0: unknown.
    pub(super) orb_type: u32,
    /// Whether the object belongs to this ORB: no request needs to be sent.
    pub(crate) is_local: bool,
    /// Why there is no endpoint, if this ORB cannot use any profile.
    unusable: Option<Box<SystemException>>,
}

struct RoutedEndpoint {
    endpoint: Arc<Endpoint>,
    profile_tag: u32,
    /// Priority of the lane; -1: any.
    priority: i16,
}

impl Route {
    /// Returns whether calls along the route stay on the calling thread.
    #[inline(always)]
    pub(super) fn is_collocated(&self, policies: &PoliciesInForce) -> bool {
        self.is_local && !policies.remote_only
    }

    /// Returns the band of a call of this priority; `None` if neither side has bands.
    ///
    /// Fails with INV_POLICY and the reason if policies contradict each other.
    pub(super) fn band(
        &self,
        priority: Priority,
        policies: &PoliciesInForce,
    ) -> Result<Option<Band>, SystemException> {
        // As for most calls.
        let has_no_rules = policies.priority_bands.is_empty()
            && self.bands.is_empty()
            && policies.client_protocols.protocols().is_empty()
            && !self.exposes_protocols;
        if has_no_rules {
            return Ok(None);
        }
        self.band_by_rules(priority, policies)
    }

    /// Returns the endpoints for a caller of this priority, the preferred one first.
    ///
    /// Source: the rules of TAO's clients, so that a reference leads to the same lane; which one of several
    /// lanes in a band they choose, RTCORBA leaves open. `band` is the result of [`Self::band`]. Fails with
    /// INV_POLICY if the priority or the band has no endpoint.
    #[inline]
    pub(crate) fn endpoints<'r>(
        &'r self,
        priority: Priority,
        band: Option<Band>,
        policies: &'r PoliciesInForce,
    ) -> Result<impl Iterator<Item = &'r Arc<Endpoint>>, SystemException> {
        let by_priority = self.propagates_priority() && !self.serves_all();
        let (low, high) = match band {
            _ if !by_priority => (i16::MIN, i16::MAX),
            None => (priority.value(), priority.value()),
            Some(band) => band,
        };
        let chosen = policies.client_protocols.tags();
        let tags = if chosen.is_empty() { &self.tags } else { chosen };
        let in_range = move || {
            tags.iter()
                .flat_map(|tag| {
                    let endpoints = self.endpoints.iter();
                    endpoints.filter(move |endpoint| endpoint.profile_tag == *tag)
                })
                .filter(move |endpoint| (low..=high).contains(&endpoint.priority))
        };
        // A band may contain several lanes: the most urgent one that is not above the call comes first.
        let lane = match band {
            Some(_) if by_priority => {
                let lanes = in_range().map(|endpoint| endpoint.priority);
                lanes.filter(|lane| *lane <= priority.value()).max()
            }
            _ => None,
        };
        let is_first = move |endpoint: &&RoutedEndpoint| lane.is_none_or(|lane| endpoint.priority == lane);
        let mut endpoints = in_range()
            .filter(is_first)
            .chain(in_range().filter(move |endpoint| !is_first(endpoint)))
            .map(|endpoint| &endpoint.endpoint)
            .peekable();
        match endpoints.peek() {
            Some(_) => Ok(endpoints),
            None => Err(self.no_endpoint(priority, band)),
        }
    }

    #[cold]
    fn no_endpoint(&self, priority: Priority, band: Option<Band>) -> SystemException {
        if let Some(problem) = &self.unusable {
            return SystemException::clone(problem);
        }
        let minor = if band.is_some() {
            Minor::NO_ENDPOINT_IN_BAND
        } else {
            Minor::NO_ENDPOINT_FOR_PRIORITY
        };
        let offered = self.endpoints.iter().map(|endpoint| endpoint.priority);
        let offered = offered.filter_map(|priority| Priority::new(priority).ok());
        let detail = Detail::priorities(priority, offered);
        error(SystemExceptionKind::InvPolicy, minor).with_detail(&detail)
    }

    /// Returns the reference that the route was read from.
    pub(crate) fn ior(&self) -> &Ior {
        self.addressing.ior()
    }

    /// Returns whether the caller's priority chooses the endpoint, and requests carry it.
    pub(crate) fn propagates_priority(&self) -> bool {
        matches!(self.model, Some(PriorityModel::ClientPropagated { .. }))
    }

    /// Returns whether an endpoint has the protocol whose profiles have this tag.
    pub(super) fn has_protocol(&self, profile_tag: u32) -> bool {
        self.endpoints
            .iter()
            .any(|endpoint| endpoint.profile_tag == profile_tag)
    }

    /// Returns whether no endpoint has one of the protocols that the reference permits.
    pub(super) fn has_no_protocol(&self) -> bool {
        !self.tags.iter().any(|tag| self.has_protocol(*tag))
    }

    /// Returns the network priority of a caller's requests: its own priority or the object's. `None`: the
    /// reference has no priority model.
    pub(crate) fn network_priority(&self, caller: Priority) -> Option<Priority> {
        Some(match self.model? {
            PriorityModel::ClientPropagated { .. } => caller,
            PriorityModel::ServerDeclared(declared) => declared,
        })
    }

    /// Returns whether endpoints serve all priorities: a server without lanes, or one whose endpoints are
    /// unknown.
    fn serves_all(&self) -> bool {
        self.endpoints.iter().all(|endpoint| endpoint.priority < 0)
    }
}

/// How requests along a route name their object: by its key, until the server requests another form.
pub(super) struct Addressing {
    ior: Arc<Ior>,
    /// Number of the profile that was chosen.
    profile: usize,
    /// An `AddressingDisposition`.
    form: AtomicU32,
}

const KEY: u32 = AddressingDisposition::KeyAddr as u32;
const PROFILE: u32 = AddressingDisposition::ProfileAddr as u32;

impl Addressing {
    /// Addresses the object by its key.
    pub(super) fn new(ior: &Arc<Ior>, profile: usize) -> Self {
        Self {
            ior: Arc::clone(ior),
            profile,
            form: AtomicU32::new(KEY),
        }
    }

    /// Returns the reference.
    pub(super) fn ior(&self) -> &Ior {
        &self.ior
    }

    pub(super) fn target<'r>(&'r self, object_key: &'r [u8]) -> TargetAddress<'r> {
        match self.form() {
            KEY => TargetAddress::Key(object_key),
            PROFILE => TargetAddress::Profile(&self.ior.profiles[self.profile]),
            _ => TargetAddress::Reference {
                index: self.profile as u32,
                ior: &self.ior,
            },
        }
    }

    /// Returns an `AddressingDisposition`.
    pub(super) fn form(&self) -> u32 {
        self.form.load(Ordering::Relaxed)
    }

    /// Changes the form; `false` if it is this form already, or messages of this version cannot have it.
    pub(super) fn change(&self, form: AddressingDisposition, version: Version) -> bool {
        let form = form as u32;
        version >= Version::V1_2 && self.form.swap(form, Ordering::Relaxed) != form
    }
}

fn error(kind: SystemExceptionKind, minor: Minor) -> SystemException {
    SystemException::new(kind, minor, Completion::No)
}

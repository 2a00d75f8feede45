//! An object adapter as its objects know it.

use std::{
    collections::HashMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use punctual_cdr::{CharSet, Ior, TaggedComponent};
use punctual_giop::PolicyValue;
use punctual_lane::Redispatch;
use punctual_os::PiMutex;
use punctual_poa::{Adapter, IdAssignment, Lifespan, ObjectKey, SlotId};
use punctual_sched::PriorityTransform;
use punctual_transport::ProtocolPolicy;
use punctual_types::{Completion, Minor, Priority, PriorityBand, SystemException, SystemExceptionKind};

use crate::{
    AnyServant, OnExcess, OrbError, PriorityModel, QueueLimits,
    accepted_priorities::AcceptedPriorities,
    admission::Admission,
    configuration::Configuration,
    interception::AddedComponent,
    lane_data::LaneContext,
    object_transform::ObjectTransform,
    poa_manager::ManagerCore,
    pool_info::{DEFAULT_POOL, PoolInfo},
    profiles::profiles,
    request_processing::RequestProcessing,
};

/// An adapter as its objects know it.
pub(crate) struct PoaCore {
    /// The names of the adapter and its parents below the root, joined by `/`.
    pub(crate) path: String,
    pub(crate) lifespan: Lifespan,
    pub(crate) ids: IdAssignment,
    pub(crate) model: Option<PriorityModel>,
    /// None: each priority has its own lane, or all have the same connections.
    pub(crate) bands: Vec<PriorityBand>,
    pub(crate) accepted: AcceptedPriorities,
    /// The same rules as its pool knows them, which forgets them with this adapter; `None`: all peers are
    /// admitted.
    #[expect(dead_code, reason = "the pool has a weak reference to it")]
    pub(crate) admission: Option<Arc<Admission>>,
    pub(crate) transform: Option<Arc<dyn PriorityTransform>>,
    pub(crate) redispatch: Option<QueueLimits>,
    pub(crate) server_protocols: ProtocolPolicy,
    pub(crate) client_protocols: ProtocolPolicy,
    pub(crate) pool: Arc<PoolInfo>,
    pub(crate) processing: RequestProcessing,
    /// Components of its references that interceptors have added, once they have been called.
    pub(crate) ior_components: OnceLock<Vec<AddedComponent>>,
    pub(crate) children: PiMutex<Vec<Arc<PoaCore>>>,
    pub(crate) destroyed: AtomicBool,
    /// How many ids it has chosen for references without an active object.
    pub(crate) ids_made: AtomicU64,
    /// The priorities of objects that have their own, by id: also of those that are not active.
    pub(crate) declared: PiMutex<HashMap<Box<[u8]>, Priority>>,
}

const MAX_PATH: usize = 1000;

impl PoaCore {
    pub(crate) fn root(pool: Arc<PoolInfo>, server_protocols: ProtocolPolicy) -> Self {
        Self {
            server_protocols,
            ..Self::new(String::new(), pool)
        }
    }

    pub(crate) fn new(path: String, pool: Arc<PoolInfo>) -> Self {
        Self {
            path,
            lifespan: Lifespan::Transient,
            ids: IdAssignment::System,
            model: None,
            bands: Vec::new(),
            accepted: AcceptedPriorities {
                rules: Vec::new(),
                others: Priority::MIN,
                on_excess: OnExcess::Refuse,
            },
            admission: None,
            transform: None,
            redispatch: None,
            server_protocols: ProtocolPolicy::default(),
            client_protocols: ProtocolPolicy::default(),
            processing: RequestProcessing::new(pool.id, ManagerCore::new()),
            pool,
            ior_components: OnceLock::new(),
            children: PiMutex::new(Vec::new()),
            destroyed: AtomicBool::new(false),
            ids_made: AtomicU64::new(0),
            declared: PiMutex::new(HashMap::new()),
        }
    }

    pub(crate) fn add_child(
        &self,
        name: &str,
        make: impl FnOnce(String) -> Self,
    ) -> Result<Arc<Self>, OrbError> {
        let path = if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}/{name}", self.path)
        };
        let mut children = self.children.lock();
        if self.is_destroyed() {
            return Err(OrbError::AdapterDestroyed);
        }
        let taken = children.iter().any(|child| child.path == path);
        if taken || name.is_empty() || name.contains('/') || path.len() > MAX_PATH {
            return Err(OrbError::AdapterName(name.to_owned()));
        }
        let child = Arc::new(make(path));
        if child.pool.is_destroyed() {
            return Err(OrbError::InvalidThreadPool);
        }
        children.push(Arc::clone(&child));
        Ok(child)
    }

    /// The adapter of this name directly below.
    pub(crate) fn child(&self, name: &str) -> Option<Arc<Self>> {
        let children = self.children.lock();
        let own = |child: &&Arc<Self>| {
            let path = child.path.as_str();
            path.rsplit_once('/').map_or(path, |(_, name)| name) == name
        };
        children.iter().find(own).cloned()
    }

    /// Fails with OBJ_ADAPTER if the stacks of its threads are too small for the servant.
    pub(crate) fn check_servant(&self, servant: &AnyServant) -> Result<(), SystemException> {
        self.pool
            .check_stacks(servant.repository_id(), servant.values_on_stack)
            .map_err(|_| {
                let (kind, minor) = (SystemExceptionKind::ObjAdapter, Minor::SERVANT_MANAGER_FAILED);
                SystemException::new(kind, minor, Completion::No)
            })
    }

    pub(crate) fn pool_id(&self) -> u32 {
        self.pool.id
    }

    /// The lane of this priority, where requests that came to another one are handed on, and how much may
    /// wait there.
    pub(crate) fn redispatch_to(&self, priority: Priority) -> Option<Redispatch> {
        let limits = self.redispatch?;
        let mut lanes = self.pool.priorities();
        let priority = lanes.find(|own| self.is_served_by(*own, priority))?;
        Some(Redispatch { priority, limits })
    }

    /// Returns whether a lane of its pool serves requests of this priority.
    pub(crate) fn has_lane_for(&self, asked: Priority) -> bool {
        self.pool.priorities().any(|lane| self.is_served_by(lane, asked))
    }

    pub(crate) fn has_lanes(&self) -> bool {
        self.pool.with_lanes
    }

    /// At what its pool's threads run without a request; `None`: threads of the user's own, or lanes.
    pub(crate) fn default_priority(&self) -> Option<Priority> {
        (!self.pool.with_lanes && self.pool.id != DEFAULT_POOL).then_some(self.pool.highest)
    }

    /// Whether requests of this priority belong to the lane that has priority `lane`.
    pub(crate) fn is_served_by(&self, lane: Priority, asked: Priority) -> bool {
        lane == asked
            || self
                .bands
                .iter()
                .find(|band| band.contains(asked))
                .is_some_and(|band| band.contains(lane))
    }

    /// Whether connections that came in at `lane` may be bound to the band; the reason where they may not.
    pub(crate) fn check_band(&self, lane: &LaneContext, band: PriorityBand) -> Result<(), Minor> {
        if !self.bands.is_empty() && !self.bands.contains(&band) {
            return Err(Minor::BAND_NOT_OFFERED);
        }
        let serves = |lane: Option<Priority>| lane.is_none_or(|own| band.contains(own));
        let passes_on = self.redispatch.is_some();
        if serves(lane.priority()) || passes_on && self.pool.lanes.iter().any(|lane| serves(lane.priority)) {
            Ok(())
        } else {
            Err(Minor::NO_ENDPOINT_IN_BAND)
        }
    }

    /// The priority model of an object, which may have its own priority.
    pub(crate) fn model(&self, priority: Option<Priority>) -> Option<PriorityModel> {
        priority.map(PriorityModel::ServerDeclared).or(self.model)
    }

    /// What an object of this id is to be told about priorities, if anything.
    pub(crate) fn transform(&self, slot: SlotId, id: Option<&[u8]>) -> Option<Arc<ObjectTransform>> {
        let transform = Arc::clone(self.transform.as_ref()?);
        let object_id = id.map_or_else(|| id_of_slot(slot).into(), Into::into);
        Some(Arc::new(ObjectTransform { transform, object_id }))
    }

    /// The adapter in object keys.
    pub(crate) fn adapter(&self, boot: u64) -> Adapter<'_> {
        let boot = (self.lifespan == Lifespan::Transient).then_some(boot);
        Adapter {
            boot,
            path: self.path.as_bytes(),
        }
    }

    /// The key of an object in this slot, or of this id.
    pub(crate) fn object_key(&self, boot: u64, slot: SlotId, id: Option<&[u8]>) -> Vec<u8> {
        match id {
            Some(id) => ObjectKey::Named {
                adapter: self.adapter(boot),
                id,
            }
            .to_octets(),
            None => ObjectKey::Slot { boot, slot }.to_octets(),
        }
    }

    /// A reference to an object of this adapter with this priority model; all of the ORB's have these
    /// components.
    pub(crate) fn reference(
        &self,
        repository_id: &str,
        object_key: Vec<u8>,
        model: Option<PriorityModel>,
        components: &[TaggedComponent],
        native_code_set: Option<CharSet>,
    ) -> Result<Ior, SystemException> {
        let mut endpoints = self.pool.endpoints(|lane| self.is_reached_through(lane, model));
        if let Some(PriorityModel::ClientPropagated { default }) = model {
            // Clients that send no priority use the first endpoint: that of a lane for such requests.
            let serves = |lane| Priority::new(lane).is_ok_and(|lane| self.is_served_by(lane, default));
            endpoints.sort_by_key(|endpoint| !serves(endpoint.priority));
        }
        let wanted = self.server_protocols.tags();
        if !wanted.is_empty() {
            let position = |tag: u32| wanted.iter().position(|wanted| *wanted == tag);
            endpoints.retain(|endpoint| position(endpoint.profile_tag()).is_some());
            // A stable sort: within a protocol the order of the lanes stays.
            endpoints.sort_by_key(|endpoint| position(endpoint.profile_tag()));
        }
        if endpoints.is_empty() {
            let (kind, minor) = (SystemExceptionKind::BadParam, Minor::NO_USABLE_PROFILE);
            return Err(SystemException::new(kind, minor, Completion::No));
        }
        let policies = self.policies(model);
        let has_policies = !policies.is_empty();
        let more = |tag, list: &mut Vec<TaggedComponent>| {
            list.extend_from_slice(components);
            let added = self.ior_components.get().into_iter().flatten();
            let added = added.filter(|added| added.profile.is_none_or(|profile| profile == tag));
            list.extend(added.map(|added| added.component.clone()));
        };
        let profiles = profiles(
            &endpoints,
            &object_key,
            has_policies.then_some(&policies),
            more,
            native_code_set,
        )
        .map_err(|error| error.system_exception(Completion::No))?;
        Ok(Ior {
            type_id: repository_id.to_owned(),
            profiles,
        })
    }

    fn is_reached_through(&self, lane: Option<Priority>, model: Option<PriorityModel>) -> bool {
        match (model, lane) {
            (Some(PriorityModel::ServerDeclared(priority)), Some(own)) => own == priority,
            (Some(PriorityModel::ClientPropagated { .. }), Some(own)) => {
                self.bands.is_empty() || self.bands.iter().any(|band| band.contains(own))
            }
            _ => true,
        }
    }

    /// What clients are told.
    fn policies(&self, model: Option<PriorityModel>) -> Vec<PolicyValue> {
        let mut policies = Vec::new();
        if !self.bands.is_empty() {
            let bands = self.bands.iter();
            let bands = bands.map(|band| (band.low.value(), band.high.value()));
            policies.push(PolicyValue::PriorityBands(bands.collect()));
        }
        if !self.client_protocols.protocols().is_empty() {
            policies.push(PolicyValue::ClientProtocols(self.client_protocols.clone()));
        }
        if let Some(model) = model {
            policies.push(PolicyValue::PriorityModel(model));
        }
        policies
    }
}

impl PoaCore {
    pub(crate) fn is_destroyed(&self) -> bool {
        self.destroyed.load(Ordering::Acquire)
    }

    /// Lets nobody add objects or adapters any more; returns the adapters below.
    pub(crate) fn close(&self) -> Vec<Arc<Self>> {
        let children = self.children.lock();
        self.destroyed.store(true, Ordering::Release);
        children.clone()
    }

    /// Forgets an adapter somewhere below this one.
    pub(crate) fn remove_below(&self, poa: &Arc<Self>) {
        let children = {
            let mut children = self.children.lock();
            children.retain(|child| !Arc::ptr_eq(child, poa));
            children.clone()
        };
        children.iter().for_each(|child| child.remove_below(poa));
    }

    /// This one and its descendants.
    fn visit(self: &Arc<Self>, visit: &mut dyn FnMut(&Arc<Self>)) {
        visit(self);
        self.children.lock().iter().for_each(|child| child.visit(visit));
    }

    /// The names of this one and its descendants, without those that have been destroyed.
    pub(crate) fn paths(self: &Arc<Self>) -> Vec<String> {
        let mut paths = Vec::new();
        self.visit(&mut |poa| {
            if !poa.destroyed.load(Ordering::Acquire) {
                paths.push(poa.path.clone());
            }
        });
        paths
    }

    /// The names of this one and its descendants, as far as they use the pool.
    pub(crate) fn users(self: &Arc<Self>, pool: &Arc<PoolInfo>) -> Vec<String> {
        let mut users = Vec::new();
        self.visit(&mut |poa| {
            if Arc::ptr_eq(&poa.pool, pool) {
                users.push(poa.path.clone());
            }
        });
        users
    }
}

impl PoaCore {
    /// Fails if an object may not have this id, or no id (`None`). In an adapter that chooses ids itself,
    /// users can state only those that it chose for references.
    pub(crate) fn check_identity(&self, id: Option<&[u8]>) -> Result<(), OrbError> {
        let made = |id: &[u8]| {
            let (mark, number) = id.split_first()?;
            let number = u64::from_be_bytes(number.try_into().ok()?);
            (*mark == MADE && number < self.ids_made.load(Ordering::Relaxed)).then_some(())
        };
        match (self.ids, id) {
            (IdAssignment::User, None) => Err(OrbError::WrongPolicy(
                "its objects have user ids: set one with `object(servant).id(..)` or `reference().id(..)`",
            )),
            (IdAssignment::System, Some(id)) if made(id).is_none() => Err(OrbError::WrongPolicy(
                "it chooses ids itself: build it with `user_ids`, or use the id of a reference that it made",
            )),
            _ => Ok(()),
        }
    }

    pub(crate) fn make_id(&self) -> [u8; 9] {
        let number = self.ids_made.fetch_add(1, Ordering::Relaxed);
        let mut id = [MADE; 9];
        id[1..].copy_from_slice(&number.to_be_bytes());
        id
    }

    /// Whether an object may have this priority of its own.
    pub(crate) fn check_priority(
        &self,
        configuration: &Configuration,
        priority: Priority,
    ) -> Result<(), OrbError> {
        if !matches!(self.model, Some(PriorityModel::ServerDeclared(_))) {
            return Err(OrbError::WrongPolicy(
                "objects have priorities of their own only where the server declares them: build it with \
                 `priority_model(PriorityModel::ServerDeclared(..))`",
            ));
        }
        let no_lane = self.pool.with_lanes && !self.pool.priorities().any(|own| own == priority);
        let no_band = !self.bands.is_empty() && !self.bands.iter().any(|band| band.contains(priority));
        if no_lane || no_band {
            return Err(OrbError::PriorityNotServed(priority));
        }
        match configuration.mapping.to_native(priority) {
            Some(_) => Ok(()),
            None => Err(OrbError::PriorityUnmappable(priority)),
        }
    }

    /// The priority that a reference has said for an object that is not active.
    pub(crate) fn declared(&self, id: &[u8]) -> Option<Priority> {
        self.declared.lock().get(id).copied()
    }

    pub(crate) fn declare(&self, id: &[u8], priority: Priority) {
        self.declared.lock().insert(id.into(), priority);
    }

    /// The object is no more: another one with its id may have another priority.
    pub(crate) fn forget(&self, id: &[u8]) {
        self.declared.lock().remove(id);
    }
}

/// Priority of an object for which one is asked, and which may have one already.
pub(crate) fn agreed_priority(
    asked: Option<Priority>,
    has: Option<Priority>,
) -> Result<Option<Priority>, OrbError> {
    match (asked, has) {
        (Some(asked), Some(has)) if asked != has => Err(OrbError::PriorityTaken { asked, has }),
        _ => Ok(asked.or(has)),
    }
}

/// Id of an object that was activated without one.
pub(crate) fn id_of_slot(slot: SlotId) -> [u8; 8] {
    let mut id = [0; 8];
    id[..4].copy_from_slice(&slot.index.to_be_bytes());
    id[4..].copy_from_slice(&slot.generation.to_be_bytes());
    id
}

/// First octet of ids that adapters choose for references without an active object; ids of slots have 8
/// octets, these have 9.
const MADE: u8 = b'r';

//! Internal state of an object adapter, shared by its objects.

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
use punctual_transport::ProtocolPolicy;
use punctual_types::{Completion, Minor, Priority, PriorityBand, SystemException, SystemExceptionKind};

use crate::{
    AnyServant, OrbError, PriorityModel,
    config::configuration::Configuration,
    interception::AddedComponent,
    poa_state::{
        adapter_path,
        adapter_policies::PoaPolicies,
        manager::ManagerCore,
        object_transform::ObjectTransform,
        partitioned_map::PartitionedMap,
        profiles::profiles,
        request_processing::{RequestProcessing, ServantSource},
    },
    pools::{
        info::{DEFAULT_POOL, PoolInfo},
        lane_data::LaneContext,
    },
};

/// Internal state of an object adapter, shared by its objects.
pub(crate) struct PoaCore {
    /// Its path.
    pub(crate) path: String,
    /// Its name; empty for the root.
    pub(crate) name: String,
    /// Policies, of which the pool has a weak reference for the admission of peers.
    pub(crate) policies: Arc<PoaPolicies>,
    pub(crate) pool: Arc<PoolInfo>,
    pub(crate) processing: RequestProcessing,
    /// Components that interceptors have added to its references; set after they have been called.
    pub(crate) ior_components: OnceLock<Vec<AddedComponent>>,
    pub(crate) children: PiMutex<Vec<Arc<PoaCore>>>,
    pub(crate) destroyed: AtomicBool,
    /// Number of ids chosen for references without an active object.
    pub(crate) ids_made: AtomicU64,
    /// Declared priorities of objects by id, including those that are not active.
    pub(crate) declared: PartitionedMap<HashMap<Box<[u8]>, Priority>>,
}

const MAX_PATH: usize = 1000;

impl PoaCore {
    pub(crate) fn root(pool: Arc<PoolInfo>, server_protocols: ProtocolPolicy) -> Self {
        let policies = PoaPolicies {
            server_protocols,
            ..PoaPolicies::default()
        };
        let processing = RequestProcessing::new(pool.id, ManagerCore::new());
        Self::new(String::new(), Arc::new(policies), pool, processing)
    }

    pub(crate) fn new(
        path: String,
        policies: Arc<PoaPolicies>,
        pool: Arc<PoolInfo>,
        processing: RequestProcessing,
    ) -> Self {
        let name = adapter_path::names(&path).next_back();
        let name = name.unwrap_or_default().into_owned();
        Self {
            path,
            name,
            policies,
            pool,
            processing,
            ior_components: OnceLock::new(),
            children: PiMutex::new(Vec::new()),
            destroyed: AtomicBool::new(false),
            ids_made: AtomicU64::new(0),
            declared: PartitionedMap::new(),
        }
    }

    pub(crate) fn add_child(
        &self,
        name: &str,
        make: impl FnOnce(String) -> Self,
    ) -> Result<Arc<Self>, OrbError> {
        let path = adapter_path::below(&self.path, name);
        let mut children = self.children.lock();
        if self.is_destroyed() {
            return Err(OrbError::AdapterDestroyed);
        }
        if children.iter().any(|child| child.path == path) {
            return Err(OrbError::AdapterAlreadyExists(name.to_owned()));
        }
        if name.is_empty() || path.len() > MAX_PATH {
            return Err(OrbError::AdapterName(name.to_owned()));
        }
        let child = Arc::new(make(path));
        if child.pool.is_destroyed() {
            return Err(OrbError::InvalidThreadPool);
        }
        children.push(Arc::clone(&child));
        Ok(child)
    }

    /// Returns the direct child with this name.
    pub(crate) fn child(&self, name: &str) -> Option<Arc<Self>> {
        let children = self.children.lock();
        children.iter().find(|child| child.name == name).cloned()
    }

    /// Fails with OBJ_ADAPTER if the thread stacks of its pool are too small for the servant.
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

    /// Returns the lane to which misdirected requests of this priority are redispatched, with the limits of
    /// its queue.
    pub(crate) fn redispatch_to(&self, priority: Priority) -> Option<Redispatch> {
        let limits = self.policies.redispatch?;
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

    /// Returns the priority of its pool's threads between requests; `None`: the pool has lanes, or its
    /// threads are the user's.
    pub(crate) fn default_priority(&self) -> Option<Priority> {
        (!self.pool.with_lanes && self.pool.id != DEFAULT_POOL).then_some(self.pool.highest)
    }

    /// Returns whether requests with the priority `asked` belong to the lane with the priority `lane`.
    pub(crate) fn is_served_by(&self, lane: Priority, asked: Priority) -> bool {
        lane == asked
            || self
                .policies
                .bands
                .iter()
                .find(|band| band.contains(asked))
                .is_some_and(|band| band.contains(lane))
    }

    /// Checks whether connections accepted at `lane` may be bound to the band; fails with the minor code of
    /// the reason.
    pub(crate) fn check_band(&self, lane: &LaneContext, band: PriorityBand) -> Result<(), Minor> {
        if !self.policies.bands.is_empty() && !self.policies.bands.contains(&band) {
            return Err(Minor::BAND_NOT_OFFERED);
        }
        let serves = |lane: Option<Priority>| lane.is_none_or(|own| band.contains(own));
        let passes_on = self.policies.redispatch.is_some();
        if serves(lane.priority()) || passes_on && self.pool.lanes.iter().any(|lane| serves(lane.priority)) {
            Ok(())
        } else {
            Err(Minor::NO_ENDPOINT_IN_BAND)
        }
    }

    /// Returns the priority model of an object, which may have its own priority.
    pub(crate) fn model(&self, priority: Option<Priority>) -> Option<PriorityModel> {
        priority
            .map(PriorityModel::ServerDeclared)
            .or(self.policies.model)
    }

    /// Returns the priority transform for an object with this id, if the adapter has one.
    pub(crate) fn transform(&self, slot: SlotId, id: Option<&[u8]>) -> Option<Arc<ObjectTransform>> {
        let transform = Arc::clone(self.policies.transform.as_ref()?);
        let object_id = id.map_or_else(|| id_of_slot(slot).into(), Into::into);
        Some(Arc::new(ObjectTransform { transform, object_id }))
    }

    /// Returns the part of object keys that identifies the adapter.
    pub(crate) fn adapter(&self, boot: u64) -> Adapter<'_> {
        let boot = (self.policies.lifespan == Lifespan::Transient).then_some(boot);
        Adapter {
            boot,
            path: self.path.as_bytes(),
        }
    }

    /// Returns the key of the object with this id; without an id, of the object in this slot.
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

    /// Creates a reference to an object of this adapter with this priority model, and with the components of
    /// all references of the ORB.
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
            // Clients that send no priority use the first endpoint, which must be that of the lane for such
            // requests.
            let serves = |lane| Priority::new(lane).is_ok_and(|lane| self.is_served_by(lane, default));
            endpoints.sort_by_key(|endpoint| !serves(endpoint.priority));
        }
        let wanted = self.policies.server_protocols.tags();
        if !wanted.is_empty() {
            let position = |tag: u32| wanted.iter().position(|wanted| *wanted == tag);
            endpoints.retain(|endpoint| position(endpoint.profile_tag()).is_some());
            // The sort is stable: within a protocol, the order of the lanes is kept.
            endpoints.sort_by_key(|endpoint| position(endpoint.profile_tag()));
        }
        if endpoints.is_empty() {
            let (kind, minor) = (SystemExceptionKind::BadParam, Minor::NO_USABLE_PROFILE);
            return Err(SystemException::new(kind, minor, Completion::No));
        }
        let policies = self.exposed_policies(model);
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
                self.policies.bands.is_empty() || self.policies.bands.iter().any(|band| band.contains(own))
            }
            _ => true,
        }
    }

    /// Returns the policies that references state to clients.
    fn exposed_policies(&self, model: Option<PriorityModel>) -> Vec<PolicyValue> {
        let mut policies = Vec::new();
        if !self.policies.bands.is_empty() {
            let bands = self.policies.bands.iter();
            let bands = bands.map(|band| (band.low.value(), band.high.value()));
            policies.push(PolicyValue::PriorityBands(bands.collect()));
        }
        if !self.policies.client_protocols.protocols().is_empty() {
            policies.push(PolicyValue::ClientProtocols(
                self.policies.client_protocols.clone(),
            ));
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

    /// Prevents the addition of objects and adapters; returns the children.
    pub(crate) fn close(&self) -> Vec<Arc<Self>> {
        let children = self.children.lock();
        self.destroyed.store(true, Ordering::Release);
        children.clone()
    }

    /// Removes a descendant.
    pub(crate) fn remove_below(&self, poa: &Arc<Self>) {
        let children = {
            let mut children = self.children.lock();
            children.retain(|child| !Arc::ptr_eq(child, poa));
            children.clone()
        };
        children.iter().for_each(|child| child.remove_below(poa));
    }

    /// Visits this adapter and its descendants.
    fn visit(self: &Arc<Self>, visit: &mut dyn FnMut(&Arc<Self>)) {
        visit(self);
        self.children.lock().iter().for_each(|child| child.visit(visit));
    }

    /// Returns this adapter and its descendants, except destroyed ones.
    pub(crate) fn subtree(self: &Arc<Self>) -> Vec<Arc<Self>> {
        let mut adapters = Vec::new();
        self.visit(&mut |poa| {
            if !poa.is_destroyed() {
                adapters.push(Arc::clone(poa));
            }
        });
        adapters
    }

    /// Returns the names of this adapter and its descendants that use the pool.
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
    /// Fails if an object may not have this id, or must have one (`None`). In an adapter that chooses ids
    /// itself, users can only state ids that it has chosen for references.
    pub(crate) fn check_identity(&self, id: Option<&[u8]>) -> Result<(), OrbError> {
        let made = |id: &[u8]| {
            let (mark, number) = id.split_first()?;
            let number = u64::from_be_bytes(number.try_into().ok()?);
            (*mark == MADE && number < self.ids_made.load(Ordering::Relaxed)).then_some(())
        };
        match (self.policies.ids, id) {
            (IdAssignment::User, None) => Err(OrbError::WrongPolicy(
                "its objects have user ids: set one with `object(servant).id(..)` or `reference().id(..)`",
            )),
            (IdAssignment::System, Some(id)) if made(id).is_none() => Err(OrbError::WrongPolicy(
                "it chooses ids itself: build it with `user_ids`, or use the id of a reference that it made",
            )),
            _ => Ok(()),
        }
    }

    /// Checks whether the adapter may have active objects.
    pub(crate) fn check_retention(&self) -> Result<(), OrbError> {
        if self.processing.retains {
            return Ok(());
        }
        Err(OrbError::WrongPolicy(
            "it has no active objects (ServantRetentionPolicy NON_RETAIN): make a `reference`, or build it with \
             `default_servant` or `servant_activator`",
        ))
    }

    pub(crate) fn make_id(&self) -> [u8; 9] {
        let number = self.ids_made.fetch_add(1, Ordering::Relaxed);
        let mut id = [MADE; 9];
        id[1..].copy_from_slice(&number.to_be_bytes());
        id
    }

    /// Checks whether an object may have its own priority, and this one.
    pub(crate) fn check_priority(
        &self,
        configuration: &Configuration,
        priority: Priority,
    ) -> Result<(), OrbError> {
        if !matches!(self.policies.model, Some(PriorityModel::ServerDeclared(_))) {
            return Err(OrbError::WrongPolicy(
                "objects have priorities of their own only where the server declares them: build it with \
                 `priority_model(PriorityModel::ServerDeclared(..))`",
            ));
        }
        let no_lane = self.pool.with_lanes && !self.pool.priorities().any(|own| own == priority);
        let no_band = !self.policies.bands.is_empty()
            && !self.policies.bands.iter().any(|band| band.contains(priority));
        if no_lane || no_band {
            return Err(OrbError::PriorityNotServed(priority));
        }
        match configuration.mapping.to_native(priority) {
            Some(_) => Ok(()),
            None => Err(OrbError::PriorityUnmappable(priority)),
        }
    }

    /// Returns the priority that a reference has declared for an object that is not active. Takes a lock only
    /// if one has declared any.
    pub(crate) fn declared(&self, id: &[u8]) -> Option<Priority> {
        self.declared.part(id)?.lock().get(id).copied()
    }

    pub(crate) fn declare(&self, id: &[u8], priority: Priority) {
        let part = self.declared.part_or_new(id);
        // Copied before the lock is taken.
        let id = Box::from(id);
        part.lock().insert(id, priority);
    }

    /// Forgets the declared priority of an object that has been deactivated: another object with its id may
    /// have another priority, unless the object remains because a servant stands in for it.
    pub(crate) fn forget(&self, id: &[u8]) {
        let source = self.processing.source.get();
        if matches!(source, Some(ServantSource::StandIn(_))) {
            return;
        }
        if let Some(part) = self.declared.part(id) {
            part.lock().remove(id);
        }
    }
}

/// Combines the requested priority of an object with the priority that it may have already.
pub(crate) fn agreed_priority(
    asked: Option<Priority>,
    has: Option<Priority>,
) -> Result<Option<Priority>, OrbError> {
    match (asked, has) {
        (Some(asked), Some(has)) if asked != has => Err(OrbError::PriorityTaken { asked, has }),
        _ => Ok(asked.or(has)),
    }
}

/// Returns the id of an object that was activated without one.
pub(crate) fn id_of_slot(slot: SlotId) -> [u8; 8] {
    let mut id = [0; 8];
    id[..4].copy_from_slice(&slot.index.to_be_bytes());
    id[4..].copy_from_slice(&slot.generation.to_be_bytes());
    id
}

/// First octet of ids that adapters choose for references without an active object. These ids have 9 octets,
/// ids of slots have 8.
const MADE: u8 = b'r';

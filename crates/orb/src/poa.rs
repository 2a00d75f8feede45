use std::sync::Arc;

use punctual_cdr::Ior;
use punctual_giop::{PolicyValue, PriorityModel as WireModel};
use punctual_os::PiMutex;
use punctual_poa::{Adapter, IdAssignment, Lifespan, ObjectKey, SlotId};
use punctual_stub::{Interface, ObjectRef, Servant, Skeleton, servant};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use crate::{
    OnExcess, OrbError, PriorityModel, ThreadPool, client::Reference, lane::Lane, orb_core::OrbCore,
    profiles::profiles, threadpool::PoolCore,
};

/// An object adapter: activates servants as objects, under its policies. `PortableServer::POA`, `RTPortableServer::POA`.
///
/// ```
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual_orb::Orb;
///
/// let orb = Orb::builder().build()?;
/// let poa = orb.root_poa().child("numbers").build()?;
/// let doubler: DoublerRef = poa.activate(Doubler)?;
/// assert_eq!(doubler.twice(21)?, 42);
/// poa.deactivate(&doubler)?;
/// assert!(doubler.twice(21).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Poa {
    orb: Arc<OrbCore>,
    core: Arc<PoaCore>,
}

impl Poa {
    pub(crate) fn root(orb: &Arc<OrbCore>) -> Self {
        Self {
            orb: Arc::clone(orb),
            core: orb.root_poa(),
        }
    }

    /// Starts a child adapter of this name; policies are the defaults, not this adapter's.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let sensors = orb.root_poa().child("sensors").build()?;
    /// let radar = sensors.child("radar").build()?;
    /// let other = orb.root_poa().child("radar").build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn child(&self, name: &str) -> PoaBuilder {
        PoaBuilder {
            parent: self.clone(),
            name: name.to_owned(),
            pool: None,
            model: None,
            lifespan: Lifespan::default(),
            ids: IdAssignment::default(),
            highest_accepted: None,
            on_excess: OnExcess::default(),
        }
    }

    /// Makes `servant` an object with an id that the adapter chooses, and returns a reference to it.
    ///
    /// The type of the reference says which interface it serves.
    ///
    /// # Errors
    /// [`OrbError::WrongPolicy`] where the adapter leaves ids to the user, [`OrbError::Full`], [`OrbError::ShutDown`], and
    /// [`OrbError::Listen`] where this is the first object of the threads that call `Orb::run` and the endpoint is taken.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let first: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// let second: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// assert_ne!(first, second, "each has its own id");
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn activate<R, S>(&self, servant: S) -> Result<R, OrbError>
    where
        R: Skeleton<S> + 'static,
        S: Send + Sync + 'static,
    {
        if self.core.ids == IdAssignment::User {
            return Err(OrbError::WrongPolicy(
                "its objects have user ids: use `activate_with_id`",
            ));
        }
        self.activate_servant(servant_of::<R, S>(servant), None)
            .map(R::from_object)
    }

    /// Makes `servant` the object with this id (any octets).
    ///
    /// # Errors
    /// [`OrbError::AlreadyActive`] where the id is taken, [`OrbError::WrongPolicy`] where the adapter chooses ids itself, and
    /// those of [`Self::activate`].
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// let orb = Orb::builder().build()?;
    /// let poa = orb.root_poa().child("numbers").user_ids().build()?;
    /// let doubler: DoublerRef = poa.activate_with_id("doubler", Doubler)?;
    /// let again = poa.activate_with_id::<DoublerRef, _>("doubler", Doubler);
    /// assert!(matches!(again, Err(OrbError::AlreadyActive)));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn activate_with_id<R, S>(&self, id: impl AsRef<[u8]>, servant: S) -> Result<R, OrbError>
    where
        R: Skeleton<S> + 'static,
        S: Send + Sync + 'static,
    {
        if self.core.ids == IdAssignment::System {
            return Err(OrbError::WrongPolicy(
                "it chooses ids itself: build it with `user_ids`",
            ));
        }
        self.activate_servant(servant_of::<R, S>(servant), Some(id.as_ref()))
            .map(R::from_object)
    }

    /// Ends an object: no further request reaches it, and its servant is dropped when the last one has left.
    ///
    /// Outside of upcalls this waits for them and drops the servant here; inside one it returns at once, and the servant is
    /// dropped by whoever next activates or deactivates an object, or shuts the ORB down.
    ///
    /// Fails with [`OrbError::NotActive`] where this adapter has no such object.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// use punctual_types::SystemExceptionKind;
    ///
    /// let orb = Orb::builder().build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// orb.root_poa().deactivate(&doubler)?;
    /// assert_eq!(doubler.twice(3).unwrap_err().kind, SystemExceptionKind::ObjectNotExist);
    /// assert!(matches!(orb.root_poa().deactivate(&doubler), Err(OrbError::NotActive)));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn deactivate<R: Interface>(&self, reference: &R) -> Result<(), OrbError> {
        let mut profiles = reference.as_object().ior().profiles.iter();
        let profile = profiles.find_map(|profile| self.orb.decode_profile(profile)?.ok());
        let profile = profile.ok_or(OrbError::NotActive)?;
        self.orb.deactivate(&self.core, &profile.object_key)
    }

    fn activate_servant(&self, servant: Arc<dyn Servant>, id: Option<&[u8]>) -> Result<ObjectRef, OrbError> {
        // The default pool listens when the first object needs it.
        self.orb.ensure_listening(&self.core)?;
        let ior = self.orb.activate(id, &self.core, servant)?;
        let reference = Reference::new(&self.orb, ior).map_err(OrbError::Reference)?;
        Ok(ObjectRef::new(Arc::new(reference)))
    }
}

fn servant_of<R, S>(implementation: S) -> Arc<dyn Servant>
where
    R: Skeleton<S> + 'static,
    S: Send + Sync + 'static,
{
    servant::<R, S>(implementation)
}

/// Makes a [`Poa`]; from [`Poa::child`].
///
/// ```
/// use punctual_orb::{OnExcess, Orb, PriorityModel};
/// use punctual_types::Priority;
///
/// let orb = Orb::builder().build()?;
/// let (low, high) = (Priority::MIN, Priority::new(20_000)?);
/// let pool = orb.threadpool().lane(low, 1).lane(high, 1).build()?;
/// let poa = orb
///     .root_poa()
///     .child("tracks")
///     .threadpool(&pool)
///     .priority_model(PriorityModel::ClientPropagated { default: low })
///     .highest_priority(high)
///     .on_excess(OnExcess::Clamp)
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PoaBuilder {
    parent: Poa,
    name: String,
    pool: Option<Arc<PoolCore>>,
    model: Option<PriorityModel>,
    lifespan: Lifespan,
    ids: IdAssignment,
    highest_accepted: Option<Priority>,
    on_excess: OnExcess,
}

impl PoaBuilder {
    /// Which threads serve its objects. Default: those that call `Orb::run`.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// # use punctual_stub::Interface;
    /// let orb = Orb::builder().build()?;
    /// let pool = orb.threadpool().build()?;
    /// let poa = orb.root_poa().child("numbers").threadpool(&pool).build()?;
    /// let doubler: DoublerRef = poa.activate(Doubler)?;
    ///
    /// let client = Orb::builder().build()?;
    /// let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior())?;
    /// doubler.twice(3)?;
    /// let (_, lane) = pool.statistics()[0];
    /// assert_eq!(lane.requests, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn threadpool(mut self, pool: &ThreadPool) -> Self {
        self.pool = Some(Arc::clone(&pool.core));
        self
    }

    /// Whose priority requests run at. Default: none, so the pool's; a pool with lanes needs one.
    ///
    /// ```
    /// # use punctual_orb::{Orb, OrbError, PriorityModel};
    /// use punctual_types::Priority;
    ///
    /// let orb = Orb::builder().build()?;
    /// let pool = orb.threadpool().lane(Priority::MIN, 1).lane(Priority::MAX, 1).build()?;
    /// let poa = |name: &str| orb.root_poa().child(name).threadpool(&pool);
    /// assert!(matches!(poa("none").build(), Err(OrbError::Policy(_))));
    /// poa("declared").priority_model(PriorityModel::ServerDeclared(Priority::MAX)).build()?;
    /// // No lane has this priority.
    /// let between = PriorityModel::ServerDeclared(Priority::new(100)?);
    /// assert!(matches!(poa("between").priority_model(between).build(), Err(OrbError::Policy(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn priority_model(mut self, model: PriorityModel) -> Self {
        self.model = Some(model);
        self
    }

    /// The highest priority that a client may propagate; [`OnExcess`] has an example. Calls within the ORB are not checked.
    ///
    /// Default: the highest one the pool is configured with, which without lanes is its `default_priority`; for threads that
    /// call `Orb::run` it is [`Priority::MAX`].
    pub fn highest_priority(mut self, priority: Priority) -> Self {
        self.highest_accepted = Some(priority);
        self
    }

    /// What happens to requests above it. Default: they are refused. [`OnExcess`] has an example.
    pub fn on_excess(mut self, action: OnExcess) -> Self {
        self.on_excess = action;
        self
    }

    /// Its objects outlive the ORB: the same adapter name and object id lead to them in the next run.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// let orb = Orb::builder().build()?;
    /// let poa = orb.root_poa().child("numbers").persistent().user_ids().build()?;
    /// let doubler: DoublerRef = poa.activate_with_id("doubler", Doubler)?;
    /// assert_eq!(doubler.twice(3)?, 6);
    /// // An id that the ORB chooses would not be the same in the next run.
    /// assert!(matches!(orb.root_poa().child("names").persistent().build(), Err(OrbError::Policy(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn persistent(mut self) -> Self {
        self.lifespan = Lifespan::Persistent;
        self
    }

    /// The user chooses the ids of its objects.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// let orb = Orb::builder().build()?;
    /// let poa = orb.root_poa().child("numbers").user_ids().build()?;
    /// assert!(poa.activate_with_id::<DoublerRef, _>([0, 1, 2], Doubler).is_ok());
    /// assert!(matches!(poa.activate::<DoublerRef, _>(Doubler), Err(OrbError::WrongPolicy(_))));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn user_ids(mut self) -> Self {
        self.ids = IdAssignment::User;
        self
    }

    /// Makes the adapter. Fails for a name that is taken or malformed, and for policies that contradict each other.
    ///
    /// Source: Real-time CORBA 1.2, the rules for policies at `create_POA` as TAO checks them, as far as the policies exist.
    ///
    /// ```
    /// # use punctual_orb::{Orb, OrbError};
    /// let orb = Orb::builder().build()?;
    /// assert!(orb.root_poa().child("radar").build().is_ok());
    /// let malformed = orb.root_poa().child("radar/north").build();
    /// assert!(matches!(malformed, Err(OrbError::AdapterName(_))));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn build(self) -> Result<Poa, OrbError> {
        let with_lanes = self.pool.as_ref().is_some_and(|pool| pool.with_lanes);
        match self.model {
            None if with_lanes => return Err(OrbError::Policy("a pool with lanes needs a priority model")),
            Some(PriorityModel::ServerDeclared(priority)) if with_lanes => {
                let lanes = &self.pool.as_ref().expect("has lanes").lanes;
                if !lanes.iter().any(|lane| lane.priority == Some(priority)) {
                    return Err(OrbError::Policy(
                        "the priority declared by the server is none of its pool's lanes",
                    ));
                }
            }
            _ => {}
        }
        if self.lifespan == Lifespan::Persistent && self.ids == IdAssignment::System {
            return Err(OrbError::Policy(
                "persistent objects need ids that the user chooses: add `user_ids`",
            ));
        }
        let core = self.parent.core.add_child(&self.name, |path| {
            let pool = self.pool.unwrap_or_else(|| self.parent.orb.default_pool());
            PoaCore {
                path,
                lifespan: self.lifespan,
                ids: self.ids,
                model: self.model,
                highest_accepted: self.highest_accepted.unwrap_or(pool.highest),
                on_excess: self.on_excess,
                pool,
                children: PiMutex::new(Vec::new()),
            }
        })?;
        Ok(Poa {
            orb: self.parent.orb,
            core,
        })
    }
}

/// An adapter as its objects know it.
pub(crate) struct PoaCore {
    /// The names of the adapter and its parents below the root, joined by `/`.
    path: String,
    lifespan: Lifespan,
    ids: IdAssignment,
    pub(crate) model: Option<PriorityModel>,
    pub(crate) highest_accepted: Priority,
    pub(crate) on_excess: OnExcess,
    pool: Arc<PoolCore>,
    children: PiMutex<Vec<Arc<PoaCore>>>,
}

const MAX_PATH: usize = 1000;

impl PoaCore {
    pub(crate) fn root(pool: Arc<PoolCore>) -> Self {
        Self {
            path: String::new(),
            lifespan: Lifespan::Transient,
            ids: IdAssignment::System,
            model: None,
            highest_accepted: Priority::MAX,
            on_excess: OnExcess::Refuse,
            pool,
            children: PiMutex::new(Vec::new()),
        }
    }

    fn add_child(&self, name: &str, make: impl FnOnce(String) -> Self) -> Result<Arc<Self>, OrbError> {
        let path = if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}/{name}", self.path)
        };
        let mut children = self.children.lock();
        let taken = children.iter().any(|child| child.path == path);
        if taken || name.is_empty() || name.contains('/') || path.len() > MAX_PATH {
            return Err(OrbError::AdapterName(name.to_owned()));
        }
        let child = Arc::new(make(path));
        children.push(Arc::clone(&child));
        Ok(child)
    }

    pub(crate) fn pool_id(&self) -> u32 {
        self.pool.id
    }

    pub(crate) fn has_lanes(&self) -> bool {
        self.pool.with_lanes
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

    /// A reference to an object of this adapter.
    pub(crate) fn reference(&self, repository_id: &str, object_key: Vec<u8>) -> Result<Ior, SystemException> {
        let endpoints = self.pool.endpoints(|lane| self.is_reached_through(lane));
        if endpoints.is_empty() {
            let (kind, minor) = (SystemExceptionKind::BadParam, Minor::NO_USABLE_PROFILE);
            return Err(SystemException::new(kind, minor, Completion::No));
        }
        let policies = self.model.map(Self::policies);
        let profiles = profiles(&endpoints, &object_key, policies.as_deref())
            .map_err(|error| error.system_exception(Completion::No))?;
        Ok(Ior {
            type_id: repository_id.to_owned(),
            profiles,
        })
    }

    fn is_reached_through(&self, lane: &Lane) -> bool {
        match self.model {
            Some(PriorityModel::ServerDeclared(priority)) if self.pool.with_lanes => {
                lane.priority == Some(priority)
            }
            _ => true,
        }
    }

    fn policies(model: PriorityModel) -> Vec<PolicyValue> {
        let (model, server_priority) = match model {
            PriorityModel::ClientPropagated { default } => (WireModel::ClientPropagated, default),
            PriorityModel::ServerDeclared(priority) => (WireModel::ServerDeclared, priority),
        };
        vec![PolicyValue::PriorityModel {
            model,
            server_priority: server_priority.value(),
        }]
    }
}

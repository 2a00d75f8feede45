//! Thread pools, adapters and objects of a server.

use std::collections::HashMap;

use punctual::{
    Endpoint, Orb, Poa, PoaBuilder, Priority, QueueLimits, SchedulingClass, Skeleton, ThreadPool,
    ThreadPoolBuilder,
};

use punctual_toml::Key;

use crate::{Adapter, Schedule, SchedulingError, UnknownName};

/// Creates the pools, adapters and objects of a schedule: `RTCosScheduling::ServerScheduler`.
///
/// The server of the example on the crate's page, on host `radar`:
///
/// ```
/// use punctual::prelude::*;
/// use punctual_scheduling::{Schedule, ServerScheduler};
/// # use punctual::rt::*;
/// # struct Siren;
/// # struct SirenRef(ObjectRef);
/// # impl Interface for SirenRef {
/// #     const REPOSITORY_ID: &'static str = "IDL:Siren:1.0";
/// #     const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Siren:1.0"];
/// #     fn from_object(object: ObjectRef) -> Self { Self(object) }
/// #     fn as_object(&self) -> &ObjectRef { &self.0 }
/// # }
/// # impl Skeleton<Siren> for SirenRef {
/// #     fn dispatch(_: &Siren, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
/// #         Err(upcall.unknown_operation())
/// #     }
/// # }
///
/// let schedule = Schedule::parse("radar.toml", include_str!("../radar.toml"))?;
/// let orb = schedule.orb_builder("radar")?.build()?;
/// let scheduler = ServerScheduler::new(&orb, &schedule, "radar")?;
/// let alarms = scheduler.create_poa(&orb.root_poa(), "alarms")?;
/// let siren: SirenRef = scheduler.schedule_object(&alarms, "siren", Siren)?;
/// assert!(scheduler.create_poa(&orb.root_poa(), "alarm").is_err(), "the file has no such adapter");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ServerScheduler {
    schedule: Schedule,
    host: String,
    /// Pools of this host, by name.
    pools: HashMap<String, ThreadPool>,
}

impl ServerScheduler {
    /// Starts the pools of this host.
    ///
    /// # Errors
    /// [`SchedulingError::UnknownName`] for a host that is not in the schedule; [`SchedulingError::Pool`] if
    /// a pool cannot be started.
    pub fn new(orb: &Orb, schedule: &Schedule, host: &str) -> Result<Self, SchedulingError> {
        if schedule.host(host).is_none() {
            return Err(UnknownName::of("host", host, schedule.hosts.iter().map(|host| &host.name)).into());
        }
        let mut pools = HashMap::new();
        let here = |pool: &crate::Pool| schedule.host_of_pool(pool) == Some(host);
        for (index, pool) in schedule.pools.iter().enumerate().filter(|(_, pool)| here(pool)) {
            let key = Key::default().item("pool", index);
            let listen = schedule.places.endpoints(&key, &pool.listen);
            let started = configured(orb.threadpool(), pool, listen).build();
            let started = started.map_err(|source| SchedulingError::Pool {
                pool: pool.name.clone(),
                source,
            })?;
            pools.insert(pool.name.clone(), started);
        }
        Ok(Self {
            schedule: schedule.clone(),
            host: host.to_owned(),
            pools,
        })
    }

    /// Creates the adapter of this name as a child of `parent`, with its pool and priority model.
    ///
    /// # Errors
    /// [`SchedulingError::UnknownName`]; [`SchedulingError::Elsewhere`] for an adapter of another host;
    /// [`SchedulingError::Orb`].
    pub fn create_poa(&self, parent: &Poa, name: &str) -> Result<Poa, SchedulingError> {
        self.create_poa_with(parent, name, |builder| builder)
    }

    /// Creates an adapter as [`Self::create_poa`] does, with additional policies such as `user_ids`.
    ///
    /// # Errors
    /// As for [`Self::create_poa`].
    pub fn create_poa_with(
        &self,
        parent: &Poa,
        name: &str,
        policies: impl FnOnce(PoaBuilder) -> PoaBuilder,
    ) -> Result<Poa, SchedulingError> {
        let adapter = self.adapter(name)?;
        let pool = self.pools.get(&adapter.pool).ok_or_else(|| {
            let pool = self.schedule.pool(&adapter.pool);
            let host = pool
                .and_then(|pool| self.schedule.host_of_pool(pool))
                .unwrap_or_default();
            SchedulingError::Elsewhere(format!(
                "adapter `{name}` is served by pool `{}` on host `{host}`; this is host `{}`",
                adapter.pool, self.host
            ))
        })?;
        let builder = policies(parent.child(name));
        Ok(builder.threadpool(pool).priority_model(adapter.model).build()?)
    }

    /// Activates `servant` as the object of this name, at its priority.
    ///
    /// The CORBA operation takes an active object; here activation and priority are one step, so that no
    /// request can arrive between them.
    ///
    /// # Errors
    /// [`SchedulingError::UnknownName`]; [`SchedulingError::Orb`] if `poa` is not the object's adapter and
    /// does not serve its priority.
    pub fn schedule_object<R, S>(&self, poa: &Poa, name: &str, servant: S) -> Result<R, SchedulingError>
    where
        R: Skeleton<S> + 'static,
        S: Send + Sync + 'static,
    {
        let objects = &self.schedule.objects;
        let object = self
            .schedule
            .object(name)
            .ok_or_else(|| UnknownName::of("object", name, objects.iter().map(|object| &object.name)))?;
        Ok(poa.object(servant).priority(object.priority).activate()?)
    }

    /// Returns the pool of this name if it is on this host.
    pub fn pool(&self, name: &str) -> Option<&ThreadPool> {
        self.pools.get(name)
    }

    fn adapter(&self, name: &str) -> Result<&Adapter, UnknownName> {
        let adapters = &self.schedule.adapters;
        self.schedule
            .adapter(name)
            .ok_or_else(|| UnknownName::of("adapter", name, adapters.iter().map(|adapter| &adapter.name)))
    }
}

/// Applies the settings of a pool.
fn configured(
    builder: ThreadPoolBuilder,
    pool: &crate::Pool,
    listen: impl Iterator<Item = Endpoint>,
) -> ThreadPoolBuilder {
    let own = pool.own_threads();
    // Longer names do not fit into the kernel's names of threads.
    let is_short = (1..=7).contains(&pool.name.len())
        && pool
            .name
            .bytes()
            .all(|octet| octet.is_ascii_alphanumeric() || octet == b'_');
    let builder = if is_short {
        builder.name(&pool.name)
    } else {
        builder
    };
    let builder = if pool.has_lanes() {
        let lanes = pool.lanes.iter().map(crate::Lane::spec);
        lanes.fold(builder, ThreadPoolBuilder::lane_with)
    } else {
        builder
            .threads(pool.threads.unwrap_or(1))
            .default_priority(pool.priority.unwrap_or(Priority::MIN))
            .dynamic_threads(own.dynamic_threads)
            .dynamic_lifetime(own.life())
            .wait(own.wait.into())
    };
    let builder = listen.fold(builder, ThreadPoolBuilder::listen);
    let stack = own.stack_bytes.into_iter();
    let builder = stack.fold(builder, ThreadPoolBuilder::stack_bytes);
    let prefault = own.prefault_bytes.into_iter();
    let builder = prefault.fold(builder, ThreadPoolBuilder::prefault_bytes);
    let affinity = own.affinity().into_iter();
    let builder = affinity.fold(builder, ThreadPoolBuilder::affinity);
    let class = own.class.map(SchedulingClass::from).into_iter();
    let builder = class.fold(builder, ThreadPoolBuilder::scheduling_class);
    let buffering = pool.request_buffering.map(QueueLimits::from).into_iter();
    let builder = buffering.fold(builder, ThreadPoolBuilder::request_buffering);
    builder
        .allow_borrowing(pool.allow_borrowing)
        .expired_requests(pool.expired_requests.into())
}

//! Objects with a priority of their own, and references to objects that are not active yet. `RTPortableServer::POA`.

use std::sync::atomic::Ordering;

use punctual_poa::{IdAssignment, SlotId};
use punctual_stub::{Interface, Skeleton};
use punctual_types::Priority;

use super::{Poa, PoaCore, servant_of};
use crate::{OrbError, PriorityModel, orb_core::OrbCore};

impl Poa {
    /// As [`Self::activate`], for an object with a priority of its own: `activate_object_with_priority`.
    ///
    /// # Errors
    /// [`OrbError::WrongPolicy`] where the adapter's priority model is not [`PriorityModel::ServerDeclared`];
    /// [`OrbError::PriorityNotServed`] where no lane has the priority, or no band; [`OrbError::PriorityUnmappable`]; and those of
    /// [`Self::activate`].
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// use punctual_orb::{Orb, OrbError, PriorityModel};
    /// use punctual_types::Priority;
    ///
    /// let orb = Orb::builder().build()?;
    /// let pool = orb.threadpool().lane(Priority::MIN, 1).lane(Priority::MAX, 1).build()?;
    /// let model = PriorityModel::ServerDeclared(Priority::MIN);
    /// let poa = orb.root_poa().child("rt").threadpool(&pool).priority_model(model).build()?;
    /// let relaxed: DoublerRef = poa.activate(Doubler)?;
    /// let urgent: DoublerRef = poa.activate_with_priority(Doubler, Priority::MAX)?;
    /// let between = poa.activate_with_priority::<DoublerRef, _>(Doubler, Priority::new(100)?);
    /// assert!(matches!(between, Err(OrbError::PriorityNotServed(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn activate_with_priority<R, S>(&self, servant: S, priority: Priority) -> Result<R, OrbError>
    where
        R: Skeleton<S> + 'static,
        S: Send + Sync + 'static,
    {
        self.core.check_system_ids()?;
        self.core.check_priority(&self.orb, priority)?;
        self.activate_servant(servant_of::<R, S>(servant), None, Some(priority))
            .map(R::from_object)
    }

    /// As [`Self::activate_with_id`], for an object with a priority of its own: `activate_object_with_id_and_priority`.
    ///
    /// # Errors
    /// [`OrbError::PriorityTaken`] where a reference was made with this id and another priority, and those of
    /// [`Self::activate_with_id`] and [`Self::activate_with_priority`].
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, PriorityModel};
    /// use punctual_types::Priority;
    ///
    /// let orb = Orb::builder().build()?;
    /// let model = PriorityModel::ServerDeclared(Priority::MIN);
    /// let poa = orb.root_poa().child("rt").user_ids().priority_model(model).build()?;
    /// let urgent: DoublerRef = poa.activate_with_id_and_priority("urgent", Doubler, Priority::MAX)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn activate_with_id_and_priority<R, S>(
        &self,
        id: impl AsRef<[u8]>,
        servant: S,
        priority: Priority,
    ) -> Result<R, OrbError>
    where
        R: Skeleton<S> + 'static,
        S: Send + Sync + 'static,
    {
        let id = id.as_ref();
        self.core.check_id(id)?;
        self.core.check_priority(&self.orb, priority)?;
        self.activate_servant(servant_of::<R, S>(servant), Some(id), Some(priority))
            .map(R::from_object)
    }

    /// Makes a reference to an object that does not exist yet, with an id that the adapter chooses: `create_reference`.
    ///
    /// Calls fail with OBJECT_NOT_EXIST until [`Self::activate_with_id`] gives it a servant; [`Self::id_of`] says its id.
    ///
    /// Fails with [`OrbError::WrongPolicy`] where the adapter leaves ids to the user.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let poa = orb.root_poa();
    /// let doubler: DoublerRef = poa.create_reference()?;
    /// assert!(doubler.twice(3).is_err());
    /// let same: DoublerRef = poa.activate_with_id(poa.id_of(&doubler)?, Doubler)?;
    /// assert_eq!(doubler.twice(3)?, 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_reference<R: Interface>(&self) -> Result<R, OrbError> {
        self.core.check_system_ids()?;
        self.reference(&self.core.make_id(), None)
    }

    /// Makes a reference to the object with this id, which may exist or not: `create_reference_with_id`.
    ///
    /// # Errors
    /// As [`Self::activate_with_id`], but that the object may be active.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let poa = orb.root_poa().child("numbers").user_ids().build()?;
    /// let doubler: DoublerRef = poa.create_reference_with_id("doubler")?;
    /// assert_eq!(doubler, poa.activate_with_id("doubler", Doubler)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_reference_with_id<R: Interface>(&self, id: impl AsRef<[u8]>) -> Result<R, OrbError> {
        self.core.check_id(id.as_ref())?;
        self.reference(id.as_ref(), None)
    }

    /// As [`Self::create_reference`], for an object with a priority of its own: `create_reference_with_priority`.
    ///
    /// # Errors
    /// As [`Self::activate_with_priority`].
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, PriorityModel};
    /// use punctual_types::Priority;
    ///
    /// let orb = Orb::builder().build()?;
    /// let model = PriorityModel::ServerDeclared(Priority::MIN);
    /// let poa = orb.root_poa().child("rt").priority_model(model).build()?;
    /// let urgent: DoublerRef = poa.create_reference_with_priority(Priority::MAX)?;
    /// let active: DoublerRef = poa.activate_with_id(poa.id_of(&urgent)?, Doubler)?;
    /// assert_eq!(active, urgent, "it has the priority of the reference");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_reference_with_priority<R: Interface>(&self, priority: Priority) -> Result<R, OrbError> {
        self.core.check_system_ids()?;
        self.core.check_priority(&self.orb, priority)?;
        self.reference(&self.core.make_id(), Some(priority))
    }

    /// As [`Self::create_reference_with_id`], for an object with a priority of its own:
    /// `create_reference_with_id_and_priority`.
    ///
    /// # Errors
    /// [`OrbError::PriorityTaken`] where the object has another priority already, and those of
    /// [`Self::activate_with_id_and_priority`].
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError, PriorityModel};
    /// use punctual_types::Priority;
    ///
    /// let orb = Orb::builder().build()?;
    /// let model = PriorityModel::ServerDeclared(Priority::MIN);
    /// let poa = orb.root_poa().child("rt").user_ids().priority_model(model).build()?;
    /// let urgent: DoublerRef = poa.create_reference_with_id_and_priority("urgent", Priority::MAX)?;
    /// let other = poa.create_reference_with_id_and_priority::<DoublerRef>("urgent", Priority::MIN);
    /// assert!(matches!(other, Err(OrbError::PriorityTaken { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_reference_with_id_and_priority<R: Interface>(
        &self,
        id: impl AsRef<[u8]>,
        priority: Priority,
    ) -> Result<R, OrbError> {
        self.core.check_id(id.as_ref())?;
        self.core.check_priority(&self.orb, priority)?;
        self.reference(id.as_ref(), Some(priority))
    }

    /// The id of an object of this adapter: `reference_to_id`. Fails with [`OrbError::NotActive`] for any other's.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let poa = orb.root_poa().child("numbers").user_ids().build()?;
    /// let doubler: DoublerRef = poa.activate_with_id("doubler", Doubler)?;
    /// assert_eq!(poa.id_of(&doubler)?, b"doubler");
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn id_of<R: Interface>(&self, reference: &R) -> Result<Vec<u8>, OrbError> {
        let mut profiles = reference.as_object().ior().profiles.iter();
        let profile = profiles.find_map(|profile| self.orb.decode_profile(profile)?.ok());
        let key = profile.ok_or(OrbError::NotActive)?.object_key;
        self.orb.id_in(&self.core, &key).ok_or(OrbError::NotActive)
    }

    /// With the object's own priority, if it has one.
    fn reference<R: Interface>(&self, id: &[u8], asked: Option<Priority>) -> Result<R, OrbError> {
        let has = match self.orb.active_model(&self.core, id) {
            // It is active: a reference to it can say nothing else.
            Some(model) => model.map(PriorityModel::server_priority),
            None => self.core.declared(id),
        };
        let priority = agreed(asked, has)?;
        self.orb.ensure_listening(&self.core)?;
        let ior = self.orb.reference(&self.core, R::REPOSITORY_ID, id, priority)?;
        if let Some(priority) = asked {
            self.core.declare(id, priority);
        }
        self.bind(ior).map(R::from_object)
    }
}

/// The priority of an object that was to have one, and has one already, perhaps.
pub(super) fn agreed(asked: Option<Priority>, has: Option<Priority>) -> Result<Option<Priority>, OrbError> {
    match (asked, has) {
        (Some(asked), Some(has)) if asked != has => Err(OrbError::PriorityTaken { asked, has }),
        _ => Ok(asked.or(has)),
    }
}

impl PoaCore {
    pub(super) fn check_system_ids(&self) -> Result<(), OrbError> {
        match self.ids {
            IdAssignment::System => Ok(()),
            IdAssignment::User => Err(OrbError::WrongPolicy(
                "its objects have user ids: use the operation that takes an id, such as `activate_with_id`",
            )),
        }
    }

    /// Whether the user may name an object so: in an adapter that chooses ids only by what it chose for a reference.
    pub(super) fn check_id(&self, id: &[u8]) -> Result<(), OrbError> {
        let made = || {
            let (mark, number) = id.split_first()?;
            let number = u64::from_be_bytes(number.try_into().ok()?);
            (*mark == MADE && number < self.ids_made.load(Ordering::Relaxed)).then_some(())
        };
        match self.ids {
            IdAssignment::System if made().is_none() => Err(OrbError::WrongPolicy(
                "it chooses ids itself: build it with `user_ids`, or use the id of a reference that it made",
            )),
            _ => Ok(()),
        }
    }

    fn make_id(&self) -> [u8; 9] {
        let number = self.ids_made.fetch_add(1, Ordering::Relaxed);
        let mut id = [MADE; 9];
        id[1..].copy_from_slice(&number.to_be_bytes());
        id
    }

    /// Whether an object may have this priority of its own.
    fn check_priority(&self, orb: &OrbCore, priority: Priority) -> Result<(), OrbError> {
        if !matches!(self.model, Some(PriorityModel::ServerDeclared(_))) {
            return Err(OrbError::WrongPolicy(
                "objects have priorities of their own only where the server declares them: build it with \
                 `priority_model(PriorityModel::ServerDeclared(..))`",
            ));
        }
        let no_lane = self.pool.with_lanes
            && !self
                .pool
                .lanes
                .iter()
                .any(|lane| lane.priority() == Some(priority));
        let no_band = !self.bands.is_empty() && !self.bands.iter().any(|band| band.contains(priority));
        if no_lane || no_band {
            return Err(OrbError::PriorityNotServed(priority));
        }
        match orb.mapping.to_native(priority) {
            Some(_) => Ok(()),
            None => Err(OrbError::PriorityUnmappable(priority)),
        }
    }

    /// The priority that a reference has said for an object that is not active.
    pub(super) fn declared(&self, id: &[u8]) -> Option<Priority> {
        self.declared.lock().get(id).copied()
    }

    fn declare(&self, id: &[u8], priority: Priority) {
        self.declared.lock().insert(id.into(), priority);
    }

    /// The object is no more: another one with its id may have another priority.
    pub(crate) fn forget(&self, id: &[u8]) {
        self.declared.lock().remove(id);
    }
}

/// The id of an object that has none but its slot.
pub(crate) fn id_of_slot(slot: SlotId) -> [u8; 8] {
    let mut id = [0; 8];
    id[..4].copy_from_slice(&slot.index.to_be_bytes());
    id[4..].copy_from_slice(&slot.generation.to_be_bytes());
    id
}

/// Sets ids made for references apart from those of slots.
const MADE: u8 = b'r';

//! Objects with a priority of their own, and references to objects that are not active yet. `RTPortableServer::POA`.

use punctual_stub::{Interface, Skeleton};
use punctual_types::Priority;

use super::{Poa, servant_of};
use crate::{OrbError, PriorityModel};

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
        self.core.check_priority(&self.orb.configuration, priority)?;
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
        self.core.check_priority(&self.orb.configuration, priority)?;
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
        self.core.check_priority(&self.orb.configuration, priority)?;
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
        self.core.check_priority(&self.orb.configuration, priority)?;
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
        let profile = profiles.find_map(|profile| self.orb.configuration.decode_profile(profile)?.ok());
        let key = profile.ok_or(OrbError::NotActive)?.object_key;
        self.orb
            .objects
            .id_in(&self.core, &key)
            .ok_or(OrbError::NotActive)
    }

    /// With the object's own priority, if it has one.
    fn reference<R: Interface>(&self, id: &[u8], asked: Option<Priority>) -> Result<R, OrbError> {
        let has = match self.orb.objects.active_model(&self.core, id) {
            // It is active: a reference to it can say nothing else.
            Some(model) => model.map(PriorityModel::server_priority),
            None => self.core.declared(id),
        };
        let priority = agreed(asked, has)?;
        self.orb.ensure_listening(&self.core)?;
        let ior = self
            .orb
            .objects
            .reference(&self.core, R::REPOSITORY_ID, id, priority)?;
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

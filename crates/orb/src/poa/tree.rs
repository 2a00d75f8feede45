//! The tree of adapters, and activators for adapters that do not exist yet.

use std::sync::Arc;

use super::{Poa, bound::Bound, servants::AdapterActivator};

impl Poa {
    /// Sets the activator of adapters below this one. It replaces an earlier activator.
    ///
    /// A request for an object below an adapter that does not exist is subject to the manager of the nearest
    /// adapter that does exist: held, discarded or refused as requests for that adapter's own objects are,
    /// without a call of the activator, unless the manager is active. Held requests use the memory of the
    /// lane at which they arrive; a pool that was created after [`PoaManager::hold`](crate::PoaManager::hold)
    /// refuses them with TRANSIENT. A LocateRequest finds such an object without a call of the activator.
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// use punctual::{AdapterActivator, AnyServant, Orb, Poa};
    ///
    /// struct Regions;
    ///
    /// impl AdapterActivator for Regions {
    ///     fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool {
    ///         let servant = AnyServant::new::<DoublerRef, _>(Doubler);
    ///         let region = parent.child(name).user_ids().default_servant(servant);
    ///         name == "north" && region.build().is_ok()
    ///     }
    /// }
    ///
    /// let orb = Orb::builder().build()?;
    /// orb.root_poa().set_adapter_activator(Regions);
    /// assert!(orb.root_poa().find("north").is_some());
    /// assert!(orb.root_poa().find("south").is_none());
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn set_adapter_activator(&self, activator: impl AdapterActivator) {
        let bound = Bound::new(activator, &self.orb, &self.core);
        let manager = &self.core.processing.manager;
        manager.note_adapter_activator();
        *self.core.processing.adapter_activator.lock() = Some(Arc::new(bound));
        self.orb.objects.manage(&self.core);
        if let Some(limits) = manager.holds() {
            for pool in self.orb.pools.all() {
                // A lane without memory refuses such requests with TRANSIENT.
                let _ = self.orb.provide_held(pool.info.id, limits);
            }
        }
    }

    /// Returns the child with this name, which the adapter activator creates if it does not exist:
    /// `find_POA`.
    ///
    /// An activator may call this itself, for any adapter except the one that it is about to create, which
    /// does not exist yet.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// assert!(orb.root_poa().find("sensors").is_none());
    /// orb.root_poa().child("sensors").build()?;
    /// assert!(orb.root_poa().find("sensors").is_some());
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn find(&self, name: &str) -> Option<Self> {
        if self.core.child(name).is_none() {
            let activator = self.core.processing.adapter_activator.lock().clone()?;
            let made = self.orb.objects.make_adapter(&self.core, &*activator, name);
            made.ok().filter(|made| *made)?;
        }
        Some(Self::of(&self.orb, &self.core.child(name)?))
    }

    /// Returns the adapter's name; the root adapter's name is empty.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let radar = orb.root_poa().child("sensors").build()?.child("radar").build()?;
    /// assert_eq!(radar.name(), "radar");
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// Returns the adapters directly below this one.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// orb.root_poa().child("sensors").build()?;
    /// assert_eq!(orb.root_poa().children()[0].name(), "sensors");
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn children(&self) -> Vec<Self> {
        let children = self.core.children.lock();
        children.iter().map(|child| Self::of(&self.orb, child)).collect()
    }
}

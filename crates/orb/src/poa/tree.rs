//! The tree of adapters, and activators for adapters that do not exist yet.

use std::sync::Arc;

use super::{Poa, bound::Bound, servants::AdapterActivator};

impl Poa {
    /// Sets the activator of adapters below this one, instead of an earlier one.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// use punctual_orb::{AdapterActivator, AnyServant, Orb, Poa};
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
        *self.core.processing.adapter_activator.lock() = Some(Arc::new(bound));
        self.orb.objects.manage(&self.core);
    }

    /// Returns the child of this name, which the adapter activator makes if it does not exist: `find_POA`.
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
            self.core
                .processing
                .manage(|| activator.make(name))
                .filter(|made| *made)?;
        }
        Some(Self::of(&self.orb, &self.core.child(name)?))
    }

    /// Returns its name; that of the root adapter is empty.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let radar = orb.root_poa().child("sensors").build()?.child("radar").build()?;
    /// assert_eq!(radar.name(), "radar");
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn name(&self) -> &str {
        let path = self.core.path.as_str();
        path.rsplit_once('/').map_or(path, |(_, name)| name)
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

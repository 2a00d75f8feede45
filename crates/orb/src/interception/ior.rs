//! IOR interceptors: components for the references of adapters.

use punctual_cdr::TaggedComponent;
use punctual_stub::UserPolicies;
use punctual_types::PriorityModel;

use crate::PoaManagerState;

/// Adds components to the references of adapters, `PortableInterceptor::IORInterceptor`: information for
/// clients, or their interceptors, about an object before they call it.
///
/// Source: CORBA 3.3 part 1, 16.7.
///
/// ```
/// # mod punctual { pub use {punctual_cdr::*, punctual_orb::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use std::sync::Arc;
///
/// use punctual::{Orb, TaggedComponent, interceptors::*};
///
/// /// A user-defined policy, which adapters may have.
/// struct Site(String);
///
/// const SITE: u32 = 0x5000_0001;
///
/// #[derive(Clone)]
/// struct Sites;
///
/// impl IorInterceptor for Sites {
///     fn name(&self) -> &str {
///         "sites"
///     }
///
///     fn establish_components(&self, info: &mut IorInfo<'_>) {
///         if let Some(Site(name)) = info.policy::<Site>() {
///             let data = name.clone().into_bytes();
///             info.add_component(TaggedComponent { tag: SITE, data });
///         }
///     }
/// }
///
/// impl OrbInitializer for Sites {
///     fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
///         info.add_ior_interceptor(Arc::new(Sites)).expect("the name is free");
///     }
/// }
///
/// let orb = Orb::builder().initializer(&Sites).build()?;
/// let poa = orb.root_poa().child("north").policy(Site("north".into())).build()?;
/// let doubler: DoublerRef = poa.activate(Doubler)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait IorInterceptor: Send + Sync {
    /// Returns the name, unique unless it is empty.
    fn name(&self) -> &str;

    /// Called once for each adapter, when it has been created and before it has references, in the order of
    /// registration. A panic propagates to the creator of the adapter.
    fn establish_components(&self, info: &mut IorInfo<'_>);

    /// Called once for each adapter, when all interceptors have added their components. Default: does
    /// nothing.
    fn components_established(&self, info: &IorInfo<'_>) {
        let _ = info;
    }

    /// Called after the manager with this number ([`IorInfo::manager`]) has changed its state, on the thread
    /// that changed it. Default: does nothing.
    fn adapter_manager_state_changed(&self, manager: usize, state: PoaManagerState) {
        let _ = (manager, state);
    }

    /// Called after an adapter and those below it have been destroyed, with their names as in
    /// [`IorInfo::adapter`]: `adapter_state_changed` with NON_EXISTENT. Not called at the end of the ORB.
    /// Default: does nothing.
    fn adapters_destroyed(&self, adapters: &[String]) {
        let _ = adapters;
    }
}

/// An adapter that has been created, `PortableInterceptor::IORInfo`.
///
/// ```
/// # use punctual_orb as punctual;
/// use std::sync::{Arc, Mutex};
///
/// use punctual::{Orb, interceptors::*};
///
/// /// Lists the adapters of an ORB.
/// #[derive(Clone, Default)]
/// struct Adapters(Arc<Mutex<Vec<String>>>);
///
/// impl IorInterceptor for Adapters {
///     fn name(&self) -> &str {
///         "adapters"
///     }
///
///     fn establish_components(&self, info: &mut IorInfo<'_>) {
///         self.0.lock().unwrap().push(info.adapter().to_owned());
///     }
/// }
///
/// impl OrbInitializer for Adapters {
///     fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
///         info.add_ior_interceptor(Arc::new(self.clone())).expect("the name is free");
///     }
/// }
///
/// let adapters = Adapters::default();
/// let orb = Orb::builder().initializer(&adapters).build()?;
/// orb.root_poa().child("north").build()?.child("radar").build()?;
/// assert!(adapters.0.lock().unwrap().contains(&"north/radar".to_owned()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct IorInfo<'i> {
    pub(crate) path: &'i str,
    pub(crate) manager: usize,
    pub(crate) model: Option<PriorityModel>,
    pub(crate) policies: &'i UserPolicies,
    pub(crate) components: &'i mut Vec<AddedComponent>,
}

/// A component of the references of one adapter; with a tag, of its profiles of one protocol only.
pub(crate) struct AddedComponent {
    pub(crate) profile: Option<u32>,
    pub(crate) component: TaggedComponent,
}

impl<'i> IorInfo<'i> {
    /// Returns the names of the adapter and its parents, joined by `/`; empty for the root. In a name, `~1`
    /// stands for `/` and `~0` for `~`.
    pub fn adapter(&self) -> &'i str {
        self.path
    }

    /// Returns the number of the adapter's manager, which no other manager has at the same time:
    /// `manager_id`.
    pub fn manager(&self) -> usize {
        self.manager
    }

    /// Returns the components that interceptors have added so far.
    pub fn components(&self) -> impl Iterator<Item = &TaggedComponent> {
        self.components.iter().map(|added| &added.component)
    }

    /// Returns the priority model of the adapter.
    pub fn priority_model(&self) -> Option<PriorityModel> {
        self.model
    }

    /// Returns the policy of this type that the adapter was created with
    /// ([`PoaBuilder::policy`](crate::PoaBuilder::policy)): `get_effective_policy`.
    pub fn policy<T: 'static>(&self) -> Option<&'i T> {
        self.policies.get()
    }

    /// Adds a component to every profile of the adapter's references.
    pub fn add_component(&mut self, component: TaggedComponent) {
        self.components.push(AddedComponent {
            profile: None,
            component,
        });
    }

    /// Adds a component to the profiles with this tag.
    pub fn add_component_to_profile(&mut self, component: TaggedComponent, profile: u32) {
        self.components.push(AddedComponent {
            profile: Some(profile),
            component,
        });
    }
}

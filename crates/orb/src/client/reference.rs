//! Reference bound to an ORB: the implementation of every `ObjectRef`.

use std::{
    str,
    sync::{Arc, Weak, atomic::AtomicBool},
};

use arc_swap::ArcSwapOption;
use punctual_cdr::{Ior, TaggedProfile, ValueFactory};
use punctual_giop::Profile;
use punctual_stub::{ObjectRef, OrbContext, PolicyOverrides, Target};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{
    connection::Identity, connection_cache::close_orphans, core::ClientCore,
    policy_scopes::ReferencePolicies, route::Route, shared_purpose::SharedPurpose,
};

/// A reference bound to an ORB.
pub(crate) struct Reference {
    /// Own reference for interceptors, which may ask for the reference that is called.
    own: Weak<Reference>,
    pub(super) core: Arc<ClientCore>,
    pub(super) orb: OrbContext,
    pub(super) ior: Arc<Ior>,
    /// Route of the reference itself.
    pub(super) route: Arc<Route>,
    /// Route to which the server has forwarded calls; removed if the object cannot be reached there.
    pub(super) forwarded: ArcSwapOption<Route>,
    /// Whether `forwarded` has ever been set: most calls read only this.
    pub(super) was_forwarded: AtomicBool,
    pub(super) policies: ReferencePolicies,
}

impl Reference {
    /// Fails if the reference cannot be used: see [`Route::new`].
    pub(crate) fn new(core: &Arc<ClientCore>, ior: Ior) -> Result<Arc<Self>, SystemException> {
        let ior = Arc::new(ior);
        let route = Arc::new(Route::new(&ior, core)?);
        let overrides = PolicyOverrides::new();
        Ok(Self::of_route(core, ior, route, None, overrides))
    }

    /// Keeps a reference that cannot be used, too: its calls fail, and it can be passed on.
    ///
    /// Fails with IMP_LIMIT if it names too many endpoints.
    pub(crate) fn kept(core: &Arc<ClientCore>, ior: Ior) -> Result<Arc<Self>, SystemException> {
        let ior = Arc::new(ior);
        let route = match Route::new(&ior, core) {
            Err(error) if error.kind != SystemExceptionKind::ImpLimit => Route::unusable(&ior, error),
            route => route?,
        };
        Ok(Self::of_route(
            core,
            ior,
            Arc::new(route),
            None,
            PolicyOverrides::new(),
        ))
    }

    /// Returns a reference to the same object with other policies.
    pub(crate) fn with_overrides(&self, overrides: PolicyOverrides) -> Arc<Self> {
        Self::of_route(
            &self.core,
            Arc::clone(&self.ior),
            Arc::clone(&self.route),
            self.forwarded.load_full(),
            overrides.within(&self.policies.overrides),
        )
    }

    fn of_route(
        core: &Arc<ClientCore>,
        ior: Arc<Ior>,
        route: Arc<Route>,
        forwarded: Option<Arc<Route>>,
        overrides: PolicyOverrides,
    ) -> Arc<Self> {
        Arc::new_cyclic(|own| Self {
            own: Weak::clone(own),
            core: Arc::clone(core),
            orb: core.context(),
            ior,
            route,
            was_forwarded: AtomicBool::new(forwarded.is_some()),
            forwarded: ArcSwapOption::new(forwarded),
            policies: ReferencePolicies::new(overrides, &core.policies),
        })
    }

    /// Returns the reference as its user holds it.
    pub(crate) fn to_object(&self) -> ObjectRef {
        // No type states that each reference is in an `Arc`: `Target` is called through `&self`.
        let own = self.own.upgrade();
        ObjectRef::new(own.expect("the lender of a reference keeps it"))
    }
}

impl ClientCore {
    /// The ORB as references and decoders hold it.
    pub(crate) fn context(self: &Arc<Self>) -> OrbContext {
        OrbContext(Arc::clone(self) as Arc<dyn punctual_stub::Orb>)
    }
}

impl punctual_stub::Orb for ClientCore {
    fn bind(&self, ior: Ior) -> Result<Arc<dyn Target>, SystemException> {
        let gone = || {
            let minor = Minor::OMG_ORB_SHUT_DOWN;
            SystemException::new(SystemExceptionKind::BadInvOrder, minor, Completion::No)
        };
        let core = self.shared().ok_or_else(gone)?;
        Ok(Reference::kept(&core, ior)?)
    }

    fn value_factory(&self, id: &[u8]) -> Option<&'static ValueFactory> {
        let id = str::from_utf8(id).ok()?;
        self.configuration.value_factories.get(id).copied()
    }

    fn decode_profile(&self, profile: &TaggedProfile) -> Option<Profile<String>> {
        self.configuration.decode_profile(profile)?.ok()
    }
}

/// Private connections close with their reference.
impl Drop for Reference {
    fn drop(&mut self) {
        // Others that know the identity: connections, and threads with their own policies.
        if Arc::weak_count(&self.policies.identity) > 0 {
            self.policies.identity = Arc::new(Identity);
            close_orphans(&self.core.connections);
            if let Some(pool) = &*self.core.pools.reply_pool() {
                pool.lanes
                    .iter()
                    .for_each(|lane| lane.close_obsolete(SharedPurpose::is_orphan));
            }
        }
    }
}

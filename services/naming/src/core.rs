//! State that all contexts of a service share, and its changes.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use punctual::{
    Interface, ObjectRef, Orb, OrbError, Poa, SystemException, SystemExceptionKind, naming::NameComponent,
};
use punctual_os::PiMutex;

use crate::{
    NamingLimits,
    idl::cos_naming::{
        self, Binding, BindingType, NamingContextExtRef, NamingContextRef, naming_context::NotFoundReason,
    },
    iterators::Iterators,
    refusal::Refusal,
    store::Store,
    tree::{Bound, Change, ContextNumber, ROOT, Tree},
};

/// State that all contexts share.
pub(crate) struct Core {
    pub(crate) limits: NamingLimits,
    pub(crate) orb: Orb,
    /// Number in the ids of all contexts: those of another service, or of another run in memory, have
    /// another.
    incarnation: u64,
    /// Locked by who changes the tree, from the check to the end.
    store: PiMutex<Option<Store>>,
    pub(crate) tree: PiMutex<Tree>,
    pub(crate) iterators: PiMutex<Iterators>,
    pub(crate) foreign_calls: AtomicUsize,
    refused: AtomicU64,
    not_stored: AtomicU64,
    store_failure: PiMutex<Option<String>>,
    /// Set before any request.
    adapters: OnceLock<Adapters>,
}

pub(crate) struct Adapters {
    pub(crate) contexts: Poa,
    pub(crate) iterators: Poa,
}

impl Core {
    pub(crate) fn new(
        limits: NamingLimits,
        orb: &Orb,
        incarnation: u64,
        store: Option<Store>,
        tree: Tree,
    ) -> Self {
        Self {
            limits,
            orb: orb.clone(),
            incarnation,
            store: PiMutex::new(store),
            tree: PiMutex::new(tree),
            iterators: PiMutex::default(),
            foreign_calls: AtomicUsize::new(0),
            refused: AtomicU64::new(0),
            not_stored: AtomicU64::new(0),
            store_failure: PiMutex::default(),
            adapters: OnceLock::new(),
        }
    }

    /// Takes over its adapters, before any request.
    pub(crate) fn set_adapters(&self, adapters: Adapters) {
        let _ = self.adapters.set(adapters);
    }

    /// Number of requests beyond a limit, and of changes that could not be stored.
    pub(crate) fn failures(&self) -> (u64, u64) {
        (self.refused.load(Relaxed), self.not_stored.load(Relaxed))
    }

    /// Why the last change that could not be stored was not.
    pub(crate) fn store_failure(&self) -> Option<String> {
        self.store_failure.lock().clone()
    }

    pub(crate) fn adapters(&self) -> &Adapters {
        self.adapters.get().expect("the service has been built")
    }

    /// Counts a request beyond a limit.
    pub(crate) fn limit(&self) -> Refusal {
        self.refused.fetch_add(1, Relaxed);
        Refusal::limit()
    }

    /// Number of a context in an object id; `None`: it is of another service.
    pub(crate) fn number_in(&self, id: &[u8]) -> Option<ContextNumber> {
        let id = u128::from_be_bytes(id.try_into().ok()?);
        // Its upper and lower half.
        ((id >> 64) as u64 == self.incarnation).then_some(id as u64)
    }

    /// Number of a context of this service.
    pub(crate) fn own_number(&self, context: &NamingContextRef) -> Option<ContextNumber> {
        self.number_in(&self.adapters().contexts.id_of(context).ok()?)
    }

    /// Reference to a context of this service.
    pub(crate) fn context(&self, number: ContextNumber) -> Result<NamingContextRef, SystemException> {
        let reference = context_reference(&self.adapters().contexts, self.incarnation, number);
        let reference = reference.map_err(|_| Refusal::system(SystemExceptionKind::ObjAdapter))?;
        Ok(NamingContextRef::from_object(reference.as_object().clone()))
    }

    /// Reference for clients; `None`: it is nil.
    pub(crate) fn reference_of(&self, bound: &Bound) -> Result<Option<ObjectRef>, Refusal> {
        match bound {
            Bound::Own(number) => Ok(Some(self.context(*number)?.as_object().clone())),
            Bound::Object(ior) if ior.is_nil() => Ok(None),
            Bound::Object(ior) | Bound::Foreign(ior) => {
                let object = self.orb.object_of(ior.clone()).map_err(SystemException::from)?;
                Ok(Some(object))
            }
        }
    }

    /// Binds a component of a context.
    pub(crate) fn bind(
        &self,
        context: ContextNumber,
        component: &NameComponent,
        bound: Bound,
        replace: bool,
    ) -> Result<(), Refusal> {
        self.change(|tree| {
            let before = tree.get(context, component);
            match before {
                Some(_) if !replace => return Err(Refusal::AlreadyBound),
                Some(before) if before.is_context() != bound.is_context() => {
                    let reason = match before.is_context() {
                        true => NotFoundReason::NotObject,
                        false => NotFoundReason::NotContext,
                    };
                    return Err(Refusal::NotFound(reason, vec![component.clone()]));
                }
                _ => {}
            }
            let cost = before.map_or(0, |before| Tree::cost(component, before));
            self.admit(tree, context, component, &bound, cost, before.is_none())?;
            Ok((
                (),
                vec![Change::Bind(context, component.clone(), Arc::new(bound))],
            ))
        })
    }

    /// Checks the limits of a binding; `released` octets become free.
    fn admit(
        &self,
        tree: &Tree,
        context: ContextNumber,
        component: &NameComponent,
        bound: &Bound,
        released: usize,
        is_new: bool,
    ) -> Result<(), Refusal> {
        let number = tree.len(context).ok_or_else(Refusal::gone)?;
        let octets = tree.octets() - released + Tree::cost(component, bound);
        let is_large = bound.octets() > self.limits.reference;
        match is_large || octets > self.limits.octets || is_new && number >= self.limits.bindings {
            true => Err(self.limit()),
            false => Ok(()),
        }
    }

    /// Removes a binding.
    pub(crate) fn unbind(&self, context: ContextNumber, component: &NameComponent) -> Result<(), Refusal> {
        self.change(|tree| match tree.get(context, component) {
            None if !tree.has(context) => Err(Refusal::gone()),
            None => {
                let rest = vec![component.clone()];
                Err(Refusal::NotFound(NotFoundReason::MissingNode, rest))
            }
            Some(_) => Ok(((), vec![Change::Unbind(context, component.clone())])),
        })
    }

    /// Creates a context, and binds it in another one.
    pub(crate) fn create(
        &self,
        bound: Option<(ContextNumber, &NameComponent)>,
    ) -> Result<ContextNumber, Refusal> {
        self.change(|tree| {
            let number = tree.next_context();
            let mut changes = vec![Change::Create(number)];
            if let Some((context, component)) = bound {
                if tree.get(context, component).is_some() {
                    return Err(Refusal::AlreadyBound);
                }
                self.admit(tree, context, component, &Bound::Own(number), 0, true)?;
                changes.push(Change::Bind(
                    context,
                    component.clone(),
                    Arc::new(Bound::Own(number)),
                ));
            }
            let is_full = tree.octets() >= self.limits.octets || tree.context_count() >= self.limits.contexts;
            match is_full {
                true => Err(self.limit()),
                false => Ok((number, changes)),
            }
        })
    }

    /// Destroys an empty context. The root is refused with NO_PERMISSION.
    pub(crate) fn destroy(&self, context: ContextNumber) -> Result<(), Refusal> {
        self.change(|tree| match tree.len(context) {
            None => Err(Refusal::gone()),
            Some(0) if context == ROOT => Err(Refusal::system(SystemExceptionKind::NoPermission)),
            Some(0) => Ok(((), vec![Change::Destroy(context)])),
            Some(_) => Err(Refusal::NotEmpty),
        })
    }

    /// Changes the tree as planned, in the store first.
    fn change<R>(&self, plan: impl FnOnce(&Tree) -> Result<(R, Vec<Change>), Refusal>) -> Result<R, Refusal> {
        // Nobody else changes the tree meanwhile, and lookups need not wait for the disk.
        let mut store = self.store.lock();
        let (result, changes) = plan(&self.tree.lock())?;
        if let Some(store) = &mut *store
            && let Err(problem) = store.commit(&changes)
        {
            self.not_stored.fetch_add(1, Relaxed);
            *self.store_failure.lock() = Some(problem);
            return Err(Refusal::not_stored());
        }
        let mut tree = self.tree.lock();
        changes.iter().for_each(|change| tree.apply(change));
        Ok(result)
    }

    /// Returns up to `count` bindings behind a component, within the limit; and, if there are more, the
    /// component behind which they follow.
    pub(crate) fn batch(
        &self,
        context: ContextNumber,
        after: Option<&NameComponent>,
        count: usize,
    ) -> (Vec<Binding>, Option<Option<NameComponent>>) {
        let count = count.min(self.limits.batch.max(1));
        let tree = self.tree.lock();
        let mut rest = tree.after(context, after).peekable();
        let mut last = after;
        let mut bindings = Vec::new();
        while bindings.len() < count
            && let Some((component, bound)) = rest.next()
        {
            last = Some(component);
            bindings.push(Binding {
                binding_name: vec![cos_naming::NameComponent {
                    id: component.id.clone(),
                    kind: component.kind.clone(),
                }],
                binding_type: match bound.is_context() {
                    true => BindingType::Ncontext,
                    false => BindingType::Nobject,
                },
            });
        }
        let more = rest.peek().is_some();
        (bindings, more.then(|| last.cloned()))
    }
}

/// Returns the reference to a context.
pub(crate) fn context_reference(
    poa: &Poa,
    incarnation: u64,
    number: ContextNumber,
) -> Result<NamingContextExtRef, OrbError> {
    let id = (u128::from(incarnation) << 64) | u128::from(number);
    poa.reference().id(id.to_be_bytes()).create()
}

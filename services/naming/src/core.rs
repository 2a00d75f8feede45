//! State that all contexts of a service share, and its changes.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use punctual::{
    Interface, Minor, ObjectRef, Orb, OrbError, Poa, SystemException, SystemExceptionKind,
    naming::NameComponent,
};
use punctual_os::PiMutex;

use crate::{
    NamingLimits,
    idl::cos_naming::{
        self, Binding, BindingType, NamingContextExtRef, NamingContextRef, naming_context::NotFoundReason,
    },
    iterators::Iterators,
    refusal::Refusal,
    store::{NotStored, Store},
    tree::{Bound, Change, ContextNumber, PER_CONTEXT, ROOT, Tree},
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
    is_stored: bool,
    /// Number of changes that wait for the disk.
    changes: AtomicUsize,
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
            is_stored: store.is_some(),
            store: PiMutex::new(store),
            changes: AtomicUsize::new(0),
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
    pub(crate) fn limit(&self, minor: Minor) -> Refusal {
        self.refused.fetch_add(1, Relaxed);
        Refusal::minor(minor)
    }

    /// Number of a context in an object id; `None`: it is of another service.
    pub(crate) fn number_in(&self, id: &[u8]) -> Option<ContextNumber> {
        let id = u128::from_be_bytes(id.try_into().ok()?);
        // Its upper and lower half.
        ((id >> 64) as u64 == self.incarnation).then_some(id as u64)
    }

    /// Number of a context of this service: its id and addresses are those of one. A copy of the store gives
    /// contexts of another service the same ids.
    pub(crate) fn own_number(&self, context: &NamingContextRef) -> Option<ContextNumber> {
        let number = self.number_in(&self.adapters().contexts.id_of(context).ok()?)?;
        let own = self.context(number).ok()?;
        own.as_object()
            .is_equivalent(context.as_object())
            .then_some(number)
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
            if let Bound::Own(number) = bound
                && !tree.has(number)
            {
                return Err(Refusal::minor(Minor::NAMING_NO_CONTEXT));
            }
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
            let beside = tree.octets() - before.map_or(0, |before| Tree::cost(component, before));
            self.admit(tree, context, component, &bound, beside, before.is_none())?;
            Ok((
                (),
                vec![Change::Bind(context, component.clone(), Arc::new(bound))],
            ))
        })
    }

    /// Checks the limits of a binding, beside which so many octets remain.
    fn admit(
        &self,
        tree: &Tree,
        context: ContextNumber,
        component: &NameComponent,
        bound: &Bound,
        beside: usize,
        is_new: bool,
    ) -> Result<(), Refusal> {
        let number = tree.len(context).ok_or_else(Refusal::gone)?;
        if bound.octets() > self.limits.reference {
            return Err(self.limit(Minor::NAMING_REFERENCE_TOO_LARGE));
        }
        if is_new && number >= self.limits.bindings {
            return Err(self.limit(Minor::NAMING_BINDINGS_EXHAUSTED));
        }
        self.admit_octets(beside + Tree::cost(component, bound))
    }

    /// Checks the octets of all names and references after a change.
    fn admit_octets(&self, octets: usize) -> Result<(), Refusal> {
        match octets > self.limits.octets {
            true => Err(self.limit(Minor::NAMING_OCTETS_EXHAUSTED)),
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

    /// Creates a context at the request of another one, and binds it.
    pub(crate) fn create(
        &self,
        creator: ContextNumber,
        bound: Option<(ContextNumber, &NameComponent)>,
    ) -> Result<ContextNumber, Refusal> {
        self.change(|tree| {
            if !tree.has(creator) {
                return Err(Refusal::gone());
            }
            if bound.is_some_and(|(context, component)| tree.get(context, component).is_some()) {
                return Err(Refusal::AlreadyBound);
            }
            if tree.context_count() >= self.limits.contexts {
                return Err(self.limit(Minor::NAMING_CONTEXTS_EXHAUSTED));
            }
            let (number, octets) = (tree.next_context(), tree.octets() + PER_CONTEXT);
            let mut changes = vec![Change::Create(number)];
            match bound {
                None => self.admit_octets(octets)?,
                Some((context, component)) => {
                    let bound = Bound::Own(number);
                    self.admit(tree, context, component, &bound, octets, true)?;
                    changes.push(Change::Bind(context, component.clone(), Arc::new(bound)));
                }
            }
            Ok((number, changes))
        })
    }

    /// Destroys an empty context. The root is refused with NO_PERMISSION.
    pub(crate) fn destroy(&self, context: ContextNumber) -> Result<(), Refusal> {
        self.change(|tree| match tree.len(context) {
            None => Err(Refusal::gone()),
            Some(0) if context == ROOT => Err(Refusal::minor(Minor::NAMING_ROOT_PERMANENT)),
            Some(0) => Ok(((), vec![Change::Destroy(context)])),
            Some(_) => Err(Refusal::NotEmpty),
        })
    }

    /// Changes the tree as planned, in the store first.
    ///
    /// With a store, the calling thread waits for the disk, after those that have come before it: at most
    /// [`NamingLimits::changes`] do so at a time.
    fn change<R>(&self, plan: impl FnOnce(&Tree) -> Result<(R, Vec<Change>), Refusal>) -> Result<R, Refusal> {
        let waiting = self
            .is_stored
            .then(|| counted(&self.changes, self.limits.changes));
        if let Some(None) = waiting {
            return Err(Refusal::minor(Minor::NAMING_CHANGES_WAITING));
        }
        // Nobody else changes the tree meanwhile, and lookups need not wait for the disk.
        let mut store = self.store.lock();
        if let Some(store) = &mut *store
            && let Some(mut found) = store.reopen().map_err(|failed| self.not_stored(failed))?
        {
            std::mem::swap(&mut *self.tree.lock(), &mut found);
        }
        let (result, changes) = plan(&self.tree.lock())?;
        if let Some(store) = &mut *store {
            store.commit(&changes).map_err(|failed| self.not_stored(failed))?;
        }
        let mut tree = self.tree.lock();
        changes.iter().for_each(|change| tree.apply(change));
        Ok(result)
    }

    /// Counts a change that could not be stored.
    fn not_stored(&self, failed: NotStored) -> Refusal {
        self.not_stored.fetch_add(1, Relaxed);
        let NotStored { problem, completion } = failed;
        *self.store_failure.lock() = Some(problem);
        let minor = Minor::NAMING_NOT_STORED;
        Refusal::System(SystemException::new(
            SystemExceptionKind::PersistStore,
            minor,
            completion,
        ))
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

/// Counts as long as the result exists; `None`: there are as many as permitted.
pub(crate) fn counted(counter: &AtomicUsize, limit: usize) -> Option<impl Drop> {
    let more = |number| (number < limit).then_some(number + 1);
    counter.fetch_update(Relaxed, Relaxed, more).ok()?;
    Some(scopeguard::guard(counter, |counter| {
        counter.fetch_sub(1, Relaxed);
    }))
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

#[cfg(all(test, feature = "store"))]
mod tests {
    use std::{iter, thread, time::Duration};

    use punctual_fixtures::Folder;

    use super::*;
    use crate::{NamingContext, NamingError, NamingService};

    #[test]
    fn beyond_the_limit_changes_do_not_wait_and_lookups_go_on() {
        let folder = Folder::new("naming-changes");
        let orb = Orb::builder().lock_memory(false).build().unwrap();
        let builder = NamingService::builder().store(folder.join("names.redb"));
        let service = builder.serving_threads(4).build(&orb).unwrap();
        let (core, naming) = (&service.core, NamingContext::new(service.root()));
        naming.create("a").unwrap();
        let waiting: Vec<_> = iter::from_fn(|| counted(&core.changes, core.limits.changes)).collect();
        assert_eq!(
            waiting.len(),
            1,
            "of four threads, two may call other servers, and one remains"
        );

        let short = naming.clone().with_timeout(Duration::from_millis(50));
        let NamingError::Call(refused) = short.create("b").unwrap_err() else {
            panic!("no exception");
        };
        assert_eq!(
            (refused.kind, refused.minor, refused.completed),
            (
                SystemExceptionKind::Transient,
                Minor::NAMING_CHANGES_WAITING,
                punctual::Completion::No
            )
        );
        assert!(naming.resolve_object("a").is_ok());
        assert_eq!(service.statistics().contexts, 2);
        thread::scope(|scope| {
            let created = scope.spawn(|| naming.create("b"));
            thread::sleep(Duration::from_millis(30));
            drop(waiting);
            assert!(created.join().unwrap().is_ok(), "the client tries again");
        });
    }

    /// Requests that were looked up before the end of their context.
    #[test]
    fn a_context_that_has_ended_creates_none() {
        let orb = Orb::builder().lock_memory(false).build().unwrap();
        let service = NamingService::builder().build(&orb).unwrap();
        let core = &service.core;
        let number = core.create(ROOT, None).ok().unwrap();
        core.destroy(number).ok().unwrap();
        let Err(Refusal::System(gone)) = core.create(number, None) else {
            panic!("created by a context that does not exist");
        };
        assert_eq!(
            (gone.kind, gone.minor),
            (SystemExceptionKind::ObjectNotExist, Minor::NAMING_GONE)
        );
        assert_eq!(service.statistics().contexts, 1);
    }
}

//! The service: what its contexts share, and how it is set up.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use punctual::{
    Interface, ObjectRef, Orb, OrbError, Poa, SystemException, SystemExceptionKind, ThreadPool,
    naming::NameComponent,
};
use punctual_os::{PiMutex, random};

use crate::{
    NamingLimits,
    idl::cos_naming::{
        self, Binding, BindingType, NamingContextExtRef, NamingContextRef, naming_context::NotFoundReason,
    },
    refusal::Refusal,
    servants::{ContextLocator, IteratorLocator, Iterators, context_reference},
    store::Store,
    tree::{Bound, Change, ContextNumber, ROOT, Tree},
};

/// A naming service: naming contexts as objects of an ORB.
///
/// Names are looked up in memory, under a lock that inherits priority and is held for as long as it takes to
/// follow a name. Changes are written to the store first, if there is one, and become visible when they are on
/// the disk; lookups do not wait for that.
///
/// It keeps its ORB running, and ends with the last clone of this handle: its contexts no longer exist then, and
/// the file of its store is closed.
///
/// ```
/// use std::thread;
/// use punctual::{Interface, Orb};
/// use punctual_naming::{NamingContext, NamingService};
///
/// let server = Orb::builder().listen("iiop://127.0.0.1").build()?;
/// let service = NamingService::builder().build(&server)?;
/// let url = server.publish("NameService", service.root())?;
///
/// let client = Orb::builder().build()?;
/// let found = thread::scope(|scope| {
///     scope.spawn(|| server.run());
///     let found = (|| {
///         let naming = NamingContext::find(&client, &url)?;
///         naming.create("radar")?;
///         naming.bind("radar/names", service.root())?;
///         naming.resolve::<punctual_naming::idl::cos_naming::NamingContextExtRef>("radar/names")
///     })();
///     server.shutdown();
///     found
/// });
/// assert!(found?.as_object().is_equivalent(service.root().as_object()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct NamingService {
    core: Arc<Core>,
    root: NamingContextExtRef,
}

/// Settings of a [`NamingService`].
#[derive(Clone, Default)]
#[must_use = "`build` makes the service"]
pub struct NamingServiceBuilder {
    limits: NamingLimits,
    store: Option<PathBuf>,
    pool: Option<ThreadPool>,
}

/// Contents of a [`NamingService`], and what it has refused.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct NamingStatistics {
    /// Number of contexts, with the root.
    pub contexts: usize,
    /// Number of bindings in all of them.
    pub bindings: usize,
    /// Octets of both, as [`NamingLimits::octets`] counts them.
    pub octets: usize,
    /// Number of iterators, with those that have expired and have not been removed yet.
    pub iterators: usize,
    /// Number of requests beyond a limit.
    pub refused: u64,
    /// Number of changes that could not be stored and have therefore been refused.
    pub not_stored: u64,
}

/// Reason why a naming service cannot be set up.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// The file of the store cannot be used.
    #[error(
        "cannot use the store `{}`: {problem}; it has to be a file of a naming service that no other process \
         uses, or one that does not exist, in a folder in which this user may write",
        .path.display()
    )]
    Store {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// The store has more than the limits permit.
    #[error(
        "the store `{}` has {contexts} contexts and {octets} octets, more than the limits of {} and {}; raise \
         `NamingLimits::contexts` and `NamingLimits::octets`",
        .path.display(), .limits.contexts, .limits.octets
    )]
    StoreTooLarge {
        /// The file.
        path: PathBuf,
        /// Number of contexts in it.
        contexts: usize,
        /// Octets in it, as [`NamingLimits::octets`] counts them.
        octets: usize,
        /// Limits of the service.
        limits: Box<NamingLimits>,
    },
    /// The ORB refused an adapter or reference.
    #[error(transparent)]
    Orb(#[from] OrbError),
    /// The kernel provides no random numbers.
    #[error("no random numbers for the ids of contexts: {0}; does a sandbox refuse `getrandom`?")]
    Random(#[source] std::io::Error),
}

punctual_types::debug_as_display!(ServiceError);

impl NamingService {
    /// Returns the settings of a service in memory with the default limits.
    pub fn builder() -> NamingServiceBuilder {
        NamingServiceBuilder::default()
    }

    /// Returns the reference to the root context, for `Orb::publish("NameService", service.root())`.
    pub fn root(&self) -> &NamingContextExtRef {
        &self.root
    }

    /// Returns its present contents.
    pub fn statistics(&self) -> NamingStatistics {
        let iterators = self.core.iterators.lock().len();
        let tree = self.core.tree.lock();
        NamingStatistics {
            contexts: tree.context_count(),
            bindings: tree.binding_count(),
            octets: tree.octets(),
            iterators,
            refused: self.core.refused.load(Relaxed),
            not_stored: self.core.not_stored.load(Relaxed),
        }
    }

    /// Returns why a change could not be stored, the last time that this happened.
    pub fn store_failure(&self) -> Option<String> {
        self.core.store_failure.lock().clone()
    }
}

impl NamingServiceBuilder {
    /// Sets the limits.
    pub fn limits(mut self, limits: NamingLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Keeps contexts and bindings in this file, which is created if it does not exist. A service that is built
    /// with it later has the same contexts; if its ORB listens at the same address, all references to them are
    /// valid again. Each change is on the disk before its caller gets the reply. Without a file, and without the
    /// feature `store`, everything ends with the service.
    ///
    /// One process at a time can use the file.
    ///
    /// ```
    /// use punctual::Orb;
    /// use punctual_naming::{NamingContext, NamingService};
    ///
    /// let file = std::env::temp_dir().join(format!("names-{}", std::process::id()));
    /// for is_new in [true, false] {
    ///     let orb = Orb::builder().build()?;
    ///     let service = NamingService::builder().store(&file).build(&orb)?;
    ///     let naming = NamingContext::new(service.root());
    ///     assert_eq!(naming.create("radar").is_ok(), is_new, "it is there the second time");
    /// }
    /// # std::fs::remove_file(file)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn store(mut self, file: impl AsRef<Path>) -> Self {
        self.store = Some(file.as_ref().to_owned());
        self
    }

    /// Sets the pool whose threads serve. Default: those that call `Orb::run`. One more than
    /// [`NamingLimits::foreign_calls`] keep serving while contexts of other servers do not answer.
    pub fn threadpool(mut self, pool: &ThreadPool) -> Self {
        self.pool = Some(pool.clone());
        self
    }

    /// Builds the service, which serves from now on: in adapters `NameService` and `NameService.iterators` of
    /// the ORB's root adapter.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub fn build(self, orb: &Orb) -> Result<NamingService, ServiceError> {
        let opened = self.store.as_deref().map(|path| {
            Store::open(path).map_err(|problem| ServiceError::Store {
                path: path.to_owned(),
                problem,
            })
        });
        let (store, incarnation, tree) = match opened.transpose()? {
            Some((store, incarnation, tree)) => (Some(store), incarnation, tree),
            None => (None, random_number().map_err(ServiceError::Random)?, Tree::new()),
        };
        if let Some(path) = &self.store
            && (tree.context_count() > self.limits.contexts || tree.octets() > self.limits.octets)
        {
            return Err(ServiceError::StoreTooLarge {
                path: path.clone(),
                contexts: tree.context_count(),
                octets: tree.octets(),
                limits: Box::new(self.limits),
            });
        }
        let core = Arc::new(Core {
            limits: self.limits,
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
        });
        let child = |name: &str| {
            let child = orb.root_poa().child(name).user_ids();
            self.pool.iter().fold(child, |child, pool| child.threadpool(pool))
        };
        let mut contexts = child("NameService");
        if self.store.is_some() {
            contexts = contexts.persistent();
        }
        let contexts = contexts
            .servant_locator(ContextLocator(Arc::downgrade(&core)))
            .build()?;
        let iterators = child("NameService.iterators");
        let iterators = iterators
            .servant_locator(IteratorLocator(Arc::downgrade(&core)))
            .build()?;
        let root = context_reference(&contexts, incarnation, ROOT)?;
        let _ = core.adapters.set(Adapters { contexts, iterators });
        Ok(NamingService { core, root })
    }
}

/// What all contexts share.
pub(crate) struct Core {
    pub(crate) limits: NamingLimits,
    pub(crate) orb: Orb,
    /// Number in the ids of all contexts: those of another service, or of another run in memory, have another.
    incarnation: u64,
    /// Locked by who changes the tree, from the check to the end.
    store: PiMutex<Option<Store>>,
    pub(crate) tree: PiMutex<Tree>,
    pub(crate) iterators: PiMutex<Iterators>,
    pub(crate) foreign_calls: AtomicUsize,
    refused: AtomicU64,
    not_stored: AtomicU64,
    store_failure: PiMutex<Option<String>>,
    /// Set by [`NamingServiceBuilder::build`], before any request.
    adapters: OnceLock<Adapters>,
}

pub(crate) struct Adapters {
    pub(crate) contexts: Poa,
    pub(crate) iterators: Poa,
}

impl Core {
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
            return Err(Refusal::system(SystemExceptionKind::PersistStore));
        }
        let mut tree = self.tree.lock();
        changes.iter().for_each(|change| tree.apply(change));
        Ok(result)
    }

    /// Returns up to `count` bindings behind a component, within the limit; and, if there are more, the
    /// component behind which they follow.
    #[expect(clippy::type_complexity, reason = "both parts are of one call")]
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

fn random_number() -> std::io::Result<u64> {
    let mut octets = [0; 8];
    random::fill(&mut octets)?;
    Ok(u64::from_be_bytes(octets))
}

//! The service: how it is set up, and its statistics.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use punctual::{Orb, OrbError, ThreadPool};
use punctual_os::random;

use crate::{
    NamingLimits,
    core::{Adapters, Core, context_reference},
    idl::cos_naming::NamingContextExtRef,
    servants::{ContextLocator, IteratorLocator},
    store::Store,
    tree::{ROOT, Tree},
};

/// A naming service: naming contexts as objects of an ORB.
///
/// Names are looked up in memory, under a lock that inherits priority and is held for as long as it takes to
/// follow a name. Changes are written to the store first, if there is one, and become visible when they are
/// on the disk; lookups do not wait for that. The thread that serves the change calls `fsync`, and the other
/// changes wait for it: [`NamingLimits::changes`] at most, so that threads remain for lookups. In a pool with
/// lanes, lookups of a lane depend on no change of another one.
///
/// If the file cannot be written, the change gets PERSIST_STORE, and later changes open the file again, once
/// a second at most; lookups go on meanwhile.
///
/// It keeps its ORB running, and ends with the last clone of this handle: its contexts no longer exist then,
/// and the file of its store is closed.
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
    pub(crate) core: Arc<Core>,
    root: NamingContextExtRef,
}

/// Settings of a [`NamingService`].
#[derive(Clone)]
#[must_use = "`build` makes the service"]
pub struct NamingServiceBuilder {
    limits: NamingLimits,
    store: Option<PathBuf>,
    pool: Option<ThreadPool>,
    threads: usize,
    prune: bool,
}

/// Contents of a [`NamingService`], and counts of what it has refused.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct NamingStatistics {
    /// Number of contexts, including the root.
    pub contexts: usize,
    /// Number of contexts beside the root to which no context of this service is bound: clients that have
    /// created them may have kept a reference, or bound them at another server, or forgotten them.
    pub unnamed: usize,
    /// Number of bindings in all of them.
    pub bindings: usize,
    /// Octets of contexts and bindings, as [`NamingLimits::octets`] counts them.
    pub octets: usize,
    /// Number of iterators, including those that have expired but have not been removed yet.
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
         uses, or one that does not exist, in a folder in which this user may write; instead of a damaged \
         one, restore a copy",
        .path.display()
    )]
    Store {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// The store contains more than the limits permit.
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
        NamingServiceBuilder {
            limits: NamingLimits::default(),
            store: None,
            pool: None,
            threads: 1,
            prune: false,
        }
    }

    /// Returns the reference to the root context, for `Orb::publish("NameService", service.root())`.
    pub fn root(&self) -> &NamingContextExtRef {
        &self.root
    }

    /// Returns the present statistics of the service.
    pub fn statistics(&self) -> NamingStatistics {
        let iterators = self.core.iterators.lock().len();
        let (refused, not_stored) = self.core.failures();
        let tree = self.core.tree.lock();
        NamingStatistics {
            contexts: tree.context_count(),
            unnamed: tree.unnamed_count(),
            bindings: tree.binding_count(),
            octets: tree.octets(),
            iterators,
            refused,
            not_stored,
        }
    }

    /// Returns the reason why a change could not be stored, for the last time that this happened.
    pub fn store_failure(&self) -> Option<String> {
        self.core.store_failure()
    }
}

impl NamingServiceBuilder {
    /// Sets the limits.
    pub fn limits(mut self, limits: NamingLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Keeps contexts and bindings in this file, which is created if it does not exist. A service that is
    /// built with it later has the same contexts; if its ORB listens at the same address, all references to
    /// them are valid again. Each change is on the disk before its caller gets the reply. Without a file, and
    /// without the feature `store`, everything is lost when the service ends.
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

    /// Sets the pool whose threads serve contexts and iterators. Default: those that call `Orb::run`, which
    /// in any case answer clients that look for the published name.
    pub fn threadpool(mut self, pool: &ThreadPool) -> Self {
        self.pool = Some(pool.clone());
        self
    }

    /// States how many threads call `Orb::run`, default 1, if they serve the contexts: one of them does not
    /// wait for other servers or the disk ([`NamingLimits::foreign_calls`], [`NamingLimits::changes`]). The
    /// service knows the number of threads in a [pool](Self::threadpool).
    ///
    /// ```
    /// use punctual::Orb;
    /// use punctual_naming::NamingService;
    ///
    /// let service = NamingService::builder().serving_threads(4).build(&Orb::builder().build()?)?;
    /// # drop(service);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn serving_threads(mut self, number: usize) -> Self {
        self.threads = number;
        self
    }

    /// Drops the contexts of the store to which no name leads from the root, with their bindings; clients may
    /// have forgotten them ([`NamingStatistics::unnamed`]). Do not use it if other naming services or clients
    /// keep references to such contexts.
    ///
    /// ```
    /// use punctual::Orb;
    /// use punctual_naming::{NamingService, idl::cos_naming::NamingContext};
    ///
    /// let file = std::env::temp_dir().join(format!("pruned-{}", std::process::id()));
    /// for (prune, before) in [(false, 0), (false, 1), (true, 0)] {
    ///     let orb = Orb::builder().build()?;
    ///     let builder = NamingService::builder().store(&file);
    ///     let service = if prune { builder.prune() } else { builder }.build(&orb)?;
    ///     assert_eq!(service.statistics().unnamed, before);
    ///     service.root().new_context()?;
    /// #   if before == 1 { service.root().new_context()?; }
    /// }
    /// # std::fs::remove_file(file)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn prune(mut self) -> Self {
        self.prune = true;
        self
    }

    /// Builds the service, which serves from now on: in adapters `NameService` and `NameService.iterators` of
    /// the ORB's root adapter.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub fn build(self, orb: &Orb) -> Result<NamingService, ServiceError> {
        let (store, incarnation, tree) = match &self.store {
            Some(path) => {
                let (store, incarnation, tree) = self.open(path)?;
                (Some(store), incarnation, tree)
            }
            None => (None, random_number().map_err(ServiceError::Random)?, Tree::new()),
        };
        let threads = self.pool.as_ref().map_or(self.threads, |pool| {
            let lanes = pool.statistics().into_iter();
            lanes.map(|(_, lane)| lane.threads.present).sum()
        });
        let limits = self.limits.for_threads(threads);
        let core = Arc::new(Core::new(limits, orb, incarnation, store, tree));
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
        core.set_adapters(Adapters { contexts, iterators });
        Ok(NamingService { core, root })
    }

    /// Opens the store, with what the limits permit.
    fn open(&self, path: &Path) -> Result<(Store, u64, Tree), ServiceError> {
        let failed = |problem| ServiceError::Store {
            path: path.to_owned(),
            problem,
        };
        let (mut store, incarnation, mut tree) = Store::open(path).map_err(failed)?;
        if self.prune {
            let changes = tree.prune();
            store.commit(&changes).map_err(|not| failed(not.problem))?;
            changes.iter().for_each(|change| tree.apply(change));
        }
        if tree.context_count() > self.limits.contexts || tree.octets() > self.limits.octets {
            return Err(ServiceError::StoreTooLarge {
                path: path.to_owned(),
                contexts: tree.context_count(),
                octets: tree.octets(),
                limits: Box::new(self.limits.clone()),
            });
        }
        Ok((store, incarnation, tree))
    }
}

fn random_number() -> std::io::Result<u64> {
    let mut octets = [0; 8];
    random::fill(&mut octets)?;
    Ok(u64::from_be_bytes(octets))
}

//! How an adapter finds the servant of a request, and whether it serves requests at all.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use punctual_os::PiMutex;
use punctual_poa::SlotId;
use punctual_stub::{ObjectRef, Servant, Upcall};
use punctual_types::SystemException;

use crate::{
    AnyServant, Declined, PoaManagerState,
    poa_state::{
        manager::{ManagerCore, ServingPool},
        servant_manager_turn::Turn,
    },
};

/// How an adapter finds the servant of a request, and whether it serves requests at all.
pub(crate) struct RequestProcessing {
    pub(crate) serving_pool: Arc<ServingPool>,
    pub(crate) manager: Arc<ManagerCore>,
    /// Whether it may have active objects: ServantRetentionPolicy RETAIN.
    pub(crate) retains: bool,
    /// Its requests are served one after the other.
    pub(crate) single_thread: Option<Arc<SingleThread>>,
    /// Source of servants for ids without an active object.
    pub(crate) source: OnceLock<ServantSource>,
    pub(crate) adapter_activator: PiMutex<Option<Arc<dyn MakeAdapter>>>,
    /// Turn of its servant manager.
    pub(crate) servant_turn: Turn,
    /// Turn of its adapter activator.
    pub(crate) adapter_turn: Turn,
    /// Number of objects that have been deactivated and of whose end the servant activator does not know yet.
    ending: AtomicUsize,
    /// Whether the servant activator learns of the end of objects.
    etherealizes: AtomicBool,
}

/// A servant activator.
pub(crate) trait Incarnate: Send + Sync {
    fn incarnate(&self, id: &[u8]) -> Result<AnyServant, Declined>;

    fn etherealize(&self, id: &[u8], servant: AnyServant, cleanup: bool, remaining_activations: bool);
}

/// An adapter activator.
pub(crate) trait MakeAdapter: Send + Sync {
    /// Makes the child of this name, and returns whether it has.
    fn make(&self, name: &str) -> bool;
}

/// Source of servants for ids without an active object.
pub(crate) enum ServantSource {
    /// One object that stands for all ids: a default servant, or a servant locator.
    StandIn(SlotId),
    /// Makes the object active.
    Activator(Arc<dyn Incarnate>),
}

impl RequestProcessing {
    pub(crate) fn new(pool: u32, manager: Arc<ManagerCore>) -> Self {
        Self {
            serving_pool: ServingPool::new(pool),
            manager,
            retains: true,
            single_thread: None,
            source: OnceLock::new(),
            adapter_activator: PiMutex::new(None),
            servant_turn: Turn::default(),
            adapter_turn: Turn::default(),
            ending: AtomicUsize::new(0),
            etherealizes: AtomicBool::new(true),
        }
    }

    /// Returns the adapter's servant activator.
    pub(crate) fn activator(&self) -> Option<&Arc<dyn Incarnate>> {
        match self.source.get()? {
            ServantSource::Activator(activator) => Some(activator),
            ServantSource::StandIn(_) => None,
        }
    }

    /// Notes that an object has been deactivated. Returns whether a servant activator learns of its end.
    pub(crate) fn begin_end(&self) -> bool {
        let ends = self.activator().is_some();
        if ends {
            self.ending.fetch_add(1, Ordering::SeqCst);
        }
        ends
    }

    /// Notes that the servant activator has learned of the end of an object.
    pub(crate) fn conclude_end(&self) {
        self.ending.fetch_sub(1, Ordering::SeqCst);
    }

    /// Returns whether it has objects that have been deactivated, but have not ended.
    pub(crate) fn has_ending(&self) -> bool {
        self.ending.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn etherealizes(&self) -> bool {
        self.etherealizes.load(Ordering::SeqCst)
    }

    /// Has objects end without the servant activator from now on.
    pub(crate) fn stop_etherealizing(&self) {
        self.etherealizes.store(false, Ordering::SeqCst);
    }

    /// Pool whose lanes serve its requests; that of none unless its manager is active.
    #[inline(always)]
    pub(crate) fn serving_pool(&self) -> u32 {
        self.serving_pool.now()
    }

    /// Returns whether its manager is active.
    pub(crate) fn is_active(&self) -> bool {
        self.manager.state() == PoaManagerState::Active
    }

    /// Returns the servant as the adapter's thread policy wants it called.
    pub(crate) fn serialized(&self, servant: Arc<dyn Servant>) -> Arc<dyn Servant> {
        match &self.single_thread {
            None => servant,
            Some(thread) => Arc::new(Serialized {
                servant,
                thread: Arc::clone(thread),
            }),
        }
    }
}

/// Lets one thread at a time in; the same thread may enter again, as calls from servant to servant do.
#[derive(Default)]
pub(crate) struct SingleThread {
    /// Thread that is inside; 0: none.
    owner: AtomicUsize,
    entrance: PiMutex<()>,
}

impl SingleThread {
    fn run<R>(&self, job: impl FnOnce() -> R) -> R {
        let own = this_thread();
        // Only this thread sets it to its own number.
        if self.owner.load(Ordering::Relaxed) == own {
            return job();
        }
        let _inside = self.entrance.lock();
        self.owner.store(own, Ordering::Relaxed);
        let _leaving = scopeguard::guard((), |()| self.owner.store(0, Ordering::Relaxed));
        job()
    }
}

/// Returns a number that no other living thread has.
fn this_thread() -> usize {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

struct Serialized {
    servant: Arc<dyn Servant>,
    thread: Arc<SingleThread>,
}

impl Servant for Serialized {
    fn repository_id(&self) -> &str {
        self.servant.repository_id()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.servant.is_a(repository_id)
    }

    fn interface(&self) -> Option<ObjectRef> {
        self.servant.interface()
    }

    fn executes_object_operations(&self) -> bool {
        self.servant.executes_object_operations()
    }

    fn dispatch(&self, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        self.thread.run(|| self.servant.dispatch(upcall))
    }
}

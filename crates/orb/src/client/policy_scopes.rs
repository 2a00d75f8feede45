//! Step 1 of a call, its policies; their scopes are the ORB, the calling thread, and the reference.
//!
//! Policies of a client are merged from the reference, the thread and the ORB; the nearer scope wins. Each
//! reference caches the result and merges again only after a change, so a call with policies costs no more
//! than one without.

use std::{
    cell::{Cell, RefCell},
    ops::Deref,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwapOption;
use punctual_os::PiMutex;
use punctual_stub::{PoliciesInForce, PolicyOverrides};

use super::connection::Identity;

/// The overrides of an ORB.
pub(crate) struct OrbPolicies {
    /// Number of changes, by which references notice them.
    generation: AtomicU64,
    overrides: PiMutex<PolicyOverrides>,
}

impl OrbPolicies {
    pub(crate) fn new(overrides: PolicyOverrides) -> Self {
        Self {
            generation: AtomicU64::new(0),
            overrides: PiMutex::new(overrides),
        }
    }

    pub(crate) fn replace(&self, overrides: PolicyOverrides) {
        *self.overrides.lock() = overrides;
        self.generation.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn add(&self, overrides: PolicyOverrides) {
        let mut current = self.overrides.lock();
        *current = overrides.within(&current);
        self.generation.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn get(&self) -> PolicyOverrides {
        self.overrides.lock().clone()
    }

    fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }
}

/// The overrides of one reference, and the resulting policies.
pub(super) struct ReferencePolicies {
    pub(super) overrides: PolicyOverrides,
    /// Policies for threads without overrides, as of the creation of the reference.
    first: Merged,
    /// Policies for threads without overrides, after those of the ORB have changed.
    later: ArcSwapOption<Merged>,
    /// Identity of the reference, which also identifies its private connections.
    pub(super) identity: Arc<Identity>,
}

/// All scopes merged, as of one generation of the ORB's overrides.
pub(super) struct Merged {
    generation: u64,
    policies: PoliciesInForce,
}

/// Policies in force for a call.
pub(super) enum InForce<'r> {
    /// Policies without a reference count: the ORB's policies seldom change.
    First(&'r PoliciesInForce),
    Later(Arc<Merged>),
}

/// Policies in force, held by a call whose caller continues meanwhile.
pub(super) struct HeldPolicies(Option<Arc<Merged>>);

impl InForce<'_> {
    pub(super) fn hold(self) -> HeldPolicies {
        match self {
            Self::First(_) => HeldPolicies(None),
            Self::Later(merged) => HeldPolicies(Some(merged)),
        }
    }
}

impl Deref for InForce<'_> {
    type Target = PoliciesInForce;

    fn deref(&self) -> &PoliciesInForce {
        match self {
            Self::First(policies) => policies,
            Self::Later(merged) => &merged.policies,
        }
    }
}

impl ReferencePolicies {
    pub(super) fn new(overrides: PolicyOverrides, orb: &OrbPolicies) -> Self {
        Self {
            first: Merged::new(&overrides, orb, None),
            overrides,
            later: ArcSwapOption::empty(),
            identity: Arc::new(Identity),
        }
    }

    /// Policies in force for a call of this thread. Merged again only after a change.
    #[inline(always)]
    pub(super) fn in_force(&self, orb: &OrbPolicies) -> InForce<'_> {
        let generation = orb.generation();
        if HAS_SCOPE.get()
            && let Some(merged) = self.of_scope(orb, generation)
        {
            return InForce::Later(merged);
        }
        if self.first.generation == generation {
            return InForce::First(&self.first.policies);
        }
        self.after_change(orb, generation)
    }

    /// Returns the policies that [`InForce::hold`] has returned.
    pub(super) fn held<'h>(&'h self, HeldPolicies(merged): &'h HeldPolicies) -> &'h PoliciesInForce {
        &merged.as_deref().unwrap_or(&self.first).policies
    }

    /// Policies in force for a call of a thread with overrides.
    fn of_scope(&self, orb: &OrbPolicies, generation: u64) -> Option<Arc<Merged>> {
        SCOPE.with_borrow_mut(|scope| {
            let scope = scope.as_deref_mut()?;
            Some(scope.merged_with(self, orb, generation))
        })
    }

    #[cold]
    fn after_change(&self, orb: &OrbPolicies, generation: u64) -> InForce<'_> {
        let later = self.later.load_full();
        let merged = later.filter(|merged| merged.generation == generation);
        InForce::Later(merged.unwrap_or_else(|| {
            let merged = Arc::new(Merged::new(&self.overrides, orb, None));
            self.later.store(Some(Arc::clone(&merged)));
            merged
        }))
    }
}

impl Merged {
    fn new(reference: &PolicyOverrides, orb: &OrbPolicies, thread: Option<&PolicyOverrides>) -> Self {
        // The number first: if the ORB's overrides change meanwhile, the next call merges again.
        let generation = orb.generation();
        let mut overrides = reference.clone();
        if let Some(thread) = thread {
            overrides = overrides.within(thread);
        }
        let policies = overrides.within(&orb.overrides.lock()).in_force();
        Self { generation, policies }
    }
}

/// The overrides of the calling thread, and the resulting policies of the references that it calls.
pub(crate) struct ThreadScope {
    overrides: PolicyOverrides,
    merged: Vec<(Weak<Identity>, Arc<Merged>)>,
}

thread_local! {
    /// Whether `SCOPE` is one: calls and upcalls without overrides read no more than this.
    static HAS_SCOPE: Cell<bool> = const { Cell::new(false) };
    static SCOPE: RefCell<Option<Box<ThreadScope>>> = const { RefCell::new(None) };
}

/// References whose policies a thread with overrides remembers; calls through more of them merge again and
/// again.
const MAX_MERGED: usize = 256;

impl ThreadScope {
    fn merged_with(
        &mut self,
        reference: &ReferencePolicies,
        orb: &OrbPolicies,
        generation: u64,
    ) -> Arc<Merged> {
        let identity = Arc::as_ptr(&reference.identity);
        let known = self.merged.iter().position(|(of, _)| of.as_ptr() == identity);
        if let Some(position) = known {
            let (_, merged) = &self.merged[position];
            if merged.generation == generation {
                return Arc::clone(merged);
            }
            self.merged.swap_remove(position);
        }
        self.merged.retain(|(of, _)| of.strong_count() > 0);
        if self.merged.len() == MAX_MERGED {
            self.merged.remove(0);
        }
        let merged = Arc::new(Merged::new(&reference.overrides, orb, Some(&self.overrides)));
        self.merged
            .push((Arc::downgrade(&reference.identity), Arc::clone(&merged)));
        merged
    }
}

/// Replaces the overrides of the calling thread.
pub(crate) fn replace_of_thread(overrides: PolicyOverrides) {
    let scope = (overrides != PolicyOverrides::new()).then(|| {
        Box::new(ThreadScope {
            overrides,
            merged: Vec::new(),
        })
    });
    swap_scope(scope);
}

/// Returns the overrides of the calling thread.
pub(crate) fn of_thread() -> PolicyOverrides {
    SCOPE.with_borrow(|scope| {
        scope
            .as_ref()
            .map_or_else(PolicyOverrides::new, |scope| scope.overrides.clone())
    })
}

/// Replaces the thread's overrides and returns the previous ones: an upcall starts with none.
#[inline]
pub(crate) fn swap_scope(scope: Option<Box<ThreadScope>>) -> Option<Box<ThreadScope>> {
    if scope.is_none() && !HAS_SCOPE.get() {
        return None;
    }
    HAS_SCOPE.set(scope.is_some());
    SCOPE.replace(scope)
}

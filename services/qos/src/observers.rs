//! Observers of a contract: objects of other hosts, which are notified of transitions.

use std::{collections::VecDeque, sync::Arc};

use punctual::{Completion, Interface, SystemException, SystemExceptionKind};
use punctual_os::{PiCondvar, PiMutex, ThreadSpec};

use crate::{
    Transition,
    idl::punctual_qos::{ObserverRef, TooManyObservers, contract::ObserveError},
    limits::ServantLimits,
};

/// A thread of the ordinary class calls the observers, one after the other: no thread that reports or
/// evaluates waits for them. It starts with the first one, and ends after its present call when this is
/// dropped. An observer to which a call fails is removed.
pub(crate) struct Observers {
    shared: Arc<Shared>,
    limits: ServantLimits,
}

#[derive(Default)]
struct Shared {
    list: PiMutex<List>,
    changed: PiCondvar,
}

#[derive(Default)]
struct List {
    entries: Vec<(u32, ObserverRef)>,
    next: u32,
    /// Transitions of which the observers have not been notified.
    pending: VecDeque<Transition>,
    has_thread: bool,
    ends: bool,
}

impl Observers {
    pub(crate) fn new(limits: ServantLimits) -> Self {
        Self {
            shared: Arc::default(),
            limits,
        }
    }

    pub(crate) fn number(&self) -> usize {
        self.shared.list.lock().entries.len()
    }

    /// Adds an observer; returns its number. The name of the thread begins with that of the contract.
    pub(crate) fn append(&self, observer: &ObserverRef, contract: &str) -> Result<u32, ObserveError> {
        // Also for oneway calls.
        let observer = ObserverRef::from_object(observer.as_object().with_timeout(self.limits.timeout));
        let mut list = self.shared.list.lock();
        if list.entries.len() >= self.limits.observers {
            return Err(TooManyObservers {}.into());
        }
        if !list.has_thread {
            let shared = Arc::clone(&self.shared);
            let thread = ThreadSpec::new(format!("{contract}-observers")).spawn(move || shared.run());
            let failed = |_| SystemException::new(SystemExceptionKind::NoResources, 0, Completion::No);
            thread.map_err(failed)?;
            list.has_thread = true;
        }
        list.next = list.next.wrapping_add(1);
        let number = list.next;
        list.entries.push((number, observer));
        Ok(number)
    }

    pub(crate) fn remove(&self, number: u32) {
        self.shared.remove(number);
    }

    /// Lets the thread notify all observers of a transition.
    pub(crate) fn notify(&self, transition: &Transition) {
        let mut list = self.shared.list.lock();
        if list.entries.is_empty() {
            return;
        }
        if list.pending.len() >= self.limits.pending {
            list.pending.pop_front();
        }
        list.pending.push_back(transition.clone());
        drop(list);
        self.shared.changed.notify_all();
    }
}

impl Drop for Observers {
    fn drop(&mut self) {
        self.shared.list.lock().ends = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn run(&self) {
        loop {
            let mut list = self.list.lock();
            let idle = |list: &mut List| !list.ends && list.pending.is_empty();
            self.changed.wait_while(&mut list, idle);
            let (observers, transition) = (list.entries.clone(), list.pending.pop_front());
            drop(list);
            for (number, observer) in observers {
                if self.list.lock().ends {
                    return;
                }
                let notified = transition.as_ref().map(
                    |Transition {
                         contract,
                         from,
                         to,
                         number,
                     }| { observer.entered(contract, from, to, *number) },
                );
                if notified.is_some_and(|notified| notified.is_err()) {
                    self.remove(number);
                }
            }
        }
    }

    fn remove(&self, number: u32) {
        self.list.lock().entries.retain(|(own, _)| *own != number);
    }
}

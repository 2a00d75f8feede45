//! Real-time properties of the calling thread, and their scope during upcalls.

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
};

use punctual_flight::{Event, Record, record};
use punctual_os::{Scheduling, SchedulingClass, scheduling};
use punctual_stub::{ContextProperties, PolicyOverrides};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use crate::{
    client,
    config::configuration::Configuration,
    notice,
    poa_state::{object_transform::ObjectTransform, served_id},
};

/// Real-time CORBA view of the calling thread, `RTCORBA::Current`.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// use punctual::{Orb, Priority};
///
/// let orb = Orb::builder().build()?;
/// let current = orb.current();
/// current.set_priority(Priority::new(10_922)?)?;
/// assert_eq!(current.priority()?.value(), 10_922);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Current<'o> {
    configuration: &'o Configuration,
}

impl<'o> Current<'o> {
    pub(crate) fn new(configuration: &'o Configuration) -> Self {
        Self { configuration }
    }

    /// Returns the CORBA priority of this thread: the one set last or, inside an upcall, the priority of the
    /// request. Fails with INITIALIZE if none has been set.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # use punctual_orb::Orb;
    /// use punctual::SystemExceptionKind;
    ///
    /// let orb = Orb::builder().build()?;
    /// let unset = orb.current().priority().unwrap_err();
    /// assert_eq!(unset.kind, SystemExceptionKind::Initialize);
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn priority(&self) -> Result<Priority, SystemException> {
        explicit_priority().ok_or_else(|| {
            SystemException::new(
                SystemExceptionKind::Initialize,
                Minor::PRIORITY_UNSET,
                Completion::No,
            )
        })
    }

    /// Sets the CORBA priority of this thread: its native priority under the ORB's mapping, and the priority
    /// that its calls propagate. Without the right to real-time scheduling, the thread keeps its native
    /// priority, but its calls still propagate the new one. Inside an upcall the priority holds until the
    /// servant returns.
    ///
    /// Fails with DATA_CONVERSION if the mapping has no native priority for it.
    ///
    /// ```
    /// # mod punctual { pub use {punctual_orb::*, punctual_os::*, punctual_types::*}; }
    /// use punctual::{Orb, Priority, SchedulingClass};
    ///
    /// // In the ordinary class the thread's scheduling does not change, but calls propagate the priority.
    /// let orb = Orb::builder().scheduling_class(SchedulingClass::Other).build()?;
    /// orb.current().set_priority(Priority::MAX)?;
    /// assert_eq!(orb.current().priority()?, Priority::MAX);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_priority(&self, priority: Priority) -> Result<(), SystemException> {
        let native = self.configuration.to_native(priority)?;
        // A thread in the ordinary class has no native priority, but its calls have one.
        if self.configuration.scheduling_class != SchedulingClass::Other {
            notice::enter_realtime(self.configuration.lock_memory);
            if is_in_upcall() && SCHEDULING_BEFORE.get().is_none() {
                SCHEDULING_BEFORE.set(Some(scheduling::current()));
            }
            let denied = scheduling::set_current(Scheduling {
                class: self.configuration.scheduling_class,
                priority: native,
            });
            if denied.is_err() {
                notice::realtime_denied();
            }
            record(|| {
                Record::new(Event::PriorityChanged)
                    .priority(priority.value())
                    .detail(native.0.unsigned_abs().into())
            });
        }
        PRIORITY.set(Some(priority));
        Ok(())
    }

    /// Sets client policies of this thread's calls: `CORBA::PolicyCurrent`, with ADD_OVERRIDE. Policies that
    /// are not set here remain; [`Self::replace_policies`] removes them.
    ///
    /// Policies of a reference override them; they override those of the ORB. Like the priority, they belong
    /// to the thread and hold for all ORBs of the program. An upcall starts with none.
    ///
    /// ```
    /// # use punctual_stub as punctual;
    /// # use punctual_orb::Orb;
    /// use std::time::Duration;
    ///
    /// use punctual::PolicyOverrides;
    ///
    /// let orb = Orb::builder().build()?;
    /// let prompt = PolicyOverrides::new().roundtrip_timeout(Duration::from_millis(20));
    /// orb.current().add_policies(prompt.clone());
    /// assert_eq!(orb.current().policies(), prompt);
    /// # orb.current().replace_policies(PolicyOverrides::new());
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn add_policies(&self, policies: PolicyOverrides) {
        client::replace_of_thread(policies.within(&client::of_thread()));
    }

    /// Sets the client policies of this thread's calls and removes all others: `CORBA::PolicyCurrent`, with
    /// SET_OVERRIDE. See [`Self::add_policies`].
    ///
    /// ```
    /// # use punctual_stub as punctual;
    /// # use punctual_orb::Orb;
    /// use punctual::PolicyOverrides;
    ///
    /// let orb = Orb::builder().build()?;
    /// orb.current().add_policies(PolicyOverrides::new().private_connection(true));
    /// orb.current().replace_policies(PolicyOverrides::new());
    /// assert_eq!(orb.current().policies(), PolicyOverrides::new());
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn replace_policies(&self, policies: PolicyOverrides) {
        client::replace_of_thread(policies);
    }

    /// Returns the client policies set for this thread.
    ///
    /// ```
    /// # use punctual_stub as punctual;
    /// # use punctual_orb::Orb;
    /// use punctual::PolicyOverrides;
    ///
    /// let orb = Orb::builder().build()?;
    /// assert_eq!(orb.current().policies(), PolicyOverrides::new());
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn policies(&self) -> PolicyOverrides {
        client::of_thread()
    }
}

impl Current<'_> {
    /// Returns the id of the object that this thread serves through a default servant or a servant locator,
    /// `PortableServer::Current::get_object_id`; the innermost one, if such upcalls are nested. `None`
    /// outside them: an object with its own servant needs no id to be distinguished.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// assert_eq!(orb.current().object_id(), None);
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn object_id(&self) -> Option<Vec<u8>> {
        served_id::current_id()
    }

    /// Returns the context properties that the client has sent with the request that this thread serves:
    /// those named by the `context` clause of the operation. Empty outside such an upcall.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// assert_eq!(orb.current().context_properties().get("user"), None);
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn context_properties(&self) -> ContextProperties {
        CONTEXTS.with_borrow(|contexts| {
            let innermost = contexts.last();
            let present = innermost.filter(|(upcall, _)| *upcall == UPCALLS.get());
            present.map_or_else(ContextProperties::default, |(_, own)| own.clone())
        })
    }
}

/// Sets the context properties of the present upcall; `None`: the servant has returned.
pub(crate) fn set_context_properties(properties: Option<ContextProperties>) {
    CONTEXTS.with_borrow_mut(|contexts| match properties {
        Some(properties) => contexts.push((UPCALLS.get(), properties)),
        None => drop(contexts.pop()),
    });
}

thread_local! {
    static PRIORITY: Cell<Option<Priority>> = const { Cell::new(None) };
    static UPCALLS: Cell<u32> = const { Cell::new(0) };
    /// Scheduling of this thread before the servant of the innermost upcall set a priority; `None` if it has
    /// set none.
    static SCHEDULING_BEFORE: Cell<Option<Scheduling>> = const { Cell::new(None) };
    /// Scheduling that [`swap_own_scheduling`] has set.
    static OWN_SCHEDULING: Cell<Option<Scheduling>> = const { Cell::new(None) };
    /// Whether `TRANSFORM` applies to the calls of this upcall; it is stale otherwise.
    static TRANSFORMS: Cell<bool> = const { Cell::new(false) };
    static TRANSFORM: RefCell<Option<Arc<ObjectTransform>>> = const { RefCell::new(None) };
    /// Context properties of the upcalls that have any, and the number of each upcall: others, which may be
    /// nested in these, read no more than their number.
    static CONTEXTS: RefCell<Vec<(u32, ContextProperties)>> = const { RefCell::new(Vec::new()) };
}

/// Makes calls with this CORBA priority, whatever the thread's own priority is; its native priority does not
/// change. Intended for threads of services that work for clients of several priorities.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// use punctual::{Orb, Priority, at_priority};
///
/// let orb = Orb::builder().build()?;
/// orb.current().set_priority(Priority::MIN)?;
/// at_priority(Priority::MAX, || assert_eq!(orb.current().priority(), Ok(Priority::MAX)));
/// assert_eq!(orb.current().priority()?, Priority::MIN);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn at_priority<R>(priority: Priority, calls: impl FnOnce() -> R) -> R {
    let before = PRIORITY.replace(Some(priority));
    // Also after a panic.
    let _restored = scopeguard::guard(before, |before| PRIORITY.set(before));
    calls()
}

/// Derives the priority of this thread's calls from `own` instead of its present native priority; `None`:
/// from the present one again. Returns the previous value, to be restored. A priority that is set explicitly
/// takes precedence.
///
/// For runtimes that change native priorities to dispatch threads: those say nothing about lanes. It belongs
/// to the thread, and applies to all ORBs of the program.
///
/// ```
/// use punctual_orb::swap_own_scheduling;
/// use punctual_os::Scheduling;
/// use punctual_types::NativePriority;
///
/// let own = Scheduling::fifo(NativePriority(10));
/// assert_eq!(swap_own_scheduling(Some(own)), None);
/// // Calls.
/// assert_eq!(swap_own_scheduling(None), Some(own));
/// ```
pub fn swap_own_scheduling(own: Option<Scheduling>) -> Option<Scheduling> {
    OWN_SCHEDULING.replace(own)
}

/// Returns the CORBA priority that has been set for this thread, as [`Current::priority`] does, but without
/// an ORB: by [`Current::set_priority`] or [`at_priority`], or, inside an upcall, by the request; `None`: by
/// none. Intended for services that make calls for it on threads of their own.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// use punctual::{Priority, at_priority, explicit_priority};
///
/// let inherited = at_priority(Priority::MAX, explicit_priority);
/// assert_eq!((inherited, explicit_priority()), (Some(Priority::MAX), None));
/// ```
pub fn explicit_priority() -> Option<Priority> {
    PRIORITY.get()
}

/// Returns the priority that calls of this thread propagate: the priority set, else the native one mapped
/// back, else the lowest; inside an upcall of an object with a transform, the transformed priority.
///
/// A thread in an ordinary scheduling class has no native priority that could be mapped back; its calls
/// propagate the lowest. (TAO fails such calls with DATA_CONVERSION.) Fails if the transform refuses.
pub(crate) fn call_priority(configuration: &Configuration) -> Result<Priority, SystemException> {
    transformed(thread_priority(configuration))
}

/// Applies the transform of the current upcall, if any, to a priority. Fails if the transform refuses.
pub(crate) fn transformed(priority: Priority) -> Result<Priority, SystemException> {
    if !TRANSFORMS.get() {
        return Ok(priority);
    }
    // The borrow ends before the transform, which is user code, is called.
    let transform = TRANSFORM.with_borrow(Clone::clone);
    transform.map_or(Ok(priority), |transform| transform.outbound(priority))
}

/// Returns the priority of the calling thread: the priority set, else the native one mapped back (its own,
/// where a dispatcher has changed it), else the lowest.
pub(crate) fn thread_priority(configuration: &Configuration) -> Priority {
    explicit_priority().unwrap_or_else(|| {
        let native = OWN_SCHEDULING.get().unwrap_or_else(scheduling::current);
        let mapped = (native.class != SchedulingClass::Other)
            .then(|| configuration.mapping.to_corba(native.priority))
            .flatten();
        mapped.unwrap_or(Priority::MIN)
    })
}

/// Marks the thread as inside an upcall with this CORBA priority until the result is dropped. Its native
/// priority does not change; if the servant changes it, it is restored then.
pub(crate) fn during_upcall(
    priority: Option<Priority>,
    transform: Option<&Arc<ObjectTransform>>,
) -> impl Drop + use<> {
    UPCALLS.set(UPCALLS.get() + 1);
    let priority = PRIORITY.replace(priority);
    let before = SCHEDULING_BEFORE.take();
    let policies = client::swap_scope(None);
    let transforms = TRANSFORMS.replace(transform.is_some());
    // Value of `TRANSFORM` before this upcall, if it has changed it.
    let transform = transform.map(|transform| TRANSFORM.replace(Some(Arc::clone(transform))));
    scopeguard::guard((policies, transform), move |(policies, transform)| {
        PRIORITY.set(priority);
        client::swap_scope(policies);
        TRANSFORMS.set(transforms);
        if let Some(before) = SCHEDULING_BEFORE.replace(before) {
            let _ = scheduling::set_current(before);
        }
        if let Some(transform) = transform {
            TRANSFORM.replace(transform);
        }
        UPCALLS.set(UPCALLS.get() - 1);
    })
}

/// Returns whether the calling thread is inside an upcall.
pub(crate) fn is_in_upcall() -> bool {
    UPCALLS.get() > 0
}

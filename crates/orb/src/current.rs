use std::{
    cell::{Cell, RefCell},
    sync::Arc,
};

use punctual_flight::{Event, Record, record};
use punctual_os::{Scheduling, SchedulingClass, scheduling};
use punctual_stub::PolicyOverrides;
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use crate::{client, configuration::Configuration, notice, object_transform::ObjectTransform};

/// The calling thread, as Real-time CORBA sees it: `RTCORBA::Current`.
///
/// ```
/// use punctual_orb::Orb;
/// use punctual_types::Priority;
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

    /// The CORBA priority of this thread: what was set last, or inside an upcall the one the request runs at.
    ///
    /// Fails with INITIALIZE where none was ever set.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// use punctual_types::SystemExceptionKind;
    ///
    /// let orb = Orb::builder().build()?;
    /// let unset = orb.current().priority().unwrap_err();
    /// assert_eq!(unset.kind, SystemExceptionKind::Initialize);
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn priority(&self) -> Result<Priority, SystemException> {
        explicit_priority()
            .ok_or_else(|| SystemException::new(SystemExceptionKind::Initialize, Minor::NONE, Completion::No))
    }

    /// Gives this thread a CORBA priority: its native priority under the ORB's mapping, and the one its calls carry.
    ///
    /// Where the process has no right to real-time scheduling, the calls carry the priority all the same. Inside an upcall it
    /// holds until the servant returns: the thread is not the servant's.
    /// Fails with DATA_CONVERSION where the mapping has no native priority for it.
    ///
    /// ```
    /// use punctual_orb::Orb;
    /// use punctual_os::SchedulingClass;
    /// use punctual_types::Priority;
    ///
    /// // In the ordinary class the thread stays as it is, and its calls carry the priority.
    /// let orb = Orb::builder().scheduling_class(SchedulingClass::Other).build()?;
    /// orb.current().set_priority(Priority::MAX)?;
    /// assert_eq!(orb.current().priority()?, Priority::MAX);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_priority(&self, priority: Priority) -> Result<(), SystemException> {
        let native = self.configuration.to_native(priority)?;
        // In the ordinary class a thread has no priority, but its calls do.
        if self.configuration.scheduling_class != SchedulingClass::Other {
            notice::enter_realtime(self.configuration.lock_memory);
            if is_in_upcall() && BEFORE.get().is_none() {
                BEFORE.set(Some(scheduling::current()));
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

    /// Sets the client policies of this thread's calls, `CORBA::PolicyCurrent`, in place of those set before.
    ///
    /// References that set policies themselves go before them, and they go before the ORB's. As the priority, they belong to
    /// the thread: they hold for all ORBs of the program. An upcall starts with none.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// use std::time::Duration;
    ///
    /// use punctual_stub::PolicyOverrides;
    ///
    /// let orb = Orb::builder().build()?;
    /// let prompt = PolicyOverrides::new().roundtrip_timeout(Duration::from_millis(20));
    /// orb.current().set_policies(prompt.clone());
    /// assert_eq!(orb.current().policies(), prompt);
    /// # orb.current().set_policies(PolicyOverrides::new());
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn set_policies(&self, policies: PolicyOverrides) {
        client::set_of_thread(policies);
    }

    /// The client policies that were set for this thread.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// use punctual_stub::PolicyOverrides;
    ///
    /// let orb = Orb::builder().build()?;
    /// assert_eq!(orb.current().policies(), PolicyOverrides::new());
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn policies(&self) -> PolicyOverrides {
        client::of_thread()
    }
}

thread_local! {
    static PRIORITY: Cell<Option<Priority>> = const { Cell::new(None) };
    static UPCALLS: Cell<u32> = const { Cell::new(0) };
    /// What this thread ran at before the servant of the innermost upcall gave it a priority; `None`: it did not.
    static BEFORE: Cell<Option<Scheduling>> = const { Cell::new(None) };
    /// Whether the priorities of this upcall's calls are transformed: then by `TRANSFORM`, which is stale otherwise.
    static TRANSFORMS: Cell<bool> = const { Cell::new(false) };
    static TRANSFORM: RefCell<Option<Arc<ObjectTransform>>> = const { RefCell::new(None) };
}

/// What was set on this thread.
pub(crate) fn explicit_priority() -> Option<Priority> {
    PRIORITY.get()
}

/// What calls of this thread carry: the priority set, else the native one mapped back, else the lowest; inside an upcall of an
/// object with a transform, what that makes of it.
///
/// A thread in an ordinary scheduling class has no native priority that could be mapped back; the lowest is what it can
/// honestly claim. (TAO fails such calls with DATA_CONVERSION.) Fails where the transform refuses.
pub(crate) fn call_priority(configuration: &Configuration) -> Result<Priority, SystemException> {
    transformed(thread_priority(configuration))
}

/// What calls of this thread carry if this is its priority; fails where the transform refuses.
pub(crate) fn transformed(priority: Priority) -> Result<Priority, SystemException> {
    if !TRANSFORMS.get() {
        return Ok(priority);
    }
    // Not borrowed over the transform, which is user code.
    let transform = TRANSFORM.with_borrow(Clone::clone);
    transform.map_or(Ok(priority), |transform| transform.outbound(priority))
}

/// The calling thread's own: the priority set, else the native one mapped back, else the lowest.
pub(crate) fn thread_priority(configuration: &Configuration) -> Priority {
    explicit_priority().unwrap_or_else(|| {
        let native = scheduling::current();
        let mapped = (native.class != SchedulingClass::Other)
            .then(|| configuration.mapping.to_corba(native.priority))
            .flatten();
        mapped.unwrap_or(Priority::MIN)
    })
}

/// Marks the thread as inside an upcall with this CORBA priority, until the result is dropped. Its native one stays as it is, and
/// is given back then if the servant has changed it.
pub(crate) fn during_upcall(
    priority: Option<Priority>,
    transform: Option<&Arc<ObjectTransform>>,
) -> impl Drop + use<> {
    UPCALLS.set(UPCALLS.get() + 1);
    let priority = PRIORITY.replace(priority);
    let before = BEFORE.take();
    let policies = client::swap_scope(None);
    let transforms = TRANSFORMS.replace(transform.is_some());
    // Value of `TRANSFORM` before this upcall, if it has changed it.
    let transform = transform.map(|transform| TRANSFORM.replace(Some(Arc::clone(transform))));
    scopeguard::guard((policies, transform), move |(policies, transform)| {
        PRIORITY.set(priority);
        client::swap_scope(policies);
        TRANSFORMS.set(transforms);
        if let Some(before) = BEFORE.replace(before) {
            let _ = scheduling::set_current(before);
        }
        if let Some(transform) = transform {
            TRANSFORM.replace(transform);
        }
        UPCALLS.set(UPCALLS.get() - 1);
    })
}

/// Whether the calling thread is inside an upcall.
pub(crate) fn is_in_upcall() -> bool {
    UPCALLS.get() > 0
}

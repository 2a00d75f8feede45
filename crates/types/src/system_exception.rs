use core::fmt;

use crate::Minor;

/// A failure reported by an ORB, ours or a peer's: what kind, which detail, and whether the operation had run.
///
/// Source: CORBA 3.3 Part 2, 9.4.3.2 (wire form); CORBA 3.3 Part 1, Annex A.5 (kinds and minor codes).
///
/// ```
/// use punctual_types::{Completion, SystemException, SystemExceptionKind};
/// let late = SystemException::new(SystemExceptionKind::Timeout, 0, Completion::Maybe);
/// assert_eq!(late.repository_id(), "IDL:omg.org/CORBA/TIMEOUT:1.0");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SystemException {
    /// Which exception it is.
    pub kind: SystemExceptionKind,
    /// The detail, in the numbering of the vendor in its upper 20 bits.
    pub minor: Minor,
    /// Whether the operation had completed when the exception was raised.
    pub completed: Completion,
}

impl SystemException {
    /// An exception of this kind; `minor` is a plain number or a [`Minor`].
    ///
    /// ```
    /// use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};
    ///
    /// let exception = SystemException::new(SystemExceptionKind::Transient, Minor::CONNECT_REFUSED, Completion::No);
    /// assert_eq!(
    ///     exception.to_string(),
    ///     "CORBA::TRANSIENT (minor Punctual 17, not completed): \
    ///      nobody listens at the address of the reference; is the server running?",
    /// );
    /// ```
    #[cold]
    pub fn new(kind: SystemExceptionKind, minor: impl Into<Minor>, completed: Completion) -> Self {
        Self {
            kind,
            minor: minor.into(),
            completed,
        }
    }

    /// `IDL:omg.org/CORBA/NAME:1.0`.
    pub const fn repository_id(&self) -> &'static str {
        self.kind.repository_id()
    }
}

impl fmt::Display for SystemException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "CORBA::{} (minor {}, {}): ",
            self.kind.name(),
            self.minor,
            self.completed
        )?;
        match self.minor.text() {
            Some(text) => f.write_str(text),
            None => f.write_str(self.kind.text()),
        }
    }
}

impl core::error::Error for SystemException {}

/// Whether an operation had run when a system exception was raised, `CORBA::completion_status`.
///
/// ```
/// use punctual_types::{Completion, SystemException, SystemExceptionKind};
///
/// fn may_call_again(exception: &SystemException) -> bool {
///     exception.completed == Completion::No
/// }
/// let late = SystemException::new(SystemExceptionKind::Timeout, 0, Completion::Maybe);
/// assert!(!may_call_again(&late));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u32)]
pub enum Completion {
    /// The operation ran to its end.
    Yes = 0,
    /// The operation never started: calling again is safe.
    No = 1,
    /// Not known: calling again may run the operation a second time.
    Maybe = 2,
}

impl Completion {
    /// The status a wire value stands for, if any.
    ///
    /// ```
    /// # use punctual_types::Completion;
    /// assert_eq!(Completion::from_wire(2), Some(Completion::Maybe));
    /// assert_eq!(Completion::from_wire(3), None);
    /// ```
    pub const fn from_wire(value: u32) -> Option<Self> {
        match value {
            0 => Some(Self::Yes),
            1 => Some(Self::No),
            2 => Some(Self::Maybe),
            _ => None,
        }
    }
}

impl fmt::Display for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Yes => "completed",
            Self::No => "not completed",
            Self::Maybe => "perhaps completed",
        })
    }
}

/// The standard system exceptions.
///
/// Source: CORBA 3.3 Part 1, Annex A.5.
///
/// ```
/// use punctual_types::SystemExceptionKind;
///
/// assert_eq!(SystemExceptionKind::Timeout.name(), "TIMEOUT");
/// assert_eq!(SystemExceptionKind::Timeout.text(), "the deadline of the call passed");
/// assert_eq!(SystemExceptionKind::ALL.len(), 40);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SystemExceptionKind {
    /// The activity has completed.
    ActivityCompleted,
    /// The call needs an activity.
    ActivityRequired,
    /// A context object is malformed.
    BadContext,
    /// Operations were called in an illegal order.
    BadInvOrder,
    /// The object has no such operation.
    BadOperation,
    /// A parameter is out of range or otherwise illegal.
    BadParam,
    /// A quality of service cannot be provided.
    BadQos,
    /// A type code is malformed.
    BadTypecode,
    /// The peers have no code set in common.
    CodesetIncompatible,
    /// The connection was lost while a call was under way.
    CommFailure,
    /// A value cannot be converted, for instance a character to the code set in use or a priority to a native one.
    DataConversion,
    /// Memory could not be freed.
    FreeMem,
    /// A limit of an implementation was exceeded.
    ImpLimit,
    /// Something has not been initialised.
    Initialize,
    /// The ORB found a fault in itself.
    Internal,
    /// The interface repository could not be reached.
    IntfRepos,
    /// The activity context is illegal here.
    InvalidActivity,
    /// The transaction context is malformed.
    InvalidTransaction,
    /// A flag is illegal.
    InvFlag,
    /// An identifier is malformed.
    InvIdent,
    /// An object reference is malformed or names no object.
    InvObjref,
    /// The policies in force contradict each other.
    InvPolicy,
    /// A message or an argument does not have the form its type prescribes.
    Marshal,
    /// The operation exists but is not implemented.
    NoImplement,
    /// Memory could not be allocated.
    NoMemory,
    /// The caller may not do this.
    NoPermission,
    /// A resource is exhausted.
    NoResources,
    /// A deferred response is not yet available.
    NoResponse,
    /// The object does not exist, and never will again.
    ObjectNotExist,
    /// The object adapter failed.
    ObjAdapter,
    /// Persistent storage failed.
    PersistStore,
    /// A rebind was needed that the policies forbid.
    Rebind,
    /// The distributable thread was cancelled.
    ThreadCancelled,
    /// The deadline of the call passed.
    Timeout,
    /// The transaction mode does not fit.
    TransactionMode,
    /// The call needs a transaction.
    TransactionRequired,
    /// The transaction was rolled back.
    TransactionRolledback,
    /// The transaction service cannot be reached.
    TransactionUnavailable,
    /// The request could not be delivered now; trying again may succeed.
    Transient,
    /// The servant failed in a way its interface does not declare, a panic among them.
    Unknown,
}

impl SystemExceptionKind {
    /// Every kind, in alphabetical order.
    pub const ALL: &[Self] = &[
        Self::ActivityCompleted,
        Self::ActivityRequired,
        Self::BadContext,
        Self::BadInvOrder,
        Self::BadOperation,
        Self::BadParam,
        Self::BadQos,
        Self::BadTypecode,
        Self::CodesetIncompatible,
        Self::CommFailure,
        Self::DataConversion,
        Self::FreeMem,
        Self::ImpLimit,
        Self::Initialize,
        Self::Internal,
        Self::IntfRepos,
        Self::InvalidActivity,
        Self::InvalidTransaction,
        Self::InvFlag,
        Self::InvIdent,
        Self::InvObjref,
        Self::InvPolicy,
        Self::Marshal,
        Self::NoImplement,
        Self::NoMemory,
        Self::NoPermission,
        Self::NoResources,
        Self::NoResponse,
        Self::ObjectNotExist,
        Self::ObjAdapter,
        Self::PersistStore,
        Self::Rebind,
        Self::ThreadCancelled,
        Self::Timeout,
        Self::TransactionMode,
        Self::TransactionRequired,
        Self::TransactionRolledback,
        Self::TransactionUnavailable,
        Self::Transient,
        Self::Unknown,
    ];

    /// The name in IDL, such as `COMM_FAILURE`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ActivityCompleted => "ACTIVITY_COMPLETED",
            Self::ActivityRequired => "ACTIVITY_REQUIRED",
            Self::BadContext => "BAD_CONTEXT",
            Self::BadInvOrder => "BAD_INV_ORDER",
            Self::BadOperation => "BAD_OPERATION",
            Self::BadParam => "BAD_PARAM",
            Self::BadQos => "BAD_QOS",
            Self::BadTypecode => "BAD_TYPECODE",
            Self::CodesetIncompatible => "CODESET_INCOMPATIBLE",
            Self::CommFailure => "COMM_FAILURE",
            Self::DataConversion => "DATA_CONVERSION",
            Self::FreeMem => "FREE_MEM",
            Self::ImpLimit => "IMP_LIMIT",
            Self::Initialize => "INITIALIZE",
            Self::Internal => "INTERNAL",
            Self::IntfRepos => "INTF_REPOS",
            Self::InvalidActivity => "INVALID_ACTIVITY",
            Self::InvalidTransaction => "INVALID_TRANSACTION",
            Self::InvFlag => "INV_FLAG",
            Self::InvIdent => "INV_IDENT",
            Self::InvObjref => "INV_OBJREF",
            Self::InvPolicy => "INV_POLICY",
            Self::Marshal => "MARSHAL",
            Self::NoImplement => "NO_IMPLEMENT",
            Self::NoMemory => "NO_MEMORY",
            Self::NoPermission => "NO_PERMISSION",
            Self::NoResources => "NO_RESOURCES",
            Self::NoResponse => "NO_RESPONSE",
            Self::ObjectNotExist => "OBJECT_NOT_EXIST",
            Self::ObjAdapter => "OBJ_ADAPTER",
            Self::PersistStore => "PERSIST_STORE",
            Self::Rebind => "REBIND",
            Self::ThreadCancelled => "THREAD_CANCELLED",
            Self::Timeout => "TIMEOUT",
            Self::TransactionMode => "TRANSACTION_MODE",
            Self::TransactionRequired => "TRANSACTION_REQUIRED",
            Self::TransactionRolledback => "TRANSACTION_ROLLEDBACK",
            Self::TransactionUnavailable => "TRANSACTION_UNAVAILABLE",
            Self::Transient => "TRANSIENT",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// `IDL:omg.org/CORBA/NAME:1.0`.
    pub const fn repository_id(self) -> &'static str {
        match self {
            Self::ActivityCompleted => "IDL:omg.org/CORBA/ACTIVITY_COMPLETED:1.0",
            Self::ActivityRequired => "IDL:omg.org/CORBA/ACTIVITY_REQUIRED:1.0",
            Self::BadContext => "IDL:omg.org/CORBA/BAD_CONTEXT:1.0",
            Self::BadInvOrder => "IDL:omg.org/CORBA/BAD_INV_ORDER:1.0",
            Self::BadOperation => "IDL:omg.org/CORBA/BAD_OPERATION:1.0",
            Self::BadParam => "IDL:omg.org/CORBA/BAD_PARAM:1.0",
            Self::BadQos => "IDL:omg.org/CORBA/BAD_QOS:1.0",
            Self::BadTypecode => "IDL:omg.org/CORBA/BAD_TYPECODE:1.0",
            Self::CodesetIncompatible => "IDL:omg.org/CORBA/CODESET_INCOMPATIBLE:1.0",
            Self::CommFailure => "IDL:omg.org/CORBA/COMM_FAILURE:1.0",
            Self::DataConversion => "IDL:omg.org/CORBA/DATA_CONVERSION:1.0",
            Self::FreeMem => "IDL:omg.org/CORBA/FREE_MEM:1.0",
            Self::ImpLimit => "IDL:omg.org/CORBA/IMP_LIMIT:1.0",
            Self::Initialize => "IDL:omg.org/CORBA/INITIALIZE:1.0",
            Self::Internal => "IDL:omg.org/CORBA/INTERNAL:1.0",
            Self::IntfRepos => "IDL:omg.org/CORBA/INTF_REPOS:1.0",
            Self::InvalidActivity => "IDL:omg.org/CORBA/INVALID_ACTIVITY:1.0",
            Self::InvalidTransaction => "IDL:omg.org/CORBA/INVALID_TRANSACTION:1.0",
            Self::InvFlag => "IDL:omg.org/CORBA/INV_FLAG:1.0",
            Self::InvIdent => "IDL:omg.org/CORBA/INV_IDENT:1.0",
            Self::InvObjref => "IDL:omg.org/CORBA/INV_OBJREF:1.0",
            Self::InvPolicy => "IDL:omg.org/CORBA/INV_POLICY:1.0",
            Self::Marshal => "IDL:omg.org/CORBA/MARSHAL:1.0",
            Self::NoImplement => "IDL:omg.org/CORBA/NO_IMPLEMENT:1.0",
            Self::NoMemory => "IDL:omg.org/CORBA/NO_MEMORY:1.0",
            Self::NoPermission => "IDL:omg.org/CORBA/NO_PERMISSION:1.0",
            Self::NoResources => "IDL:omg.org/CORBA/NO_RESOURCES:1.0",
            Self::NoResponse => "IDL:omg.org/CORBA/NO_RESPONSE:1.0",
            Self::ObjectNotExist => "IDL:omg.org/CORBA/OBJECT_NOT_EXIST:1.0",
            Self::ObjAdapter => "IDL:omg.org/CORBA/OBJ_ADAPTER:1.0",
            Self::PersistStore => "IDL:omg.org/CORBA/PERSIST_STORE:1.0",
            Self::Rebind => "IDL:omg.org/CORBA/REBIND:1.0",
            Self::ThreadCancelled => "IDL:omg.org/CORBA/THREAD_CANCELLED:1.0",
            Self::Timeout => "IDL:omg.org/CORBA/TIMEOUT:1.0",
            Self::TransactionMode => "IDL:omg.org/CORBA/TRANSACTION_MODE:1.0",
            Self::TransactionRequired => "IDL:omg.org/CORBA/TRANSACTION_REQUIRED:1.0",
            Self::TransactionRolledback => "IDL:omg.org/CORBA/TRANSACTION_ROLLEDBACK:1.0",
            Self::TransactionUnavailable => "IDL:omg.org/CORBA/TRANSACTION_UNAVAILABLE:1.0",
            Self::Transient => "IDL:omg.org/CORBA/TRANSIENT:1.0",
            Self::Unknown => "IDL:omg.org/CORBA/UNKNOWN:1.0",
        }
    }

    /// The kind that a repository id names, if it is a standard system exception.
    ///
    /// ```
    /// # use punctual_types::SystemExceptionKind;
    /// let id = "IDL:omg.org/CORBA/NO_PERMISSION:1.0";
    /// assert_eq!(SystemExceptionKind::from_repository_id(id), Some(SystemExceptionKind::NoPermission));
    /// assert_eq!(SystemExceptionKind::NoPermission.repository_id(), id);
    /// ```
    pub fn from_repository_id(id: &str) -> Option<Self> {
        let name = id.strip_prefix("IDL:omg.org/CORBA/")?.strip_suffix(":1.0")?;
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// One sentence that says what the kind means.
    pub const fn text(self) -> &'static str {
        match self {
            Self::ActivityCompleted => "the activity has completed",
            Self::ActivityRequired => "the call needs an activity",
            Self::BadContext => "a context object is malformed",
            Self::BadInvOrder => "operations were called in an illegal order",
            Self::BadOperation => "the object has no such operation",
            Self::BadParam => "a parameter is out of range or otherwise illegal",
            Self::BadQos => "a quality of service cannot be provided",
            Self::BadTypecode => "a type code is malformed",
            Self::CodesetIncompatible => "the peers have no code set in common",
            Self::CommFailure => "the connection was lost while a call was under way",
            Self::DataConversion => {
                "a value cannot be converted, for instance a character to the code set in use or a priority to a native one"
            }
            Self::FreeMem => "memory could not be freed",
            Self::ImpLimit => "a limit of an implementation was exceeded",
            Self::Initialize => "something has not been initialised",
            Self::Internal => "the ORB found a fault in itself",
            Self::IntfRepos => "the interface repository could not be reached",
            Self::InvalidActivity => "the activity context is illegal here",
            Self::InvalidTransaction => "the transaction context is malformed",
            Self::InvFlag => "a flag is illegal",
            Self::InvIdent => "an identifier is malformed",
            Self::InvObjref => "an object reference is malformed or names no object",
            Self::InvPolicy => "the policies in force contradict each other",
            Self::Marshal => "a message or an argument does not have the form its type prescribes",
            Self::NoImplement => "the operation exists but is not implemented",
            Self::NoMemory => "memory could not be allocated",
            Self::NoPermission => "the caller may not do this",
            Self::NoResources => "a resource is exhausted",
            Self::NoResponse => "a deferred response is not yet available",
            Self::ObjectNotExist => "the object does not exist, and never will again",
            Self::ObjAdapter => "the object adapter failed",
            Self::PersistStore => "persistent storage failed",
            Self::Rebind => "a rebind was needed that the policies forbid",
            Self::ThreadCancelled => "the distributable thread was cancelled",
            Self::Timeout => "the deadline of the call passed",
            Self::TransactionMode => "the transaction mode does not fit",
            Self::TransactionRequired => "the call needs a transaction",
            Self::TransactionRolledback => "the transaction was rolled back",
            Self::TransactionUnavailable => "the transaction service cannot be reached",
            Self::Transient => "the request could not be delivered now; trying again may succeed",
            Self::Unknown => "the servant failed in a way its interface does not declare, a panic among them",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_again_by_its_repository_id() {
        for &kind in SystemExceptionKind::ALL {
            assert_eq!(
                SystemExceptionKind::from_repository_id(kind.repository_id()),
                Some(kind)
            );
        }
        assert_eq!(
            SystemExceptionKind::from_repository_id("IDL:omg.org/CORBA/Object:1.0"),
            None
        );
    }

    #[test]
    fn completion_survives_the_wire() {
        for status in [Completion::Yes, Completion::No, Completion::Maybe] {
            assert_eq!(Completion::from_wire(status as u32), Some(status));
        }
        assert_eq!(Completion::from_wire(3), None);
    }
}

//! The kinds of system exceptions: one table with name and meaning.

macro_rules! kinds {
    ($($kind:ident $name:literal: $text:literal;)*) => {
        /// The standard system exceptions.
        ///
        /// Source: CORBA 3.3 part 1, annex A.5.
        ///
        /// ```
        /// # use punctual_types as punctual;
        /// use punctual::SystemExceptionKind;
        ///
        /// assert_eq!(SystemExceptionKind::Timeout.name(), "TIMEOUT");
        /// assert_eq!(SystemExceptionKind::Timeout.text(), "the deadline of the call passed");
        /// assert_eq!(SystemExceptionKind::ALL.len(), 40);
        /// ```
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum SystemExceptionKind {
            $(#[doc = concat!("`", $name, "`: ", $text, ".")] $kind,)*
        }

        impl SystemExceptionKind {
            /// Every kind, in alphabetical order.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Returns the name in IDL, such as `COMM_FAILURE`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Returns `IDL:omg.org/CORBA/NAME:1.0`.
            pub const fn repository_id(self) -> &'static str {
                match self {
                    $(Self::$kind => concat!("IDL:omg.org/CORBA/", $name, ":1.0"),)*
                }
            }

            /// Returns the meaning of the kind.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$kind => $text,)*
                }
            }
        }
    };
}

kinds! {
    ActivityCompleted "ACTIVITY_COMPLETED": "the activity has completed";
    ActivityRequired "ACTIVITY_REQUIRED": "the call needs an activity";
    BadContext "BAD_CONTEXT": "a context object is malformed";
    BadInvOrder "BAD_INV_ORDER": "operations were called in an illegal order";
    BadOperation "BAD_OPERATION": "the object has no such operation";
    BadParam "BAD_PARAM": "a parameter is out of range or otherwise illegal";
    BadQos "BAD_QOS": "a quality of service cannot be provided";
    BadTypecode "BAD_TYPECODE": "a type code is malformed";
    CodesetIncompatible "CODESET_INCOMPATIBLE": "the peers have no code set in common";
    CommFailure "COMM_FAILURE": "the connection was lost during a call";
    DataConversion "DATA_CONVERSION": "a value cannot be converted, such as a character to another code set";
    FreeMem "FREE_MEM": "memory could not be freed";
    ImpLimit "IMP_LIMIT": "a limit of the implementation was exceeded";
    Initialize "INITIALIZE": "a component has not been initialised";
    Internal "INTERNAL": "internal error of the ORB";
    IntfRepos "INTF_REPOS": "the interface repository could not be reached";
    InvalidActivity "INVALID_ACTIVITY": "the activity context is illegal here";
    InvalidTransaction "INVALID_TRANSACTION": "the transaction context is malformed";
    InvFlag "INV_FLAG": "a flag is illegal";
    InvIdent "INV_IDENT": "an identifier is malformed";
    InvObjref "INV_OBJREF": "an object reference is malformed or names no object";
    InvPolicy "INV_POLICY": "the policies in force contradict each other";
    Marshal "MARSHAL": "a message or argument is not encoded as its type prescribes";
    NoImplement "NO_IMPLEMENT": "the operation exists but is not implemented";
    NoMemory "NO_MEMORY": "memory could not be allocated";
    NoPermission "NO_PERMISSION": "the caller lacks the permission for this operation";
    NoResources "NO_RESOURCES": "a resource is exhausted";
    NoResponse "NO_RESPONSE": "a deferred response is not yet available";
    ObjectNotExist "OBJECT_NOT_EXIST": "the object does not exist and never will again";
    ObjAdapter "OBJ_ADAPTER": "the object adapter failed";
    PersistStore "PERSIST_STORE": "persistent storage failed";
    Rebind "REBIND": "the policies forbid a rebind that was needed";
    ThreadCancelled "THREAD_CANCELLED": "the distributable thread was cancelled";
    Timeout "TIMEOUT": "the deadline of the call passed";
    TransactionMode "TRANSACTION_MODE": "the transaction mode does not fit";
    TransactionRequired "TRANSACTION_REQUIRED": "the call needs a transaction";
    TransactionRolledback "TRANSACTION_ROLLEDBACK": "the transaction was rolled back";
    TransactionUnavailable "TRANSACTION_UNAVAILABLE": "the transaction service cannot be reached";
    Transient "TRANSIENT": "the request could not be delivered; a retry may succeed";
    Unknown "UNKNOWN": "the servant failed in a way that its interface does not declare, such as a panic";
}

impl SystemExceptionKind {
    /// Returns the standard system exception that a repository id names.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repository_id_identifies_the_kind() {
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
}

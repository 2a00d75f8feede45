//! System exceptions.

use core::fmt;

use crate::{
    Detail, Minor, SystemExceptionKind,
    detail::{self, DetailId},
};

/// A failure reported by this ORB or a peer: kind, detail, and whether the operation had run.
///
/// Source: CORBA 3.3 part 2, 9.4.3.2 (wire form); part 1, annex A.5 (kinds and minor codes).
///
/// ```
/// # use punctual_types as punctual;
/// use punctual::{Completion, SystemException, SystemExceptionKind};
/// let late = SystemException::new(SystemExceptionKind::Timeout, 0, Completion::Maybe);
/// assert_eq!(late.repository_id(), "IDL:omg.org/CORBA/TIMEOUT:1.0");
/// ```
#[derive(Clone, Copy)]
pub struct SystemException {
    /// The kind of exception.
    pub kind: SystemExceptionKind,
    /// The exact cause.
    pub minor: Minor,
    /// Whether the operation had completed when the exception was raised.
    pub completed: Completion,
    /// Subject of the exception, which only its text shows.
    detail: Option<DetailId>,
    origin: ExceptionOrigin,
}

crate::debug_as_display!(SystemException);

impl SystemException {
    /// Creates an exception; `minor` is a [`Minor`] or a plain number.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// use punctual::{Completion, Minor, SystemException, SystemExceptionKind};
    ///
    /// let exception =
    ///     SystemException::new(SystemExceptionKind::Transient, Minor::CONNECT_REFUSED, Completion::No);
    /// assert_eq!(
    ///     exception.to_string(),
    ///     "CORBA::TRANSIENT (minor Punctual 17, not completed): \
    ///      no server is listening at the address of the reference; check that the server is running \
    ///      (or was it restarted? resolve again)",
    /// );
    /// ```
    #[cold]
    pub fn new(kind: SystemExceptionKind, minor: impl Into<Minor>, completed: Completion) -> Self {
        Self {
            kind,
            minor: minor.into(),
            completed,
            detail: None,
            origin: ExceptionOrigin::Here,
        }
    }

    /// Returns how this process came to the exception. Comparisons ignore it, and GIOP messages do not
    /// contain it.
    pub const fn origin(&self) -> ExceptionOrigin {
        self.origin
    }

    /// Returns the exception as one that a call has failed with; for the ORB. One that arrived in a reply
    /// stays so.
    #[cold]
    #[must_use]
    pub fn of_call(self) -> Self {
        match self.origin {
            ExceptionOrigin::Reply => self,
            ExceptionOrigin::Here | ExceptionOrigin::Call => Self {
                origin: ExceptionOrigin::Call,
                ..self
            },
        }
    }

    /// Returns the exception as one that has arrived in a reply; for the ORB. Its text says so.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// use punctual::{Completion, Minor, SystemException, SystemExceptionKind};
    ///
    /// let (kind, minor) = (SystemExceptionKind::Transient, Minor::CONNECT_REFUSED);
    /// let text = SystemException::new(kind, minor, Completion::Maybe).of_reply().to_string();
    /// assert!(text.contains("raised by the server, perhaps in a call of its own: no server is listening"));
    /// ```
    #[cold]
    #[must_use]
    pub fn of_reply(self) -> Self {
        Self {
            origin: ExceptionOrigin::Reply,
            ..self
        }
    }

    /// Returns the exception that a servant's client receives in its place. An exception of a call that the
    /// servant has made becomes "perhaps completed": its completion was that of the servant's call, and the
    /// servant itself has run. Others remain, also those with a completion of the servant's own
    /// ([`Self::with_completion`]): the servant knows what it has done.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// use punctual::{Completion, SystemException, SystemExceptionKind};
    ///
    /// let refused = SystemException::new(SystemExceptionKind::NoPermission, 0, Completion::No);
    /// assert_eq!(refused.relayed(), refused);
    /// let of_call = refused.of_call();
    /// assert_eq!(of_call.relayed().completed, Completion::Maybe);
    /// assert_eq!(of_call.with_completion(Completion::No).relayed().completed, Completion::No);
    /// ```
    #[cold]
    #[must_use]
    pub fn relayed(self) -> Self {
        match self.origin {
            ExceptionOrigin::Here => self,
            ExceptionOrigin::Call | ExceptionOrigin::Reply => Self {
                completed: Completion::Maybe,
                ..self
            },
        }
    }

    /// Returns the same exception with another completion status, which is that of the caller of this: a
    /// servant that passes it on keeps it, see [`Self::relayed`].
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// use punctual::{Completion, SystemException, SystemExceptionKind};
    ///
    /// let lost = SystemException::new(SystemExceptionKind::CommFailure, 0, Completion::No);
    /// assert_eq!(lost.with_completion(Completion::Maybe).completed, Completion::Maybe);
    /// ```
    #[must_use]
    pub fn with_completion(self, completed: Completion) -> Self {
        Self {
            completed,
            origin: ExceptionOrigin::Here,
            ..self
        }
    }

    /// Adds its subject to its text, such as an address. Neither comparisons nor messages contain this. The
    /// latest 64 details of a process are kept: print an exception soon. [`Detail`] has an example.
    #[cold]
    #[must_use]
    pub fn with_detail(self, detail: &Detail) -> Self {
        Self {
            detail: detail::keep(detail),
            ..self
        }
    }

    /// Returns its subject, unless later details have replaced it.
    pub fn detail(&self) -> Option<Detail> {
        detail::kept(self.detail?)
    }

    /// Returns `IDL:omg.org/CORBA/NAME:1.0`.
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
        let detail = self.detail();
        let (server, detail) = match self.origin {
            ExceptionOrigin::Reply => (
                detail.filter(Detail::is_address),
                detail.filter(|it| !it.is_address()),
            ),
            ExceptionOrigin::Here | ExceptionOrigin::Call => (None, detail),
        };
        if self.origin == ExceptionOrigin::Reply {
            f.write_str("raised by the server")?;
            server.map_or(Ok(()), |address| write!(f, " {address}"))?;
            if self.completed == Completion::Maybe {
                f.write_str(", perhaps in a call of its own")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(self.minor.meaning(self.kind).unwrap_or(self.kind.text()))?;
        detail.map_or(Ok(()), |detail| write!(f, " ({detail})"))
    }
}

impl PartialEq for SystemException {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.minor, self.completed) == (other.kind, other.minor, other.completed)
    }
}

impl Eq for SystemException {}

impl core::error::Error for SystemException {}

/// How a process came to a system exception.
///
/// ```
/// # use punctual_types as punctual;
/// use punctual::{Completion, ExceptionOrigin, SystemException, SystemExceptionKind};
///
/// let refused = SystemException::new(SystemExceptionKind::NoPermission, 0, Completion::No);
/// assert_eq!(refused.origin(), ExceptionOrigin::Here);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ExceptionOrigin {
    /// Code of this process created it, not in a call.
    Here,
    /// A call failed with it on the client's side: on the way, or without a reply.
    Call,
    /// It arrived in the reply to a call.
    Reply,
}

/// Whether an operation had run when a system exception was raised, `CORBA::completion_status`.
///
/// ```
/// # use punctual_types as punctual;
/// use punctual::{Completion, SystemException, SystemExceptionKind};
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
    /// The operation never started, or its servant says that it had no effect: a retry is safe.
    No = 1,
    /// Unknown: a retry may run the operation a second time.
    Maybe = 2,
}

impl Completion {
    /// Returns the status that a wire value stands for.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_round_trip() {
        for status in [Completion::Yes, Completion::No, Completion::Maybe] {
            assert_eq!(Completion::from_wire(status as u32), Some(status));
        }
        assert_eq!(Completion::from_wire(3), None);
    }

    #[test]
    fn a_detail_costs_no_memory_in_the_exception() {
        assert_eq!(size_of::<SystemException>(), 12);
    }
}

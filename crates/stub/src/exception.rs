//! User exceptions and errors of operations.

use punctual_cdr::{CdrError, Decoder, Encode};
use punctual_types::SystemException;

use crate::Upcall;

/// An exception declared in IDL.
///
/// ```
/// # mod punctual { pub use {punctual_stub::*, punctual_types::*}; }
/// use punctual::{SystemException, rt::{CdrError, Encode, Encoder, Upcall, UserException}};
///
/// /// `exception Lost { long track; };`
/// struct Lost { track: i32 }
///
/// impl Encode for Lost {
///     fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
///         self.track.encode(encoder)
///     }
/// }
///
/// impl UserException for Lost {
///     const REPOSITORY_ID: &'static str = "IDL:radar/Lost:1.0";
/// }
///
/// fn refuse(upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
///     upcall.raise(&Lost { track: 7 })
/// }
/// # use punctual_cdr::{Decode, Decoder, Endian};
/// # let (mut reply, mut pool) = (Vec::new(), punctual_stub::ReusePool::default());
/// # let arguments = Decoder::new(&[], Endian::NATIVE);
/// # let results = Encoder::new(&mut reply, Endian::NATIVE);
/// # let mut upcall = Upcall::new("follow", arguments, results, 1, true, &mut pool);
/// # refuse(&mut upcall)?;
/// # assert_eq!(upcall.outcome(), punctual_stub::Outcome::UserException);
/// # drop(upcall);
/// # assert_eq!(String::decode(&mut Decoder::new(&reply, Endian::NATIVE)).unwrap(), Lost::REPOSITORY_ID);
/// # Ok::<(), SystemException>(())
/// ```
pub trait UserException: Encode {
    /// Repository id of the exception.
    const REPOSITORY_ID: &'static str;
}

/// The error of an operation: a system exception, or a user exception that the operation declares.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_cdr as value, punctual_stub::*, punctual_types::*}; }
/// use punctual::{Completion, SystemException, SystemExceptionKind};
/// use punctual::rt::{OperationError, Upcall};
/// use punctual::value::{CdrError, Decoder, Endian};
///
/// /// The error of an operation that declares `raises (Lost)`, an exception without members.
/// #[derive(Debug, PartialEq)]
/// enum FollowError { Lost, System(SystemException) }
///
/// impl From<SystemException> for FollowError {
///     fn from(exception: SystemException) -> Self {
///         Self::System(exception)
///     }
/// }
///
/// impl OperationError for FollowError {
///     fn raise(self, _: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
///         match self {
///             Self::System(exception) => Err(exception),
///             // Generated code writes the exception here: `upcall.raise(&lost)`.
///             Self::Lost => Ok(()),
///         }
///     }
///
///     fn decode(repository_id: &str, _: &mut Decoder<'_>) -> Result<Option<Self>, CdrError> {
///         Ok((repository_id == "IDL:radar/Lost:1.0").then_some(Self::Lost))
///     }
/// }
/// let mut body = Decoder::new(&[], Endian::NATIVE);
/// assert_eq!(FollowError::decode("IDL:radar/Lost:1.0", &mut body)?, Some(FollowError::Lost));
/// assert_eq!(FollowError::decode("IDL:radar/Other:1.0", &mut body)?, None, "becomes UNKNOWN");
/// # Ok::<(), CdrError>(())
/// ```
pub trait OperationError: From<SystemException> {
    /// Encodes the exception in the reply. A system exception is returned to the ORB instead.
    fn raise(self, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException>;

    /// Decodes the user exception with this repository id, if the operation declares it.
    fn decode(repository_id: &str, decoder: &mut Decoder<'_>) -> Result<Option<Self>, CdrError>;
}

/// The error of operations without user exceptions.
impl OperationError for SystemException {
    fn raise(self, _: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        Err(self)
    }

    fn decode(_: &str, _: &mut Decoder<'_>) -> Result<Option<Self>, CdrError> {
        Ok(None)
    }
}

impl Upcall<'_, '_> {
    /// Writes a user exception as the reply.
    pub fn raise<E: UserException>(&mut self, exception: &E) -> Result<(), SystemException> {
        self.user_exception(|reply| {
            E::REPOSITORY_ID.encode(reply)?;
            exception.encode(reply)
        })
    }

    /// Writes the error of the servant as the reply.
    pub fn fail<E: OperationError>(&mut self, error: E) -> Result<(), SystemException> {
        error.raise(self)
    }
}

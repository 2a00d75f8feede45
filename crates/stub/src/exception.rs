//! User exceptions and errors of operations.

use punctual_cdr::{CdrError, Decoder, Encode};
use punctual_types::SystemException;

use crate::Upcall;

/// An exception declared in IDL.
pub trait UserException: Encode {
    /// Repository id of the exception.
    const REPOSITORY_ID: &'static str;
}

/// The error of an operation: a system exception, or a user exception that the operation declares.
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

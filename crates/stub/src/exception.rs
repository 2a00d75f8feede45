use punctual_cdr::{CdrError, Decoder, Encode};
use punctual_types::SystemException;

use crate::Upcall;

/// An exception declared in IDL.
pub trait UserException: Encode {
    /// Its name on the wire.
    const REPOSITORY_ID: &'static str;
}

/// What an operation may fail with: a system exception, or one of the user exceptions it declares.
pub trait OperationError: From<SystemException> {
    /// Writes the exception into the reply. A system exception is handed back for the ORB to write.
    fn raise(self, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException>;

    /// The user exception with this repository id, if the operation declares it.
    fn decode(repository_id: &str, decoder: &mut Decoder<'_>) -> Result<Option<Self>, CdrError>;
}

/// For operations that declare no exception.
impl OperationError for SystemException {
    fn raise(self, _: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        Err(self)
    }

    fn decode(_: &str, _: &mut Decoder<'_>) -> Result<Option<Self>, CdrError> {
        Ok(None)
    }
}

use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};
use thiserror::Error;

use super::constants::MAX_KEYS;

/// Why storage could not be used.
///
/// ```
/// use punctual_rtsched::storage::{StorageError, StorageKey};
/// use punctual_types::{SystemException, SystemExceptionKind};
///
/// let error = StorageKey::new()?.get().unwrap_err();
/// assert_eq!(error, StorageError::NoDistributableThread);
/// // As a servant may pass it on.
/// assert_eq!(SystemException::from(error).kind, SystemExceptionKind::BadInvOrder);
/// # Ok::<(), StorageError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum StorageError {
    /// The calling thread runs no distributable thread.
    #[error(
        "no distributable thread runs here, so there is no storage; begin a scheduling segment first, or spawn a distributable thread"
    )]
    NoDistributableThread,
    /// The key has been deleted.
    #[error("the key has been deleted; make a new one with `new`")]
    StaleKey,
    /// [`MAX_KEYS`] keys are there already.
    #[error(
        "all {MAX_KEYS} keys are in use; delete those that are not needed any more, or keep several values under one key"
    )]
    TooManyKeys,
}

/// BAD_INV_ORDER outside of distributable threads, BAD_PARAM for a stale key, IMP_LIMIT for too many.
impl From<StorageError> for SystemException {
    fn from(error: StorageError) -> Self {
        let kind = match error {
            StorageError::NoDistributableThread => SystemExceptionKind::BadInvOrder,
            StorageError::StaleKey => SystemExceptionKind::BadParam,
            StorageError::TooManyKeys => SystemExceptionKind::ImpLimit,
        };
        Self::new(kind, Minor::NONE, Completion::No)
    }
}

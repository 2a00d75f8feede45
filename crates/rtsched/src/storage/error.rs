//! Errors of storage.

use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};
use thiserror::Error;

use super::constants::MAX_KEYS;

/// Error of storage.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_rtsched as rtscheduling, punctual_types::*}; }
/// use punctual::{SystemException, SystemExceptionKind, rtscheduling::storage::{StorageError, StorageKey}};
///
/// let error = StorageKey::new()?.get().unwrap_err();
/// assert_eq!(error, StorageError::NoDistributableThread);
/// // As a servant may pass it on.
/// assert_eq!(SystemException::from(error).kind, SystemExceptionKind::BadInvOrder);
/// # Ok::<(), StorageError>(())
/// ```
#[derive(Clone, Copy, Eq, Error, PartialEq)]
pub enum StorageError {
    /// The calling OS thread runs no distributable thread.
    #[error(
        "no distributable thread runs here; begin a scheduling segment or spawn a distributable thread first"
    )]
    NoDistributableThread,
    /// The key has been deleted.
    #[error("the storage key has been deleted; create a new one with `new`")]
    StaleKey,
    /// [`MAX_KEYS`] keys exist already.
    #[error(
        "all {MAX_KEYS} storage keys are in use; delete unused keys, or keep several values under one key"
    )]
    TooManyKeys,
}

punctual_types::debug_as_display!(StorageError);

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

//! Replacement for the store without the feature `store`.

use std::path::Path;

use punctual::Completion;

use crate::tree::{Change, Tree};

/// A store that cannot be opened.
pub(crate) enum Store {}

impl Store {
    pub(crate) fn open(_: &Path) -> Result<(Self, u64, Tree), String> {
        Err("this program is built without the feature `store` of punctual-naming".to_owned())
    }

    pub(crate) fn reopen(&mut self) -> Result<Option<Tree>, NotStored> {
        match *self {}
    }

    pub(crate) fn commit(&mut self, _: &[Change]) -> Result<(), NotStored> {
        match *self {}
    }
}

/// An error that does not occur.
pub(crate) struct NotStored {
    pub(crate) problem: String,
    pub(crate) completion: Completion,
}

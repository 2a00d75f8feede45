//! Punctual: the tasks of the repository.

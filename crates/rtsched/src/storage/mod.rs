//! Storage of distributable threads: what thread-specific storage is to threads of the system.
//!
//! A value is bound to the distributable thread that stores it, at this host. Wherever the thread returns to the host, it finds
//! the value: after a call that another thread of the system serves for it, in a call back, in a later visit. Source: \[S4\]
//! section 2.4, figure 5.
//!
//! | What is stored | Key | Cost |
//! |---|---|---|
//! | a word, as `void *` of POSIX threads | [`StorageKey`] | that of `pthread_getspecific` |
//! | a number, a priority, a flag | [`WordKey`] | the same |
//! | anything else | [`ObjectKey`] | a lock and a reference count |
//!
//! Keys belong to the process, as those of POSIX do; [`MAX_KEYS`] may be there at once. Making one, reading and writing take as
//! long with ten thousand keys as with one. What a thread stores is dropped when the thread ends at the host where it began; what
//! a visitor stores is kept for its next visit, within limits ([`RetainedStorage`]).
//!
//! Values are of this host: they do not travel with the thread.
//!
//! ```
//! use punctual_rtsched::storage::{ThreadStorage, WordKey};
//!
//! let hops = WordKey::<u32>::new()?;
//! let storage = ThreadStorage::new();
//! storage.enter(|| hops.set(1))?;
//! // Another thread of the system runs the same distributable thread later.
//! let other = storage.clone();
//! let found = std::thread::spawn(move || other.enter(|| hops.get())).join().unwrap()?;
//! assert_eq!(found, Some(1));
//! # Ok::<(), punctual_rtsched::storage::StorageError>(())
//! ```

mod attachment;
mod constants;
mod error;
mod housekeeper;
mod key;
mod key_table;
mod object_key;
mod retained;
mod slots;
mod thread_storage;
mod word_key;

pub use attachment::{attach, detach, is_attached};
pub use constants::MAX_KEYS;
pub use error::StorageError;
pub use housekeeper::Housekeeper;
pub use key::StorageKey;
pub use object_key::ObjectKey;
pub use retained::{RetainedStorage, RetentionLimits};
pub use thread_storage::{ThreadStorage, panicked_destructors};
pub use word_key::{Word, WordKey};

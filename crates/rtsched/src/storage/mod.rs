//! Storage of distributable threads, as thread-specific storage is for OS threads.
//!
//! A value is bound to the distributable thread that stores it, at this host. Whenever the thread is at this
//! host, it finds the value: after a call that another OS thread serves for it, in a callback, and when it
//! returns later. Source: \[Gill 2004\] section 2.4, figure 5.
//!
//! | Value | Key | Cost |
//! |---|---|---|
//! | a word, as `void *` of POSIX threads | [`StorageKey`] | that of `pthread_getspecific` |
//! | a number, a priority, a flag | [`WordKey`] | the same |
//! | anything else | [`ObjectKey`] | a lock and a reference count |
//!
//! Keys belong to the process, as in POSIX; at most [`MAX_KEYS`] exist at a time. Creation, reads and writes
//! take the same time with ten thousand keys as with one. Values are dropped when the thread ends at the host
//! where it began; at other hosts, they are retained within limits until the thread returns
//! ([`RetainedStorage`]).
//!
//! Values are local to this host: they do not travel with the thread.
//!
//! An OS thread points to the slots of the thread that it runs. Slots are atomic, pooled and never freed, so
//! the pointer needs no reference count.
//!
//! ```
//! # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
//! use punctual::rtscheduling::storage::{ThreadStorage, WordKey};
//!
//! let hops = WordKey::<u32>::new()?;
//! let storage = ThreadStorage::new();
//! storage.enter(|| hops.set(1))?;
//! // Another OS thread runs the same distributable thread later.
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

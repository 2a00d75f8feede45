//! The flight recorder: what happens to calls, noted on the threads that handle them.
//!
//! Each thread has a ring of records of 32 octets in a file of its own, `PROCESS-THREAD.flight`, in a folder in main
//! memory. A record costs two readings of memory, one of the clock and four words written: no system call, no lock, no heap
//! once the thread's ring is there. When a ring is full the oldest record is overwritten. The files stay when the process
//! ends, however it ends, and any process of the same user can read them meanwhile.
//!
//! While the recorder is off, [`record()`] costs one predictable branch.
//!
//! | Question | Module |
//! |---|---|
//! | What is noted | [`record`](mod@record) |
//! | Which connection, so that client and server can be joined | [`link`] |
//! | What a file looks like | [`file`](mod@file) |
//!
//! ```
//! use punctual_flight::{Event, Record, Settings};
//!
//! let folder = std::path::PathBuf::from(format!("/dev/shm/punctual-example-{}", std::process::id()));
//! std::fs::create_dir(&folder)?;
//! punctual_flight::start(&Settings::new(&folder))?;
//! punctual_flight::record(|| Record::new(Event::Sent).request(7));
//! let threads = punctual_flight::read_folder(&folder)?;
//! assert_eq!(threads[0].records[0].request, 7);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), std::io::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod file;
pub mod link;
pub mod record;
mod recorder;

pub use file::{ThreadRecords, read_folder};
pub use link::Link;
pub use record::{Event, Record, model, operation_id};
pub use recorder::{
    ENVIRONMENT, ENVIRONMENT_RECORDS, Settings, is_on, prepare_thread, record, start, start_from_environment,
};

//! The flight recorder: events of calls, recorded by the threads that handle them.
//!
//! Each thread has a ring of records of 32 octets in its own file, `PROCESS-THREAD.flight`, in a folder in
//! main memory. A record costs two memory reads, a clock query and four words written: no system call, no
//! lock, and no heap after the thread's ring has been created. When a ring is full, the oldest record is
//! overwritten. The files remain when the process ends, however it ends, and any process of the same user can
//! read them meanwhile.
//!
//! While the recorder is off, [`record()`] costs one predictable branch.
//!
//! | Question | Module |
//! |---|---|
//! | Which events are recorded | [`record`](mod@record) |
//! | Which connection a record is about, to join client and server | [`link`] |
//! | How operations are named | [`operations`](mod@operations) |
//! | The file format | [`file`](mod@file) |
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

mod enabled;
pub mod file;
mod fnv;
pub mod link;
pub mod operations;
pub mod record;
mod recorder;

pub use enabled::is_on;
pub use file::{ThreadRecords, read_folder};
pub use link::Link;
pub use operations::operation_id;
pub use record::{Event, Record, model};
pub use recorder::{
    ENVIRONMENT, ENVIRONMENT_RECORDS, Settings, prepare_thread, record, record_operation, start,
    start_from_environment,
};

//! Dispatcher: commands wait in one bounded queue for each preemption priority and are executed by threads of
//! that level, in the order of arrival, deadline or laxity. This is the role of Kokyu in TAO's services
//! ([Gill 2004] section 2).
//!
//! ```
//! use std::{sync::mpsc, time::Duration};
//! use punctual_dispatch::{Dispatcher, Level, Qos};
//!
//! let (done, results) = mpsc::channel();
//! let dispatcher = Dispatcher::builder()
//!     .level(Level::new(0).by_deadline().capacity(64))
//!     .level(Level::new(1))
//!     .build()?;
//! dispatcher
//!     .dispatch(
//!         move |_: &punctual_dispatch::Execution| {
//!             done.send("tracked").unwrap();
//!             Ok(())
//!         },
//!         Qos::new(0).deadline_in(Duration::from_millis(10)),
//!     )
//!     .unwrap();
//! assert_eq!(results.recv().unwrap(), "tracked");
//! # Ok::<(), punctual_dispatch::DispatchError>(())
//! ```
//!
//! | Step | File |
//! |---|---|
//! | Configure levels and start their threads | `builder.rs`, `level.rs` |
//! | Enter a command into the queue of its level | `dispatcher.rs`, `queue.rs` |
//! | Take the most urgent one, or cancel it if it is hopeless | `worker.rs`, `queue.rs` |
//! | Execute it | `command.rs` |
//! | Change the levels while commands are queued | `reconfiguration.rs` |

mod builder;
mod command;
mod dispatcher;
mod error;
mod level;
mod operation_levels;
mod queue;
mod reconfiguration;
mod state;
mod statistics;
mod worker;

pub use builder::DispatcherBuilder;
pub use command::{Cancellation, Command, Execution, Hopeless, Qos, now};
pub use dispatcher::Dispatcher;
pub use error::{DispatchError, Rejected, Rejection};
pub use level::{Level, Order, Overflow};
pub use operation_levels::{OperationLevels, Placement, Timing};
pub use statistics::LevelStatistics;

//! The wire format of distributable threads: service context 30 of a request.
//!
//! Pure functions of octets and clock readings, without allocation. `docs/scheduling-context.md` specifies
//! the format, and the treatment of contexts that cannot be read.
//!
//! ```
//! # mod punctual {
//! #     pub(crate) use punctual_cdr as value;
//! #     pub mod rtscheduling { pub use {
//! #         punctual_rtsched::*, punctual_sched::dynamic::*, punctual_types::DistributableThreadId,
//! #     }; }
//! # }
//! use punctual::rtscheduling::{DistributableThreadId, SchedulingParameters, Time};
//! use punctual::rtscheduling::wire::{Clocks, PeerLayout, Reader, Reading, SchedulingContext, UtcTime};
//! use punctual::value::Endian;
//!
//! let context = SchedulingContext {
//!     id: DistributableThreadId(7),
//!     parameters: Some(SchedulingParameters::Importance { importance: 5 }.into()),
//!     implicit: None,
//!     begins: false,
//! };
//! let clocks = Clocks { local: Time(0), utc: UtcTime(0) };
//! let octets = context.encode(&clocks, Endian::NATIVE);
//! let reader = Reader::new(clocks, PeerLayout::OwnOnly);
//! assert_eq!(reader.read(&octets)?, Reading::Context(context));
//! # Ok::<(), punctual_cdr::CdrError>(())
//! ```

mod carried_parameters;
mod clocks;
mod context;
mod octets;
mod peer_context;
mod peer_layout;
mod reader;

pub use carried_parameters::{CarriedParameters, UnknownParameters};
pub use clocks::{Clocks, UtcTime};
pub use context::SchedulingContext;
pub use octets::ContextOctets;
pub use peer_layout::PeerLayout;
pub use reader::{Reader, Reading};

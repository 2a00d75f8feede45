//! Adaptive quality of service, as the layered resource managers of \[Gill 2004\] 3.3 and 4.
//!
//! Programs measure **conditions** of the system: latency, bandwidth, missed deadlines, use of the CPU. A
//! **contract** divides their values into **regions** of operation, and calls back at each transition from
//! one region to another. A **rate manager** narrows the rates of operations to those that serve their
//! deadlines, and lets the reconfigurable scheduler choose among those that fit the processor.
//!
//! | Task | Item |
//! |---|---|
//! | Measure | [`Condition`]; by [`ProcessorUse`], [`DeadlineMisses`], [`Latency`], [`Bandwidth`], or yourself |
//! | Adapt to measurements | [`Contract`] |
//! | Show the state | [`Contract::show`] |
//! | Let other hosts report and observe | [`ContractServant`], [`idl`] |
//! | Choose rates | [`RateManager`] |

mod condition;
mod contract;
mod limits;
mod observers;
mod rate_manager;
mod region;
mod servant;
mod sources;

pub use condition::Condition;
pub use contract::{Contract, ContractBuilder, ContractError, Transition};
pub use limits::ServantLimits;
pub use punctual::ContractState;
pub use rate_manager::{Need, RateManager, RateManagerError, Selected};
pub use region::Region;
pub use servant::ContractServant;
pub use sources::{Bandwidth, DeadlineMisses, Latency, ProcessorUse};

/// Generated from `idl/qos.idl`.
#[allow(missing_docs, reason = "the IDL documents what needs it")]
pub mod idl {
    punctual::include_idl!("qos");
}

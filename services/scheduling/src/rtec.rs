//! `RtecScheduler::Scheduler`: the reconfigurable scheduler as a CORBA object, with the interface of TAO's
//! scheduling service, and those who follow its schedule from other processes. \[Gill 2004\] 2.4.

mod configuration;
mod follower;
mod information;
mod limits;
mod refusal;
mod servant;
mod table;

pub use self::{
    configuration::DispatchConfiguration,
    follower::{Followed, ScheduleFollower},
    limits::SchedulerLimits,
    servant::SchedulerServant,
};

/// Generated from `idl/rtec_scheduler.idl`.
#[allow(missing_docs, reason = "the IDL documents what needs it")]
pub mod idl {
    punctual::include_idl!("rtec_scheduler");
}

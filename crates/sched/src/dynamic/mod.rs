//! Dynamic scheduling of distributable threads: the choice among the ready threads of an endsystem.
//!
//! This module only decides. The Real-time CORBA 1.2 runtime carries the decisions out in live operation, the
//! simulator in virtual time. Source: RTCORBA 1.2; \[Gill 2004\] sections 2.2 and 2.3.
//!
//! Most schedulers are orders of threads: [`Ranked`] makes one from a rank function and keeps running threads
//! apart from the heap of waiting ones. Laxity is stored as the latest start, which is constant while a
//! thread waits; a quantum prevents two threads of equal laxity from alternating endlessly.
//! [`MaximumAccruedUtility`] examines the whole set. [`Checked`] guards a scheduler and detects invalid
//! decisions. [`SheddingPolicy`] decides on work that can no longer meet its deadline. One table
//! ([`translation`]) translates parameters for another discipline; the original ones are kept and travel on.

mod arrival_order;
mod by_rank;
mod checked;
mod claim;
mod discipline;
mod earliest_deadline_first;
mod fixed_priority;
mod laxity;
mod maximum_accrued_utility;
mod maximum_urgency_first;
mod minimum_laxity_first;
mod most_important_first;
mod parameters;
mod ranked;
mod rate_monotonic;
mod rate_monotonic_or_laxity;
mod ready_queue;
pub mod resource;
mod scheduler;
mod shedding;
mod standard_schedulers;
mod thread_priority;
mod time;
pub mod translation;
mod user_parameters;

pub use by_rank::ByRank;
pub use checked::{Checked, Fault};
pub use claim::Claim;
pub use discipline::Discipline;
pub use earliest_deadline_first::{EarliestDeadlineFirst, Edf};
pub use fixed_priority::{FixedPriority, Fp};
pub use laxity::LaxityRank;
pub use maximum_accrued_utility::MaximumAccruedUtility;
pub use maximum_urgency_first::{MaximumUrgencyFirst, Muf};
pub use minimum_laxity_first::{MinimumLaxityFirst, Mlf};
pub use most_important_first::{Mif, MostImportantFirst};
pub use parameters::{ParameterKind, SchedulingParameters, Utility};
pub use ranked::Ranked;
pub use rate_monotonic::{RateMonotonic, Rms};
pub use rate_monotonic_or_laxity::{RateMonotonicOrLaxity, RateOrLaxityRank, RmsMlf};
pub use ready_queue::{Ranking, ReadyQueue};
pub use scheduler::{Scheduler, Slot};
pub use shedding::{SheddingPoint, SheddingPolicy, TimedWork};
pub use standard_schedulers::{STANDARD, standard};
pub use thread_priority::{ThreadPriority, Tp};
pub use time::Time;
pub(crate) use time::nanoseconds;
pub use translation::TranslationDefaults;
pub use user_parameters::{UserKind, UserParameters};

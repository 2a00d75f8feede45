//! Schedulability analysis: whether every task meets its deadline, on one or several processors.
//!
//! Preemptive scheduling by fixed priorities, or of the earliest deadline first, with one CPU for each
//! processor of the model. Times are integers of any unit (`punctual plan` uses nanoseconds), processors are
//! numbered, priorities are native ones, greater for more urgent tasks.
//!
//! | Aspect | Items |
//! |---|---|
//! | Model | [`Task`], [`Step`], [`Section`], [`Hold`] |
//! | Worst-case response times | [`analyse`] |
//! | Their composition, and the permitted growth of work | [`explain`], [`growth`] |
//! | Feasible priorities | [`one_change`], [`audsley`], [`feasible_priorities`] |
//! | Tests by utilisation alone | [`liu_layland_bound`], [`hyperbolic_product`], [`demand_peak`] |

mod assignment;
mod blocking;
mod bounds;
mod busy_window;
mod deadline_monotonic;
mod demand;
mod explanation;
mod holistic;
mod model;
mod sensitivity;
mod threads;

pub use assignment::{audsley, feasible_priorities, one_change};
pub use bounds::{bounds_apply, hyperbolic_product, liu_layland_bound, utilization};
pub use busy_window::Source;
pub use deadline_monotonic::is_deadline_monotonic;
pub use demand::demand_peak;
pub use explanation::{StepBudget, explain};
pub use holistic::{Analysis, Response, analyse};
pub use model::{Hold, ModelError, Section, Step, Task, Time};
pub use sensitivity::growth;

//! Schedulability analysis: whether every task meets its deadline, on one or several processors.
//!
//! Preemptive scheduling by fixed priorities, with one CPU for each processor of the model. Times are
//! integers of any unit (`punctual plan` uses nanoseconds), processors are numbered, priorities are native
//! ones, greater for more urgent tasks.
//!
//! | Aspect | Items |
//! |---|---|
//! | Model | [`Task`], [`Step`], [`Hold`] |
//! | Worst-case response times | [`analyse`] |
//! | Feasible priorities | [`one_change`], [`audsley`], [`feasible_priorities`] |
//! | Tests by utilisation alone | [`liu_layland_bound`], [`hyperbolic_product`] |

mod assignment;
mod bounds;
mod busy_window;
mod deadline_monotonic;
mod holistic;
mod model;

pub use assignment::{audsley, feasible_priorities, one_change};
pub use bounds::{bounds_apply, hyperbolic_product, liu_layland_bound, utilization};
pub use deadline_monotonic::is_deadline_monotonic;
pub use holistic::{Analysis, Response, analyse};
pub use model::{Hold, ModelError, Step, Task, Time};

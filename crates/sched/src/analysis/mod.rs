//! Schedulability analysis: whether every task is done by its deadline, on one processor or over several.
//!
//! Fixed priorities, preemptive, one CPU for each processor of the model. Numbers in, numbers out: times are
//! whole units of any size (`punctual plan` uses nanoseconds), processors are numbered, priorities are native
//! ones, the greater the more urgent.
//!
//! | Question | Item |
//! |---|---|
//! | What is there to analyse | [`Task`], [`Step`] |
//! | How late can each task be | [`analyse`] |
//! | Which priorities would do | [`one_change`], [`audsley`] |
//! | Quick tests by utilisation alone | [`liu_layland_bound`], [`hyperbolic_product`] |

mod assignment;
mod bounds;
mod busy_window;
mod deadline_monotonic;
mod holistic;
mod model;

pub use assignment::{audsley, one_change};
pub use bounds::{bounds_apply, hyperbolic_product, liu_layland_bound, utilization};
pub use deadline_monotonic::is_deadline_monotonic;
pub use holistic::{Analysis, Response, analyse};
pub use model::{ModelError, Step, Task, Time};

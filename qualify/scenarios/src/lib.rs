//! The measurements that `punctual bench`, `punctual qualify` and `punctual demo` run.
//!
//! Each is a [`Benchmark`] in one list ([`benchmarks`]). All benchmarks of a run share one [`Testbed`]: the
//! machine is prepared once. Measured work happens in child processes, which run this program again as
//! supervisor, servers and clients: [`main_if_asked`] handles them. A signal kills the child processes, so
//! the benchmark fails at once and cleans up; the supervisor restores settings first, then the trace
//! instance, the memory folder and temporary files. `docs/qualify.md` explains the output.
//!
//! | What | Module |
//! |---|---|
//! | What an experiment consists of | `experiment` |
//! | The commands, each with its options | [`bench`](mod@bench), [`qualify`], [`demo`], [`trace`] |
//! | All benchmarks, and the roles of their child processes | `catalog` |
//! | The benchmarks | `os`, `cubit`, `inversion`, `attacks`, `events`, `orb`, `rt`, `dynamic`, `case` |
//! | The server and clients of the experiments with thread pools | `load` |
//! | The simulated experiments of [Gill 2004] | [`simulated`] |
//! | Why calls were slow, and what they waited for | `explain`, `waits` |
//! | Comparison with an earlier run and with limits | `compare` |
//! | What a benchmark is given and returns | `testbed`, `settings`, `length`, `benchmark` |
//! | What the papers state, and what a run says about it | `statements` |
//! | Runs in which claims must not hold | `control`, `qualify/controls.rs` |
//! | Output: pages and files | `report`, `rows` |

mod attacks;
pub mod bench;
mod benchmark;
mod case;
mod catalog;
mod compare;
mod control;
mod cubit;
pub mod demo;
mod dynamic;
mod error;
mod events;
mod experiment;
mod explain;
mod idl;
mod inversion;
mod length;
mod load;
mod omniorb;
mod orb;
mod os;
pub mod qualify;
mod report;
mod rights;
mod role;
mod rows;
mod rt;
mod run;
mod settings;
pub mod simulated;
mod statements;
mod testbed;
pub mod trace;
mod waits;

pub use benchmark::{Benchmark, Findings};
pub use catalog::{benchmarks, main_if_asked};
pub use compare::Against;
pub use control::{Control, Restored};
pub use error::Error;
pub use length::Length;
pub use report::Files;
pub use settings::Settings;
pub use testbed::Testbed;

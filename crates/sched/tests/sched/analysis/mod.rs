//! The analysis against examples with known answers, and against what happens when the tasks run.

mod chains;
mod properties;
mod simulation;
mod textbook;

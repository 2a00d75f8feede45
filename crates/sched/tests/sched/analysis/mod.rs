//! Schedulability analysis, compared with known examples and with simulated tasks.

mod bounds;
mod chains;
mod lanes_by_deadline;
mod properties;
mod simulation;
mod textbook;

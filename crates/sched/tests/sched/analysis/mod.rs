//! Schedulability analysis, compared with known examples and with simulated tasks.

mod bounds;
mod chains;
mod properties;
mod simulation;
mod textbook;

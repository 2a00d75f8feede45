//! Schedulability analysis, compared with known examples and with simulated tasks.

mod chains;
mod properties;
mod simulation;
mod textbook;

//! Decisions about scheduling from outside: mappings, dispatching, analysis and simulation.

mod analysis;
mod dynamic;
mod mappings;
mod simulator;

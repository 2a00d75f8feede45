//! The simulated experiments of [Gill 2004] show what the paper states.

mod figure_6;
mod flight_program;

//! The simulated experiments show what the paper states.

mod figure_6;
mod flight_program;

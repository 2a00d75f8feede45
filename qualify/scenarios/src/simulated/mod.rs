//! The experiments of [Gill 2004] section 3 as models for the simulator. Benchmarks run the same models live.

mod figure_6;
mod flight_program;

pub use figure_6::{FIGURE_6, Turn, TurnEnd, figure_6};
pub use flight_program::{FlightProgram, Flown, OPERATIONS, OperationGroup, Outcomes};

#[cfg(test)]
mod tests;

//! The experiments of \[S4\] section 3 as models. The benchmarks run the same ones live.

mod figure_6;
mod operational_flight_program;

pub use figure_6::{FIGURE_6, Turn, TurnEnd, figure_6};
pub use operational_flight_program::{FlightProgram, Flown, OPERATIONS, OperationGroup, Outcomes};

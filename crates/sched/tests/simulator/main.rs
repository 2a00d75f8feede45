//! The simulator against textbooks and the experiments of [S4].

mod flight_program;
mod support;
mod figure_6;

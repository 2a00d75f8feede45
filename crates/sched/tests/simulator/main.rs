//! The simulator against textbooks and the experiments of [S4].

mod cancellation;
mod figure_6;
mod flight_program;
mod messages;
mod models;
mod resources;
mod scale;
mod schedules;
mod support;
mod work_left;

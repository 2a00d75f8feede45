//! The simulator, compared with textbook examples.

mod cancellation;
mod limits;
mod messages;
mod models;
mod resources;
mod scale;
mod schedules;
mod support;
mod work_left;

//! Distributable threads at one endsystem, and over calls between two ORBs.

mod asynchronous;
mod bad_input;
mod calls;
mod cancellation;
mod hosts;
mod operations;
mod order;
mod points;
mod reissues;
mod schedulers;
mod segments;
mod shedding;
mod stress;
mod user_defined;
mod what_schedulers_see;
mod work_left;

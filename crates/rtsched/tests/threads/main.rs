//! Distributable threads from outside: at one endsystem, and over calls between two ORBs.

mod bad_input;
mod calls;
mod cancellation;
mod hosts;
mod operations;
mod order;
mod schedulers;
mod segments;
mod stress;

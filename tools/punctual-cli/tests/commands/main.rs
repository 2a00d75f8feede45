//! Commands of `punctual` that measure nothing: what they write, and with which exit code they end.

mod command;
mod doctor;
mod help;
mod idl;
mod plan;
mod simulate;

//! Commands of `punctual` that measure nothing: what they write, and with which exit code they end.

mod call;
mod command;
mod completions;
mod doctor;
mod events;
mod explain;
mod help;
mod idl;
mod naming;
mod new;
mod plan;
mod printing;
mod scheduler;
mod simulate;
mod terminal;
mod tls;

//! Distributable threads over several hosts: each test host is an ORB with a scheduling of its own; some are processes of their own.

mod cancellation;
mod contexts;
mod dead_hosts;
mod host;
mod tracker;

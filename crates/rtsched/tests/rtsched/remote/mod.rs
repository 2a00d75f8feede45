//! Distributable threads over several hosts: each is an ORB with a separate endsystem, some in separate
//! processes.

mod cancellation;
mod contexts;
mod dead_hosts;
mod host;
mod own_transport;
mod tracker;

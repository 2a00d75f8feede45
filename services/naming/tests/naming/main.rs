//! The naming service from outside: rules of the specification, clients, other servers, restarts, hostile
//! peers.

mod clients;
mod federation;
mod hostile;
mod restarts;
mod rules;
mod server;
mod urls;

#[global_allocator]
static ALLOCATOR: punctual_os::CountingAllocator = punctual_os::CountingAllocator;

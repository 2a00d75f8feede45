//! Distributable threads from outside: at one endsystem, between hosts, and on the wire.

#[path = "../../../../fuzz/corpus.rs"]
mod corpus;
mod remote;
mod resource_manager;
mod retained_storage;
mod storage;
mod threads;
mod wire;

#[global_allocator]
static ALLOCATOR: punctual_os::CountingAllocator = punctual_os::CountingAllocator;

//! The ORB from outside: its behaviour towards clients, servers and hostile peers, and the costs of a call.

mod allocations;
mod asynchronous;
mod band_binding;
mod banded_connections;
mod connection_cache;
mod context_properties;
#[path = "../../../../fuzz/corpus.rs"]
mod corpus;
mod deferred;
mod demultiplexing;
mod dynamic;
mod explicit_binding;
mod fuzzed_descriptions;
mod inspection;
mod interceptors;
mod poa;
mod private_connection;
mod profile_and_endpoint_selection;
mod relayed_exceptions;
mod remote_only;
mod rtcorba;
mod scheduling_allocations;
mod shared_connections;
mod shared_memory;
mod sync_scopes;
mod system_calls;
mod thread_pools;
mod timeouts;
mod travelling_storage;
mod wire;

/// Counts for each thread, so that tests may run beside each other.
#[global_allocator]
static ALLOCATOR: punctual_os::CountingAllocator = punctual_os::CountingAllocator;

//! Attacks of hostile peers on a server or client: each file performs one attack and asserts its bound, as
//! listed in `docs/threats.md`.

mod accept_storm;
mod decoded_memory;
mod endless_endpoints;
mod forged_scheduling_claims;
mod idle_connections;
mod incomplete_messages;
mod large_arrays;
mod locked_folder;
mod messages_without_service;

//! Attacks of hostile peers on a server or client: each file performs one attack and asserts its bound, as
//! listed in `docs/threats.md`.

mod accept_storm;
mod cancelled_fragments;
mod chained_values;
mod decoded_memory;
mod endless_endpoints;
mod endless_fragments;
mod forged_scheduling_claims;
mod fragments_for_a_client;
mod idle_connections;
mod incomplete_messages;
mod kept_memory;
mod large_arrays;
mod locked_folder;
mod long_keys;
mod many_contexts;
mod many_members;
mod messages_without_service;
mod tiny_fragments;
mod unserved_work;
mod waiting_line;

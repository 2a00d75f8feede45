//! The naming service from outside: rules of the specification, clients, other servers, restarts, hostile
//! peers.

mod clients;
mod federation;
mod hostile;
mod restarts;
mod rules;
mod server;
mod urls;

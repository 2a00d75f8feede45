//! The interoperability matrix: each test is one configuration of client and server and runs all checks that
//! apply to it.

mod byte_order;
mod capture;
mod code_sets;
mod context_properties;
mod custom_values;
mod exchange;
mod interceptors;
mod interface_repository;
mod jacorb;
mod matrix;
mod naming;
mod native_code_sets;
mod omniorb_client;
mod omniorbpy;
mod our_client;
mod ourselves;
mod rustorb;
mod shared;
mod tls;

use std::time::Duration;

use punctual_interop::{
    checks::{Context, limits},
    omniorb::Programs,
    process,
    server::{Served, Server},
};

use matrix::Row;

fn programs() -> Option<&'static Programs> {
    Programs::build(env!("CARGO_TARGET_TMPDIR"))
}

/// Where the server does not close connections.
const NO_IDLE_CLOSE: (&str, &str) = ("call_after_idle_close", "this server keeps idle connections");

/// Runs all checks of our client against another ORB's server, and ends it.
fn served(row: Row, server: process::Server, skipped: &[(&str, &str)]) {
    let context = Context::new(&server.reference).expect("the server's reference");
    let passed = context.run(&[skipped, &[NO_IDLE_CLOSE]].concat());
    let ended = context.peer.shutdown();
    ended.expect("the server answers before it ends");
    server.ends();
    row.record(passed, skipped);
}

/// Runs all checks over a server of another ORB that passes all calls on to a server of ours.
fn proxied(row: Row, start: impl FnOnce(&str) -> process::Server, skipped: &[(&str, &str)]) {
    let mut ours = Server::start(limits(), Served::ByTheOrb);
    served(row, start(&ours.peer.to_ior()), skipped);
    ours.peer.shutdown().expect("our server");
    assert!(
        ours.ends_within(Duration::from_secs(10)),
        "our server does not end"
    );
}

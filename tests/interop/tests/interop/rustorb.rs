//! rustorb 0.2.0, another ORB in Rust: its server and client between our client and our server.

use std::thread;

use punctual::Orb;
use punctual_interop::{
    checks::Context,
    exchange::ExchangeServer,
    quad::{self, RotorRef, RotorServant},
    rustorb::RustOrb,
};

use crate::{exchange, matrix::Row, proxied};

const ORB: &str = "rustorb 0.2.0";
const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");

fn check(what: &str, options: &[&str], skipped: &[(&str, &str)]) {
    let Some(rustorb) = RustOrb::build(SCRATCH) else {
        return;
    };
    let row = Row::described(ORB, "client", what);
    let start = |target: &str| rustorb.server(SCRATCH, options, target);
    proxied(row, start, skipped);
}

/// Our client sends requests in this version, too.
fn check_version(version: &str, code_set: &str, skipped: &[(&str, &str)]) {
    let Some(rustorb) = RustOrb::build(SCRATCH) else {
        return;
    };
    let start = |target: &str| {
        let mut server = rustorb.server(SCRATCH, &["-ORBmaxGIOPVersion", version], target);
        let profile = Context::new(&server.reference).expect("a reference").profile;
        let (host, port) = (profile.host, profile.port);
        server.reference = format!("corbaloc:iiop:{version}@{host}:{port}/Interop");
        server
    };
    proxied(Row::new(ORB, "client", version, code_set), start, skipped);
}

#[test]
fn giop_1_0() {
    check_version("1.0", "ISO-8859-1", &[]);
}

#[test]
fn giop_1_1() {
    let char_of_utf8 = (
        "char_latin1",
        "rustorb has no char above 127 where its own code set is UTF-8",
    );
    check_version("1.1", "UTF-8", &[char_of_utf8]);
}

#[test]
fn giop_1_2() {
    check("GIOP 1.2, UTF-8", &[], &[]);
}

#[test]
fn other_byte_order() {
    check("GIOP 1.2, big-endian", &["--byte-order", "big"], &[]);
}

#[test]
fn fragments() {
    check(
        "GIOP 1.2, divides messages",
        &["-ORBgiopFragmentSize", "1024"],
        &[],
    );
}

#[test]
fn long_double() {
    let Some(rustorb) = RustOrb::build(SCRATCH) else {
        return;
    };
    let builder = Orb::builder().listen("iiop://127.0.0.1:0").lock_memory(false);
    let orb = builder.build().expect("an ORB on a free port");
    let ours: RotorRef = orb.root_poa().activate(RotorServant).expect("an object");
    let server = rustorb.rotor(SCRATCH, &ours.to_ior());
    let running = thread::spawn({
        let orb = orb.clone();
        move || orb.run()
    });
    let passed = quad::check(&orb, &server.reference);
    let row = Row::described(ORB, "client", "GIOP 1.2, `long double`");
    row.record(passed, &[]);
    orb.shutdown();
    running.join().expect("no panic");
}

#[test]
fn any_and_values() {
    let Some(rustorb) = RustOrb::build(SCRATCH) else {
        return;
    };
    let ours = ExchangeServer::start();
    let server = rustorb.exchange(SCRATCH, &[], &ours.exchange.to_ior());
    exchange::served(Row::described(ORB, "client", exchange::WHAT), server, &[]);
}

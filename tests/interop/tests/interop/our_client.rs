//! Our client, an omniORB server.

use std::time::Duration;

use punctual_interop::checks::{Context, ServerTraits};

use crate::programs;

/// Where the server does not close connections.
const NO_IDLE_CLOSE: (&str, &str) = ("call_after_idle_close", "this server keeps idle connections");

/// Runs all checks against a server with these options. `%` in the reference stands for its host and port.
fn check(options: &[&str], corbaloc: Option<&str>, latin1: bool, idle_close: Option<Duration>, skipped: &[(&str, &str)]) {
    let Some(programs) = programs() else { return };
    let server = programs.server(options);
    let traits = ServerTraits { latin1, idle_close };
    let mut context = Context::new(&server.reference, traits.clone()).expect("the server's reference");
    if let Some(url) = corbaloc {
        let address = format!("{}:{}", context.profile.host, context.profile.port);
        context = Context::new(&url.replace('%', &address), traits).expect("the server's corbaloc");
    }
    let mut skipped = skipped.to_vec();
    if idle_close.is_none() {
        skipped.push(NO_IDLE_CLOSE);
    }
    context.run(&skipped);
    context.peer.shutdown().expect("the server answers before it ends");
    server.ends();
}

fn check_version(version: &str, code_set: &str, skipped: &[(&str, &str)]) {
    let options = ["-ORBmaxGIOPVersion", version, "-ORBnativeCharCodeSet", code_set];
    check(&options, None, code_set == LATIN1, None, skipped);
}

const LATIN1: &str = "ISO-8859-1";
const UTF8: &str = "UTF-8";

#[test]
fn giop_1_0_latin1() {
    check_version("1.0", LATIN1, &[]);
}

#[test]
fn giop_1_0_utf8() {
    check_version("1.0", UTF8, &[]);
}

#[test]
fn giop_1_1_latin1() {
    check_version("1.1", LATIN1, &[]);
}

#[test]
fn giop_1_1_utf8() {
    check_version("1.1", UTF8, &[]);
}

#[test]
fn giop_1_2_latin1() {
    check_version("1.2", LATIN1, &[]);
}

#[test]
fn giop_1_2_utf8() {
    check_version("1.2", UTF8, &[]);
}

#[test]
fn corbaloc_giop_1_0() {
    check(&[], Some("corbaloc::%/Interop"), true, None, &[]);
}

#[test]
fn corbaloc_giop_1_1() {
    check(&[], Some("corbaloc:iiop:1.1@%/Interop"), true, None, &[]);
}

#[test]
fn corbaloc_giop_1_2() {
    check(&[], Some("corbaloc:iiop:1.2@%/Interop"), true, None, &[]);
}

#[test]
fn idle_connections_closed() {
    let options = ["-ORBscanGranularity", "1", "-ORBinConScanPeriod", "2"];
    check(&options, None, true, Some(Duration::from_secs(5)), &[]);
}

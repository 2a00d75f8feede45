//! Our client, an omniORB server.

use std::time::Duration;

use punctual_interop::checks::Context;

use crate::{NO_IDLE_CLOSE, matrix::Row, programs};

const CHAR_OF_UTF8: (&str, &str) = (
    "char_latin1",
    "omniORB has no char above 127 where its own code set is UTF-8",
);

/// Runs all checks against a server with these options; `called`: what is particular in the run. `corbaloc`:
/// by this reference, `%` being its host and port.
fn check(
    called: &str,
    options: &[&str],
    corbaloc: Option<&str>,
    idle_close: Option<Duration>,
    skipped: &[(&str, &str)],
) {
    let Some(programs) = programs() else { return };
    let server = programs.server(options);
    let mut context = Context::new(&server.reference).expect("the server's reference");
    if let Some(url) = corbaloc {
        let address = format!("{}:{}", context.profile.host, context.profile.port);
        context = Context::new(&url.replace('%', &address)).expect("the server's corbaloc");
    }
    context.idle_close = idle_close;
    let mut all_skipped = skipped.to_vec();
    if idle_close.is_none() {
        all_skipped.push(NO_IDLE_CLOSE);
    }
    let passed = context.run(&all_skipped);
    context
        .peer
        .shutdown()
        .expect("the server answers before it ends");
    server.ends();
    Row::described("omniORB 4.2.5", "server", called).record(passed, skipped);
}

fn check_version(version: &str, code_set: &str, skipped: &[(&str, &str)]) {
    check(
        &format!("GIOP {version}, {code_set}"),
        &["-ORBmaxGIOPVersion", version, "-ORBnativeCharCodeSet", code_set],
        None,
        None,
        skipped,
    );
}

const LATIN1: &str = "ISO-8859-1";
const UTF8: &str = "UTF-8";

#[test]
fn giop_1_0_latin1() {
    check_version("1.0", LATIN1, &[]);
}

#[test]
fn giop_1_0_utf8() {
    check_version("1.0", UTF8, &[CHAR_OF_UTF8]);
}

#[test]
fn giop_1_1_latin1() {
    check_version("1.1", LATIN1, &[]);
}

#[test]
fn giop_1_1_utf8() {
    let unwritable = (
        "text_server_has_more",
        "omniORB answers MessageError where the code set cannot represent the text of its reply over GIOP 1.1",
    );
    check_version("1.1", UTF8, &[CHAR_OF_UTF8, unwritable]);
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
    check("corbaloc, GIOP 1.0", &[], Some("corbaloc::%/Interop"), None, &[]);
}

#[test]
fn corbaloc_giop_1_1() {
    check(
        "corbaloc, GIOP 1.1",
        &[],
        Some("corbaloc:iiop:1.1@%/Interop"),
        None,
        &[],
    );
}

#[test]
fn corbaloc_giop_1_2() {
    check(
        "corbaloc, GIOP 1.2",
        &[],
        Some("corbaloc:iiop:1.2@%/Interop"),
        None,
        &[],
    );
}

#[test]
fn idle_connections_closed() {
    let options = ["-ORBscanGranularity", "1", "-ORBinConScanPeriod", "2"];
    check(
        "idle connections closed",
        &options,
        None,
        Some(Duration::from_secs(5)),
        &[],
    );
}

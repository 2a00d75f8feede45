//! An omniORB client, our server.

use std::time::Duration;

use punctual_interop::{checks::limits, server::Server};

use crate::programs;

const NO_IDLE_CLOSE: &str = "call_after_idle_close";

/// Runs the client against our server; `corbaloc`: against this reference, `%` being the server's host and port.
fn check(options: &[&str], corbaloc: Option<&str>, skipped_by_client: &[&str]) {
    let Some(programs) = programs() else { return };
    let mut server = Server::start(limits());
    let reference = match corbaloc {
        None => server.peer.to_ior(),
        Some(url) => {
            let address = server.url.split(['@', '/']).nth(1).expect("corbaloc:iiop:1.2@HOST:PORT/NAME");
            url.replace('%', address)
        }
    };
    let mut all = vec!["--shutdown"];
    all.extend(options);
    programs.check(&reference, &all, skipped_by_client);
    assert!(server.ends_within(Duration::from_secs(10)), "the server does not end after Peer::shutdown");
}

fn check_version(version: &str, code_set: &str, skipped_by_client: &[&str]) {
    let options = ["-ORBmaxGIOPVersion", version, "-ORBnativeCharCodeSet", code_set];
    check(&options, None, skipped_by_client);
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
    check_version("1.2", LATIN1, &["text_beyond_latin1", NO_IDLE_CLOSE]);
}

#[test]
fn giop_1_2_utf8() {
    check_version("1.2", UTF8, &["text_server_has_more", "char_latin1", NO_IDLE_CLOSE]);
}

#[test]
fn corbaloc_giop_1_0() {
    check(&[], Some("corbaloc::%/Interop"), &["text_beyond_latin1", NO_IDLE_CLOSE]);
}

#[test]
fn corbaloc_giop_1_2() {
    check(&[], Some("corbaloc:iiop:1.2@%/Interop"), &["text_beyond_latin1", NO_IDLE_CLOSE]);
}

#[test]
fn one_shared_connection() {
    let options = ["-ORBoneCallPerConnection", "0", "-ORBmaxGIOPConnectionPerServer", "1"];
    check(&options, None, &["text_beyond_latin1", NO_IDLE_CLOSE]);
}

#[test]
fn first_calls_without_asking() {
    check(&["-ORBverifyObjectExistsAndType", "0"], None, &["text_beyond_latin1", NO_IDLE_CLOSE]);
}

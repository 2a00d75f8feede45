//! An omniORB client, our server.

use std::time::Duration;

use punctual_interop::{
    checks::limits,
    server::{Served, Server},
};

use crate::programs;

/// What the client skips by itself, in every run and by its own code set.
const ALWAYS: &[&str] = &["call_after_idle_close"];
const IN_LATIN1: &[&str] = &["text_beyond_latin1"];
const IN_UTF8: &[&str] = &["text_server_has_more", "char_latin1"];
const IN_UTF8_UNNEGOTIATED: &[&str] = &[
    "text_latin1",
    "text_beyond_latin1",
    "text_server_has_more",
    "char_latin1",
];

/// omniORB converts to the server's own code set, and has no `char` above 127 in UTF-8, which is ours.
const NO_CHAR_OF_UTF8: &[&str] = &["--skip", "char_latin1"];

/// After LOCATION_FORWARD omniORB compares where a reference leads, not what it is: its `_is_equivalent` says
/// no where the `corbaloc:` comes back as it went.
const NO_COMPARISON: &[&str] = &["--skip", "attributes", "--skip", "rotate_object"];

/// Runs the client against our server; `corbaloc`: against this reference, `%` being the server's host and
/// port.
fn check(options: &[&str], corbaloc: Option<&str>, skipped_by_client: &[&[&str]]) {
    check_served(Served::ByTheOrb, options, corbaloc, skipped_by_client);
}

fn check_served(served: Served, options: &[&str], corbaloc: Option<&str>, skipped_by_client: &[&[&str]]) {
    let Some(programs) = programs() else { return };
    let mut server = Server::start(limits(), served);
    let reference = match corbaloc {
        None => server.peer.to_ior(),
        Some(url) => {
            let address = server
                .url
                .split(['@', '/'])
                .nth(1)
                .expect("corbaloc:iiop:1.2@HOST:PORT/NAME");
            url.replace('%', address)
        }
    };
    let mut all = vec!["--shutdown"];
    all.extend(options);
    programs.check(&reference, &all, &skipped_by_client.concat());
    assert!(
        server.ends_within(Duration::from_secs(10)),
        "the server does not end after Peer::shutdown"
    );
}

fn check_version(version: &str, code_set: &str, options: &[&str], skipped_by_client: &[&[&str]]) {
    let version = ["-ORBmaxGIOPVersion", version, "-ORBnativeCharCodeSet", code_set];
    check(&[&version, options].concat(), None, skipped_by_client);
}

const LATIN1: &str = "ISO-8859-1";
const UTF8: &str = "UTF-8";

#[test]
fn giop_1_0_latin1() {
    check_version("1.0", LATIN1, &[], &[ALWAYS, IN_LATIN1]);
}

#[test]
fn giop_1_0_utf8() {
    check_version("1.0", UTF8, &[], &[ALWAYS, IN_UTF8_UNNEGOTIATED]);
}

#[test]
fn giop_1_1_latin1() {
    check_version("1.1", LATIN1, NO_CHAR_OF_UTF8, &[ALWAYS, IN_LATIN1]);
}

#[test]
fn giop_1_1_utf8() {
    check_version("1.1", UTF8, &[], &[ALWAYS, IN_UTF8]);
}

#[test]
fn giop_1_2_latin1() {
    check_version("1.2", LATIN1, NO_CHAR_OF_UTF8, &[ALWAYS, IN_LATIN1]);
}

#[test]
fn giop_1_2_utf8() {
    check_version("1.2", UTF8, &[], &[ALWAYS, IN_UTF8]);
}

#[test]
fn corbaloc_giop_1_0() {
    let options = [NO_CHAR_OF_UTF8, NO_COMPARISON].concat();
    check(&options, Some("corbaloc::%/Interop"), &[ALWAYS, IN_LATIN1]);
}

#[test]
fn corbaloc_giop_1_2() {
    let options = [NO_CHAR_OF_UTF8, NO_COMPARISON].concat();
    check(
        &options,
        Some("corbaloc:iiop:1.2@%/Interop"),
        &[ALWAYS, IN_LATIN1],
    );
}

#[test]
fn one_shared_connection() {
    let one = [
        "-ORBoneCallPerConnection",
        "0",
        "-ORBmaxGIOPConnectionPerServer",
        "1",
    ];
    check(&[NO_CHAR_OF_UTF8, &one].concat(), None, &[ALWAYS, IN_LATIN1]);
}

#[test]
fn first_calls_without_asking() {
    let options = [NO_CHAR_OF_UTF8, &["-ORBverifyObjectExistsAndType", "0"]].concat();
    check(&options, None, &[ALWAYS, IN_LATIN1]);
}

/// References with an endpoint for each lane and a priority model, of which omniORB knows nothing.
#[test]
fn server_with_lanes() {
    check_served(Served::ByLanes, NO_CHAR_OF_UTF8, None, &[ALWAYS, IN_LATIN1]);
}

/// The ORB's own threads send the client on to those of the lanes.
#[test]
fn server_with_lanes_by_corbaloc() {
    let options = [NO_CHAR_OF_UTF8, NO_COMPARISON].concat();
    check_served(
        Served::ByLanes,
        &options,
        Some("corbaloc:iiop:1.2@%/Interop"),
        &[ALWAYS, IN_LATIN1],
    );
}

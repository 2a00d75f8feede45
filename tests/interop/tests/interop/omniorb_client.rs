//! An omniORB client, our server.

use std::time::Duration;

use punctual_interop::{
    checks::limits,
    server::{Served, Server},
};

use crate::{matrix::Row, programs};

/// Checks that the client skips by itself, in every run and by its own code set.
const ALWAYS: &[&str] = &["call_after_idle_close"];
const IN_LATIN1: &[&str] = &["text_beyond_latin1"];
pub const SKIPPED_IN_LATIN1: &[&[&str]] = &[ALWAYS, IN_LATIN1];
const IN_UTF8: &[&str] = &["text_server_has_more", "char_latin1"];
const IN_UTF8_UNNEGOTIATED: &[&str] = &[
    "text_latin1",
    "text_beyond_latin1",
    "text_server_has_more",
    "char_latin1",
];

/// omniORB prefers the first code set that we convert, UTF-8, in which it has no `char` above 127.
pub const NO_CHAR_OF_UTF8: &[(&str, &str)] =
    &[("char_latin1", "it chooses UTF-8, where it has no char above 127")];

/// After LOCATION_FORWARD omniORB compares where a reference leads, not what it is: its `_is_equivalent` says
/// no where the `corbaloc:` comes back as it went.
const NO_COMPARISON: &[(&str, &str)] = &[
    ("char_latin1", "it chooses UTF-8, where it has no char above 127"),
    (
        "attributes",
        "after LOCATION_FORWARD `_is_equivalent` compares where a reference leads",
    ),
    (
        "rotate_object",
        "after LOCATION_FORWARD `_is_equivalent` compares where a reference leads",
    ),
];

/// A run of the client against our server.
struct Run<'r> {
    /// Name of the run.
    called: &'r str,
    served: Served,
    options: &'r [&'r str],
    /// Reference that the client uses, with `%` for the server's host and port; `None`: the server's own.
    corbaloc: Option<&'r str>,
    skipped: &'r [(&'r str, &'r str)],
    skipped_by_client: &'r [&'r [&'r str]],
}

impl Run<'_> {
    const PLAIN: Self = Self {
        called: "",
        served: Served::ByTheOrb,
        options: &[],
        corbaloc: None,
        skipped: NO_CHAR_OF_UTF8,
        skipped_by_client: SKIPPED_IN_LATIN1,
    };

    fn check(self) {
        let Some(programs) = programs() else { return };
        let mut server = Server::start(limits(), self.served);
        let reference = match self.corbaloc {
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
        all.extend(self.options);
        all.extend(self.skipped.iter().flat_map(|(name, _)| ["--skip", name]));
        let passed = programs.check(&reference, &all, &self.skipped_by_client.concat());
        assert!(
            server.ends_within(Duration::from_secs(10)),
            "the server does not end after Peer::shutdown"
        );
        Row::described("omniORB 4.2.5", "client", self.called).record(passed, self.skipped);
    }
}

fn check_version(version: &str, code_set: &str, skipped: &[(&str, &str)], skipped_by_client: &[&[&str]]) {
    Run {
        called: &format!("GIOP {version}, {code_set}"),
        options: &["-ORBmaxGIOPVersion", version, "-ORBnativeCharCodeSet", code_set],
        skipped,
        skipped_by_client,
        ..Run::PLAIN
    }
    .check();
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
    Run {
        called: "corbaloc, GIOP 1.0",
        corbaloc: Some("corbaloc::%/Interop"),
        skipped: NO_COMPARISON,
        ..Run::PLAIN
    }
    .check();
}

#[test]
fn corbaloc_giop_1_2() {
    Run {
        called: "corbaloc, GIOP 1.2",
        corbaloc: Some("corbaloc:iiop:1.2@%/Interop"),
        skipped: NO_COMPARISON,
        ..Run::PLAIN
    }
    .check();
}

#[test]
fn one_shared_connection() {
    Run {
        called: "one shared connection",
        options: &[
            "-ORBoneCallPerConnection",
            "0",
            "-ORBmaxGIOPConnectionPerServer",
            "1",
        ],
        ..Run::PLAIN
    }
    .check();
}

#[test]
fn first_calls_without_asking() {
    Run {
        called: "first calls without asking",
        options: &["-ORBverifyObjectExistsAndType", "0"],
        ..Run::PLAIN
    }
    .check();
}

/// References with an endpoint for each lane and a priority model, of which omniORB knows nothing.
#[test]
fn server_with_lanes() {
    Run {
        called: "server with lanes",
        served: Served::ByLanes,
        ..Run::PLAIN
    }
    .check();
}

/// The ORB's own threads send the client on to those of the lanes.
#[test]
fn server_with_lanes_by_corbaloc() {
    Run {
        called: "server with lanes, corbaloc",
        served: Served::ByLanes,
        corbaloc: Some("corbaloc:iiop:1.2@%/Interop"),
        skipped: NO_COMPARISON,
        ..Run::PLAIN
    }
    .check();
}

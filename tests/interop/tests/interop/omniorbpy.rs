//! omniORBpy 4.2.5: its server and our client, and its client and our server.

use punctual_interop::omniorbpy::OmniOrbPy;

use crate::{matrix::Row, proxied, served};

pub const UNSIGNED: (&str, &str) = (
    "rotate_ulonglongs",
    "omniORBpy fails at elements of a sequence above 2^63 - 1",
);
pub const MINOR: (&str, &str) = (
    "fail_system",
    "omniORBpy's client turns minor code 0xffffffff into 0",
);
/// Where the code set of the connection cannot represent the text of a reply.
pub const UNWRITABLE: (&str, &str) = (
    "text_server_has_more",
    "omniORBpy answers MessageError, not DATA_CONVERSION",
);
pub const CHAR_OF_UTF8: (&str, &str) = (
    "char_latin1",
    "omniORBpy chooses UTF-8, where it has no char above 127",
);

fn omniorbpy() -> Option<&'static OmniOrbPy> {
    OmniOrbPy::build(env!("CARGO_TARGET_TMPDIR"))
}

const LATIN1: [&str; 2] = ["-ORBnativeCharCodeSet", "ISO-8859-1"];
const UTF8: [&str; 2] = ["-ORBnativeCharCodeSet", "UTF-8"];

fn check_server(version: &str, code_set: [&str; 2], skipped: &[(&str, &str)]) {
    let Some(omniorbpy) = omniorbpy() else { return };
    let row = Row::new("omniORBpy 4.2.5", "server", version, code_set[1]);
    let server = omniorbpy.server(&options(version, code_set), None);
    served(row, server, &[skipped, &[UNSIGNED]].concat());
}

fn check_client(version: &str, code_set: [&str; 2], skipped: &[(&str, &str)]) {
    let Some(omniorbpy) = omniorbpy() else { return };
    let row = Row::new("omniORBpy 4.2.5", "client", version, code_set[1]);
    let start = |target: &str| omniorbpy.server(&options(version, code_set), Some(target));
    proxied(row, start, &[skipped, &[UNSIGNED, MINOR]].concat());
}

fn options<'o>(version: &'o str, code_set: [&'o str; 2]) -> [&'o str; 4] {
    ["-ORBmaxGIOPVersion", version, code_set[0], code_set[1]]
}

#[test]
fn server_1_2_utf8() {
    check_server("1.2", UTF8, &[]);
}

#[test]
fn server_1_2_latin1() {
    check_server("1.2", LATIN1, &[UNWRITABLE]);
}

#[test]
fn server_1_1_utf8() {
    check_server("1.1", UTF8, &[UNWRITABLE, CHAR_OF_UTF8]);
}

#[test]
fn server_1_1_latin1() {
    check_server("1.1", LATIN1, &[UNWRITABLE]);
}

#[test]
fn server_1_0_latin1() {
    check_server("1.0", LATIN1, &[]);
}

#[test]
fn client_1_2_utf8() {
    check_client("1.2", UTF8, &[]);
}

#[test]
fn client_1_2_latin1() {
    check_client("1.2", LATIN1, &[UNWRITABLE, CHAR_OF_UTF8]);
}

#[test]
fn client_1_1_utf8() {
    check_client("1.1", UTF8, &[UNWRITABLE, CHAR_OF_UTF8]);
}

#[test]
fn client_1_1_latin1() {
    check_client("1.1", LATIN1, &[UNWRITABLE, CHAR_OF_UTF8]);
}

#[test]
fn client_1_0_latin1() {
    check_client("1.0", LATIN1, &[]);
}

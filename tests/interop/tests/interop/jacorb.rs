//! JacORB 3.9: its server and our client, and its client and our server.

use punctual_interop::jacorb::JacOrb;

use crate::{matrix::Row, proxied, served};

fn jacorb() -> Option<&'static JacOrb> {
    JacOrb::build(env!("CARGO_TARGET_TMPDIR"))
}

const GIOP_1_0: (&str, &str) = ("jacorb.giop_minor_version", "0");
const GIOP_1_1: (&str, &str) = ("jacorb.giop_minor_version", "1");
const GIOP_1_2: (&str, &str) = ("jacorb.giop_minor_version", "2");
const LATIN1: (&str, &str) = ("jacorb.native_char_codeset", "ISO8859_1");
pub const UTF8: (&str, &str) = ("jacorb.native_char_codeset", "UTF8");

/// Deviations of JacORB, as a server and as a client.
pub const FAULTS: &[(&str, &str)] = &[
    (
        "rotate_lettered",
        "a union refuses the default where it shares a case",
    ),
    ("rotate_wide", "its IDL compiler has labels of `int` only"),
    ("rotate_tiny", "a union loses a discriminator without member"),
    ("union_labels", "a union loses a discriminator without member"),
    ("body_too_short", "what a body does not have is read as zeros"),
    (
        "length_without_elements",
        "what a body does not have is read as zeros",
    ),
    ("no_such_enumerator", "BAD_PARAM, not MARSHAL"),
    ("string_over_its_bound", "BAD_PARAM, not MARSHAL"),
];
pub const CONSTANTS: (&str, &str) = (
    "constants",
    "its IDL compiler rounds constants of `double` to `float`",
);
const UNWRITABLE: (&str, &str) = (
    "text_server_has_more",
    "a reply has another character where the code set lacks one",
);

fn check_server(giop: (&str, &str), code_set: (&str, &str)) {
    let Some(jacorb) = jacorb() else { return };
    let mut skipped = [FAULTS, &[CONSTANTS]].concat();
    if code_set == LATIN1 {
        skipped.push(UNWRITABLE);
    }
    let row = Row::new("JacORB 3.9", "server", giop.1, code_set.1);
    served(row, jacorb.server(&[giop, code_set], None), &skipped);
}

fn check_client(giop: (&str, &str), code_set: (&str, &str)) {
    let Some(jacorb) = jacorb() else { return };
    let row = Row::new("JacORB 3.9", "client", giop.1, code_set.1);
    let start = |target: &str| jacorb.server(&[giop, code_set], Some(target));
    proxied(row, start, FAULTS);
}

#[test]
fn server_1_2_utf8() {
    check_server(GIOP_1_2, UTF8);
}

#[test]
fn server_1_2_latin1() {
    check_server(GIOP_1_2, LATIN1);
}

#[test]
fn server_1_1_latin1() {
    check_server(GIOP_1_1, LATIN1);
}

#[test]
fn server_1_0_latin1() {
    check_server(GIOP_1_0, LATIN1);
}

#[test]
fn client_1_2_utf8() {
    check_client(GIOP_1_2, UTF8);
}

#[test]
fn client_1_2_latin1() {
    check_client(GIOP_1_2, LATIN1);
}

#[test]
fn client_1_1_latin1() {
    check_client(GIOP_1_1, LATIN1);
}

#[test]
fn client_1_0_latin1() {
    check_client(GIOP_1_0, LATIN1);
}

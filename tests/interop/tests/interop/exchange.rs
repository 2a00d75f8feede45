//! Any, value types, wide text and fixed: with ourselves, omniORB, JacORB and omniORBpy, in both directions.

use punctual::Orb;
use punctual_interop::{
    dynamics::ExchangeRef,
    exchange::{ExchangeServer, check},
    jacorb::JacOrb,
    omniorbpy::OmniOrbPy,
    process,
};

use crate::{matrix::Row, programs};

const BOX: &str = "JacORB takes a boxed string for the string itself";
const BEHIND_A_BOX: &str = "JacORB cannot read a value behind one with a box in it, not even its own";
const JACORB: [(&str, &str); 6] = [
    ("short_fixed", "JacORB sends no leading zeros of a `fixed`"),
    ("any_boxed", BOX),
    ("boxed", BOX),
    ("truncatable", BEHIND_A_BOX),
    ("truncatable_in_truncatable", BEHIND_A_BOX),
    ("sharing", BEHIND_A_BOX),
];
const OTHER_ORDER: &str = "JacORB sends big-endian: what is not known of a value is left out here";
const BIG_ENDIAN: [(&str, &str); 2] = [("any_derived", OTHER_ORDER), ("any_figure", OTHER_ORDER)];
const ENDS_AT_WIDE_TEXT: &str = "the interpreter ends at wide text, in an assertion of omniORBpy";

const NO_EXCEPTION: (&str, &str) = (
    "any_exception",
    "omniORB answers MARSHAL to the type code of an exception in an `any`",
);

/// Older versions of GIOP, and why omniORB reads no wide text in them.
const OLDER: [(&str, &str); 2] = [
    ("1.0", "GIOP 1.0 has no wide text: MARSHAL, minor OMG 5"),
    (
        "1.1",
        "over GIOP 1.1 omniORB states no wide code set, and answers BAD_PARAM, minor OMG 23",
    ),
];

pub const WHAT: &str = "Any, value types, wide text, fixed";

/// Checks that fail over GIOP 1.1, whatever the peer.
pub const UNKNOWN_TYPES: [(&str, &str); 2] = [("any_derived", FIXED_FORM), ("any_figure", FIXED_FORM)];
const FIXED_FORM: &str =
    "over GIOP 1.1, what is not known of a value is left out: wide text has another form there";

/// All checks with wide text, which are skipped for this reason.
pub fn wide(reason: &'static str) -> [(&'static str, &'static str); 4] {
    ["wchar", "wstring", "loaded", "any_wide"].map(|check| (check, reason))
}

pub fn served(row: Row, server: process::Server, skipped: &[(&str, &str)]) {
    let passed = check(&server.reference, skipped);
    end(server);
    row.record(passed, skipped);
}

/// Ends a server of an `Exchange`.
pub fn end(server: process::Server) {
    let orb = Orb::builder().build().expect("an ORB");
    let exchange: ExchangeRef = orb.resolve(&server.reference).expect("the server's reference");
    exchange.shutdown().expect("the server answers before it ends");
    server.ends();
}

#[test]
fn with_ourselves() {
    let server = ExchangeServer::start();
    assert_eq!(check(&server.exchange.to_ior(), &[]), 34);
}

#[test]
fn omniorb_server() {
    let Some(omniorb) = programs() else { return };
    let row = Row::described("omniORB 4.2.5", "server", WHAT);
    served(row, omniorb.exchange(&[], None), &[NO_EXCEPTION]);
}

#[test]
fn omniorb_client() {
    let Some(omniorb) = programs() else { return };
    let ours = ExchangeServer::start();
    let row = Row::described("omniORB 4.2.5", "client", WHAT);
    served(
        row,
        omniorb.exchange(&[], Some(&ours.exchange.to_ior())),
        &[NO_EXCEPTION],
    );
}

#[test]
fn omniorb_server_in_older_versions() {
    let Some(omniorb) = programs() else { return };
    for (version, no_wide_text) in OLDER {
        let row = Row::described("omniORB 4.2.5", "server", &format!("GIOP {version}, {WHAT}"));
        let unknown = if version == "1.1" { &UNKNOWN_TYPES[..] } else { &[] };
        let skipped = [&wide(no_wide_text)[..], &[NO_EXCEPTION], unknown].concat();
        let server = omniorb.exchange(&["-ORBmaxGIOPVersion", version], None);
        served(row, server, &skipped);
    }
}

#[test]
fn omniorb_client_in_older_versions() {
    let Some(omniorb) = programs() else { return };
    let ours = ExchangeServer::start();
    for (version, no_wide_text) in OLDER {
        let row = Row::described("omniORB 4.2.5", "client", &format!("GIOP {version}, {WHAT}"));
        let unknown = if version == "1.1" { &UNKNOWN_TYPES[..] } else { &[] };
        let skipped = [&wide(no_wide_text)[..], &[NO_EXCEPTION], unknown].concat();
        let options = ["-ORBmaxGIOPVersion", version];
        let proxy = omniorb.exchange(&options, Some(&ours.exchange.to_ior()));
        served(row, proxy, &skipped);
    }
}

#[test]
fn jacorb_server() {
    let Some(jacorb) = JacOrb::build(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let row = Row::described("JacORB 3.9", "server", WHAT);
    served(row, jacorb.exchange(&[], None), &JACORB);
}

#[test]
fn jacorb_client() {
    let Some(jacorb) = JacOrb::build(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let ours = ExchangeServer::start();
    let row = Row::described("JacORB 3.9", "client", WHAT);
    let skipped = [&JACORB[..], &BIG_ENDIAN].concat();
    served(row, jacorb.exchange(&[], Some(&ours.exchange.to_ior())), &skipped);
}

#[test]
fn jacorb_in_older_versions() {
    let Some(jacorb) = JacOrb::build(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let ours = ExchangeServer::start();
    let reference = ours.exchange.to_ior();
    let no_wide_text = wide("GIOP 1.0 has no wide text: MARSHAL, minor 5");
    for (minor, more) in [("0", &no_wide_text[..]), ("1", &[])] {
        for (part, target) in [("server", None), ("client", Some(&*reference))] {
            let unknown = match (part, minor) {
                ("client", _) => &BIG_ENDIAN[..],
                (_, "1") => &UNKNOWN_TYPES,
                _ => &[],
            };
            let skipped = [&JACORB, more, unknown].concat();
            let row = Row::described("JacORB 3.9", part, &format!("GIOP 1.{minor}, {WHAT}"));
            let server = jacorb.exchange(&[("jacorb.giop_minor_version", minor)], target);
            served(row, server, &skipped);
        }
    }
}

#[test]
fn omniorbpy_server() {
    let Some(omniorbpy) = OmniOrbPy::build(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let row = Row::described("omniORBpy 4.2.5", "server", WHAT);
    served(row, omniorbpy.exchange(&[], None), &wide(ENDS_AT_WIDE_TEXT));
}

#[test]
fn omniorbpy_client() {
    let Some(omniorbpy) = OmniOrbPy::build(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let ours = ExchangeServer::start();
    let row = Row::described("omniORBpy 4.2.5", "client", WHAT);
    served(
        row,
        omniorbpy.exchange(&[], Some(&ours.exchange.to_ior())),
        &wide(ENDS_AT_WIDE_TEXT),
    );
}

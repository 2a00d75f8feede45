//! Our client and our server, as another program understands their messages: `tshark`, the network analyser.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use punctual::{Interface, Orb};
use punctual_fixtures::{Missing, skip};
use punctual_giop::Version;
use punctual_interop::{
    checks::{Context, limits},
    exchange::{ExchangeServer, check},
    relay::{Capture, Relay},
    server::{Served, Server},
};

use crate::{
    NO_IDLE_CLOSE,
    exchange::{UNKNOWN_TYPES, wide},
    ourselves::{as_of, port},
    shared::Sharing,
};

/// All checks in each version of GIOP.
#[test]
fn nothing_that_we_send_is_malformed() {
    if !has_tshark() {
        return;
    }
    let server = Server::start(limits(), Served::ByTheOrb);
    let peer = server.peer.as_object();
    let relay = Relay::recording(port(peer));
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        let context = Context::new(&as_of(peer, version, relay.port)).expect("the relay's reference");
        context.run(&[NO_IDLE_CLOSE]);
    }
    assert_understood("whole.pcap", &relay, 2000);
}

/// Any, value types, wide text and `fixed` in each version of GIOP.
#[test]
fn nothing_in_any_and_values_is_malformed() {
    if !has_tshark() {
        return;
    }
    let server = ExchangeServer::start();
    let object = server.exchange.as_object();
    let relay = Relay::recording(port(object));
    let no_wide_text = wide("GIOP 1.0 has no wide text");
    for (version, skipped) in [
        (Version::V1_0, &no_wide_text[..]),
        (Version::V1_1, &UNKNOWN_TYPES),
        (Version::V1_2, &[]),
    ] {
        check(&as_of(object, version, relay.port), skipped);
    }
    assert_understood("dynamics.pcap", &relay, 150);
}

/// Our messages in fragments that interleave, in both directions.
#[test]
fn no_fragment_of_ours_is_malformed() {
    if !has_tshark() {
        return;
    }
    let limits = Sharing::Fragments.limits();
    let server = Server::start(limits, Served::ByTheOrb);
    let peer = server.peer.as_object();
    let relay = Relay::recording(port(peer));
    let reference = as_of(peer, Version::V1_2, relay.port);
    let context = Context::of(Orb::builder().limits(limits), &reference).expect("the relay's reference");
    context.orb.add_policies(Sharing::Fragments.policies());
    context.run(&[NO_IDLE_CLOSE]);
    let traffic = relay.traffic();
    for messages in [traffic.to_server, traffic.to_clients] {
        assert!(messages.fragments > 1000, "{traffic:?}");
    }
    assert_understood("fragments.pcap", &relay, 2000);
}

/// `tshark` decodes all messages that have passed, of which there are more than `least`.
fn assert_understood(name: &str, relay: &Relay, least: usize) {
    let capture = relay.capture();
    println!("{} messages", capture.messages);
    assert!(capture.messages > least, "{} messages", capture.messages);
    let file = File::new(name, &capture);
    let decoded = file.frames("giop").len();
    assert_eq!(
        decoded, capture.messages,
        "tshark takes each for a message of GIOP"
    );
    assert_eq!(
        file.frames("_ws.malformed"),
        [""; 0],
        "frames that tshark cannot decode"
    );
}

/// `tshark` would find what it is asked for.
#[test]
fn tshark_finds_what_is_malformed() {
    if !has_tshark() {
        return;
    }
    // Request 5 of GIOP 1.0 without contexts, whose object key has more octets than the message.
    let mut request = b"GIOP\x01\x00\x00\x00\x00\x00\x00\x10".to_vec();
    request.extend([0, 0, 0, 0, 0, 0, 0, 5, 1, 0, 0, 0, 0, 0, 0, 99]);
    // LocateReply 5 of GIOP 1.2 with a reference, whose type has more octets than the message.
    let mut reply = b"GIOP\x01\x02\x00\x04\x00\x00\x00\x14".to_vec();
    reply.extend([
        0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 99, b'I', b'D', b'L', 0, 0, 0, 0, 0,
    ]);
    let mut good = reply.clone();
    good[23] = 4;
    for (message, malformed) in [(request, &["1"][..]), (reply, &["1"]), (good, &[])] {
        let file = File::new("malformed.pcap", &Capture::of(&message));
        assert_eq!(file.frames("_ws.malformed"), malformed, "{message:x?}");
    }
}

fn has_tshark() -> bool {
    let there = Command::new("tshark").arg("--version").output().is_ok();
    if !there {
        skip(
            Missing::Peer,
            "tshark is not installed: sudo apt-get install tshark",
        );
    }
    there
}

/// A capture in a file, which goes with it.
struct File(PathBuf);

impl File {
    fn new(name: &str, capture: &Capture) -> Self {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&file, capture.file()).expect("a file in the scratch folder");
        Self(file)
    }

    /// The numbers of the frames that this filter shows.
    fn frames(&self, filter: &str) -> Vec<String> {
        let output = Command::new("tshark")
            .arg("-r")
            .arg(&self.0)
            .args(["-Y", filter, "-T", "fields", "-e", "frame.number"])
            .stdin(Stdio::null())
            .output()
            .expect("tshark starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tshark: {said}");
        let lines = String::from_utf8(output.stdout).expect("numbers");
        lines.lines().map(str::to_owned).collect()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // More than a hundred megabytes.
        let _ = fs::remove_file(&self.0);
    }
}

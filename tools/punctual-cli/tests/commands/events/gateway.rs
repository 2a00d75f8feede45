//! `punctual events gateway`: channels in processes of their own, and gateways that are killed.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStdout, Stdio},
};

use punctual::Orb;
use punctual_events::{EventType, RemoteChannel, rtec::rtec_event_comm::Event};
use punctual_fixtures::eventually;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{Channel, Tail, command};
use crate::command::run;

/// A running gateway; it is killed with the test.
pub struct Gateway {
    child: Child,
    said: BufReader<ChildStdout>,
    /// The two sides that it connects, as printed, after an empty line.
    ways: Vec<String>,
}

impl Gateway {
    pub fn start(arguments: &[&str]) -> Self {
        let mut child = command(&[&["gateway"], arguments].concat())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut ways = Vec::new();
        let mut line = String::new();
        while line != "Ctrl-C or SIGTERM ends it.\n" {
            ways.push(line.trim().to_owned());
            line.clear();
            assert!(said.read_line(&mut line).unwrap() > 0, "it began");
        }
        Self { child, said, ways }
    }

    /// Port at which it receives datagrams.
    fn port(&self) -> &str {
        self.ways[1].split([':', ' ']).nth(2).unwrap()
    }

    /// SIGKILL: it cannot run any further code.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal; returns the last lines.
    fn end(mut self, signal: Signal) -> String {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{rest}");
        rest
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_gateway_in_both_directions_delivers_once_and_counts_loops() {
    let (first, second) = (Channel::start(&[]), Channel::start(&[]));
    let gateway = Gateway::start(&[&first.address, &second.address, "--both"]);
    let tail = Tail::start(&second, &["--count", "5", "--json"]);
    assert_eq!(
        first.send(&["--type", "16", "--count", "5", "--ttl", "3"]).code,
        0
    );
    let (code, shown) = tail.wait();
    assert_eq!((code, shown.lines().count()), (0, 5));
    for line in shown.lines() {
        assert_eq!(serde_json::from_str::<Value>(line).unwrap()["ttl"], 2);
    }
    assert_eq!(first.send(&["--type", "16", "--ttl", "0"]).code, 0);
    let gateways = |channel: &Channel| channel.top_json()["gateways"][0].clone();
    eventually("they came back", || gateways(&first)["looped"] == 5);
    eventually("the old one ended", || gateways(&second)["expired"] == 1);
    let shown = run(["events", "top", &second.address, "--once", "--interval", "0.1"]);
    assert!(
        shown
            .said
            .contains(": 5 forwarded, 0 repeated, 0 looped, 1 expired, 0 lost."),
        "{}",
        shown.said
    );
    assert_eq!(
        (&first.top_json()["received"], &second.top_json()["received"]),
        (&6.into(), &5.into())
    );
    let said = gateway.end(Signal::TERM);
    assert!(
        said.contains(": 5 forwarded, 0 repeated, 0 looped, 1 expired, 0 lost."),
        "{said}"
    );
    assert!(
        said.contains(": 0 forwarded, 0 repeated, 5 looped, 0 expired, 0 lost."),
        "{said}"
    );
}

#[test]
fn a_gateway_that_is_killed_again_and_again_loses_and_repeats_nothing() {
    const EVENTS: u32 = 3_000;
    let (first, second) = (
        Channel::start(&["--overflow", "block:20000"]),
        Channel::start(&["--overflow", "block:20000"]),
    );
    let tail = Tail::start(
        &second,
        &["--json", "--count", &EVENTS.to_string(), "--for", "120"],
    );
    let start = || Gateway::start(&[&first.address, &second.address, "--acknowledged", "killed"]);
    let mut gateway = start();
    let orb = Orb::builder().build().unwrap();
    let supplier = RemoteChannel::new(orb.resolve(&first.address).unwrap());
    let supplier = supplier.supplier(&[EventType(16)]).unwrap();
    for round in 0..6 {
        for number in round * EVENTS / 6..(round + 1) * EVENTS / 6 {
            let mut event = Event::default();
            event.header.r#type = 16;
            event.header.ttl = 1;
            event.data.payload = number.to_be_bytes().to_vec();
            supplier.push(&[event]).unwrap();
        }
        supplier.flush().unwrap();
        let begun = u64::from(round * EVENTS / 6);
        eventually("it is at work", || {
            second.top_json()["received"].as_u64() > Some(begun)
        });
        gateway.kill();
        gateway = start();
    }
    let (code, shown) = tail.wait();
    let payload = |line: &str| {
        let event: Value = serde_json::from_str(line).unwrap();
        u32::from_str_radix(event["payload"].as_str().unwrap(), 16).unwrap()
    };
    assert_eq!(code, 0);
    assert_eq!(
        shown.lines().map(payload).collect::<Vec<_>>(),
        (0..EVENTS).collect::<Vec<_>>()
    );
    let end = second.top_json();
    assert_eq!(end["received"], EVENTS);
    assert_eq!(end["gateways"][0]["lost"], 0);
    gateway.end(Signal::INT);
}

#[test]
fn a_gateway_connects_again_when_its_channels_come_back() {
    let first = Channel::start(&[]);
    let port = first.address.split(['@', '/']).nth(1).unwrap().to_owned();
    let second = Channel::start(&[]);
    let gateway = Gateway::start(&[&first.address, &second.address]);
    assert_eq!(first.end(), 0);
    let again = Channel::at(&port, &[]);
    let seen = || {
        again.send(&["--type", "16"]);
        second.top_json()["received"].as_u64() > Some(0)
    };
    eventually("an event on the new way", seen);
    gateway.end(Signal::INT);
}

#[test]
fn events_travel_between_channels_as_datagrams() {
    let (first, second) = (Channel::start(&[]), Channel::start(&[]));
    let receiving = Gateway::start(&[&second.address, "--udp", "127.0.0.1:0", "--receive"]);
    let towards = format!("127.0.0.1:{}", receiving.port());
    let sending = Gateway::start(&[&first.address, "--udp", &towards, "--datagram", "64"]);
    let tail = Tail::start(&second, &["--count", "3", "--json"]);
    let text = "a text that needs more than one datagram";
    let sent = first.send(&["--type", "16", "--count", "3", "--ttl", "2", "--text", text]);
    assert_eq!(sent.code, 0);
    let (code, shown) = tail.wait();
    assert_eq!((code, shown.lines().count()), (0, 3));
    for line in shown.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&event["text"], &event["ttl"]), (&text.into(), &1.into()));
    }
    let attacker = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    attacker.send_to(b"nonsense", &towards).unwrap();
    eventually("malformed", || second.top_json()["gateways"][0]["malformed"] == 1);
    let said = sending.end(Signal::TERM);
    assert!(
        said.contains(": 3 forwarded, 0 repeated, 0 looped, 0 expired, 0 lost."),
        "{said}"
    );
    let said = receiving.end(Signal::INT);
    assert!(
        said.contains(": 3 forwarded, 0 repeated, 0 looped, 0 expired, 0 lost, 1 malformed."),
        "{said}"
    );
}

/// Neither has a lane for calls without a priority, and the priority of one need not be that of the other.
#[test]
fn gateways_connect_channels_whose_lanes_have_high_priorities() {
    let first = Channel::start(&["--lane", "100", "--lane", "20000"]);
    let second = Channel::start(&["--lane", "50", "--lane", "100", "--lane", "20000"]);
    let both = [&*first.address, &*second.address];
    let back = [&*second.address, &*first.address];
    let at_once = ["--priority", "20000"];
    let named = ["--acknowledged", "named"];
    for arguments in [
        &both[..],
        &[both, at_once].concat(),
        &[both, named].concat(),
        &[&both[..], &named, &at_once].concat(),
    ] {
        let gateway = Gateway::start(arguments);
        passes_one(&first, &second);
        drop(gateway);
    }
    let gateway = Gateway::start(&back);
    passes_one(&second, &first);
    drop(gateway);
    let receiving = Gateway::start(&[&second.address, "--udp", "127.0.0.1:0", "--receive"]);
    let towards = format!("127.0.0.1:{}", receiving.port());
    let _sending = Gateway::start(&[&first.address, "--udp", &towards]);
    passes_one(&first, &second);
    assert_eq!(first.send(&["--type", "16", "--ttl", "0"]).code, 0);
    eventually("the channel shows what was not exported", || {
        let gateways = first.top_json()["gateways"].clone();
        let mut gateways = gateways.as_array().unwrap().iter();
        gateways.any(|one| one["name"] == "datagrams" && one["expired"] == 1)
    });
}

/// Sends an event to one channel, which arrives at the other.
fn passes_one(first: &Channel, second: &Channel) {
    let tail = Tail::start(second, &["--count", "1", "--for", "20"]);
    let sent = first.send(&["--type", "16"]);
    assert_eq!(sent.code, 0, "{}", sent.complained);
    let (code, shown) = tail.wait();
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn a_gateway_without_a_channel_ends_with_3_and_one_with_wrong_settings_with_2() {
    let channel = Channel::start(&[]);
    for (arguments, code) in [
        (["corbaloc::127.0.0.1:1/Events", &channel.address], 3),
        ([&channel.address, "corbaloc::127.0.0.1:1/Events"], 3),
        (["nonsense", &channel.address], 2),
    ] {
        let refused = run([&["events", "gateway"], &arguments[..]].concat());
        assert_eq!(refused.code, code, "{arguments:?}");
    }
    for wrong in [
        &[&*channel.address][..],
        &[&channel.address, &channel.address, "--udp", "127.0.0.1:9"],
        &[&channel.address, "--udp", "nowhere"],
        &[&channel.address, "--udp", "127.0.0.1:9", "--datagram", "39"],
        &[&channel.address, "--udp", "127.0.0.1:9", "--acknowledged", "name"],
        &[&channel.address, "--udp", "192.0.2.1:9", "--receive"],
        &[&channel.address, "--multicast", "127.0.0.1:9"],
    ] {
        let refused = run([&["events", "gateway"], wrong].concat());
        assert_eq!(refused.code, 2, "{wrong:?}");
    }
}

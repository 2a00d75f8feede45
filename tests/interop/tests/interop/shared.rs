//! Connections over which messages of several calls interleave: messages in fragments, in both directions,
//! bidirectional connections, and both together, with three other ORBs in both parts.

use std::time::Duration;

use punctual::{BidirectionalRule, Limits, Orb, OrbBuilder, Peers, PolicyOverrides};
use punctual_interop::{
    checks::{Context, limits},
    jacorb::JacOrb,
    omniorbpy::OmniOrbPy,
    process,
    relay::{Relay, Traffic},
    server::{Served, Server, bidirectional, shared},
};

use crate::{NO_IDLE_CLOSE, jacorb, matrix::Row, omniorb_client, omniorbpy};

/// Particular settings of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sharing {
    /// Our messages of more than this number of octets are divided; other ORBs have limits of their own.
    Fragments,
    /// Servers call back over the connections of clients.
    Bidirectional,
    /// Both.
    BidirectionalFragments,
}

/// So small that members of all types are divided somewhere.
const FRAGMENT_SIZE: usize = 1000;

impl Sharing {
    fn divides(self) -> bool {
        self != Self::Bidirectional
    }

    fn calls_back(self) -> bool {
        self != Self::Fragments
    }

    pub fn limits(self) -> Limits {
        match self.divides() {
            true => limits().fragment_size(Some(FRAGMENT_SIZE)),
            false => limits(),
        }
    }

    pub fn policies(self) -> PolicyOverrides {
        match self.calls_back() {
            true => bidirectional(),
            false => shared(),
        }
    }

    fn described(self) -> &'static str {
        match self {
            Self::Fragments => "GIOP 1.2, fragments",
            Self::Bidirectional => "GIOP 1.2, bidirectional",
            Self::BidirectionalFragments => "GIOP 1.2, bidirectional, fragments",
        }
    }
}

/// Whether the other ORB divides long messages.
#[derive(Clone, Copy, PartialEq)]
enum Divides {
    Yes,
    Never,
}

/// The messages of a run have at least as many fragments of ours, of 1,000 octets.
const OUR_FRAGMENTS: usize = 15_000;
/// And of omniORB's, of 8 KiB and of large arrays as a whole.
const THEIR_FRAGMENTS: usize = 200;
/// Requests that one run makes to objects of the client.
const CALLBACKS: usize = 16;

/// Runs all checks of our client against this server.
fn check_server(
    sharing: Sharing,
    orb: &'static str,
    divides: Divides,
    server: process::Server,
    skipped: &[(&str, &str)],
) {
    let (relay, reference) = Relay::to(&server.reference);
    let context = Context::of(Orb::builder().limits(sharing.limits()), &reference).expect("a reference");
    context.orb.add_policies(sharing.policies());
    let passed = context.run(&[skipped, &[NO_IDLE_CLOSE]].concat());
    println!("{orb}: {:?}", relay.traffic());
    if sharing.calls_back() {
        let accepted = context.callbacks.statistics()[0].1.connections.open;
        assert_eq!(accepted, 0, "the server calls back over the client's connection");
    }
    context
        .peer
        .shutdown()
        .expect("the server answers before it ends");
    server.ends();
    let Traffic {
        to_server: ours,
        to_clients: theirs,
    } = relay.traffic();
    evaluate(
        sharing,
        divides,
        (ours.fragments, theirs.fragments),
        theirs.requests,
    );
    Row::described(orb, "server", sharing.described()).record(passed, skipped);
}

/// Runs all checks that `client` makes over the other ORB's client against our server; it is given the
/// reference, ends the server, and returns how many passed.
fn check_client(
    sharing: Sharing,
    orb: &'static str,
    divides: Divides,
    client: impl FnOnce(&str) -> usize,
    skipped: &[(&str, &str)],
) {
    let served = match sharing.calls_back() {
        true => Served::Bidirectionally,
        false => Served::ByTheOrb,
    };
    let mut ours = Server::of(accepting(), sharing.limits(), served);
    let (relay, reference) = Relay::to(&ours.peer.to_ior());
    let passed = client(&reference);
    ours.orb.shutdown();
    assert!(
        ours.ends_within(Duration::from_secs(10)),
        "our server does not end"
    );
    let Traffic {
        to_server: theirs,
        to_clients: ours,
    } = relay.traffic();
    println!("{orb}: {:?}", relay.traffic());
    evaluate(
        sharing,
        divides,
        (ours.fragments, theirs.fragments),
        ours.requests,
    );
    Row::described(orb, "client", sharing.described()).record(passed, skipped);
}

fn accepting() -> OrbBuilder {
    Orb::builder().accept_bidirectional(BidirectionalRule::own_addresses(Peers::SameHost))
}

/// Whether that has passed for which the run is: numbers of fragments, ours first, and of requests to the
/// client.
fn evaluate(sharing: Sharing, divides: Divides, (ours, theirs): (usize, usize), callbacks: usize) {
    if sharing.divides() {
        assert!(ours >= OUR_FRAGMENTS, "{ours} fragments of ours");
        match divides {
            Divides::Yes => assert!(theirs >= THEIR_FRAGMENTS, "{theirs} fragments of theirs"),
            Divides::Never => assert_eq!(theirs, 0, "it divides messages now"),
        }
    }
    match sharing.calls_back() {
        true => assert!(callbacks >= CALLBACKS, "{callbacks} requests to the client"),
        false => assert_eq!(callbacks, 0, "the control: connections of one direction"),
    }
}

/// A check over a server of the other ORB that passes all calls on to ours.
fn over_proxy(
    sharing: Sharing,
    orb: &'static str,
    divides: Divides,
    start: impl FnOnce(&str) -> process::Server,
    skipped: &[(&str, &str)],
) {
    let client = |target: &str| {
        let server = start(target);
        let context = Context::new(&server.reference).expect("the server's reference");
        let passed = context.run(&[skipped, &[NO_IDLE_CLOSE]].concat());
        context
            .peer
            .shutdown()
            .expect("the server answers before it ends");
        server.ends();
        passed
    };
    check_client(sharing, orb, divides, client, skipped);
}

const OMNIORB: &str = "omniORB 4.2.5";
const OMNIORBPY: &str = "omniORBpy 4.2.5";
const JACORB: &str = "JacORB 3.9";

/// Options of omniORB, with those of a server or a client.
fn of_omniorb(sharing: Sharing, own: &'static str) -> Vec<&'static str> {
    const RULE: &str = "* unix,tcp,bidir";
    if !sharing.calls_back() {
        return Vec::new();
    }
    vec![
        own,
        "1",
        "-ORBclientTransportRule",
        RULE,
        "-ORBserverTransportRule",
        RULE,
    ]
}

const ACCEPT: &str = "-ORBacceptBiDirectionalGIOP";
const OFFER: &str = "-ORBofferBiDirectionalGIOP";

fn omniorb_server(sharing: Sharing) {
    let Some(programs) = crate::programs() else { return };
    let server = programs.server(&of_omniorb(sharing, ACCEPT));
    check_server(sharing, OMNIORB, Divides::Yes, server, &[]);
}

fn omniorb_client(sharing: Sharing) {
    let Some(programs) = crate::programs() else { return };
    let skipped = omniorb_client::NO_CHAR_OF_UTF8;
    let client = |target: &str| {
        let mut options = of_omniorb(sharing, OFFER);
        options.extend(skipped.iter().flat_map(|(name, _)| ["--skip", name]));
        programs.check(target, &options, &omniorb_client::SKIPPED_IN_LATIN1.concat())
    };
    check_client(sharing, OMNIORB, Divides::Yes, client, skipped);
}

fn omniorbpy_server(sharing: Sharing) {
    let Some(omniorbpy) = OmniOrbPy::build(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let server = omniorbpy.server(&of_omniorb(sharing, ACCEPT), None);
    let skipped = [omniorbpy::UNSIGNED, omniorbpy::UNWRITABLE];
    check_server(sharing, OMNIORBPY, Divides::Yes, server, &skipped);
}

fn omniorbpy_client(sharing: Sharing) {
    let Some(omniorbpy) = OmniOrbPy::build(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let start = |target: &str| omniorbpy.server(&of_omniorb(sharing, OFFER), Some(target));
    let skipped = [
        omniorbpy::UNSIGNED,
        omniorbpy::MINOR,
        omniorbpy::UNWRITABLE,
        omniorbpy::CHAR_OF_UTF8,
    ];
    over_proxy(sharing, OMNIORBPY, Divides::Yes, start, &skipped);
}

fn of_jacorb(sharing: Sharing) -> &'static [(&'static str, &'static str)] {
    const BIDIRECTIONAL: (&str, &str) = (
        "org.omg.PortableInterceptor.ORBInitializerClass.bidir_init",
        "org.jacorb.orb.giop.BiDirConnectionInitializer",
    );
    match sharing.calls_back() {
        true => &[jacorb::UTF8, BIDIRECTIONAL],
        false => &[jacorb::UTF8],
    }
}

fn jacorb_server(sharing: Sharing) {
    let Some(jacorb) = JacOrb::build(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let server = jacorb.server(of_jacorb(sharing), None);
    let skipped = [jacorb::FAULTS, &[jacorb::CONSTANTS]].concat();
    check_server(sharing, JACORB, Divides::Never, server, &skipped);
}

fn jacorb_client(sharing: Sharing) {
    let Some(jacorb) = JacOrb::build(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let start = |target: &str| jacorb.server(of_jacorb(sharing), Some(target));
    over_proxy(sharing, JACORB, Divides::Never, start, jacorb::FAULTS);
}

macro_rules! tests {
    ($($name:ident),*) => {
        mod fragments {
            $(#[test] fn $name() { super::$name(super::Sharing::Fragments); })*
        }
        mod bidirectional {
            $(#[test] fn $name() { super::$name(super::Sharing::Bidirectional); })*
        }
        mod bidirectional_fragments {
            $(#[test] fn $name() { super::$name(super::Sharing::BidirectionalFragments); })*
        }
    };
}

tests!(
    omniorb_server,
    omniorb_client,
    omniorbpy_server,
    omniorbpy_client,
    jacorb_server,
    jacorb_client
);

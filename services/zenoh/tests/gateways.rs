//! Gateways over Zenoh on the loopback interface: a router, its disappearance, loops, priorities, hostile
//! messages.

use punctual::{Orb, Priority};
use punctual_events::{
    ChannelStatistics, EventChannel, EventType, Filter, Gateway, GatewayStatistics, Overflow,
    rtec::rtec_event_comm::Event, wire::punctual_events::InspectionRef,
};
use punctual_fixtures::{LONG, eventually, free_port};
use punctual_zenoh::{Link, Receiving, Settings, to_zenoh};
use zenoh::{Config, Session, Wait};

const TRACK: EventType = EventType(16);
/// Events that show whether the way is open.
const OPENER: EventType = EventType(17);
const KEY: &str = "plant/tracks";

/// A configuration that discovers no peers beyond the loopback interface.
fn config(mode: &str, endpoints: (&str, u16)) -> Config {
    let mut config = Config::default();
    let (which, port) = endpoints;
    for (key, value) in [
        ("mode", format!("\"{mode}\"")),
        ("scouting/multicast/enabled", "false".to_owned()),
        ("scouting/gossip/enabled", "false".to_owned()),
        ("listen/endpoints", "[]".to_owned()),
        (which, format!("[\"tcp/127.0.0.1:{port}\"]")),
    ] {
        config.insert_json5(key, &value).unwrap();
    }
    config
}

fn router(port: u16) -> Session {
    zenoh::open(config("router", ("listen/endpoints", port)))
        .wait()
        .unwrap()
}

fn client(port: u16) -> Config {
    config("client", ("connect/endpoints", port))
}

/// A channel that exchanges its events with the others of the router.
struct Member {
    channel: EventChannel,
    sends: Gateway,
    receives: Receiving,
    _link: Link,
}

impl Member {
    fn join(port: u16) -> Self {
        let channel = EventChannel::builder()
            .queue(4_096, Overflow::Block(LONG))
            .build()
            .unwrap();
        let link = Link::open(client(port), Settings::new(KEY)).unwrap();
        let receives = link.receive(channel.inlet("from Zenoh")).unwrap();
        let sends = channel
            .export(
                &Filter::every_event(),
                "to Zenoh",
                link.sender(Priority::MIN).unwrap(),
            )
            .unwrap();
        Self {
            channel,
            sends,
            receives,
            _link: link,
        }
    }

    fn push(&self, number: u32, ttl: i32) {
        self.push_of(TRACK, number, ttl);
    }

    fn push_of(&self, of: EventType, number: u32, ttl: i32) {
        let mut event = Event::default();
        event.header.r#type = of.0;
        event.header.ttl = ttl;
        event.data.payload = number.to_be_bytes().to_vec();
        self.channel.push_event(&event).unwrap();
    }

    /// Gateways as `punctual events top` shows them: the one that receives, and the one that sends.
    fn shown(inspection: &InspectionRef) -> [GatewayStatistics; 2] {
        ChannelStatistics::of(inspection)
            .unwrap()
            .gateways
            .try_into()
            .unwrap()
    }

    fn received(&self) -> u64 {
        self.channel.statistics().received
    }
}

/// Pushes until a consumer receives it: declarations travel through the router first.
fn connect(from: &Member, to: &Member) {
    let before = to.received();
    eventually("the way is open", || {
        from.push_of(OPENER, 0, 1);
        to.received() > before
    });
}

#[test]
fn three_channels_get_each_event_once_whatever_its_ttl() {
    let port = free_port();
    let _router = router(port);
    let members = [0; 3].map(|_| Member::join(port));
    for (one, other) in [(0, 1), (1, 2), (2, 0), (0, 2), (2, 1), (1, 0)] {
        connect(&members[one], &members[other]);
    }
    let sinks = members.each_ref().map(|member| {
        member
            .channel
            .subscribe_to(Filter::event(TRACK))
            .receiver()
            .unwrap()
    });
    for number in 0..100_u32 {
        members[0].push(number, 9);
        for (sink, ttl) in sinks.iter().zip([9, 8, 8]) {
            let event = sink.recv_timeout(LONG).unwrap();
            assert_eq!(
                (&event.data.payload[..], event.header.ttl),
                (&number.to_be_bytes()[..], ttl)
            );
        }
    }
    // Those that received it did not send it back.
    for member in &members[1..] {
        eventually("returned", || member.sends.statistics().returned >= 100);
        assert_eq!(member.receives.statistics().repeated, 0);
        assert_eq!(member.receives.statistics().lost, 0);
    }
    // Those that opened the ways have arrived with a `ttl` of 0, too.
    let expired = || members[0].sends.statistics().expired;
    let before = expired();
    members[0].push(0, 0);
    eventually("expired", || expired() > before);
}

#[test]
fn what_is_pushed_while_the_router_is_away_is_counted_and_the_way_opens_again() {
    let port = free_port();
    let mut router = Some(self::router(port));
    let (source, target) = (Member::join(port), Member::join(port));
    connect(&source, &target);
    let lost = || source.sends.statistics().lost;
    router.take().unwrap().close().wait().unwrap();
    let before = lost();
    eventually("no consumer receives", || {
        source.push(1, 1);
        lost() > before
    });
    for number in 0..1_000 {
        source.push(number, 1);
    }
    let away = lost();
    assert!(away >= before + 1_000, "{before} {away}");

    router = Some(self::router(port));
    connect(&source, &target);
    // The sender counts what nobody would have received, and the receiver what did not arrive although it was
    // sent: both together count each loss once.
    eventually("each event has arrived or is counted as lost, once", || {
        let missed = target.receives.statistics().lost;
        target.received() + lost() + missed == source.channel.statistics().received
    });
    assert!(target.receives.statistics().lost < 1_000);
    drop(router);
}

#[test]
fn top_shows_what_is_sent_received_lost_and_looped_and_that_the_router_was_away() {
    let port = free_port();
    let mut router = Some(self::router(port));
    let members = [0; 2].map(|_| Member::join(port));
    let [source, target] = &members;
    connect(source, target);
    connect(target, source);
    let orb = Orb::builder().build().unwrap();
    let inspections = members
        .each_ref()
        .map(|one| one.channel.serve_inspection(&orb.root_poa()).unwrap());
    let [at_source, at_target] = &inspections;
    let [_, sent] = Member::shown(at_source);
    source.push(1, 9);
    eventually("it has come, and does not go back", || {
        let [arrived, back] = Member::shown(at_target);
        arrived.forwarded > 0 && back.returned > 0
    });
    assert_eq!(Member::shown(at_source)[1].forwarded, sent.forwarded + 1);
    source.push(1, 0);
    eventually("expired", || Member::shown(at_source)[1].expired > sent.expired);

    router.take().unwrap().close().wait().unwrap();
    eventually("the router is away", || {
        let [arriving, _] = Member::shown(at_source);
        (arriving.interrupted, arriving.reconnected) == (1, 0)
    });
    eventually("lost", || {
        source.push(1, 1);
        Member::shown(at_source)[1].lost > sent.lost
    });
    router = Some(self::router(port));
    eventually("the router is back", || {
        let [arriving, _] = Member::shown(at_source);
        (arriving.interrupted, arriving.reconnected) == (1, 1)
    });
    drop(router);
}

#[test]
fn a_link_sends_with_the_priority_of_each_of_its_senders() {
    let port = free_port();
    let _router = router(port);
    let listener = zenoh::open(client(port)).wait().unwrap();
    let samples = listener.declare_subscriber(KEY).wait().unwrap();
    let channel = EventChannel::builder().build().unwrap();
    let link = Link::open(client(port), Settings::new(KEY)).unwrap();
    for (event_type, priority) in [(TRACK, Priority::MIN), (OPENER, Priority::MAX)] {
        let sends = channel
            .export(
                &Filter::event(event_type),
                "zenoh",
                link.sender(priority).unwrap(),
            )
            .unwrap();
        eventually("it arrives", || {
            channel.push_octets(event_type, b"hot").unwrap();
            sends.statistics().forwarded > 0
        });
        let sample = samples.recv_timeout(LONG).unwrap().unwrap();
        assert_eq!(sample.priority(), to_zenoh(priority));
    }
}

#[test]
fn hostile_messages_are_counted_and_change_nothing() {
    let port = free_port();
    let _router = router(port);
    let (source, target) = (Member::join(port), Member::join(port));
    connect(&source, &target);
    let sink = target
        .channel
        .subscribe_to(Filter::event(TRACK))
        .receiver()
        .unwrap();
    let attacker = zenoh::open(client(port)).wait().unwrap();
    let publisher = attacker.declare_publisher(KEY).wait().unwrap();
    eventually("heard", || publisher.matching_status().wait().unwrap().matching());
    for (number, message) in (1..).zip([
        Vec::new(),
        b"GIOP".to_vec(),
        vec![0xff; 10_000],
        [b"\x01PEV\x01\0\0\0", &[0_u8; 16][..], &[0xff; 8]].concat(),
        vec![0; (1 << 20) + 1],
    ]) {
        publisher.put(message).wait().unwrap();
        eventually("malformed", || target.receives.statistics().malformed == number);
    }
    // Zenoh drops what is far too long before it is complete, and the connection remains.
    for message in [vec![0; 2 << 20], b"GIOP".to_vec()] {
        publisher.put(message).wait().unwrap();
    }
    eventually("malformed", || target.receives.statistics().malformed == 6);
    // Sender, number, an empty set.
    let forged = |sender: u64, number: u64| {
        let little = |number: u64| number.to_le_bytes();
        [
            b"\x01PEV\x01\0\0\0",
            &little(sender)[..],
            &little(number),
            &[0; 4],
        ]
        .concat()
    };
    for number in [1, u64::MAX] {
        publisher.put(forged(9, number)).wait().unwrap();
    }
    eventually("implausible", || target.receives.statistics().implausible == 1);
    assert_eq!(target.receives.statistics().lost, 0);
    source.push(7, 1);
    assert_eq!(sink.recv_timeout(LONG).unwrap().data.payload, 7_u32.to_be_bytes());
    let received = target.receives.statistics();
    assert_eq!((received.malformed, received.interrupted), (6, 0));
}

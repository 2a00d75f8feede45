//! Gateways over UDP and multicast, on the loopback interface.

use std::{
    net::{Ipv4Addr, SocketAddrV4, UdpSocket},
    time::Duration,
};

use punctual_events::{DatagramLimits, Datagrams, EventChannel, Filter, Overflow};
use punctual_fixtures::{LONG, eventually, free_port};

use crate::{
    TRACK,
    remote::{client, event, host, remote},
};

fn channel() -> EventChannel {
    let builder = EventChannel::builder().queue(4_096, Overflow::Block(LONG));
    builder.build().unwrap()
}

fn receiving() -> Datagrams {
    Datagrams::at("127.0.0.1:0".parse().unwrap()).unwrap()
}

#[test]
fn events_of_any_length_travel_as_datagrams() {
    let (source, target) = (channel(), channel());
    let socket = receiving();
    let towards = Datagrams::to(socket.local_address().unwrap()).unwrap();
    let arriving = target.receive_datagrams(&socket).unwrap();
    let leaving = source.send_datagrams(&Filter::event(TRACK), &towards).unwrap();
    let sink = target.subscribe_to(Filter::every_event()).receiver().unwrap();
    for size in [0, 1, 940, 944, 945, 2_000, 50_000] {
        let payload: Vec<u8> = (0..size).map(|octet| octet as u8).collect();
        let mut sent = event(TRACK, &payload);
        sent.header.ttl = 2;
        sent.header.source = 7;
        source.push_event(&sent).unwrap();
        let received = sink.recv_timeout(LONG).unwrap();
        assert!(received.data.payload == payload, "{size}");
        let header = &received.header;
        assert_eq!((header.r#type, header.source, header.ttl), (TRACK.0, 7, 1));
    }
    let mut old = event(TRACK, b"old");
    old.header.ttl = 0;
    source.push_event(&old).unwrap();
    // Longer than the limit.
    source.push_event(&event(TRACK, &vec![0; 1 << 20])).unwrap();
    let sent = leaving.statistics();
    assert_eq!((sent.forwarded, sent.expired, sent.lost), (7, 1, 1));
    eventually("counted", || arriving.statistics().forwarded == 7);
    assert_eq!(target.statistics().gateways, [arriving.statistics()]);
    assert!(arriving.is_connected().unwrap() && leaving.is_connected().unwrap());
    assert!(
        source.receive_datagrams(&towards).is_err()
            && source.send_datagrams(&Filter::event(TRACK), &socket).is_err()
    );
}

#[test]
fn channels_of_other_processes_are_gateways_ends_too() {
    let hosts = [0, 1].map(|_| host(channel()));
    let client = client();
    let socket = receiving();
    let towards = Datagrams::to(socket.local_address().unwrap()).unwrap();
    let arriving = remote(&client, &hosts[1])
        .receive_datagrams(&socket, "udp")
        .unwrap();
    let leaving = remote(&client, &hosts[0])
        .send_datagrams(&client.poa, &Filter::event(TRACK), &towards)
        .unwrap();
    let sink = hosts[1]
        .channel
        .subscribe_to(Filter::event(TRACK))
        .receiver()
        .unwrap();
    hosts[0].channel.push_event(&event(TRACK, b"hot")).unwrap();
    assert_eq!(sink.recv_timeout(LONG).unwrap().data.payload, b"hot");
    eventually("counted", || {
        (leaving.statistics().forwarded, arriving.statistics().forwarded) == (1, 1)
    });
    let shown = hosts[1].channel.statistics().gateways;
    assert_eq!((&*shown[0].name, shown[0].forwarded), ("udp", 1));
    // The other channel shows what takes its events.
    eventually("the event is shown", || {
        let shown = hosts[0].channel.statistics().gateways;
        matches!(&shown[..], [one] if one.name == "datagrams" && one.forwarded == 1)
    });
    assert_eq!(hosts[0].channel.statistics().consumers[0].name, "datagrams");
    let mut old = event(TRACK, b"old");
    old.header.ttl = 0;
    hosts[0].channel.push_event(&old).unwrap();
    eventually("the event that must not pass is shown", || {
        let shown = &hosts[0].channel.statistics().gateways[0];
        (shown.forwarded, shown.expired) == (1, 1)
    });
    drop(leaving);
    assert!(hosts[0].channel.statistics().gateways.is_empty());
}

#[test]
fn hostile_datagrams_are_counted_and_change_nothing() {
    let target = channel();
    let limits = DatagramLimits {
        completion: Duration::from_millis(20),
        ..DatagramLimits::default()
    };
    let socket = receiving().limits(limits).unwrap();
    let arriving = target.receive_datagrams(&socket).unwrap();
    let attacker = UdpSocket::bind("127.0.0.1:0").unwrap();
    let send = |datagram: &[u8]| {
        attacker
            .send_to(datagram, socket.local_address().unwrap())
            .unwrap()
    };
    let header = |size: u32, claimed: u32, fragments: u32| {
        let mut octets = b"\x01ABC".to_vec();
        for number in [1, claimed, size, 0, 0, fragments, 0] {
            octets.extend_from_slice(&u32::to_le_bytes(number));
        }
        octets
    };
    let message = |content: &[u8]| {
        [
            header(content.len() as u32, content.len() as u32, 1),
            content.to_vec(),
        ]
        .concat()
    };
    let malformed = [
        Vec::new(),
        b"GIOP\x01\x02\x00\x00".to_vec(),
        vec![0xff; 1_000],
        // A set of 4 billion events, and one that ends in the middle.
        message(&[0xff; 100]),
        message(&[1, 0, 0, 0, 16, 0, 0, 0]),
        // Claims more than the limit of messages.
        [header(8, 2 << 20, 2_000), vec![0; 8]].concat(),
    ];
    for (number, datagram) in (1..).zip(&malformed) {
        send(datagram);
        eventually("malformed", || arriving.statistics().malformed == number);
    }
    // The rest never comes.
    send(&[header(8, 1 << 20, 2_000), vec![0; 8]].concat());
    eventually("lost", || arriving.statistics().lost == 1);
    // An empty set is none of these.
    send(&message(&[0; 4]));

    let source = channel();
    let towards = Datagrams::to(socket.local_address().unwrap()).unwrap();
    let leaving = source.send_datagrams(&Filter::event(TRACK), &towards).unwrap();
    source.push_event(&event(TRACK, b"good")).unwrap();
    eventually("forwarded", || arriving.statistics().forwarded == 1);
    assert_eq!(
        (target.statistics().received, leaving.statistics().forwarded),
        (1, 1)
    );
    let too_short = DatagramLimits {
        datagram: 39,
        ..DatagramLimits::default()
    };
    assert!(receiving().limits(too_short).is_err());
}

#[test]
fn what_the_network_delivers_twice_is_recognised_unless_its_senders_are_foreign() {
    for is_foreign in [false, true] {
        let target = channel();
        let socket = match is_foreign {
            true => receiving().foreign(),
            false => receiving(),
        };
        let arriving = target.receive_datagrams(&socket).unwrap();
        let listener = UdpSocket::bind("127.0.0.1:0").unwrap();
        let towards = Datagrams::to(listener.local_addr().unwrap()).unwrap();
        let source = channel();
        let leaving = source.send_datagrams(&Filter::event(TRACK), &towards).unwrap();
        source.push_event(&event(TRACK, b"once")).unwrap();
        let mut datagram = [0; 1_024];
        let length = listener.recv(&mut datagram).unwrap();
        for _ in 0..3 {
            listener
                .send_to(&datagram[..length], socket.local_address().unwrap())
                .unwrap();
        }
        let counts = || (arriving.statistics().forwarded, arriving.statistics().repeated);
        eventually("three", || counts().0 + counts().1 == 3);
        assert_eq!(counts(), if is_foreign { (3, 0) } else { (1, 2) });
        drop(leaving);
    }
}

#[test]
fn a_multicast_group_of_three_channels_delivers_once_and_does_not_loop() {
    let group = SocketAddrV4::new(Ipv4Addr::new(239, 255, 77, 1), free_port());
    let join = || Datagrams::multicast(group, Ipv4Addr::LOCALHOST, 0);
    if let Err(error) = join() {
        return punctual_fixtures::skip(
            punctual_fixtures::Missing::Machine,
            format!("multicast on the loopback interface: {error}"),
        );
    }
    let all = Filter::event(TRACK);
    let members: Vec<_> = (0..3)
        .map(|_| {
            let (channel, sockets) = (channel(), join().unwrap());
            let both = (
                channel.send_datagrams(&all, &sockets).unwrap(),
                channel.receive_datagrams(&sockets).unwrap(),
            );
            (channel, both)
        })
        .collect();
    for number in 0..100 {
        let (channel, _) = &members[number % 3];
        let mut sent = event(TRACK, &number.to_be_bytes());
        sent.header.ttl = 9;
        channel.push_event(&sent).unwrap();
        eventually("everywhere", || {
            members
                .iter()
                .all(|(channel, _)| channel.statistics().received == number as u64 + 1)
        });
    }
    let sum = |count: fn(&punctual_events::GatewayStatistics) -> u64| -> u64 {
        let one = |(_, (leaving, arriving)): &(_, (punctual_events::Gateway, punctual_events::Gateway))| {
            (count(&leaving.statistics()), count(&arriving.statistics()))
        };
        members
            .iter()
            .map(one)
            .map(|(leaving, arriving)| leaving + arriving)
            .sum()
    };
    // Sent once each, received by two, who do not send it back.
    eventually("counted", || sum(|one| one.forwarded) == 300);
    eventually("not sent back", || sum(|one| one.returned) == 200);
}

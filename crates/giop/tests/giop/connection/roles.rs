//! Messages that each role accepts, and a bidirectional connection.

use punctual_cdr::Endian;
use punctual_giop::{
    connection::{Event, Refusal, Role, State},
    *,
};

use super::{
    pair::{Pair, Side, cancel, close, error, kinds, limits, locate_reply, locate_request, reply, request},
    split::{fragmented, large},
};
use crate::messages::{VERSIONS, everywhere, header};

const ENDIAN: Endian = Endian::Big;

#[test]
fn a_role_refuses_the_messages_of_its_own_side() {
    everywhere(|version, endian| {
        let of_clients = [
            request(version, endian, 1, None),
            locate_request(version, endian, 1),
        ];
        let of_servers = [reply(version, endian, 1), locate_reply(version, endian, 1)];
        for (role, refused, accepted) in [
            (Role::Client, &of_clients[..], &of_servers[..]),
            (Role::Server, &of_servers, &of_clients),
        ] {
            for message in refused {
                let mut side = Side::new(role, version, limits());
                side.incoming.extend(message);
                let refused = side.events(1, std::time::Instant::now()).unwrap_err();
                let message_type = header(message).message_type;
                assert_eq!(refused.reason, Refusal::NotPermitted { role, message_type });
                assert_eq!(refused.version, version);
                assert_eq!(side.connection.receive.state(), State::Closed);
            }
            for role in [role, Role::Both] {
                let mut side = Side::new(role, version, limits());
                accepted.iter().for_each(|message| side.incoming.extend(message));
                let seen = side.events(5, std::time::Instant::now()).unwrap();
                assert_eq!(seen.len(), accepted.len());
            }
        }
    });
}

#[test]
fn the_first_part_of_a_message_that_is_not_permitted_is_refused() {
    for version in [Version::V1_1, Version::V1_2] {
        let parts = fragmented(&large(version, ENDIAN), &[100]);
        let mut side = Side::new(Role::Client, version, limits());
        side.incoming.extend(&parts[0]);
        let refused = side.events(9, std::time::Instant::now()).unwrap_err();
        let message_type = MessageType::Request;
        let role = Role::Client;
        assert_eq!(refused.reason, Refusal::NotPermitted { role, message_type });
    }
}

#[test]
fn a_client_discards_cancel_requests() {
    for version in VERSIONS {
        let mut side = Side::new(Role::Client, version, limits());
        side.incoming.extend(cancel(version, 1));
        side.incoming.extend(reply(version, ENDIAN, 1));
        let events = kinds(&side.events(1, std::time::Instant::now()).unwrap());
        assert!(
            matches!(events[..], [Event::Progress, Event::Reply(_)]),
            "{events:?}"
        );
    }
}

#[test]
fn every_role_accepts_close_and_error() {
    for role in [Role::Client, Role::Server, Role::Both] {
        for (message, event) in [
            (close(Version::V1_0), Event::CloseConnection),
            (error(Version::V1_1), Event::MessageError),
        ] {
            let mut side = Side::new(role, Version::V1_2, limits());
            side.incoming.extend(&message);
            // Nothing that follows is looked at.
            side.incoming.extend(b"not GIOP");
            assert_eq!(
                kinds(&side.events(3, std::time::Instant::now()).unwrap()),
                [event]
            );
            assert_eq!(side.connection.receive.state(), State::Closed);
        }
    }
}

#[test]
fn a_bidirectional_connection_carries_requests_and_replies_both_ways() {
    let version = Version::V1_2;
    let mut pair = Pair::with_roles(Role::Both, Role::Both, version);
    // Each side has its own request ids: the originator even ones, the acceptor odd ones.
    let [there, back] = [
        request(version, ENDIAN, 2, Some(UTF_8)),
        request(version, ENDIAN, 3, None),
    ];
    pair.send_to_server(&there);
    pair.send_to_client(&back);
    assert_eq!(
        kinds(&pair.server_events(11).unwrap()),
        [Event::Request(header(&there))]
    );
    assert_eq!(
        kinds(&pair.client_events(11).unwrap()),
        [Event::Request(header(&back))]
    );
    pair.send_to_server(&reply(version, ENDIAN, 3));
    pair.send_to_client(&reply(version, ENDIAN, 2));
    for (seen, id) in [(pair.server_events(1), 3), (pair.client_events(1), 2)] {
        let [Event::Reply(reply)] = kinds(&seen.unwrap())[..] else {
            panic!("one reply")
        };
        assert_eq!(reply.request_id, id);
    }
}

/// The first request of a client, with addresses.
fn offer(version: Version, endian: Endian, points: &[ListenPoint]) -> Vec<u8> {
    crate::messages::message(version, MessageType::Request, endian, |encoder| {
        let request = OutgoingRequest {
            request_id: 2,
            response: ResponseFlags::WithTarget,
            target: TargetAddress::Key(b"key"),
            operation: "cube",
            contexts: &[ServiceContext::ListenPoints(points)],
        };
        encode_request(encoder, version, &request).unwrap();
    })
}

#[test]
fn an_offer_is_reported_once_before_its_request() {
    let points = [("10.0.0.1", 77), ("::1", 78)].map(|(host, port)| ListenPoint {
        host: host.to_owned(),
        port,
    });
    everywhere(|version, endian| {
        let message = offer(version, endian, &points);
        for accepts in [true, false] {
            let mut side = Side::new(Role::Server, version, limits());
            let receive = std::mem::replace(
                &mut side.connection.receive,
                punctual_giop::connection::ReceiveHalf::new(Role::Server, limits()),
            );
            side.connection.receive = receive.awaiting_bidirectional_offer();
            for octets in [&message, &message] {
                side.incoming.extend(octets);
            }
            let mut seen = Vec::new();
            loop {
                match side.connection.receive.poll(std::time::Instant::now).unwrap() {
                    Some(Event::BidirectionalOffer) => {
                        assert_eq!(side.connection.receive.listen_points(), points);
                        seen.push(Event::BidirectionalOffer);
                        if accepts {
                            side.connection.receive.accept_bidirectional();
                        }
                    }
                    Some(event) => {
                        assert_eq!(side.connection.receive.message(), message);
                        seen.push(event);
                    }
                    None if side.incoming.is_empty() => break,
                    None => side.read(7),
                }
            }
            let request = Event::Request(header(&message));
            if version < Version::V1_2 {
                assert_eq!(seen, [request; 2]);
                continue;
            }
            assert_eq!(seen, [Event::BidirectionalOffer, request, request]);
            side.incoming.extend(reply(version, endian, 1));
            let reply = side.events(9, std::time::Instant::now());
            assert_eq!(reply.is_ok(), accepts, "{reply:?}");
        }
    });
}

/// CORBA 3.3 part 2, 9.8.2: `IIOP::BiDirIIOPServiceContext`.
#[test]
fn addresses_are_a_sequence_of_host_and_port() {
    let points = [ListenPoint {
        host: "10.0.0.1".to_owned(),
        port: 0x1234,
    }];
    let message = offer(Version::V1_2, Endian::Big, &points);
    let golden = [
        &[0, 0, 0, 1][..],
        &[0, 0, 0, 5, 0, 0, 0, 24],
        &[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9],
        b"10.0.0.1\0",
        &[0, 0x12, 0x34],
    ]
    .concat();
    let found = message.windows(golden.len()).any(|octets| octets == golden);
    assert!(found, "{message:02x?}");
}

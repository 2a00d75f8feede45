//! CloseConnection and MessageError: who may send them, when, and what follows.

use punctual_cdr::Endian;
use punctual_giop::{
    connection::{Connection, ConnectionLimits, Event, Role, State},
    *,
};

use super::pair::{Pair, close, error, kinds, locate_request, reply, request};
use crate::messages::VERSIONS;

fn connection(role: Role, version: Version) -> Connection {
    Connection::new(role, version, ConnectionLimits::default())
}

#[test]
fn a_client_closes_in_good_order_from_giop_1_2_on() {
    for version in VERSIONS {
        for (role, may_send) in [
            (Role::Client, version == Version::V1_2),
            (Role::Server, true),
            (Role::Both, true),
        ] {
            let mut connection = connection(role, version);
            let sent = connection.close().map(|message| message.to_vec());
            assert_eq!(sent, may_send.then(|| close(version)), "{role:?}, GIOP {version}");
            assert_eq!(connection.send.state(), State::Draining);
            assert_eq!(connection.close(), None, "at most once");
        }
    }
}

#[test]
fn close_has_the_highest_version_that_was_used() {
    let mut server = connection(Role::Server, Version::V1_0);
    for version in [Version::V1_1, Version::V1_2, Version::V1_0] {
        server.send.use_version(version);
    }
    assert_eq!(server.close().unwrap().to_vec(), close(Version::V1_2));
}

#[test]
fn requests_after_close_are_not_executed_and_replies_still_arrive() {
    let mut pair = Pair::with_roles(Role::Client, Role::Both, Version::V1_2);
    let (version, endian) = (Version::V1_2, Endian::Little);
    pair.send_to_server(&request(version, endian, 1, None));
    assert_eq!(pair.server_events(50).unwrap().len(), 1);
    let said = pair.server.connection.close().unwrap();
    pair.send_to_client(&said);
    pair.send_to_server(&request(version, endian, 2, None));
    pair.send_to_server(&locate_request(version, endian, 3));
    pair.send_to_server(&reply(version, endian, 4));
    let events = kinds(&pair.server_events(1).unwrap());
    assert_eq!(events[..2], [Event::Progress, Event::Progress]);
    assert!(matches!(events[2], Event::Reply(reply) if reply.request_id == 4));
    assert_eq!(kinds(&pair.client_events(1).unwrap()), [Event::CloseConnection]);
}

#[test]
fn a_refused_message_is_answered_by_one_message_error_in_its_version() {
    for version in VERSIONS {
        let mut pair = Pair::new(version);
        // A server does not receive replies.
        pair.send_to_server(&reply(version, Endian::Big, 1));
        let refused = pair.server_events(8).unwrap_err();
        let send = &mut pair.server.connection.send;
        let said = send.message_error(refused.version).unwrap();
        assert_eq!(said.to_vec(), error(version));
        assert_eq!((send.message_error(refused.version), send.close()), (None, None));
        pair.send_to_client(&said);
        assert_eq!(kinds(&pair.client_events(1).unwrap()), [Event::MessageError]);
        assert_eq!(pair.server_events(1).unwrap(), [], "nothing after a refusal");
    }
}

#[test]
fn an_unknown_version_is_answered_in_the_highest_one_and_what_is_not_giop_in_1_0() {
    for (octets, version) in [
        (&b"GIOP\x01\x09\x01\x00\x00\x00\x00\x00"[..], Version::V1_2),
        (b"GIOP\x02\x00\x01\x00\x00\x00\x00\x00", Version::V1_2),
        (b"GIOP\x01\x01\x01\x63\x00\x00\x00\x00", Version::V1_1),
        (b"GET / HTTP/1.1\r\n", Version::V1_0),
    ] {
        for chunk in [1, 64] {
            let mut pair = Pair::new(Version::V1_2);
            pair.send_to_server(octets);
            assert_eq!(
                pair.server_events(chunk).unwrap_err().version,
                version,
                "{octets:?}"
            );
        }
    }
}

#[test]
fn request_ids_are_issued_in_order() {
    let mut client = connection(Role::Client, Version::V1_2);
    assert_eq!([0; 3].map(|_| client.send.new_request_id()), [0, 1, 2]);
}

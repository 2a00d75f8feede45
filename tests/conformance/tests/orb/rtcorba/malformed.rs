//! Real-time parts of references and requests that make no sense: an error to the sender, and nothing
//! else changes.

use punctual::{Completion, Minor, Orb, Priority, SystemExceptionKind as Kind};
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::Peer,
    priorities::{HIGH, LOW},
    priority,
    real_time::{ordinary_client, propagated, short},
    server::{Server, reference},
    wire::{COMMON, Octets},
};

/// A reference to the server with these components.
fn resolve(client: &Orb, server: &Server, components: &[(u32, Vec<u8>)]) -> ProbeRef {
    let ior = reference([1, 2], server.port(), &server.key(), components);
    client.resolve(&punctual::ior_to_string(&ior)).unwrap()
}

fn policies(policies: &[(u32, Vec<u8>)]) -> (u32, Vec<u8>) {
    let count = u32::try_from(policies.len()).unwrap();
    let write = |data: Octets| {
        let all = policies.iter();
        all.fold(data.u32(count), |data, (policy, value)| {
            data.u32(*policy).sequence(value)
        })
    };
    (2, COMMON.encapsulation(write))
}

fn model(model: u32, server_priority: i16) -> Vec<u8> {
    COMMON.encapsulation(|value| value.u32(model).u16(server_priority.cast_unsigned()))
}

fn bands(bands: &[(i16, i16)]) -> Vec<u8> {
    let count = u32::try_from(bands.len()).unwrap();
    COMMON.encapsulation(|value| {
        let bands = bands.iter();
        bands.fold(value.u32(count), |value, (low, high)| {
            value.u16(low.cast_unsigned()).u16(high.cast_unsigned())
        })
    })
}

#[test]
fn references_with_malformed_policies_or_endpoints_lead_to_the_object_or_to_an_error() {
    let server = Server::start();
    let client = ordinary_client();
    client.current().set_priority(priority(LOW)).unwrap();
    let good = policies(&[(45, bands(&[(0, HIGH)])), (40, model(0, 5))]);
    let mut cases = vec![
        policies(&[(40, model(7, 5))]),
        policies(&[(40, model(0, -5))]),
        policies(&[(40, vec![])]),
        policies(&[(40, vec![1])]),
        policies(&[(40, model(0, 5)[..8].to_vec())]),
        policies(&[(45, bands(&[(6, 5)])), (40, model(0, 5))]),
        policies(&[(45, bands(&[(-1, -1)])), (40, model(0, 5))]),
        policies(&[(45, bands(&[(0, HIGH)])[..10].to_vec()), (40, model(0, 5))]),
        policies(&[
            (45, COMMON.encapsulation(|value| value.u32(u32::MAX))),
            (40, model(0, 5)),
        ]),
        policies(&[(45, bands(&[]))]),
        policies(&[(40, model(0, 5)), (40, model(1, 6))]),
        policies(&[(41, vec![1, 2, 3]), (44, vec![]), (1000, vec![9; 100])]),
        (2, COMMON.encapsulation(|data| data.u32(u32::MAX))),
        (2, vec![]),
        (0x5441_4f02, vec![]),
        (0x5441_4f02, COMMON.encapsulation(|data| data.u32(0))),
        (0x5441_4f02, COMMON.encapsulation(|data| data.u32(u32::MAX))),
        (
            0x5441_4f02,
            COMMON.encapsulation(|data| data.u32(1).string(b"").u16(0).u16(0)),
        ),
        (
            0x5441_4f02,
            COMMON.encapsulation(|data| data.u32(1).string(b"a\0b").u16(1).u16(0xfffe)),
        ),
    ];
    for end in 0..good.1.len() {
        cases.push((2, good.1[..end].to_vec()));
    }
    for component in cases {
        let probe = resolve(&client, &server, std::slice::from_ref(&component));
        match probe.twice(21) {
            Ok(twice) => assert_eq!(twice, 42),
            Err(error) => {
                assert_eq!(error.completed, Completion::No, "{error}: {component:02x?}");
                let expected = [Kind::InvPolicy, Kind::InvObjref, Kind::Transient];
                assert!(expected.contains(&error.kind), "{error}: {component:02x?}");
            }
        }
    }
    // Both sides are as they were.
    assert_eq!(resolve(&client, &server, &[good]).twice(21), Ok(42));
    assert_eq!(server.pool.statistics()[0].1.connections.protocol_errors, 0);
}

#[test]
fn requests_with_malformed_priorities_are_answered_as_such() {
    let server =
        Server::with_propagated_priorities(priority(LOW), |pool| pool.default_priority(Priority::MAX));
    let mut peer = Peer::connect(server.port());
    let mut ask = |contexts: &[(u32, Vec<u8>)]| {
        let key = server.key();
        peer.send(&COMMON.request_with(1, 3, &key, "corba_priority", contexts, |body| body));
        peer.receive().unwrap()
    };
    let context = |data: &[u8]| vec![(10, data.to_vec())];
    for (data, kind, minor) in [
        (&[][..], Kind::Marshal, Minor::MESSAGE_TRUNCATED),
        (&[1], Kind::Marshal, Minor::MESSAGE_TRUNCATED),
        (&[1, 0, 5], Kind::Marshal, Minor::MESSAGE_TRUNCATED),
        (&[1, 0, 0xff, 0xff], Kind::BadParam, Minor::NONE),
        (&[0, 0, 0x80, 0], Kind::BadParam, Minor::NONE),
    ] {
        let message = ask(&context(data));
        let reply = message.reply();
        assert_eq!(reply.status, 2, "{data:02x?}");
        let mut body = reply.body;
        assert_eq!(body.string(), kind.repository_id().as_bytes(), "{data:02x?}");
        assert_eq!(Minor(body.u32()), minor, "{data:02x?}");
        assert_eq!(Completion::from_wire(body.u32()), Some(Completion::No));
    }
    for (contexts, expected) in [
        (vec![], LOW),
        (vec![propagated(7)], 7),
        // In the other byte order than the message.
        (context(&[0, 0, 0, 7]), 7),
        // What follows is of a later version.
        (context(&[1, 0, 7, 0, 1, 2, 3]), 7),
        // The first one counts.
        (vec![propagated(7), propagated(8)], 7),
        // Contexts of other kinds do not.
        (vec![(11, vec![1]), (9, vec![]), propagated(7)], 7),
    ] {
        assert_eq!(short(&ask(&contexts)), expected, "{contexts:02x?}");
    }
}

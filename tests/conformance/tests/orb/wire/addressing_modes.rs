//! Servers that want objects named otherwise than by their keys.

use std::thread;

use punctual::{Completion, Minor, SystemException, SystemExceptionKind as Kind};
use punctual_cdr::TaggedProfile;
use punctual_fixtures::{
    peer::{Listener, Peer},
    recorder::resolve,
    server::{client, reference},
    wire::{LOCATE_REPLY, LOCATE_REQUEST, REQUEST, Reader},
};

const KEY: u16 = 0;
const PROFILE: u16 = 1;
const REFERENCE: u16 = 2;
const NEEDS_ADDRESSING_MODE: u32 = 5;

/// Target of a message: the form, and the octets of key or profile.
fn target(reader: &mut Reader<'_>, chosen: usize) -> (u16, Vec<u8>) {
    let form = reader.u16();
    let octets = match form {
        KEY => reader.sequence().to_vec(),
        PROFILE => {
            assert_eq!(reader.u32(), 0, "IIOP");
            reader.sequence().to_vec()
        }
        _ => {
            assert_eq!(reader.u32(), chosen as u32, "which profile");
            assert_eq!(reader.string(), b"IDL:conformance/Probe:1.0");
            let profiles = reader.contexts();
            profiles[chosen].1.clone()
        }
    };
    (form, octets)
}

/// The next message's form; answers with another form wanted, or well.
fn serve(peer: &mut Peer, wanted: Option<u16>, chosen: usize) -> (u8, u16, Vec<u8>) {
    let message = peer.receive().unwrap();
    let dialect = message.dialect;
    let mut reader = message.reader();
    let id = reader.u32();
    let reply = |wanted: Option<u16>| match (message.message_type, wanted) {
        (REQUEST, Some(form)) => dialect.reply(id, NEEDS_ADDRESSING_MODE, |body| body.u16(form)),
        (REQUEST, None) => dialect.reply(id, 0, |body| body.i32(42)),
        (_, Some(form)) => dialect.message(LOCATE_REPLY, |reply| {
            reply.u32(id).u32(NEEDS_ADDRESSING_MODE).u16(form)
        }),
        (_, None) => dialect.message(LOCATE_REPLY, |reply| reply.u32(id).u32(1)),
    };
    if message.message_type == REQUEST {
        reader.raw(4);
    }
    let (form, octets) = target(&mut reader, chosen);
    if message.message_type == REQUEST {
        assert_eq!(reader.string(), b"twice");
    }
    peer.send(&reply(wanted));
    (message.message_type, form, octets)
}

/// The request comes again in the form asked for, which is kept; with the profile that was chosen.
#[test]
fn the_form_that_the_server_wants_is_used_from_then_on() {
    for chosen in [0, 1] {
        let (listener, orb) = (Listener::open(), client());
        let mut ior = reference([1, 2], listener.port, b"key", &[]);
        if chosen == 1 {
            let other = TaggedProfile {
                tag: 77,
                data: vec![0, 9],
            };
            ior.profiles.insert(0, other);
        }
        let profile = ior.profiles[chosen].data.clone();
        let probe = resolve(&orb, &ior);
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut peer = listener.accept();
                let mut next = |wanted| serve(&mut peer, wanted, chosen);
                assert_eq!(next(Some(PROFILE)), (REQUEST, KEY, b"key".to_vec()));
                assert_eq!(next(None), (REQUEST, PROFILE, profile.clone()));
                assert_eq!(next(None), (REQUEST, PROFILE, profile.clone()));
                assert_eq!(next(Some(REFERENCE)), (LOCATE_REQUEST, PROFILE, profile.clone()));
                assert_eq!(next(None), (LOCATE_REQUEST, REFERENCE, profile.clone()));
                assert_eq!(next(Some(KEY)), (REQUEST, REFERENCE, profile.clone()));
                assert_eq!(next(None), (REQUEST, KEY, b"key".to_vec()));
            });
            assert_eq!(probe.twice(21), Ok(42));
            assert_eq!(probe.twice(21), Ok(42));
            assert_eq!(probe.validate_connection(), Ok(()));
            assert_eq!(probe.twice(21), Ok(42));
        });
    }
}

/// A server that never has enough gets a bounded number of requests.
#[test]
fn going_from_form_to_form_ends() {
    let (listener, orb) = (Listener::open(), client());
    let probe = resolve(&orb, &reference([1, 2], listener.port, b"key", &[]));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut peer = listener.accept();
            for wanted in [PROFILE, REFERENCE, KEY, PROFILE] {
                serve(&mut peer, Some(wanted), 0);
            }
            let (_, form, _) = serve(&mut peer, None, 0);
            assert_eq!(form, PROFILE, "the next call, in the form that was wanted last");
        });
        let endless = SystemException::new(Kind::NoImplement, Minor::NONE, Completion::No);
        assert_eq!(probe.twice(21), Err(endless));
        assert_eq!(probe.twice(21), Ok(42));
    });
}

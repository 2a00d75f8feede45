//! Small messages that ask for gigabytes: values that are much larger in memory than on the wire.

use std::thread;

use punctual::{Minor, SystemExceptionKind, ior_to_string};
use punctual_fixtures::{
    attacks::StoreRef,
    keeper::Keeper,
    peer::{Listener, Peer},
    server::{self, Profile, Server, client},
    wire::{COMMON, Octets},
};
use punctual_os::memory::peak_resident_bytes;

/// Items of 4 octets on the wire, as many as the largest message has room for: 8 GB if decoded.
const TOO_MANY: u32 = (8 << 20) / 4 - 100;
/// As many as the limit on decoded octets allows: 60 MB from 60 KB.
const MANY: u32 = 15_000;
/// Octets of memory that this process may take in addition: a small part of what the attack asks for.
const ALLOWED: u64 = 1 << 30;

fn items(octets: Octets, count: u32) -> Octets {
    (0..count).fold(octets.u32(count), |octets, _| octets.u32(0))
}

#[test]
fn a_request_for_gigabytes_is_refused_and_its_connection_goes_on() {
    let server = Server::start();
    let store: StoreRef = server.poa.activate(Keeper::default()).unwrap();
    let key = Profile::of(&store).key;
    let before = peak_resident_bytes().unwrap();
    let mut peer = Peer::connect(server.port());
    for operation in ["count", "keep"] {
        let request = |count| COMMON.request(1, &key, operation, |body| items(body, count));
        peer.send(&request(TOO_MANY));
        let answer = peer.receive().expect("a reply");
        let reply = answer.reply();
        assert_eq!(reply.status, 2, "a system exception");
        let mut exception = reply.body;
        assert_eq!(exception.string(), b"IDL:omg.org/CORBA/IMP_LIMIT:1.0");
        assert_eq!(exception.u32(), Minor::DECODED_TOO_LARGE.0);
        peer.send(&request(MANY));
        assert_eq!(peer.receive().expect("a reply").reply().status, 0);
    }
    let taken = peak_resident_bytes().unwrap() - before;
    assert!(taken < ALLOWED, "{taken} octets");
}

#[test]
fn a_reply_of_gigabytes_is_an_exception_for_its_caller() {
    let listener = Listener::open();
    let mut reference = server::reference([1, 2], listener.port, b"store", &[]);
    reference.type_id = String::from("IDL:attacks/Store:1.0");
    let replies = thread::spawn(move || {
        let mut peer = listener.accept();
        for count in [TOO_MANY, 3] {
            let request = peer.receive().expect("a request");
            peer.send(&COMMON.reply(request.request().id, 0, |body| items(body, count)));
        }
        peer
    });
    let client = client();
    let store: StoreRef = client.resolve(&ior_to_string(&reference)).unwrap();
    let before = peak_resident_bytes().unwrap();
    let refused = store.kept().unwrap_err();
    assert_eq!(
        (refused.kind, refused.minor),
        (SystemExceptionKind::ImpLimit, Minor::DECODED_TOO_LARGE)
    );
    assert_eq!(store.kept().unwrap().len(), 3);
    let taken = peak_resident_bytes().unwrap() - before;
    assert!(taken < ALLOWED, "{taken} octets");
    drop(replies.join().unwrap());
}

//! Memory of large messages. Tests of their own, because they measure or limit the memory of the process.

use punctual_fixtures::{
    Missing,
    attacks::{Item, Items, StoreRef},
    keeper::Keeper,
    peer::Peer,
    server::{Profile, Server, Setup, client},
    skip,
    wire::COMMON,
};
use punctual_os::memory::resident_bytes;

use crate::thread_failures::limit_memory;

/// Decoded, these take 60 MB: 4 octets each on the wire, a page of 4 KiB each in memory.
const MANY: usize = 15_000;
/// Octets that may remain of several times as much: kept buffers, and memory that the allocator does not
/// return.
const MOST_LEFT: u64 = 24 << 20;

pub fn a_large_message_leaves_no_memory_in_use() {
    let server = Server::start();
    let store: StoreRef = server.poa.activate(Keeper::default()).unwrap();
    let client = client();
    let remote: StoreRef = client.resolve(&store.to_ior()).unwrap();
    let calls = |count: usize| {
        let mut items: Items = (0..count).map(|_| Item::NoMember(0)).collect();
        // Over a connection, and inside the ORB of the server.
        for store in [&remote, &store] {
            // From the lane's arena, and from what it keeps for the next call.
            assert_eq!(store.count(&items), Ok(count as u32));
            store.keep(&mut items).unwrap();
            store.keep(&mut Items::new()).unwrap();
        }
    };
    calls(1);
    let before = resident_bytes().unwrap();
    calls(MANY);
    let left = resident_bytes().unwrap().saturating_sub(before);
    assert!(left < MOST_LEFT, "{left} octets");
}

pub fn a_value_for_which_there_is_no_memory_costs_its_call() {
    let mut setup = Setup::default();
    setup.limits = setup.limits.max_decoded_size(usize::MAX);
    let server = setup.start();
    let store: StoreRef = server.poa.activate(Keeper::default()).unwrap();
    let key = Profile::of(&store).key;
    let mut peer = Peer::connect(server.port());
    let request = |operation: &str, count: u32| {
        COMMON.request(1, &key, operation, |body| {
            (0..count).fold(body.u32(count), |body, _| body.u32(0))
        })
    };
    // Decoded, these take 4 GB.
    let (small, large) = (3, 1_000_000);
    let requests = ["count", "keep"].map(|operation| (request(operation, large), request(operation, small)));
    if !limit_memory(512 << 20) {
        return skip(Missing::Peer, "no `prlimit`");
    }
    for (large, small) in requests {
        peer.send(&large);
        let answer = peer.receive().expect("a reply");
        let mut exception = answer.reply().body;
        assert_eq!(exception.string(), b"IDL:omg.org/CORBA/NO_MEMORY:1.0");
        peer.send(&small);
        assert_eq!(peer.receive().expect("a reply").reply().status, 0);
    }
}

//! What large messages leave behind. A test of its own, because it measures the memory of the process.

use punctual_fixtures::{
    attacks::{Item, Items, StoreRef},
    keeper::Keeper,
    server::{Server, client},
};
use punctual_os::memory::resident_bytes;

/// Decoded, these take 60 MB: 4 octets each on the wire, a page of 4 KiB each in memory.
const MANY: usize = 15_000;
/// What may remain of several times as much: kept buffers, and what the allocator does not return.
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

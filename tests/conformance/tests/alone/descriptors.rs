//! Descriptors of connections whose peers have gone.

use std::{fs, thread};

use punctual::{Minor, SystemExceptionKind as Kind};
use punctual_fixtures::{
    eventually,
    server::{self, Server, Setup},
};
use punctual_os::open_files;

/// Pipes that this process has open: bells of shared-memory connections.
fn pipes() -> usize {
    let targets = fs::read_dir("/proc/self/fd").unwrap();
    let targets = targets.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    targets
        .filter(|target| target.to_string_lossy().starts_with("pipe:"))
        .count()
}

/// A thread of a lane remembers the connection that it served last, but not one that it has closed.
pub fn a_client_that_has_gone_leaves_no_descriptor() {
    let setup = Setup {
        listen: &["shmiop://"],
        ..Setup::default()
    };
    let server = setup.start();
    let before = pipes();
    for round in 0..3 {
        let client = server::client();
        let probe = server.reference_for(&client);
        let calling = thread::spawn(move || {
            let _client = client;
            assert_eq!(probe.twice(1), Ok(2));
        });
        calling.join().unwrap();
        eventually(&format!("no pipe is left of client {round}"), || {
            pipes() == before
        });
    }
}

/// Opens files until no further one can be opened.
fn exhaust() -> Vec<fs::File> {
    std::iter::from_fn(|| fs::File::open("/dev/null").ok()).collect()
}

pub fn unused_connections_make_room_where_no_descriptor_is_free() {
    let servers: Vec<_> = (0..8).map(|_| Server::start()).collect();
    let client = server::client();
    let probes = servers.iter().map(|server| server.reference_for(&client));
    let probes: Vec<_> = probes.collect();
    let mut files = exhaust();
    let refused = probes[0].twice(1).unwrap_err();
    assert_eq!(
        (refused.kind, refused.minor),
        (Kind::NoResources, Minor::DESCRIPTORS_EXHAUSTED)
    );
    // One for the client, and one for the server that accepts the connection.
    files.truncate(files.len() - 2);
    for probe in &probes {
        assert_eq!(probe.twice(1), Ok(2));
    }
    assert!(open_files::are_exhausted(), "the connections take turns");
}

//! Descriptors of connections whose peers have gone.

use std::{fs, thread};

use punctual_fixtures::{
    eventually,
    server::{self, Setup},
};

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

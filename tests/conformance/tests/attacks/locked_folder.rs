//! Any user holds the lock of the folder in which a server makes its sockets.

use std::fs::File;

use punctual::{Inspection, Orb};
use rustix::fs::{FlockOperation, flock};

#[test]
fn a_lock_on_the_folder_does_not_keep_servers_from_starting() {
    let folder = std::env::temp_dir().join(format!("punctual-locked-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let names = ["uiop", "shmiop", "inspection"].map(|name| folder.join(name));
    // One of the paths has the file of a dead server, which is replaced.
    drop(std::os::unix::net::UnixListener::bind(&names[0]).unwrap());
    let attacker = File::open(&folder).unwrap();
    flock(&attacker, FlockOperation::NonBlockingLockExclusive).unwrap();
    let server = Orb::builder()
        .listen(format!("uiop://{}", names[0].display()))
        .listen(format!("shmiop://{}", names[1].display()))
        .inspection(Inspection::at(&names[2]))
        .build()
        .unwrap();
    for name in &names {
        std::os::unix::net::UnixStream::connect(name).unwrap();
    }
    // And a server that lives is left alone.
    let endpoint = format!("uiop://{}", names[0].display());
    let error = Orb::builder().listen(endpoint).build().err().unwrap();
    assert!(error.to_string().contains("another server listens"), "{error}");
    server.shutdown();
    std::fs::remove_dir_all(&folder).unwrap();
}

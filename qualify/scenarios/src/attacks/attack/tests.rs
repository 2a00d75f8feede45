//! Each attack against a peer that reads and never answers.

use std::{
    io::Read,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener},
    os::unix::net::UnixListener,
    thread,
    time::Duration,
};

use super::*;

/// A lane without a server.
pub(in crate::attacks) fn target(port: u16) -> Target {
    Target {
        tcp: SocketAddrV4::new(Ipv4Addr::LOCALHOST, port),
        shm: std::env::temp_dir()
            .join(format!("punctual-attacks-{}.sock", std::process::id()))
            .display()
            .to_string(),
        key: vec![1, 2, 3, 4, 5, 6, 7, 8],
        priority: 10,
        cpu: 0,
    }
}

/// Listens and reads, and never answers: every attack has something to do, and ends in time.
#[test]
fn each_attack_ends_when_its_time_is_over() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let SocketAddr::V4(address) = listener.local_addr().unwrap() else {
        panic!("an IPv4 address")
    };
    let target = target(address.port());
    let _ = std::fs::remove_file(&target.shm);
    let unix = UnixListener::bind(&target.shm).unwrap();
    thread::spawn(move || unix.incoming().for_each(drop));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut octets = vec![0; 1 << 20];
                while stream.read(&mut octets).is_ok_and(|count| count > 0) {}
            });
        }
    });
    for attack in &ATTACKS {
        // On a busy machine the first message may need longer than the shortest time.
        let operations = [150, 1_500, 15_000].into_iter().find_map(|milliseconds| {
            let deadline = Instant::now() + Duration::from_millis(milliseconds);
            let operations = attack.kind.run(&target, deadline);
            assert!(deadline.elapsed() < Duration::from_secs(60), "{attack:?}");
            (operations > 0).then_some(operations)
        });
        assert!(operations.is_some(), "{attack:?}");
    }
    std::fs::remove_file(&target.shm).unwrap();
}

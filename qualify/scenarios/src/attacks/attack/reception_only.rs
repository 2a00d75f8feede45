//! The traffic of an attack, sent to another process: the cost of the kernel's reception alone for the lanes.

use std::{
    io::Read,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    time::Instant,
};

use punctual::NativePriority;
use punctual_os::{CpuSet, Scheduling, ThreadSpec};

use crate::attacks::{attack::long_keys::message, flood::Flood, target::Target};

/// Sends the messages of [`super::long_keys`] to a thread that reads and ignores them, on the server's CPU
/// and at the lowest real-time priority.
pub(super) fn elsewhere(target: &Target, deadline: Instant) -> u64 {
    let flood = Flood::of(&message(target), 1);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port of this host is free");
    let mut elsewhere = target.clone();
    if let Ok(SocketAddr::V4(address)) = listener.local_addr() {
        elsewhere.tcp = address;
    }
    let reader = ThreadSpec::new("reader")
        .affinity(CpuSet::single(target.cpu))
        .scheduling(Scheduling::fifo(NativePriority(1)));
    // It ends with its only connection.
    let reader = reader.spawn(move || {
        let mut octets = vec![0; 64 << 10];
        if let Ok((mut line, _)) = listener.accept() {
            while matches!(line.read(&mut octets), Ok(1..)) {}
        }
    });
    let operations = flood.run(&elsewhere, deadline);
    // If there was none, it still waits for it.
    drop(TcpStream::connect(elsewhere.tcp));
    drop(reader.map(|reader| reader.join()));
    operations
}

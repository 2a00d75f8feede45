//! Options of sockets.

use std::{io, net::ToSocketAddrs, time::Instant};

use punctual_fixtures::{LONG, Missing, skip_part};
use punctual_sched::NetworkPriority;
use punctual_transport::{Listener, Peer, ProtocolProperties, Stream, Tcp, Transport, Unix};
use socket2::SockRef;

fn pair(transport: &dyn Transport, address: &str) -> (Box<dyn Stream>, Box<dyn Stream>) {
    let properties = ProtocolProperties::default();
    let listener = transport.listen(address, None, &properties).unwrap();
    let client = transport.connect(listener.address(), &properties, LONG).unwrap();
    (client, accept(&*listener))
}

fn accept(listener: &dyn Listener) -> Box<dyn Stream> {
    let deadline = Instant::now() + LONG;
    loop {
        if let Some(stream) = listener.accept().unwrap() {
            return stream;
        }
        assert!(Instant::now() < deadline, "no connection arrived");
    }
}

#[test]
fn packets_of_either_family_are_marked() {
    let priority = NetworkPriority { dscp: 26, queue: 3 };
    for (address, v6) in [("127.0.0.1:0", false), ("[::1]:0", true)] {
        let (client, server) = pair(&Tcp, address);
        for stream in [client, server] {
            stream.set_network_priority(priority).unwrap();
            let fd = (*stream).as_fd();
            let socket = SockRef::from(&fd);
            assert_eq!(socket.tos_v4().unwrap(), 26 << 2);
            if v6 {
                assert_eq!(socket.tclass_v6().unwrap(), 26 << 2);
            }
            assert_eq!(socket.priority().unwrap(), 3);
        }
    }
    let (client, _) = pair(&Unix, "");
    client.set_network_priority(priority).unwrap();
}

#[test]
fn streams_know_their_peers() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let (client, server) = pair(&Tcp, address);
        assert_eq!(
            (client.origin().peer, server.origin().peer),
            (Peer::Loopback, Peer::Loopback)
        );
    }
    let (client, server) = pair(&Unix, "");
    assert!(client.origin().peer.is_local() && server.origin().peer.is_local());
}

#[test]
fn all_interfaces_include_both_families() {
    let properties = ProtocolProperties::default();
    let listener = Tcp.listen("[::]:0", Some("localhost"), &properties).unwrap();
    let (name, port) = listener.address().split_once(':').unwrap();
    assert_eq!(name, "localhost", "with the bound port");
    for host in ["127.0.0.1", "[::1]", "localhost"] {
        let address = format!("{host}:{port}");
        drop(Tcp.connect(&address, &properties, LONG).unwrap());
        accept(&*listener);
    }
    // A single family must be requested explicitly.
    let listener = Tcp.listen("[::1]:0", None, &properties).unwrap();
    let port = listener.address().rsplit_once(':').unwrap().1;
    let address = format!("127.0.0.1:{port}");
    let error = Tcp.connect(&address, &properties, LONG).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    let mut addresses = ("localhost", 0).to_socket_addrs().unwrap();
    if !addresses.any(|address| address.is_ipv6()) {
        return skip_part(Missing::Machine, "`localhost` has no IPv6 address");
    }
    drop(
        Tcp.connect(&format!("localhost:{port}"), &properties, LONG)
            .unwrap(),
    );
}

#[test]
fn a_port_in_use_is_an_error() {
    let properties = ProtocolProperties::default();
    let first = Tcp.listen("localhost:0", None, &properties).unwrap();
    let again = Tcp.listen(first.address(), None, &properties);
    assert_eq!(again.err().unwrap().kind(), io::ErrorKind::AddrInUse);
}

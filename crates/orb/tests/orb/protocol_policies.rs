//! Server- and ClientProtocolPolicy, the properties of connections, and their network priority.

use std::{
    io,
    os::fd::OwnedFd,
    sync::{Arc, Mutex},
};

use punctual_giop::{Component, PolicyValue, TAG_INTERNET_IOP, TAG_POLICIES, TAG_UIOP};
use punctual_orb::{Orb, OrbError, PriorityModel};
use punctual_os::socket_option::dont_route;
use punctual_stub::Interface;
use punctual_transport::{
    Layer, Layered, Protocol, ProtocolPolicy, ProtocolProperties, Side, Stream, Tcp, Unix,
};
use punctual_types::{Priority, SystemExceptionKind};
use rustix::net::sockopt;

use crate::doubler::{Doubler, DoublerRef};

/// Keeps a descriptor of every stream, to look at its options.
#[derive(Clone, Default)]
struct Watch {
    connected: Arc<Mutex<Vec<OwnedFd>>>,
    accepted: Arc<Mutex<Vec<OwnedFd>>>,
}

impl Watch {
    fn connections(&self) -> usize {
        self.connected.lock().unwrap().len()
    }
}

impl Layer for Watch {
    fn wrap(&self, stream: Box<dyn Stream>, side: Side) -> io::Result<Box<dyn Stream>> {
        let streams = match side {
            Side::Client => &self.connected,
            Side::Server => &self.accepted,
        };
        streams
            .lock()
            .unwrap()
            .push((*stream).as_fd().try_clone_to_owned()?);
        Ok(stream)
    }
}

/// A server with one pool and an object, over TCP and Unix sockets.
struct Served {
    tcp: Watch,
    unix: Watch,
    orb: Orb,
    doubler: DoublerRef,
}

fn serve(protocols: ProtocolPolicy, exposed: ProtocolPolicy) -> Served {
    let (tcp, unix) = (Watch::default(), Watch::default());
    let orb = Orb::builder()
        .transport(Layered::new(Tcp, tcp.clone()))
        .transport(Layered::new(Unix, unix.clone()))
        .listen("iiop://127.0.0.1")
        .listen("uiop://")
        .server_protocols(protocols)
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    let poa = orb
        .root_poa()
        .child("numbers")
        .threadpool(&pool)
        .client_protocols(exposed)
        .build()
        .unwrap();
    let doubler = poa.activate(Doubler).unwrap();
    Served {
        tcp,
        unix,
        orb,
        doubler,
    }
}

/// Calls with this policy; how many connections over TCP and over Unix sockets it took.
fn call(server: &Served, protocols: ProtocolPolicy) -> Result<(usize, usize), SystemExceptionKind> {
    let (tcp, unix) = (Watch::default(), Watch::default());
    let client = Orb::builder()
        .transport(Layered::new(Tcp, tcp.clone()))
        .transport(Layered::new(Unix, unix.clone()))
        .client_protocols(protocols)
        .build()
        .unwrap();
    let doubler: DoublerRef = client.resolve(&server.doubler.as_object().to_ior()).unwrap();
    doubler.twice(21).map_err(|error| error.kind)?;
    Ok((tcp.connections(), unix.connections()))
}

fn none() -> ProtocolPolicy {
    ProtocolPolicy::default()
}

fn only(protocol: Protocol) -> ProtocolPolicy {
    ProtocolPolicy::new([protocol])
}

#[test]
fn the_client_chooses_the_protocol() {
    let server = serve(none(), none());
    assert_eq!(
        call(&server, none()),
        Ok((0, 1)),
        "on one host Unix sockets come first"
    );
    assert_eq!(call(&server, only(Protocol::IIOP)), Ok((1, 0)));
    assert_eq!(call(&server, only(Protocol::UIOP)), Ok((0, 1)));
    assert_eq!(
        call(&server, ProtocolPolicy::new([Protocol::IIOP, Protocol::UIOP])),
        Ok((1, 0))
    );
    let unknown = Protocol::tagged(77);
    assert_eq!(
        call(&server, ProtocolPolicy::new([unknown.clone(), Protocol::IIOP])),
        Ok((1, 0))
    );
    assert_eq!(call(&server, only(unknown)), Err(SystemExceptionKind::InvPolicy));
    server.orb.shutdown();
}

#[test]
fn the_server_chooses_where_it_exposes_its_policy() {
    let server = serve(none(), ProtocolPolicy::new([Protocol::IIOP, Protocol::UIOP]));
    assert_eq!(call(&server, none()), Ok((1, 0)));
    assert_eq!(
        call(&server, only(Protocol::UIOP)),
        Err(SystemExceptionKind::InvPolicy),
        "both say which"
    );
    let profile = &server.doubler.as_object().ior().profiles[0];
    let profile = punctual_giop::IiopProfile::decode(profile).unwrap();
    let Some(Component::Policies(policies)) = profile.component(TAG_POLICIES).unwrap() else {
        panic!("no policies");
    };
    let [PolicyValue::ClientProtocols(protocols)] = &policies[..] else {
        panic!("{policies:?}")
    };
    assert_eq!(protocols.tags(), [TAG_INTERNET_IOP, TAG_UIOP]);
    let unusable = serve(none(), only(Protocol::tagged(77)));
    assert_eq!(call(&unusable, none()), Err(SystemExceptionKind::InvPolicy));
}

#[test]
fn the_server_orders_and_restricts_its_profiles() {
    let tags = |server: &Served| -> Vec<u32> {
        server
            .doubler
            .as_object()
            .ior()
            .profiles
            .iter()
            .map(|profile| profile.tag)
            .collect()
    };
    assert_eq!(tags(&serve(none(), none())), [TAG_INTERNET_IOP, TAG_UIOP]);
    assert_eq!(tags(&serve(only(Protocol::UIOP), none())), [TAG_UIOP]);
    let reversed = ProtocolPolicy::new([Protocol::UIOP, Protocol::IIOP]);
    assert_eq!(tags(&serve(reversed, none())), [TAG_UIOP, TAG_INTERNET_IOP]);
}

#[test]
fn a_protocol_without_acceptor_is_an_invalid_policy() {
    let orb = Orb::builder().listen("iiop://127.0.0.1").build().unwrap();
    let poa = orb
        .root_poa()
        .child("unix")
        .server_protocols(only(Protocol::UIOP))
        .build();
    let error = poa.err().unwrap();
    assert!(
        matches!(
            error,
            OrbError::InvalidPolicy {
                conflict: punctual_orb::InvalidPolicy::ProtocolWithoutAcceptor,
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("ServerProtocolPolicy"), "{error}");
}

fn options(socket: &OwnedFd) -> (bool, bool, bool) {
    let no_delay = sockopt::tcp_nodelay(socket).unwrap();
    (
        no_delay,
        sockopt::socket_keepalive(socket).unwrap(),
        dont_route(socket).unwrap(),
    )
}

#[test]
fn properties_reach_the_sockets_of_both_sides() {
    let mut properties = ProtocolProperties::default();
    properties.send_buffer_size = Some(20_000);
    properties.recv_buffer_size = Some(30_000);
    properties.keep_alive = false;
    properties.no_delay = false;
    properties.dont_route = true;
    let set_up = ProtocolPolicy::new([Protocol::IIOP.with(properties.clone())]);
    let default = serve(none(), none());
    assert_eq!(call(&default, only(Protocol::IIOP)), Ok((1, 0)));
    assert_eq!(
        options(&default.tcp.accepted.lock().unwrap()[0]),
        (true, true, false)
    );

    let server = serve(set_up.clone(), none());
    let tcp = Watch::default();
    let client = Orb::builder()
        .transport(Layered::new(Tcp, tcp.clone()))
        .client_protocols(set_up)
        .build()
        .unwrap();
    let doubler: DoublerRef = client.resolve(&server.doubler.as_object().to_ior()).unwrap();
    assert_eq!(doubler.twice(21), Ok(42));
    for socket in [&tcp.connected, &server.tcp.accepted] {
        let socket = &socket.lock().unwrap()[0];
        assert_eq!(options(socket), (false, false, true));
        // Linux doubles both for its own bookkeeping.
        assert_eq!(sockopt::socket_send_buffer_size(socket).unwrap(), 40_000);
        assert_eq!(sockopt::socket_recv_buffer_size(socket).unwrap(), 60_000);
    }

    let set_up = ProtocolPolicy::new([Protocol::UIOP.with(properties)]);
    let server = serve(set_up.clone(), none());
    assert_eq!(call(&server, set_up), Ok((0, 1)));
    let socket = &server.unix.accepted.lock().unwrap()[0];
    assert_eq!(sockopt::socket_send_buffer_size(socket).unwrap(), 40_000);
    assert_eq!(sockopt::socket_recv_buffer_size(socket).unwrap(), 60_000);
}

/// Code point and queue of what a socket sends.
fn network(socket: &OwnedFd) -> (u8, u32) {
    let socket = socket2::SockRef::from(socket);
    (socket.tos_v4().unwrap() as u8 >> 2, socket.priority().unwrap())
}

#[test]
fn requests_and_replies_carry_the_network_priority_of_their_lane() {
    let mut properties = ProtocolProperties::default();
    properties.enable_network_priority = true;
    let marked = only(Protocol::IIOP.with(properties));
    let server_tcp = Watch::default();
    let server = Orb::builder()
        .transport(Layered::new(Tcp, server_tcp.clone()))
        .server_protocols(marked.clone())
        .build()
        .unwrap();
    let (low, high) = (Priority::MIN, Priority::MAX);
    let pool = server.threadpool().lane(low, 1).lane(high, 1).build().unwrap();
    let plain = server.threadpool().build().unwrap();
    let model = PriorityModel::ClientPropagated { default: low };
    let build = |name: &str, pool| {
        let poa = server
            .root_poa()
            .child(name)
            .threadpool(pool)
            .priority_model(model)
            .highest_priority(high);
        poa.build().unwrap()
    };
    let lanes: DoublerRef = build("lanes", &pool).activate(Doubler).unwrap();
    let plain: DoublerRef = build("plain", &plain).activate(Doubler).unwrap();

    let tcp = Watch::default();
    let client = Orb::builder()
        .transport(Layered::new(Tcp, tcp.clone()))
        .client_protocols(marked)
        .build()
        .unwrap();
    let lanes: DoublerRef = client.resolve(&lanes.as_object().to_ior()).unwrap();
    let plain: DoublerRef = client.resolve(&plain.as_object().to_ior()).unwrap();
    let seen = |number: usize| {
        let (ours, theirs) = (tcp.connected.lock().unwrap(), server_tcp.accepted.lock().unwrap());
        (network(&ours[number]), network(&theirs[number]))
    };
    let (best_effort, expedited) = ((0, 0), (46, 6));
    // One connection for each lane, and one to the pool without lanes, whose priority changes with the
    // caller's.
    for (number, priority, expected) in [(0, low, best_effort), (1, high, expedited)] {
        client.current().set_priority(priority).unwrap();
        lanes.twice(21).unwrap();
        assert_eq!(seen(number), (expected, expected));
    }
    for (priority, expected) in [(low, best_effort), (high, expedited), (low, best_effort)] {
        client.current().set_priority(priority).unwrap();
        plain.twice(21).unwrap();
        assert_eq!(seen(2), (expected, expected));
    }
}

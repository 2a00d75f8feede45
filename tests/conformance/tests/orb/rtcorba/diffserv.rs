//! Network priorities of the packets of requests and replies: TAO's `Diffserv`.

use punctual::{
    NetworkPriority, NetworkPriorityMapping, OrbBuilder, Priority, PriorityModel, Protocol, ProtocolPolicy,
    ProtocolProperties,
    transport::{Layered, Side, Tcp},
};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    priorities::{HIGH, LOW, MIDDLE},
    priority,
    protocols::{Watch, only},
    real_time::ordinary,
    server::Server,
};
use socket2::SockRef;

/// The network's classes of a system with three kinds of traffic.
struct Classes;

const CLASSES: [(i16, NetworkPriority); 3] = [
    (LOW, NetworkPriority { dscp: 10, queue: 1 }),
    (MIDDLE, NetworkPriority { dscp: 34, queue: 4 }),
    (HIGH, NetworkPriority::EXPEDITED),
];

impl NetworkPriorityMapping for Classes {
    fn to_network(&self, priority: Priority) -> NetworkPriority {
        let class = CLASSES.iter().find(|(highest, _)| priority.value() <= *highest);
        class.expect("32767 is the highest").1
    }
}

fn marked(is_marked: bool) -> ProtocolPolicy {
    let mut properties = ProtocolProperties::default();
    properties.enable_network_priority = is_marked;
    only(Protocol::IIOP.with(properties))
}

fn watched(watch: &Watch) -> OrbBuilder {
    ordinary()
        .transport(Layered::new(Tcp, watch.clone()))
        .network_priority_mapping(Classes)
}

fn server(watch: &Watch, is_marked: bool, model: PriorityModel) -> Server {
    let orb = watched(watch)
        .server_protocols(marked(is_marked))
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    let poa = orb
        .root_poa()
        .child("probes")
        .threadpool(&pool)
        .priority_model(model);
    let poa = poa.highest_priority(Priority::MAX).build().unwrap();
    Server::with_poa(orb, pool, poa)
}

/// Network priority of the first connection of a side.
fn sent(watch: &Watch, side: Side) -> NetworkPriority {
    watch.look(side, 0, |socket| {
        let socket = SockRef::from(socket);
        NetworkPriority {
            dscp: u8::try_from(socket.tos_v4().unwrap() >> 2).unwrap(),
            queue: u8::try_from(socket.priority().unwrap()).unwrap(),
        }
    })
}

/// Calls at each priority: what requests and replies carry.
fn call(server: (bool, PriorityModel), client: bool) -> Vec<(NetworkPriority, NetworkPriority)> {
    let watch = Watch::default();
    let server = self::server(&watch, server.0, server.1);
    let orb = watched(&watch).client_protocols(marked(client)).build().unwrap();
    let probe: ProbeRef = orb.resolve(&server.probe.to_ior()).unwrap();
    let at = |value: i16| {
        orb.current().set_priority(priority(value)).unwrap();
        probe.twice(1).unwrap();
        (sent(&watch, Side::Client), sent(&watch, Side::Server))
    };
    [LOW, HIGH, MIDDLE].map(at).to_vec()
}

#[test]
fn each_side_marks_what_it_sends_if_its_policy_says_so() {
    let model = client_propagated(Priority::MIN);
    let none = NetworkPriority::BEST_EFFORT;
    let [low, middle, high] = CLASSES.map(|(_, network)| network);
    let classes = [low, high, middle];
    for (server, client) in [(true, true), (true, false), (false, true), (false, false)] {
        let expected: Vec<_> = classes
            .iter()
            .map(|class| {
                (
                    if client { *class } else { none },
                    if server { *class } else { none },
                )
            })
            .collect();
        assert_eq!(
            call((server, model), client),
            expected,
            "server {server}, client {client}"
        );
    }
}

#[test]
fn a_declared_priority_marks_both_directions() {
    let model = PriorityModel::ServerDeclared(priority(MIDDLE));
    let middle = CLASSES[1].1;
    assert_eq!(call((true, model), true), vec![(middle, middle); 3]);
}

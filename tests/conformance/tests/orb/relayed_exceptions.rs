//! Servants that pass on the exception of a call of their own: what their clients receive.

use punctual::{
    Completion, Limits, Minor, ObjectRef, Orb, Priority, SystemException, SystemExceptionKind as Kind,
    any::{Any, Kind as TypeKind, TypeCode},
    dynamic::{DynamicServant, RequestError, Upcall},
};
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::{NOBODY, Peer},
    priorities::{HIGH, LOW},
    priority,
    real_time::{RealTime, ordinary_client},
    recorder::resolve,
    server::{Profile, Server, client, client_with, reference},
    wire::DIALECTS,
};

/// A reference to an object whose server does not run, for the servants of this one.
fn dead(server: &Server) -> ProbeRef {
    let ior = reference([1, 2], NOBODY, b"dead", &[]);
    resolve(&server.orb, &ior)
}

/// The connection is refused before the servant's own request is sent, but the servant itself has run.
fn assert_relayed(exception: SystemException) {
    let expected = SystemException::new(Kind::Transient, Minor::CONNECT_REFUSED, Completion::Maybe);
    assert_eq!(exception, expected);
}

#[test]
fn the_servant_has_run_although_its_own_call_has_not() {
    let (server, client) = (Server::start(), client());
    let own = dead(&server).twice(1).unwrap_err();
    assert_eq!(
        (own.minor, own.completed),
        (Minor::CONNECT_REFUSED, Completion::No)
    );
    let dead_for_client: ProbeRef = client.resolve(&dead(&server).to_ior()).unwrap();
    let probe = server.reference_for(&client);
    assert_relayed(probe.forward(Some(&dead_for_client), 1).unwrap_err());
    // Also if another server has refused it, or the caller is of the servant's own ORB.
    let other = Server::start();
    let unknown = resolve(&client, &reference([1, 2], other.port(), b"unknown", &[]));
    let refused = unknown.twice(1).unwrap_err();
    assert_eq!(
        (refused.kind, refused.completed),
        (Kind::ObjectNotExist, Completion::No)
    );
    let relayed = probe.forward(Some(&unknown), 1).unwrap_err();
    assert_eq!(
        (relayed.kind, relayed.completed),
        (Kind::ObjectNotExist, Completion::Maybe)
    );
    assert_relayed(server.probe.forward(Some(&dead(&server)), 1).unwrap_err());
}

/// The client would otherwise take the advice for its own.
#[test]
fn the_text_names_the_server_that_raised_it() {
    let (server, client) = (Server::start(), client());
    let dead: ProbeRef = client.resolve(&dead(&server).to_ior()).unwrap();
    let probe = server.reference_for(&client);
    let text = probe.forward(Some(&dead), 1).unwrap_err().to_string();
    let expected = format!(
        "CORBA::TRANSIENT (minor Punctual 17, perhaps completed): raised by the server at \
         iiop://127.0.0.1:{} in `forward`, perhaps in a call of its own: no server is listening ",
        server.port()
    );
    assert!(text.starts_with(&expected), "{text}");
    let own = dead.twice(1).unwrap_err().to_string();
    assert!(
        own.starts_with("CORBA::TRANSIENT (minor Punctual 17, not completed): no server is listening "),
        "{own}"
    );
}

/// Each lane has a port, and the first one of the reference is not that of every call.
#[test]
fn the_text_names_the_lane_that_raised_it() {
    let server = Server::with_propagated_priorities(priority(LOW), |pool| {
        pool.lane(priority(LOW), 1).lane(priority(HIGH), 1)
    });
    let client = ordinary_client();
    let dead: ProbeRef = client.resolve(&dead(&server).to_ior()).unwrap();
    let probe = server.reference_for(&client);
    let pool = client.threadpool().lane(Priority::MAX, 1).build().unwrap();
    client.set_reply_threadpool(&pool).unwrap();
    let lanes = RealTime::of(&server.probe);
    assert_eq!(lanes.endpoints, [LOW, HIGH]);
    for (own, port) in lanes.endpoints.into_iter().zip(lanes.ports) {
        client.current().set_priority(priority(own)).unwrap();
        let at = format!("raised by the server at iiop://127.0.0.1:{port} in `forward`, ");
        let exclusive = probe.forward(Some(&dead), 1).unwrap_err().to_string();
        assert!(exclusive.contains(&at), "{exclusive}");
        let shared = probe
            .forward_async(Some(&dead), 1)
            .wait()
            .unwrap_err()
            .to_string();
        assert!(shared.contains(&at), "{shared}");
    }
}

/// The limit is the client's own, and nothing is sent.
#[test]
fn the_text_states_the_limit_that_a_request_exceeds() {
    let server = Server::start();
    let client = client_with(Limits::default().max_message_size(4096));
    let text = server
        .reference_for(&client)
        .reverse(&[1; 1024])
        .unwrap_err()
        .to_string();
    assert!(text.ends_with("(it has more than 4096 octets)"), "{text}");
    assert!(!text.contains("raised by the server"), "{text}");
}

/// Passes on the exception of a call of its own, or of resolving a reference, or refuses.
struct Relay(ProbeRef, Orb);

impl DynamicServant for Relay {
    fn repository_id(&self) -> String {
        "IDL:Relay:1.0".into()
    }

    fn invoke(&self, request: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
        match request.operation() {
            "relay" => Ok(vec![Any::new(&self.0.twice(1)?)?]),
            "resolve" => {
                let url = format!("corbaloc::127.0.0.1:{NOBODY}/Probe");
                let probe: ProbeRef = self.1.resolve(&url).map_err(SystemException::from)?;
                Ok(vec![Any::new(&probe.twice(1)?)?])
            }
            "undo" => {
                let failed = self.0.twice(1).unwrap_err();
                Err(failed.with_completion(Completion::No).into())
            }
            _ => {
                let refused = SystemException::new(Kind::NoPermission, 7, Completion::No);
                Err(refused.into())
            }
        }
    }
}

#[test]
fn dynamic_servants_relay_in_every_version_and_byte_order() {
    let server = Server::start();
    let object: ObjectRef = server
        .poa
        .activate(Relay(dead(&server), server.orb.clone()))
        .unwrap();
    let key = Profile::of(&object).key;
    for dialect in DIALECTS {
        let mut peer = Peer::connect(server.port());
        // `Completion` on the wire: 1 no, 2 perhaps.
        for (operation, id, completed) in [
            ("relay", &b"IDL:omg.org/CORBA/TRANSIENT:1.0"[..], 2),
            ("resolve", b"IDL:omg.org/CORBA/TRANSIENT:1.0", 2),
            ("undo", b"IDL:omg.org/CORBA/TRANSIENT:1.0", 1),
            ("refuse", b"IDL:omg.org/CORBA/NO_PERMISSION:1.0", 1),
        ] {
            peer.send(&dialect.request(1, &key, operation, |body| body));
            let message = peer.receive().expect("a reply");
            let mut reply = message.reply();
            assert_eq!(reply.status, 2, "{dialect:?}");
            let (raised, _minor) = (reply.body.string().to_vec(), reply.body.u32());
            assert_eq!(
                (&raised[..], reply.body.u32()),
                (id, completed),
                "{dialect:?} {operation}"
            );
        }
    }
    for operation in ["relay", "resolve"] {
        let request = object.request(operation).returns(TypeCode::basic(TypeKind::Long));
        let Err(RequestError::System(exception)) = request.invoke() else {
            panic!("a system exception")
        };
        assert_relayed(exception);
    }
}

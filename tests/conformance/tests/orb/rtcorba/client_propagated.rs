//! The client's priority travels with the request, and holds in the server: TAO's `Client_Propagated`.

use std::thread;

use punctual::{NativePriority, Orb, Priority, PriorityModel};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    peer::Listener,
    priorities::{HIGH, LOW, MIDDLE, native, own_native_priority},
    priority,
    real_time::{RealTime, class, orb_of_class, propagated},
    rights::{realtime_or_skip, realtime_or_skip_part},
    server::{Server, Setup, reference},
    wire::COMMON,
};
use punctual_os::{Scheduling, scheduling};

const MODEL: PriorityModel = client_propagated(Priority::MIN);

fn server(realtime: bool) -> Server {
    let setup = Setup {
        model: Some(MODEL),
        pool: |pool| pool.default_priority(Priority::MAX),
        class: class(realtime),
        ..Setup::default()
    };
    setup.start()
}

#[test]
fn the_servant_runs_at_its_clients_priority() {
    let realtime = realtime_or_skip_part();
    let server = server(realtime);
    assert_eq!(RealTime::of(&server.probe).model, Some((0, 0)));
    let client = orb_of_class(class(realtime)).build().unwrap();
    // A thread of its own: it gets real priorities.
    let calls = thread::spawn(move || {
        let remote: ProbeRef = client.resolve(&server.probe.to_ior()).unwrap();
        for value in [0, 1, LOW, MIDDLE, HIGH - 1, HIGH] {
            client.current().set_priority(priority(value)).unwrap();
            assert_eq!(remote.corba_priority(), Ok(value));
            let expected = if realtime { native(value) } else { -1 };
            assert_eq!(remote.native_priority(), Ok(expected));
            assert_eq!(own_native_priority(), expected, "the client's thread has it, too");
            assert_eq!(
                client.current().priority().unwrap(),
                priority(value),
                "and keeps it"
            );
        }
    });
    calls.join().unwrap();
}

/// From server to server, as far as the chain goes.
#[test]
fn the_priority_goes_on_with_the_calls_of_the_servant() {
    let (first, second) = (server(false), server(false));
    let client = punctual_fixtures::real_time::ordinary_client();
    let [first_remote, second_remote]: [ProbeRef; 2] =
        [&first, &second].map(|server| client.resolve(&server.probe.to_ior()).unwrap());
    for value in [1, MIDDLE, HIGH] {
        client.current().set_priority(priority(value)).unwrap();
        assert_eq!(first_remote.corba_priority_of(Some(&second_remote)), Ok(value));
    }
}

/// A thread that never set one has its native priority mapped back.
#[test]
fn a_thread_without_a_corba_priority_sends_its_native_one() {
    if !realtime_or_skip() {
        return;
    }
    let server = server(true);
    let client = Orb::builder().lock_memory(false).build().unwrap();
    let ior = server.probe.to_ior();
    let calls = thread::spawn(move || {
        let remote: ProbeRef = client.resolve(&ior).unwrap();
        for (native, corba) in [(1, 0), (33, 10_700), (50, 16_384), (99, 32_767)] {
            scheduling::set_current(Scheduling::fifo(NativePriority(native))).unwrap();
            assert_eq!(
                remote.corba_priority(),
                Ok(corba),
                "the least that maps to {native}"
            );
            assert_eq!(remote.native_priority(), Ok(native));
        }
        assert!(client.current().priority().is_err(), "it is not set by that");
        scheduling::set_current(Scheduling::OTHER).unwrap();
        assert_eq!(remote.corba_priority(), Ok(0));
    });
    calls.join().unwrap();
}

/// Context that a client sends: for CLIENT_PROPAGATED only.
#[test]
fn the_context_is_sent_where_the_reference_asks_for_it() {
    let policy = |model: u32, priority: u16| {
        let value = COMMON.encapsulation(|value| value.u32(model).u16(priority));
        COMMON.encapsulation(|data| data.u32(1).u32(40).sequence(&value))
    };
    for (components, expected) in [
        (vec![(2, policy(0, 5))], vec![propagated(MIDDLE)]),
        (vec![(2, policy(1, 5))], vec![]),
        (vec![], vec![]),
    ] {
        let listener = Listener::open();
        let ior = reference([1, 2], listener.port, b"key", &components);
        let client = punctual_fixtures::real_time::ordinary_client();
        let call = thread::spawn(move || {
            client.current().set_priority(priority(MIDDLE)).unwrap();
            let remote: ProbeRef = client.resolve(&punctual::ior_to_string(&ior)).unwrap();
            remote.corba_priority()
        });
        let mut peer = listener.accept();
        let message = peer.receive().unwrap();
        let request = message.request();
        assert_eq!(request.contexts, expected);
        let reply = message.dialect.reply(request.id, 0, |body| body.u16(7));
        peer.send(&reply);
        assert_eq!(call.join().unwrap(), Ok(7));
    }
}

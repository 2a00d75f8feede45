//! ThreadPolicy SINGLE_THREAD_MODEL.

use std::thread;

use punctual_fixtures::{
    conformance::ProbeRef,
    eventually,
    server::{Server, client},
};

fn server() -> Server {
    Server::with_pool(|pool| pool.threads(3))
}

#[test]
fn requests_of_a_single_threaded_adapter_are_served_one_after_the_other() {
    for single in [true, false] {
        let server = server();
        let poa = server.orb.root_poa().child("one").threadpool(&server.pool);
        let poa = if single { poa.single_thread() } else { poa }.build().unwrap();
        let clients = [client(), client()];
        let own = server.another_in(&poa);
        let probes = clients
            .each_ref()
            .map(|client| -> ProbeRef { client.resolve(&own.to_ior()).unwrap() });
        thread::scope(|scope| {
            let first = scope.spawn(|| probes[0].wait_at_gate(1));
            server.hooks.await_at_gate(1);
            let second = scope.spawn(|| probes[1].wait_at_gate(2));
            eventually("it has arrived", || server.seen(0).requests == 2);
            if single {
                // Another adapter of the same pool is served meanwhile.
                assert_eq!(server.reference_for(&clients[1]).twice(1), Ok(2));
                assert_eq!(server.hooks.arrived_at_gate(), 1);
            } else {
                server.hooks.await_at_gate(2);
            }
            server.hooks.open_gate();
            assert_eq!((first.join().unwrap(), second.join().unwrap()), (Ok(1), Ok(2)));
        });
    }
}

#[test]
fn a_servant_of_it_may_call_itself() {
    let server = server();
    let poa = server.orb.root_poa().child("one").threadpool(&server.pool);
    let own = server.another_in(&poa.single_thread().build().unwrap());
    let client = client();
    let probe: ProbeRef = client.resolve(&own.to_ior()).unwrap();
    assert_eq!(probe.nest(Some(&own), 4), Ok(4));
}

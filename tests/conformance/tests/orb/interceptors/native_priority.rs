//! An interceptor that decides on the native priority of the serving thread, in a pool without lanes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use punctual::{SchedulingClass, interceptors::*};
use punctual_fixtures::{
    client_propagated,
    priorities::{HIGH, LOW, native},
    priority, realtime_or_skip,
    server::Server,
};

use super::{Registered, client, orb};

/// Keeps the thread's native priority while it is told to.
#[derive(Default)]
struct Keeper(AtomicBool);

impl ServerRequestInterceptor for Keeper {
    fn name(&self) -> &str {
        "keeper"
    }

    fn receive_request_service_contexts(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        if self.0.load(Ordering::Relaxed) {
            info.keep_native_priority();
        }
        Ok(())
    }
}

#[test]
fn the_upcall_leaves_the_priority_that_an_interceptor_keeps() {
    if !realtime_or_skip() {
        return;
    }
    let keeper = Arc::new(Keeper::default());
    let interceptors = Registered {
        client: Vec::new(),
        server: vec![keeper.clone()],
    };
    let server_orb = orb()
        .scheduling_class(SchedulingClass::Fifo)
        .initializer(&interceptors)
        .build()
        .unwrap();
    let pool = server_orb
        .threadpool()
        .default_priority(priority(LOW))
        .build()
        .unwrap();
    let model = client_propagated(priority(LOW));
    let poa = server_orb.root_poa().child("probes").threadpool(&pool);
    let poa = poa
        .priority_model(model)
        .highest_priority(priority(HIGH))
        .build()
        .unwrap();
    let server = Server::with_poa(server_orb, pool, poa);
    thread::scope(|scope| {
        let calls = scope.spawn(|| {
            let (client, remote) = client(&Registered::default(), &server);
            client.current().set_priority(priority(HIGH)).unwrap();
            let seen = || {
                (
                    remote.corba_priority().unwrap(),
                    remote.native_priority().unwrap(),
                )
            };
            let as_usual = seen();
            keeper.0.store(true, Ordering::Relaxed);
            (as_usual, seen())
        });
        let (as_usual, kept) = calls.join().unwrap();
        assert_eq!(as_usual, (HIGH, native(HIGH)));
        // The CORBA priority is the request's, nevertheless.
        assert_eq!(kept, (HIGH, native(LOW)));
    });
}

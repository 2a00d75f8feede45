//! All checks with interceptors on our side that add a service context to each message they see: of another
//! length each time, so that bodies begin everywhere where they can.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use punctual::{Orb, OrbBuilder, SystemException, interceptors::*};
use punctual_interop::{
    checks::{Context, limits},
    server::{Served, Server},
};

use crate::programs;

/// Our own contexts, under numbers that no other ORB uses.
const THERE: u32 = 0x5a5a_0001;
const BACK: u32 = 0x5a5a_0002;

/// Adds contexts, and counts those that come.
#[derive(Clone, Default)]
struct Courier {
    added: Arc<AtomicUsize>,
    requests_seen: Arc<AtomicUsize>,
    replies_seen: Arc<AtomicUsize>,
}

impl Courier {
    fn orb(&self) -> OrbBuilder {
        Orb::builder().initializer(self)
    }

    fn data(&self) -> &'static [u8] {
        &[0xa5; 17][..self.added.fetch_add(1, Ordering::Relaxed) % 18]
    }

    fn see(seen: &AtomicUsize, data: Option<&[u8]>) {
        if let Some(data) = data {
            assert!(data.iter().all(|octet| *octet == 0xa5), "{data:02x?}");
            seen.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl ClientRequestInterceptor for Courier {
    fn name(&self) -> &str {
        "courier"
    }

    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(info.add_request_service_context(THERE, self.data())?)
    }

    fn receive_reply(&self, info: &ClientRequestInfo<'_>) -> Result<(), SystemException> {
        Self::see(&self.replies_seen, info.get_reply_service_context(BACK));
        Ok(())
    }
}

impl ServerRequestInterceptor for Courier {
    fn name(&self) -> &str {
        "courier"
    }

    fn receive_request_service_contexts(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        Self::see(&self.requests_seen, info.get_request_service_context(THERE));
        // Regardless of the outcome: exceptions and forwards have one as well.
        Ok(info.add_reply_service_context(BACK, self.data())?)
    }
}

impl OrbInitializer for Courier {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        info.add_client_request_interceptor(Arc::new(self.clone()))
            .expect("the name is free");
        info.add_server_request_interceptor(Arc::new(self.clone()))
            .expect("the name is free");
    }
}

const NO_IDLE_CLOSE: (&str, &str) = ("call_after_idle_close", "this server keeps idle connections");

fn ends(mut server: Server) {
    assert!(
        server.ends_within(Duration::from_secs(10)),
        "the server does not end after Peer::shutdown"
    );
}

/// Our client, an omniORB server.
fn call_omniorb(version: &str) {
    let Some(programs) = programs() else { return };
    let courier = Courier::default();
    let server = programs.server(&["-ORBmaxGIOPVersion", version]);
    let context = Context::of(courier.orb(), &server.reference).expect("the server's reference");
    context.run(&[NO_IDLE_CLOSE]);
    assert!(courier.added.load(Ordering::Relaxed) > 100);
    context
        .peer
        .shutdown()
        .expect("the server answers before it ends");
    server.ends();
}

/// An omniORB client, our server.
fn serve_omniorb(version: &str, options: &[&str]) {
    let Some(programs) = programs() else { return };
    let courier = Courier::default();
    let server = Server::of(courier.orb(), limits(), Served::ByTheOrb);
    let version = ["--shutdown", "-ORBmaxGIOPVersion", version];
    let skipped = ["call_after_idle_close", "text_beyond_latin1"];
    programs.check(&server.peer.to_ior(), &[&version, options].concat(), &skipped);
    assert!(courier.added.load(Ordering::Relaxed) > 100);
    ends(server);
}

#[test]
fn our_client_giop_1_0() {
    call_omniorb("1.0");
}

#[test]
fn our_client_giop_1_1() {
    call_omniorb("1.1");
}

#[test]
fn our_client_giop_1_2() {
    call_omniorb("1.2");
}

#[test]
fn omniorb_client_giop_1_0() {
    serve_omniorb("1.0", &[]);
}

/// omniORB has no `char` above 127 in our code set.
#[test]
fn omniorb_client_giop_1_1() {
    serve_omniorb("1.1", &["--skip", "char_latin1"]);
}

#[test]
fn omniorb_client_giop_1_2() {
    serve_omniorb("1.2", &["--skip", "char_latin1"]);
}

#[test]
fn ourselves() {
    let (ours, theirs) = (Courier::default(), Courier::default());
    let server = Server::of(theirs.orb(), limits(), Served::ByTheOrb);
    let context = Context::of(ours.orb(), &server.peer.to_ior()).expect("the server's reference");
    context.run(&[NO_IDLE_CLOSE]);
    for (seen, what) in [
        (&theirs.requests_seen, "requests"),
        (&ours.replies_seen, "replies"),
    ] {
        assert!(seen.load(Ordering::Relaxed) > 100, "contexts of {what}");
    }
    context
        .peer
        .shutdown()
        .expect("the server answers before it ends");
    ends(server);
}

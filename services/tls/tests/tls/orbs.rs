//! Servers and clients with TLS.

use punctual::{Orb, PoaBuilder, ThreadPoolBuilder};
use punctual_fixtures::{
    conformance::ProbeRef,
    server::{Server, client},
};
use punctual_tls::{Tls, TlsSettings};

pub(crate) const SECURED: &str = "ssliop://localhost:0";

/// A server with one ordinary thread that listens over TLS only, and its transport.
pub(crate) fn server(settings: &TlsSettings) -> (Server, Tls) {
    server_at(settings, &[SECURED])
}

pub(crate) fn server_at(settings: &TlsSettings, listen: &[&str]) -> (Server, Tls) {
    let pool = |orb: &Orb| orb.threadpool();
    started(settings, listen, pool, |poa| poa)
}

pub(crate) fn started(
    settings: &TlsSettings,
    listen: &[&str],
    pool: fn(&Orb) -> ThreadPoolBuilder,
    adapter: fn(PoaBuilder) -> PoaBuilder,
) -> (Server, Tls) {
    let tls = Tls::new(settings).unwrap();
    let builder = Orb::builder().transport(tls.clone()).lock_memory(false);
    let builder = listen.iter().fold(builder, |builder, at| builder.listen(*at));
    let orb = builder
        .scheduling_class(punctual::SchedulingClass::Other)
        .build()
        .unwrap();
    let pool = pool(&orb).build().unwrap();
    let poa = orb.root_poa().child("probes").threadpool(&pool);
    let poa = adapter(poa).build().unwrap();
    (Server::with_poa(orb, pool, poa), tls)
}

/// A client.
pub(crate) fn client_with(settings: &TlsSettings) -> Orb {
    let tls = Tls::new(settings).unwrap();
    Orb::builder().transport(tls).lock_memory(false).build().unwrap()
}

/// The text of the error with which a client's call ends; it may be the one that resolves the reference.
pub(crate) fn refusal(client: &Orb, server: &Server) -> String {
    match client.resolve::<ProbeRef>(&server.probe.to_ior()) {
        Ok(probe) => probe.twice(21).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}

/// Calls the server's object as a new client with these settings.
pub(crate) fn twice(settings: &TlsSettings, server: &Server) -> i32 {
    let client = client_with(settings);
    server.reference_for(&client).twice(21).unwrap()
}

/// The text with which a client without TLS fails.
pub(crate) fn plain_refusal(server: &Server) -> String {
    refusal(&client(), server)
}

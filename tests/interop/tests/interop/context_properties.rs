//! Context properties: with ourselves and omniORB, in both directions.

use punctual::Orb;
use punctual_interop::{context_properties::check, exchange::ExchangeServer};

use crate::{exchange, matrix::Row, programs};

fn orb() -> Orb {
    Orb::builder().build().expect("an ORB")
}

#[test]
fn with_ourselves() {
    let server = ExchangeServer::start();
    assert_eq!(check(&orb(), &server.exchange.to_ior()), 6);
}

#[test]
fn omniorb() {
    let Some(omniorb) = programs() else { return };
    let ours = ExchangeServer::start();
    let reference = ours.exchange.to_ior();
    for (part, target) in [("server", None), ("client", Some(&*reference))] {
        let server = omniorb.exchange(&[], target);
        let passed = check(&orb(), &server.reference);
        exchange::end(server);
        Row::described("omniORB 4.2.5", part, "context properties").record(passed, &[]);
    }
}

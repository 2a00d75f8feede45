//! Values of a custom type: with ourselves and JacORB, in both directions.

use punctual::Orb;
use punctual_interop::{custom_values::check, exchange::ExchangeServer, jacorb::JacOrb};

use crate::{exchange, matrix::Row};

fn orb() -> Orb {
    Orb::builder().build().expect("an ORB")
}

#[test]
fn with_ourselves() {
    let server = ExchangeServer::start();
    assert_eq!(check(&orb(), &server.exchange.to_ior()), 4);
}

#[test]
fn jacorb() {
    let Some(jacorb) = JacOrb::build(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let ours = ExchangeServer::start();
    let reference = ours.exchange.to_ior();
    for (part, target) in [("server", None), ("client", Some(&*reference))] {
        let server = jacorb.exchange(&[], target);
        let passed = check(&orb(), &server.reference);
        exchange::end(server);
        Row::described("JacORB 3.9", part, "custom value types").record(passed, &[]);
    }
}

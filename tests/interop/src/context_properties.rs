//! Context properties: a client that checks which ones arrive at a server.

use punctual::{Interface, Orb, PolicyOverrides};

use crate::dynamics::ExchangeRef;

/// Sends properties that the clause of the operation names, and others. Returns how many calls were right.
///
/// # Panics
/// If one was not.
pub fn check(orb: &Orb, reference: &str) -> usize {
    let exchange: ExchangeRef = orb.resolve(reference).expect("the server's reference");
    let properties = [
        ("user", "anna"),
        ("users", "7"),
        ("app.name", "radar"),
        ("app.id", ""),
        ("app", "x"),
    ];
    let policies = PolicyOverrides::new().context_properties(properties);
    let with = ExchangeRef::from_object(exchange.as_object().with_policies(policies));
    let expected = [
        ("user", "anna"),
        ("users", ""),
        ("app.name", "radar"),
        ("app.id", ""),
        ("app", ""),
    ];
    for (name, value) in expected {
        assert_eq!(with.property(name).expect("an answer"), value, "{name}");
    }
    assert_eq!(
        exchange.property("user").expect("an answer"),
        "",
        "it has no properties"
    );
    expected.len() + 1
}

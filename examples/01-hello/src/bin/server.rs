//! Greets its callers, with one lane for each of two priorities.

use punctual::prelude::*;

punctual::include_idl!("hello");
use hello::{Greeter, GreeterRef, NoName, greeter::GreetError};

struct Host {
    orb: Orb,
}

impl Greeter for Host {
    fn greet(&self, name: &str) -> Result<(String, i16), GreetError> {
        if name.is_empty() {
            return Err(NoName {}.into());
        }
        let priority = self.orb.current().priority()?;
        Ok((format!("Hello, {name}!"), priority.value()))
    }
}

fn main() -> Result<(), OrbError> {
    let low = Priority::MIN;
    let orb = Orb::builder().listen("iiop://localhost:2810").build()?;
    // One thread for each priority: a call at the higher one never waits for one at the lower.
    let pool = orb.threadpool().lane(low, 1).lane(Priority::MAX, 1).build()?;
    let model = PriorityModel::ClientPropagated { default: low };
    let poa = orb
        .root_poa()
        .child("hello")
        .threadpool(&pool)
        .priority_model(model)
        .build()?;
    let greeter: GreeterRef = poa.activate(Host { orb: orb.clone() })?;
    println!("Greeting at {}", orb.publish("Greeter", &greeter)?);
    orb.run();
    Ok(())
}

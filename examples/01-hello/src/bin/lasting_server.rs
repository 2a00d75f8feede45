//! The greeter with references that remain valid when the server is started again: fixed ports, a persistent
//! adapter and an id.

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
        Ok((format!("Hello again, {name}!"), priority.value()))
    }
}

fn main() -> Result<(), OrbError> {
    let low = Priority::MIN;
    let orb = Orb::builder().listen("iiop://localhost:2815").build()?;
    let lanes = orb.threadpool().lane(low, 1).lane(Priority::MAX, 1);
    // The lanes listen at ports 2816 and 2817, in every run.
    let pool = lanes.listen("iiop://localhost:2816").build()?;
    let model = PriorityModel::ClientPropagated { default: low };
    let poa = orb
        .root_poa()
        .child("hello")
        .threadpool(&pool)
        .priority_model(model);
    let poa = poa.persistent().user_ids().build()?;
    let host = Host { orb: orb.clone() };
    let greeter: GreeterRef = poa.object(host).id("greeter").activate()?;
    println!("Greeting at {}", orb.publish("Greeter", &greeter)?);
    orb.run();
    Ok(())
}

//! Counts calls that arrive over the transport.

use std::sync::atomic::{AtomicI32, Ordering};

use punctual::prelude::*;
use transport_of_your_own::Abstract;

punctual::include_idl!("counter");
use counting::{Counter, CounterRef};

#[derive(Default)]
struct Count(AtomicI32);

impl Counter for Count {
    fn next(&self) -> Result<i32, SystemException> {
        Ok(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

fn main() -> Result<(), OrbError> {
    let orb = Orb::builder()
        .transport(Abstract)
        .listen("abstract://punctual-counter")
        .build()?;
    let counter: CounterRef = orb.root_poa().activate(Count::default())?;
    println!("Counting at {}", orb.publish("Counter", &counter)?);
    orb.run();
    Ok(())
}

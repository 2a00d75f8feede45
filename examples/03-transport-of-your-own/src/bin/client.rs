//! Calls twice over the transport and prints the messages of the connection.

use punctual::transport::{Layered, Trace};
use transport_of_your_own::Abstract;

punctual::include_idl!("counter");

fn main() {
    if let Err(error) = count() {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn count() -> Result<(), Box<dyn std::error::Error>> {
    let trace = Trace::new(100);
    let orb = punctual::Orb::builder()
        .transport(Layered::new(Abstract, trace.clone()))
        .build()?;
    let counter: counting::CounterRef = orb.resolve("corbaloc:abstract:1.2@punctual-counter/Counter")?;
    println!("{}, {}", counter.next()?, counter.next()?);
    eprint!("{trace}");
    Ok(())
}

//! Requests a greeting each second with one reference, also while the server is started again.

use std::{error::Error, thread, time::Duration};

use punctual::prelude::*;

punctual::include_idl!("hello");
use hello::greeter::GreetError;

fn main() -> Result<(), Box<dyn Error>> {
    let orb = Orb::builder().build()?;
    let greeter: hello::GreeterRef = orb.resolve("corbaloc::localhost:2815/Greeter")?;
    orb.current().set_priority(Priority::MAX)?;
    loop {
        match greeter.greet("world") {
            Ok((greeting, served_at)) => println!("{greeting} (served at priority {served_at})"),
            // The server has not executed the call: to call again does no harm.
            Err(GreetError::System(error)) if error.completed == Completion::No => println!("{error}"),
            Err(error) => return Err(error.into()),
        }
        thread::sleep(Duration::from_secs(1));
    }
}

//! Requests a greeting at the highest priority.

punctual::include_idl!("hello");

fn main() {
    if let Err(error) = greet() {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn greet() -> Result<(), Box<dyn std::error::Error>> {
    let orb = punctual::Orb::builder().build()?;
    let greeter: hello::GreeterRef = orb.resolve("corbaloc::localhost:2810/Greeter")?;
    orb.current().set_priority(punctual::Priority::MAX)?;
    let (greeting, served_at) = greeter.greet("world")?;
    println!("{greeting} (served at priority {served_at})");
    Ok(())
}

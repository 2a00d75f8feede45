//! A valve and its operator, in two ORBs that call each other over TCP.

use std::{error::Error, sync::Mutex, thread};

use punctual::prelude::*;

punctual::include_idl!("plant");
use plant::{Device, Reading, Stuck, Valve, ValveRef, valve::MoveToError};

/// The servant. Lanes call it at the same time, so what changes is behind a lock.
struct Gate {
    orb: Orb,
    opening: Mutex<f64>,
}

impl Gate {
    fn new(orb: Orb) -> Self {
        let opening = Mutex::new(0.0);
        Self { orb, opening }
    }
}

impl Device for Gate {
    fn name(&self) -> Result<String, SystemException> {
        Ok("gate 7".to_owned())
    }
}

impl Valve for Gate {
    fn opening(&self) -> Result<f64, SystemException> {
        Ok(*self.opening.lock().expect("no call panics"))
    }

    fn set_opening(&self, opening: f64) -> Result<(), SystemException> {
        *self.opening.lock().expect("no call panics") = opening;
        Ok(())
    }

    fn move_to(&self, opening: f64) -> Result<Vec<Reading>, MoveToError> {
        if opening > 0.9 {
            return Err(Stuck { at: 0.9 }.into());
        }
        self.set_opening(opening)?;
        let (sensor, bar) = ("outlet".to_owned(), 4.0 * opening);
        Ok(vec![Reading { sensor, bar }])
    }

    fn note(&self, remark: &str) -> Result<(), SystemException> {
        println!("The valve notes: {remark}");
        Ok(())
    }

    fn stop(&self) -> Result<(), SystemException> {
        self.orb.shutdown();
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let server = Orb::builder().listen("iiop://127.0.0.1").build()?;
    let valve: ValveRef = server.root_poa().activate(Gate::new(server.clone()))?;
    let url = server.publish("Valve", &valve)?;
    let serving = thread::spawn(move || server.run());

    let operated = operate(&url);
    serving.join().expect("the server ends by itself");
    operated
}

fn operate(url: &str) -> Result<(), Box<dyn Error>> {
    let orb = Orb::builder().build()?;
    // One lane reads the replies to asynchronous calls.
    orb.set_reply_threadpool(&orb.threadpool().lane(Priority::MAX, 1).build()?)?;
    let valve: ValveRef = orb.resolve(url)?;

    println!("{} is open by {}", valve.name()?, valve.opening()?);
    valve.set_opening(0.25)?;

    // Under way while this thread does something else.
    let moving = valve.move_to_async(0.5);
    println!("The operator waits");
    for Reading { sensor, bar } in moving.wait()? {
        println!("{sensor}: {bar} bar");
    }

    match valve.move_to(1.0) {
        Err(MoveToError::Stuck(Stuck { at })) => println!("Stuck at {at}"),
        Err(MoveToError::System(error)) if error.completed == Completion::No => {
            println!("Not moved: {error}")
        }
        other => println!("Unexpected: {other:?}"),
    }
    valve.note("stuck again")?;
    println!("Open by {}", valve.opening()?);
    Ok(valve.stop()?)
}

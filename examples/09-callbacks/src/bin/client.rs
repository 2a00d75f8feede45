//! Has a server work, and is called back over the connection of that call.

use punctual::SystemException;
use punctual::prelude::*;

punctual::include_idl!("callbacks");
use callbacks::{Listener, ListenerRef, WorkerRef};

struct Screen;

impl Listener for Screen {
    fn progress(&self, percent: i16) -> Result<bool, SystemException> {
        println!("{percent} % done");
        Ok(true)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().build()?;
    // Its thread serves the callbacks, and reads the reply.
    let pool = orb.threadpool().build()?;
    orb.set_reply_threadpool(&pool)?;
    orb.add_policies(PolicyOverrides::new().bidirectional(true));
    let poa = orb.root_poa().child("screen").threadpool(&pool).build()?;
    let listener: ListenerRef = poa.activate(Screen)?;
    let worker: WorkerRef = orb.resolve("corbaloc::localhost:2890/Worker")?;
    let done = worker.work(Some(&listener))?;
    let [(_, lane)] = &pool.statistics()[..] else {
        return Err("one lane".into());
    };
    println!(
        "finished at {done} %, {} connections from the server",
        lane.connections.open
    );
    Ok(())
}

//! Works for its clients, and reports its progress over their own connections.

use punctual::prelude::*;
use punctual::{BidirectionalRule, Peers, SystemException};

punctual::include_idl!("callbacks");
use callbacks::{ListenerRef, Worker, WorkerRef};

struct Shop;

impl Worker for Shop {
    fn work(&self, caller: Option<ListenerRef>) -> Result<i16, SystemException> {
        for percent in [25, 50, 75, 100] {
            if let Some(caller) = &caller
                && !caller.progress(percent)?
            {
                return Ok(percent);
            }
        }
        Ok(100)
    }
}

fn main() -> Result<(), OrbError> {
    let rule = BidirectionalRule::own_addresses(Peers::SameHost);
    let orb = Orb::builder()
        .listen("iiop://localhost:2890")
        .accept_bidirectional(rule)
        .build()?;
    // While one thread waits inside `work`, the other reads the reply to its call.
    let pool = orb.threadpool().threads(2).build()?;
    orb.set_reply_threadpool(&pool)?;
    // Policies set earlier, such as the timeout of calls, stay in force.
    orb.add_policies(PolicyOverrides::new().bidirectional(true));
    let poa = orb.root_poa().child("shop").threadpool(&pool).build()?;
    let worker: WorkerRef = poa.activate(Shop)?;
    println!("Working at {}", orb.publish("Worker", &worker)?);
    orb.run();
    Ok(())
}

//! The server: `Peer` as the comments of the IDL say, under our ORB.

mod calls;
mod objects;
mod peer;
mod references;
mod types;

use std::{sync::Arc, thread, time::Duration};

use punctual::{Limits, Orb};

use crate::interop::PeerRef;

pub use objects::{BouncerServant, CounterServant, ListenerServant};
pub use peer::PeerServant;

/// A running server of one `Peer`. Ends when dropped.
pub struct Server {
    /// Its ORB.
    pub orb: Orb,
    /// The main object.
    pub peer: PeerRef,
    /// The `corbaloc:` under which the main object is published.
    pub url: String,
    running: Option<thread::JoinHandle<()>>,
}

/// Calls nest up to five deep from side to side, and eight callers come at once.
const THREADS: usize = 8;

impl Server {
    /// Starts one on a free port of the loopback interface. Fails, by panic, where that is impossible.
    pub fn start(limits: Limits) -> Self {
        let orb = Orb::builder()
            .listen("iiop://127.0.0.1:0")
            .call_timeout(Duration::from_secs(20))
            .limits(limits)
            .build()
            .expect("an ORB on a free port of the loopback interface");
        let poa = orb.root_poa();
        let servant = PeerServant::new(orb.clone());
        let own = Arc::clone(&servant.own);
        let peer: PeerRef = poa.activate(servant).expect("an object in the root adapter");
        own.set(Clone::clone(&peer)).expect("set once");
        let url = orb.publish("Interop", &peer).expect("a published name");
        let runner = orb.clone();
        let running = thread::spawn(move || {
            thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| runner.run());
                }
            });
        });
        Self {
            orb,
            peer,
            url,
            running: Some(running),
        }
    }

    /// Whether the server ends by itself within this time, as after `Peer::shutdown`.
    pub fn ends_within(&mut self, time: Duration) -> bool {
        let ended =
            crate::checks::eventually(time, || self.running.as_ref().is_none_or(|run| run.is_finished()));
        if ended && let Some(run) = self.running.take() {
            run.join().expect("the server's threads do not panic");
        }
        ended
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.orb.shutdown();
        assert!(
            self.ends_within(Duration::from_secs(10)) || thread::panicking(),
            "the server does not end"
        );
    }
}

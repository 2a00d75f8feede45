//! The server: `Peer` as the comments of the IDL say, under our ORB.

mod calls;
mod objects;
mod peer;
mod references;
mod types;

use std::{sync::Arc, thread, time::Duration};

use punctual::{ConnectionMode, Limits, Orb, OrbBuilder, Poa, PolicyOverrides, Priority, PriorityModel};

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

/// Threads that serve the objects.
#[derive(Clone, Copy, Debug)]
pub enum Served {
    /// Threads that run the ORB.
    ByTheOrb,
    /// Threads of a pool with two lanes, so that references have an endpoint for each and a priority model.
    ByLanes,
    /// Threads of a pool that reads replies, too: callbacks use the connections of the clients, if these and
    /// the ORB permit it.
    Bidirectionally,
}

/// Calls nest up to five deep from side to side, and eight callers come at once.
const THREADS: usize = 8;
/// Timeout of a call of ours.
const CALL: Duration = Duration::from_secs(20);

impl Server {
    /// Starts one on a free port of the loopback interface. Fails, by panic, where that is impossible.
    pub fn start(limits: Limits, served: Served) -> Self {
        Self::of(Orb::builder(), limits, served)
    }

    /// Like [`Self::start`], with an ORB that has something of its own.
    pub fn of(builder: OrbBuilder, limits: Limits, served: Served) -> Self {
        let orb = builder
            .listen("iiop://127.0.0.1:0")
            .call_timeout(CALL)
            .limits(limits)
            .build()
            .expect("an ORB on a free port of the loopback interface");
        let poa = match served {
            Served::ByTheOrb => orb.root_poa(),
            Served::ByLanes => with_lanes(&orb),
            Served::Bidirectionally => with_reply_pool(&orb),
        };
        let servant = PeerServant::new(orb.clone(), poa.clone());
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
        let ended = punctual_fixtures::waiting::holds_within(time, || {
            self.running.as_ref().is_none_or(|run| run.is_finished())
        });
        if ended && let Some(run) = self.running.take() {
            run.join().expect("the server's threads do not panic");
        }
        ended
    }
}

fn with_lanes(orb: &Orb) -> Poa {
    let low = Priority::new(10_000).expect("a CORBA priority");
    let high = Priority::new(20_000).expect("a CORBA priority");
    let pool = orb.threadpool().lane(low, THREADS).lane(high, THREADS).build();
    let pool = pool.expect("a pool with lanes");
    let model = PriorityModel::ClientPropagated { default: low };
    let poa = orb
        .root_poa()
        .child("lanes")
        .threadpool(&pool)
        .priority_model(model)
        .build();
    poa.expect("an adapter")
}

fn with_reply_pool(orb: &Orb) -> Poa {
    let pool = orb.threadpool().threads(THREADS).build().expect("a pool");
    orb.set_reply_threadpool(&pool).expect("threads that poll");
    orb.add_policies(bidirectional());
    let poa = orb.root_poa().child("bidirectional").threadpool(&pool).build();
    poa.expect("an adapter")
}

/// Policies of either side of a bidirectional connection.
pub fn bidirectional() -> PolicyOverrides {
    shared().bidirectional(true)
}

/// Policies of a client whose calls share one connection, over which their messages interleave.
pub fn shared() -> PolicyOverrides {
    PolicyOverrides::new()
        .connection_mode(ConnectionMode::Shared)
        .roundtrip_timeout(CALL)
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

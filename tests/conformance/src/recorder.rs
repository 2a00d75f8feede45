//! A server that notes what arrives on which connection, and says 42 to everything.

use std::{
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};

use punctual::{Ior, Orb, PriorityBand, ior_to_string};

use crate::{
    conformance::ProbeRef,
    peer::{Listener, Peer},
    server::reference,
    wire::{COMMON, LOCATE_REPLY, LOCATE_REQUEST, Message, REQUEST, Reader},
};

/// One place where such a server listens.
pub struct Recorder {
    /// Where, on 127.0.0.1.
    pub port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    notes: Mutex<Notes>,
    changed: Condvar,
}

#[derive(Default)]
struct Notes {
    connections: usize,
    open: usize,
    seen: Vec<Seen>,
}

/// What has arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The number of its connection, in the order in which they were made, from 0.
    pub connection: usize,
    /// The message.
    pub message: Message,
}

impl Seen {
    /// The priority that travelled with it; -1: none.
    pub fn priority(&self) -> i16 {
        self.context(10).map_or(-1, |data| {
            let mut data = Reader::encapsulation(&data);
            data.u16() as i16
        })
    }

    /// The data of a service context.
    pub fn context(&self, id: u32) -> Option<Vec<u8>> {
        let contexts = self.message.request().contexts;
        contexts
            .into_iter()
            .find(|(found, _)| *found == id)
            .map(|(_, data)| data)
    }
}

impl Recorder {
    /// Listens, until the test ends.
    pub fn start() -> Self {
        let listener = Listener::open();
        let port = listener.port;
        let shared = Arc::<Shared>::default();
        let server = Arc::clone(&shared);
        thread::spawn(move || {
            loop {
                let peer = listener.accept();
                let shared = Arc::clone(&server);
                let number = shared.note(|notes| {
                    notes.connections += 1;
                    notes.open += 1;
                    notes.connections - 1
                });
                thread::spawn(move || shared.serve(number, peer));
            }
        });
        Self { port, shared }
    }

    /// How many connections have been made.
    pub fn connections(&self) -> usize {
        self.shared.notes.lock().expect("no panic").connections
    }

    /// Everything that has arrived so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.notes.lock().expect("no panic").seen.clone()
    }

    /// The connections of the requests so far, in their order.
    pub fn connections_of_requests(&self) -> Vec<usize> {
        let requests = self.seen().into_iter();
        requests
            .filter(|seen| seen.message.message_type == REQUEST)
            .map(|seen| seen.connection)
            .collect()
    }

    /// Waits until so many connections are open; returns the messages of this type so far, by connection.
    pub fn await_open(&self, open: usize, message_type: u8) -> Vec<usize> {
        let notes = self.shared.notes.lock().expect("no panic");
        let (notes, wait) = self
            .shared
            .changed
            .wait_timeout_while(notes, Duration::from_secs(10), |notes| notes.open != open)
            .expect("no panic");
        assert!(!wait.timed_out(), "{} open, not {open}", notes.open);
        let of_type = notes
            .seen
            .iter()
            .filter(|seen| seen.message.message_type == message_type);
        of_type.map(|seen| seen.connection).collect()
    }

    /// A reference to an object here.
    pub fn reference(&self, orb: &Orb, components: &[(u32, Vec<u8>)]) -> ProbeRef {
        resolve(orb, &reference([1, 2], self.port, b"recorded", components))
    }
}

/// A reference that another ORB has given out.
pub fn resolve(orb: &Orb, ior: &Ior) -> ProbeRef {
    orb.resolve(&ior_to_string(ior)).expect("a good reference")
}

impl Shared {
    fn note<R>(&self, change: impl FnOnce(&mut Notes) -> R) -> R {
        let result = change(&mut self.notes.lock().expect("no panic"));
        self.changed.notify_all();
        result
    }

    fn serve(&self, connection: usize, mut peer: Peer) {
        while let Some(message) = peer.receive() {
            let reply = match message.message_type {
                REQUEST => {
                    let request = message.request();
                    let wanted = request.response & 1 == 1;
                    wanted.then(|| message.dialect.reply(request.id, 0, |body| body.i32(42)))
                }
                LOCATE_REQUEST => {
                    let id = message.reader().u32();
                    Some(
                        message
                            .dialect
                            .message(LOCATE_REPLY, |reply| reply.u32(id).u32(1)),
                    )
                }
                _ => None,
            };
            self.note(|notes| notes.seen.push(Seen { connection, message }));
            if let Some(reply) = reply {
                peer.send(&reply);
            }
        }
        self.note(|notes| notes.open -= 1);
    }
}

/// `RTCORBA::PriorityModel`.
pub const CLIENT_PROPAGATED: u32 = 0;
/// `RTCORBA::PriorityModel`.
pub const SERVER_DECLARED: u32 = 1;

/// TAG_POLICIES with these policies.
pub fn policies(policies: &[(u32, Vec<u8>)]) -> (u32, Vec<u8>) {
    (2, COMMON.encapsulation(|data| data.contexts(policies)))
}

/// The policy 40.
pub fn model(model: u32, server_priority: i16) -> (u32, Vec<u8>) {
    let value = COMMON.encapsulation(|data| data.u32(model).u16(server_priority as u16));
    (40, value)
}

/// The policy 45.
pub fn bands(bands: &[(i16, i16)]) -> (u32, Vec<u8>) {
    let value = COMMON.encapsulation(|data| {
        bands
            .iter()
            .fold(data.u32(bands.len() as u32), |data, (low, high)| {
                data.u16(*low as u16).u16(*high as u16)
            })
    });
    (45, value)
}

/// TAO_TAG_ENDPOINTS: where the lanes are.
pub fn endpoints(lanes: &[(&Recorder, i16)]) -> (u32, Vec<u8>) {
    let value = COMMON.encapsulation(|data| {
        lanes
            .iter()
            .fold(data.u32(lanes.len() as u32), |data, (lane, priority)| {
                data.string(b"127.0.0.1").u16(lane.port).u16(*priority as u16)
            })
    });
    (0x5441_4f02, value)
}

/// A band, from numbers.
pub fn band(low: i16, high: i16) -> PriorityBand {
    let priority = |value| punctual::Priority::new(value).expect("a priority");
    PriorityBand::new(priority(low), priority(high))
}

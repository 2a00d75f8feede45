//! Events that arrive as datagrams, passed on to a channel.

use std::{
    net::{SocketAddr, UdpSocket},
    sync::atomic::Ordering::Relaxed,
    time::Instant,
};

use punctual_cdr::Endian;

use super::{
    Datagrams, SLICE,
    header::Header,
    missing,
    reassembly::{Joined, Reassembly},
};
use crate::{
    EventChannel, EventError, RemoteChannel,
    gateway::{
        Gateway, OwnInlet, Source, decode_set,
        worker::{Shared, Worker},
    },
};

/// Octets of the longest datagram.
const LONGEST: usize = 65_536;

impl EventChannel {
    /// Passes events that arrive as datagrams on to this channel. The thread `datagrams` receives them.
    ///
    /// # Errors
    /// The datagrams have no address to receive at, or the thread cannot be started.
    pub fn receive_datagrams(&self, datagrams: &Datagrams) -> Result<Gateway, EventError> {
        start(datagrams, self.inlet("datagrams"))
    }
}

impl RemoteChannel {
    /// Like [`EventChannel::receive_datagrams`], for a channel of another process; `name` is shown in its
    /// statistics. The thread passes events on with the priority that is set for the thread that calls this.
    /// Give the ORB a timeout of calls, which bounds how long the thread waits for the channel; meanwhile,
    /// datagrams beyond the buffer of the socket are lost.
    ///
    /// # Errors
    /// The datagrams have no address to receive at, the thread cannot be started, the channel refuses, or a
    /// call fails.
    pub fn receive_datagrams(&self, datagrams: &Datagrams, name: &str) -> Result<Gateway, EventError> {
        start(datagrams, self.inlet(name)?)
    }
}

fn start(datagrams: &Datagrams, inlet: OwnInlet) -> Result<Gateway, EventError> {
    let socket = datagrams.shared.receiving.as_ref();
    let socket = socket.ok_or_else(|| missing("receive"))?.try_clone();
    let socket = socket.map_err(EventError::Socket)?;
    socket.set_read_timeout(Some(SLICE)).map_err(EventError::Socket)?;
    let counters = inlet.counters();
    let mut receiver = Receiver {
        own: own_address(datagrams),
        reassembly: Reassembly::new(datagrams.limits.clone()),
        datagrams: datagrams.clone(),
        inlet,
    };
    let run = move |shared: &Shared| receiver.run(&socket, shared);
    let source = Source::Worker(Worker::start("datagrams".to_owned(), run)?);
    Ok(Gateway { source, counters })
}

/// Source address of own datagrams to the group.
fn own_address(datagrams: &Datagrams) -> Option<SocketAddr> {
    let (socket, _) = datagrams.shared.sending.as_ref()?;
    socket.local_addr().ok()
}

struct Receiver {
    own: Option<SocketAddr>,
    datagrams: Datagrams,
    reassembly: Reassembly,
    inlet: OwnInlet,
}

impl Receiver {
    fn run(&mut self, socket: &UdpSocket, shared: &Shared) {
        shared.is_connected.store(true, Relaxed);
        let mut buffer = vec![0; LONGEST];
        while !shared.ends() {
            let now = Instant::now;
            match socket.recv_from(&mut buffer) {
                Ok((_, sender)) if Some(sender) == self.own => {}
                Ok((length, sender)) => self.take(sender, &buffer[..length], now()),
                // None arrived, or the destination of an earlier datagram was unreachable.
                Err(_) => {
                    self.reassembly.expire(now());
                    self.inlet.report();
                }
            }
            self.inlet.count_lost(self.reassembly.take_lost());
        }
    }

    fn take(&mut self, sender: SocketAddr, datagram: &[u8], now: Instant) {
        let limit = self.datagrams.limits.message;
        let header = Header::decode(datagram);
        let Some((header, content)) = header.filter(|(header, _)| header.message_size as usize <= limit)
        else {
            return self.inlet.count_malformed();
        };
        if header.fragments == 1 {
            return self.pass(content, &header);
        }
        match self.reassembly.join(sender, &header, content, now) {
            Joined::Incomplete => {}
            Joined::Refused => self.inlet.count_malformed(),
            Joined::Complete(message) => self.pass(&message, &header),
        }
    }

    fn pass(&mut self, message: &[u8], header: &Header) {
        let endian = match header.is_little_endian {
            true => Endian::Little,
            false => Endian::Big,
        };
        let Some(mut events) = decode_set(message, endian) else {
            return self.inlet.count_malformed();
        };
        events.retain_mut(|event| {
            if self.datagrams.is_foreign {
                event.header.ec_recv_time = 0;
            }
            let is_over = event.header.ttl < 0;
            if is_over {
                self.inlet.count_expired();
            }
            let has_seen = !is_over && self.datagrams.has_seen(event);
            if has_seen {
                self.inlet.count_repeated();
            }
            !is_over && !has_seen
        });
        if !events.is_empty() {
            self.inlet.pass(&events);
        }
    }
}

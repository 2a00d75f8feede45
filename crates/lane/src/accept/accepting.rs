//! Accepting connections: in bounded steps behind the connections that the lane has, and within a share of
//! the processor's time.

use std::{
    io::ErrorKind,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use punctual_os::{Notice, clock};
use punctual_transport::{Origin, Stream};

use crate::{
    Acceptor, Lane, RequestHandler,
    accept::{descriptors::DescriptorShare, peer_rates::PeerKey},
    connections::connection::{Connection, refuse},
    threads::{lane_events::FIRST_ACCEPTOR, mode::Mode},
};

/// Result of one step of an acceptor.
enum Step {
    /// A connection, perhaps one of several.
    Taken,
    /// No client was waiting.
    Nothing,
    /// The system has no descriptor or memory for a connection.
    Failed,
}

/// Time until an acceptor is tried again for which the system had no descriptor or memory.
const AFTER_FAILURE: Duration = Duration::from_millis(50);

impl<H: RequestHandler> Lane<H> {
    /// Accepts what an acceptor has, as far as limit and budget permit, and arms it again.
    ///
    /// The thread that an acceptor wakes accepts [`AcceptLimits::per_wake_up`](crate::AcceptLimits)
    /// connections and then arms the acceptor again, which puts it behind everything that is ready by then:
    /// the lane serves its connections in between. An acceptor is armed once, so while the lane's budget is
    /// exhausted its peers wait in the kernel's queue and wake no thread.
    pub(crate) fn accept(&self, token: u64) {
        let index = (token - FIRST_ACCEPTOR) as usize;
        let Some(acceptor) = self.acceptors().get(index) else {
            return;
        };
        let mut budget = self.accepting.budget.lock();
        for _ in 0..self.limits().accepting.per_wake_up.max(1) {
            let wait = budget.wait(Instant::now());
            if !wait.is_zero() {
                return self.pause_accepting(wait);
            }
            let begun = clock::thread_cpu_time();
            let step = self.accept_one(acceptor);
            // Twice: what was accepted is also closed.
            budget.charge(2 * clock::thread_cpu_time().saturating_sub(begun));
            match step {
                Step::Taken => {}
                Step::Nothing => break,
                Step::Failed => return self.pause_accepting(AFTER_FAILURE),
            }
        }
        drop(budget);
        self.arm(acceptor, token);
    }

    fn accept_one(&self, acceptor: &Acceptor) -> Step {
        let mut refused = false;
        let mut admits = |origin| {
            refused = !self.may_connect(origin);
            !refused
        };
        let accepted = acceptor.listener.accept_from(&mut admits);
        if refused {
            self.counters.connections.refused.add_one();
        }
        match accepted {
            Ok(Some(stream)) if refused => refuse(&*stream),
            Ok(Some(stream)) => self.admit(stream, acceptor),
            Ok(None) => return Step::Nothing,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // No descriptor is left: closing an unused connection may help.
            Err(_) if self.make_room(None) => {}
            Err(_) => return Step::Failed,
        }
        Step::Taken
    }

    /// Returns whether a peer may have another connection, as far as its own limits are concerned.
    fn may_connect(&self, origin: Origin) -> bool {
        let Some(peer) = PeerKey::of(origin) else {
            return true;
        };
        self.accepting.rates.lock().admit(peer, Instant::now()) && self.has_room_for(peer)
    }

    fn has_room_for(&self, peer: PeerKey) -> bool {
        self.connections.of_peer(peer) < self.limits().accepting.per_peer || self.make_room(Some(peer))
    }

    /// Closes a connection that is stalled or idle: of one peer, or of all. `false`: all are in use.
    fn make_room(&self, peer: Option<PeerKey>) -> bool {
        let completion = self.limits().message_completion;
        let found = self.connections.gives_way(peer, completion);
        found.inspect(|found| self.close_unused(found)).is_some()
    }

    fn admit(&self, stream: Box<dyn Stream>, acceptor: &Acceptor) {
        static FULL: Notice = Notice::new(
            "punctual: a lane refuses clients because it has reached its limit of connections and none is idle; \
             raise Limits::max_connections to admit more\n",
        );
        let share = self.accepting.share.get().map(DescriptorShare::connections);
        let limit = self
            .limits()
            .accepting
            .connections
            .min(share.unwrap_or(usize::MAX));
        if self.connections.counts().0 >= limit && !self.make_room(None) {
            FULL.send();
            self.counters.connections.refused.add_one();
            return refuse(&*stream);
        }
        let origin = stream.origin();
        let key = PeerKey::of(origin);
        // Again: those that were admitted before may have completed their handshakes since.
        if key.is_some_and(|key| !self.has_room_for(key)) {
            self.counters.connections.refused.add_one();
            return refuse(&*stream);
        }
        self.sockets().set(stream.as_fd());
        let peer = H::accepted(&self.data, origin.peer, acceptor.highest_priority);
        let assign = |connection: &Arc<Connection<H>>| match &self.mode {
            Mode::Blocking(threads) => threads.give(connection),
            Mode::Polled | Mode::Buffered(_) => false,
        };
        let properties = &acceptor.properties;
        self.connections
            .admit(stream, key, peer, properties, self.limits(), assign);
        self.watch_idle(Instant::now());
    }

    fn arm(&self, acceptor: &Acceptor, token: u64) {
        if acceptor.listener.watch_again(&self.events.poller, token).is_err() {
            self.pause_accepting(AFTER_FAILURE);
        }
    }

    /// Leaves acceptors that are not armed as they are for this time.
    fn pause_accepting(&self, time: Duration) {
        self.accepting.paused.store(true, Ordering::SeqCst);
        self.events.chores.add(Instant::now() + time);
    }

    /// Arms all acceptors after a pause.
    pub(crate) fn resume_accepting(&self) {
        if self.accepting.paused.swap(false, Ordering::SeqCst) {
            for (acceptor, token) in self.acceptors().iter().zip(FIRST_ACCEPTOR..) {
                self.arm(acceptor, token);
            }
        }
    }
}

//! Turns of connections for which the lane has worked without a served request.

use std::{sync::Arc, time::Duration};

use punctual_os::clock;

use crate::{
    ServingSlot,
    connections::connection::{Connection, Readiness},
    worker::Worker,
};

impl<H: ServingSlot> Worker<'_, H> {
    /// Serves the connection whose turn it is.
    #[cold]
    pub(crate) fn serve_deferred(&mut self) {
        if let Some((connection, readiness)) = self.lane.overhead.next() {
            self.serve_enqueued(&connection, readiness);
        }
    }

    /// Serves a connection that has made the lane work without a served request. `false`: it has been closed.
    #[cold]
    pub(crate) fn serve_within_budget(
        &mut self,
        connection: &Arc<Connection<H>>,
        readiness: Readiness,
    ) -> bool {
        if connection.state.is_exhausted() {
            self.lane.close(connection);
            return false;
        }
        if connection.is_enqueued(readiness) {
            return true;
        }
        let wait = self.lane.overhead.wait();
        if !wait.is_zero() {
            self.lane.counters.connections.put_off.add_one();
            self.lane.overhead.defer(connection, readiness, wait);
            return true;
        }
        connection.state.clear_unserved();
        self.served = false;
        let begun = clock::thread_cpu_time();
        let open = self.serve_turn(connection, readiness);
        self.account_for(connection, begun);
        open
    }

    /// Ends work for a connection that began at this processor time of the thread.
    pub(crate) fn account_for(&self, connection: &Connection<H>, begun: Duration) {
        if self.served {
            return self.lane.overhead.refund(connection);
        }
        connection.state.set_unserved();
        let cost = clock::thread_cpu_time().saturating_sub(begun);
        self.lane.overhead.charge(connection, cost);
    }
}

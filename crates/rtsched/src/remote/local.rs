//! Queries of the dispatcher by the control.

use punctual_transport::Peer;
use punctual_types::DistributableThreadId;

use super::{Local, LocalThreads};
use crate::endsystem::Endsystem;

impl LocalThreads for Endsystem {
    fn find(&self, id: DistributableThreadId) -> Option<Local> {
        self.dispatcher.inspect_thread(id, |entry| Local {
            cancelled: entry.cancelled,
            calls: entry.called_object().cloned(),
        })
    }

    fn was_called_by(&self, id: DistributableThreadId, peer: Peer) -> bool {
        let called = self
            .dispatcher
            .inspect_thread(id, |entry| entry.peers.contains(&Some(peer)));
        called == Some(true)
    }

    fn cancel(&self, id: DistributableThreadId) -> Option<Local> {
        self.dispatcher.cancel(id).ok()?;
        self.find(id)
    }
}

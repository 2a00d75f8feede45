//! Purpose of a connection that callers share: opened for an endpoint, or accepted from a peer that serves
//! requests over it.

use std::sync::atomic::{AtomicBool, Ordering};

use punctual_giop::TAG_INTERNET_IOP;
use punctual_types::{Detail, SystemException};

use super::{
    connection::{ConnectionKey, Purpose},
    endpoint::Cancellation,
};
use crate::pools::unstarted_servers;

/// Calls that may share a connection.
pub(crate) enum SharedPurpose {
    /// Calls to the endpoint that it was opened for; over a bidirectional one the server may call, too.
    Opened {
        purpose: Purpose,
        bidirectional: bool,
        /// Whether its server is in this process, and perhaps no thread serves it yet.
        may_be_unstarted: AtomicBool,
    },
    /// Calls to these addresses over TCP, which the peer that opened it has stated.
    Accepted(Vec<String>),
}

impl SharedPurpose {
    pub(super) fn opened(key: &ConnectionKey<'_>, bidirectional: bool) -> Self {
        Self::Opened {
            purpose: Purpose::new(key),
            bidirectional,
            may_be_unstarted: unstarted_servers::include(key.endpoint).into(),
        }
    }

    /// Waits until its server is served, if that is in this process; for waits without end for a reply. Fails
    /// with BAD_INV_ORDER.
    pub(super) fn ensure_served(&self) -> Result<(), SystemException> {
        if let Self::Opened {
            purpose,
            may_be_unstarted,
            ..
        } = self
            && may_be_unstarted.load(Ordering::Relaxed)
        {
            unstarted_servers::wait_until_served(purpose.endpoint())?;
            may_be_unstarted.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Returns whether calls of this kind may share it, which are bidirectional or not.
    pub(super) fn is_for(&self, key: &ConnectionKey<'_>, bidirectional: bool) -> bool {
        match self {
            Self::Opened {
                purpose,
                bidirectional: own,
                ..
            } => purpose.is_for(key) && (*own || !bidirectional),
            Self::Accepted(addresses) => {
                let is_meant = |address: &String| key.endpoint.is_at(TAG_INTERNET_IOP, address);
                bidirectional && key.owner.is_none() && key.band.is_none() && addresses.iter().any(is_meant)
            }
        }
    }

    /// Returns whether the only reference that it served has been dropped.
    pub(crate) fn is_orphan(&self) -> bool {
        matches!(self, Self::Opened { purpose, .. } if purpose.is_orphan())
    }

    /// Returns the peer's address, for the texts of exceptions.
    #[cold]
    fn detail(&self) -> Detail {
        match self {
            Self::Opened { purpose, .. } => purpose.endpoint().detail(),
            Self::Accepted(addresses) => {
                Detail::address("iiop", addresses.first().map_or("", String::as_str))
            }
        }
    }

    /// Returns the exception, with the peer's address.
    #[cold]
    pub(super) fn named_in(&self, error: SystemException) -> SystemException {
        error.with_detail(&self.detail())
    }

    /// Returns how the peer is notified that a reply is no longer wanted.
    pub(super) fn cancellation(&self) -> Cancellation {
        match self {
            Self::Opened { purpose, .. } => purpose.endpoint().cancellation(),
            Self::Accepted(_) => Cancellation::SentAndClosed,
        }
    }
}

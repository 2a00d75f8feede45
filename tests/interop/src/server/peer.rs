//! The servant of the main object of `Interop::Peer`.

use std::sync::{Arc, Mutex, OnceLock};

use punctual::{Completion, Minor, ObjectRef, Orb, OrbError, Poa, SystemException, SystemExceptionKind};

use super::objects::VersionedServant;
use crate::interop::{LongSeq, Peer, PeerRef, Point, Vector, prefixed};

/// The servant of the main object.
pub struct PeerServant {
    orb: Orb,
    pub(super) poa: Poa,
    /// Its own reference, to be set after activation.
    pub own: Arc<OnceLock<PeerRef>>,
    pub(super) state: Mutex<State>,
}

/// Values of the attributes, and the sum of the notes.
#[derive(Default)]
pub(super) struct State {
    pub(super) level: i32,
    pub(super) wide_part: i16,
    pub(super) high_part: i16,
    pub(super) heading: String,
    pub(super) origin: Point,
    pub(super) history: LongSeq,
    pub(super) setting: Vector,
    pub(super) anything: Option<ObjectRef>,
    pub(super) writes: u32,
    pub(super) sum: i32,
    pub(super) notes: u32,
    pub(super) r#yield: i32,
}

impl PeerServant {
    /// A servant that makes its objects in this adapter, and shuts this ORB down.
    pub fn new(orb: Orb, poa: Poa) -> Self {
        Self {
            orb,
            poa,
            own: Arc::default(),
            state: Mutex::default(),
        }
    }

    pub(super) fn own(&self) -> &PeerRef {
        self.own.get().expect("set at activation")
    }
}

impl Peer for PeerServant {
    fn make_versioned(&self) -> Result<Option<prefixed::VersionedRef>, SystemException> {
        let versioned = self.poa.activate(VersionedServant);
        versioned.map(Some).map_err(not_activated)
    }

    fn shutdown(&self) -> Result<(), SystemException> {
        self.orb.shutdown();
        Ok(())
    }
}

pub(super) fn not_activated(_: OrbError) -> SystemException {
    SystemException::new(SystemExceptionKind::ObjAdapter, Minor::NONE, Completion::No)
}

/// A reference that must not be nil is.
pub(super) fn nil_argument() -> SystemException {
    SystemException::new(SystemExceptionKind::BadParam, Minor::NONE, Completion::No)
}

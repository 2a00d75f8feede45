//! References to objects that need not be active.

use punctual_stub::Interface;
use punctual_types::Priority;

use super::Poa;
use crate::{OrbError, PriorityModel, poa_state::core::agreed_priority};

/// Builder of a reference, from [`Poa::reference`].
///
/// Source: `create_reference`, `create_reference_with_id` of `PortableServer::POA`, and
/// `create_reference_with_priority`,
/// `create_reference_with_id_and_priority` of `RTPortableServer::POA`.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::{Orb, OrbError, SystemExceptionKind};
///
/// let orb = Orb::builder().build()?;
/// let poa = orb.root_poa().child("numbers").user_ids().build()?;
/// let early: DoublerRef = poa.reference().id("doubler").create()?;
/// assert_eq!(early.twice(3).unwrap_err().kind, SystemExceptionKind::ObjectNotExist);
/// let doubler: DoublerRef = poa.object(Doubler).id("doubler").activate()?;
/// assert_eq!(early.twice(3).unwrap(), 6);
/// # Ok::<(), OrbError>(())
/// ```
#[must_use = "`create` makes the reference"]
pub struct ReferenceBuilder<'p> {
    poa: &'p Poa,
    id: Option<Vec<u8>>,
    priority: Option<Priority>,
}

impl<'p> ReferenceBuilder<'p> {
    pub(super) fn new(poa: &'p Poa) -> Self {
        Self {
            poa,
            id: None,
            priority: None,
        }
    }

    /// Sets the id of the object, which may be active or not. Default: the adapter chooses a new one;
    /// [`Poa::id_of`] returns it.
    pub fn id(mut self, id: impl AsRef<[u8]>) -> Self {
        self.id = Some(id.as_ref().to_owned());
        self
    }

    /// Sets the object's own priority. Default: that of the adapter's priority model. Requests to an object
    /// that a default servant or a servant locator serves run at this priority, too, until the adapter ends.
    ///
    /// In each run of a persistent adapter, create references with priorities again before `Orb::run`: a
    /// priority is not part of the object key, which peers can forge, and the ORB stores nothing. With an
    /// adapter for each priority, this is not necessary.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Creates the reference. Calls fail with OBJECT_NOT_EXIST until the object with this id is activated.
    ///
    /// # Errors
    /// Those of [`super::ObjectBuilder::activate`], except that the object may be active.
    pub fn create<R: Interface>(self) -> Result<R, OrbError> {
        let Self {
            poa, id, priority, ..
        } = self;
        poa.core.check_identity(id.as_deref())?;
        if let Some(priority) = priority {
            poa.core.check_priority(&poa.orb.configuration, priority)?;
        }
        let id = id.unwrap_or_else(|| poa.core.make_id().to_vec());
        let has = match poa.orb.objects.active_model(&poa.core, &id) {
            // References to an active object have its priority.
            Some(model) => model.map(PriorityModel::server_priority),
            None => poa.core.declared(&id),
        };
        let agreed = agreed_priority(priority, has)?;
        poa.orb.ensure_listening(&poa.core)?;
        let ior = poa
            .orb
            .objects
            .reference(&poa.core, R::REPOSITORY_ID, &id, agreed)?;
        if let Some(priority) = priority {
            poa.core.declare(&id, priority);
        }
        poa.bind(ior)
    }
}

use std::ops::Range;

use punctual_giop::{
    CODE_SETS, INVOCATION_POLICIES, RT_CORBA_PRIORITY, RT_CORBA_PRIORITY_RANGE, ServiceContext,
};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

/// The service contexts that interceptors add to a message, in memory that is kept from message to message.
#[derive(Default)]
pub(crate) struct AddedContexts {
    octets: Vec<u8>,
    entries: Vec<(u32, Range<usize>)>,
}

/// How many interceptors may add to one message.
const MOST: usize = 16;
/// How many the ORB adds at most.
const OWN: usize = 3;

impl AddedContexts {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.octets.clear();
        self.entries.clear();
    }

    pub(crate) fn find(&self, id: u32) -> Option<&[u8]> {
        let (_, data) = self.entries.iter().find(|(found, _)| *found == id)?;
        Some(&self.octets[data.clone()])
    }

    /// Adds one; fails with BAD_INV_ORDER where it is there, or one that the ORB writes itself, and with IMP_LIMIT beyond
    /// [`MOST`].
    pub(crate) fn add(&mut self, id: u32, data: &[u8]) -> Result<(), SystemException> {
        if is_of_orb(id) || self.find(id).is_some() {
            return Err(there_already());
        }
        self.set(id, data)
    }

    /// As [`Self::add`], in place of one that is there.
    pub(crate) fn set(&mut self, id: u32, data: &[u8]) -> Result<(), SystemException> {
        if is_of_orb(id) {
            return Err(there_already());
        }
        let start = self.octets.len();
        let place = start..start + data.len();
        if let Some(entry) = self.entries.iter_mut().find(|(found, _)| *found == id) {
            entry.1 = place;
        } else if self.entries.len() < MOST {
            self.entries.push((id, place));
        } else {
            return Err(SystemException::new(
                SystemExceptionKind::ImpLimit,
                Minor::TOO_MANY_SERVICE_CONTEXTS,
                Completion::No,
            ));
        }
        self.octets.extend_from_slice(data);
        Ok(())
    }

    /// In the order in which they were added.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = ServiceContext<'_>> {
        self.entries.iter().map(|(id, data)| ServiceContext::Raw {
            id: *id,
            data: &self.octets[data.clone()],
        })
    }
}

/// Lends the ORB's own contexts, 3 at most, and those that were added, in this order.
pub(crate) fn with_contexts<R>(
    own: &[ServiceContext<'_>],
    added: Option<&AddedContexts>,
    look: impl FnOnce(&[ServiceContext<'_>]) -> R,
) -> R {
    let Some(added) = added.filter(|added| !added.is_empty()) else {
        return look(own);
    };
    let mut contexts = [ServiceContext::Raw { id: 0, data: &[] }; OWN + MOST];
    let mut count = 0;
    for context in own.iter().copied().chain(added.iter()) {
        contexts[count] = context;
        count += 1;
    }
    look(&contexts[..count])
}

/// Connections and lanes are chosen by these: they say what the ORB itself knows.
fn is_of_orb(id: u32) -> bool {
    matches!(
        id,
        CODE_SETS | RT_CORBA_PRIORITY | RT_CORBA_PRIORITY_RANGE | INVOCATION_POLICIES
    )
}

fn there_already() -> SystemException {
    SystemException::new(
        SystemExceptionKind::BadInvOrder,
        Minor::OMG_SERVICE_CONTEXT_EXISTS,
        Completion::No,
    )
}

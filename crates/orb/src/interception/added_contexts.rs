//! Service contexts that interceptors add to a message.

use std::ops::Range;

use punctual_giop::{
    CODE_SETS, INVOCATION_POLICIES, RT_CORBA_PRIORITY, RT_CORBA_PRIORITY_RANGE, ServiceContext,
};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

/// The service contexts that interceptors add to a message, in memory that is reused for each message.
#[derive(Default)]
pub(crate) struct AddedContexts {
    octets: Vec<u8>,
    entries: Vec<(u32, Range<usize>)>,
}

/// Maximum number of contexts that interceptors may add to one message.
const MOST: usize = 16;
/// Maximum number of contexts that the ORB itself adds.
const OWN: usize = 3;

impl AddedContexts {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.octets.clear();
        self.entries.clear();
    }

    /// Takes over the content of another one; empty for `None`.
    pub(crate) fn copy(&mut self, other: Option<&Self>) {
        self.clear();
        if let Some(other) = other {
            self.octets.extend_from_slice(&other.octets);
            self.entries.extend_from_slice(&other.entries);
        }
    }

    pub(crate) fn find(&self, id: u32) -> Option<&[u8]> {
        let (_, data) = self.entries.iter().find(|(found, _)| *found == id)?;
        Some(&self.octets[data.clone()])
    }

    /// Adds a context. Fails with BAD_INV_ORDER if one with this id exists or the ORB writes it itself, and
    /// with IMP_LIMIT beyond [`MOST`].
    pub(crate) fn add(&mut self, id: u32, data: &[u8]) -> Result<(), SystemException> {
        if is_of_orb(id) || self.find(id).is_some() {
            return Err(already_exists());
        }
        self.set(id, data)
    }

    /// Adds a context like [`Self::add`], but replaces an existing one with the same id.
    pub(crate) fn set(&mut self, id: u32, data: &[u8]) -> Result<(), SystemException> {
        if is_of_orb(id) {
            return Err(already_exists());
        }
        let start = self.octets.len();
        let range = start..start + data.len();
        if let Some(entry) = self.entries.iter_mut().find(|(found, _)| *found == id) {
            entry.1 = range;
        } else if self.entries.len() < MOST {
            self.entries.push((id, range));
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

    /// Returns the contexts in the order in which they were added.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = ServiceContext<'_>> {
        self.entries.iter().map(|(id, data)| ServiceContext::Raw {
            id: *id,
            data: &self.octets[data.clone()],
        })
    }
}

/// Calls `encode` with the ORB's own contexts, at most 3, followed by the added ones.
pub(crate) fn with_contexts<R>(
    own: &[ServiceContext<'_>],
    added: Option<&AddedContexts>,
    encode: impl FnOnce(&[ServiceContext<'_>]) -> R,
) -> R {
    let Some(added) = added.filter(|added| !added.is_empty()) else {
        return encode(own);
    };
    let mut contexts = [ServiceContext::Raw { id: 0, data: &[] }; OWN + MOST];
    let mut count = 0;
    for context in own.iter().copied().chain(added.iter()) {
        contexts[count] = context;
        count += 1;
    }
    encode(&contexts[..count])
}

/// Returns whether the ORB itself writes this context, since connections and lanes are chosen by it.
fn is_of_orb(id: u32) -> bool {
    matches!(
        id,
        CODE_SETS | RT_CORBA_PRIORITY | RT_CORBA_PRIORITY_RANGE | INVOCATION_POLICIES
    )
}

fn already_exists() -> SystemException {
    SystemException::new(
        SystemExceptionKind::BadInvOrder,
        Minor::OMG_SERVICE_CONTEXT_EXISTS,
        Completion::No,
    )
}

//! Search for values that refer into a graph without being part of it: nothing else shows what is in a state
//! than its encoding.

use alloc::{sync::Arc, vec::Vec};

use super::{
    circle::{Slot, slot_inside},
    object::ValueObject,
};
use crate::{CdrError, CdrErrorKind, Encoder, Endian, encoder::Search};

/// Returns the repository id of a value that is reached from these values, refers to one of these slots, and
/// is no part of their graph.
pub(super) fn outsider(values: &[Arc<dyn ValueObject>], slots: &[Arc<Slot>]) -> Option<&'static str> {
    let mut search = Search {
        own: slots.iter().map(|slot| Arc::as_ptr(slot).addr()).collect(),
        ..Search::default()
    };
    let mut octets = Vec::new();
    for value in values {
        octets.clear();
        let mut encoder = Encoder::new(&mut octets, Endian::NATIVE).searching(search);
        // What cannot be encoded cannot be searched, or sent.
        let _ = value.encode_state(&mut encoder);
        search = encoder.searched()?;
        if search.found.is_some() {
            break;
        }
        search.around.clear();
    }
    search.found
}

/// Looks at a reference in a state.
pub(super) fn look_at(object: &Arc<dyn ValueObject>, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
    let too_deep = encoder.error(CdrErrorKind::NestingTooDeep);
    let Some(search) = encoder.search() else {
        return Ok(());
    };
    if object.link().is_some() {
        let is_own = slot_inside(object).is_some_and(|slot| search.own.contains(&Arc::as_ptr(slot).addr()));
        if is_own && search.found.is_none() {
            search.found = search.around.last().copied();
        }
        return Ok(());
    }
    if search.around.len() >= usize::from(Encoder::MAX_NESTING_LIMIT) {
        return Err(too_deep);
    }
    if search.seen.insert(Arc::as_ptr(object).addr()) {
        search.around.push(object.ids()[0]);
        object.encode_state(encoder)?;
        encoder.search().map(|search| search.around.pop());
    }
    Ok(())
}

//! Search for values that refer into a graph without being part of it: nothing else shows what is in a state
//! than its encoding.

use alloc::{sync::Arc, vec::Vec};

use super::{
    circle::{Slot, slot_inside},
    object::ValueObject,
};
use crate::{CdrError, CdrErrorKind, CharSet, Encoder, Endian, encoder::Search};

/// Returns the repository id of a value that is reached from these values, refers to one of these slots, and
/// is no part of their graph.
pub(super) fn outsider(values: &[Arc<dyn ValueObject>], slots: &[Arc<Slot>]) -> Option<&'static str> {
    let mut search = Search {
        own: slots.iter().map(|slot| Arc::as_ptr(slot).addr()).collect(),
        ..Search::default()
    };
    let mut octets = Vec::new();
    for value in values {
        for char_set in CharSet::ALL {
            octets.clear();
            let encoder = Encoder::new(&mut octets, Endian::NATIVE).with_char_set(char_set);
            let mut encoder = encoder.searching(search);
            let ended = value.encode_state(&mut encoder);
            search = encoder.searched()?;
            // The rest of what an error has ended may be reached in another way.
            for (address, _) in search.around.drain(..) {
                search.seen.remove(&address);
            }
            if search.found.is_some() {
                return search.found;
            }
            // What can be encoded in no code set cannot be searched, or sent.
            if !matches!(ended, Err(error) if error.kind == CdrErrorKind::TextNotInCodeSet) {
                break;
            }
        }
    }
    None
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
            search.found = search.around.last().map(|(_, id)| *id);
        }
        return Ok(());
    }
    if search.around.len() >= usize::from(Encoder::MAX_NESTING_LIMIT) {
        return Err(too_deep);
    }
    let address = Arc::as_ptr(object).addr();
    if search.seen.insert(address) {
        search.around.push((address, object.ids()[0]));
        object.encode_state(encoder)?;
        encoder.search().map(|search| search.around.pop());
    }
    Ok(())
}

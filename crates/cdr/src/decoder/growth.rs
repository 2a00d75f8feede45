//! Elements of sequences, in memory that grows with the octets received and not with an announced length.

use alloc::vec::Vec;
use core::mem::needs_drop;

use bumpalo::collections::Vec as ArenaVec;

use crate::{CdrError, CdrErrorKind, Decode, Decoder};

/// Decodes `count` elements into `elements` and keeps its memory.
pub(crate) fn decode_into_vec<'a, T: Decode<'a>>(
    elements: &mut Vec<T>,
    count: usize,
    decoder: &mut Decoder<'a>,
) -> Result<(), CdrError> {
    decoder.reserve(count.saturating_mul(size_of::<T>()))?;
    elements.truncate(count);
    for element in elements.iter_mut() {
        element.decode_into(decoder)?;
    }
    while elements.len() < count {
        let step = step::<T>(count - elements.len(), elements.len(), decoder);
        reserve(elements, step, decoder)?;
        for _ in 0..step {
            elements.push(T::decode(decoder)?);
        }
    }
    Ok(())
}

/// Decodes `count` elements into the arena.
pub(crate) fn decode_into_arena<'a, T: Decode<'a>>(
    count: usize,
    decoder: &mut Decoder<'a>,
) -> Result<&'a [T], CdrError> {
    const {
        assert!(
            !needs_drop::<T>(),
            "an arena never drops its values: lend types that own nothing, or decode a Vec"
        );
    }
    decoder.reserve(count.saturating_mul(size_of::<T>()))?;
    let mut elements = ArenaVec::new_in(decoder.arena()?);
    while elements.len() < count {
        let step = step::<T>(count - elements.len(), elements.len(), decoder);
        elements
            .try_reserve_exact(step)
            .map_err(|_| decoder.error(CdrErrorKind::OutOfMemory))?;
        for _ in 0..step {
            elements.push(T::decode(decoder)?);
        }
    }
    Ok(elements.into_bump_slice())
}

/// Reserves memory for `additional` elements. Fails if there is none.
pub(crate) fn reserve<T>(
    elements: &mut Vec<T>,
    additional: usize,
    decoder: &Decoder<'_>,
) -> Result<(), CdrError> {
    elements
        .try_reserve_exact(additional)
        .map_err(|_| decoder.error(CdrErrorKind::OutOfMemory))
}

/// Number of further elements for which memory is reserved at once.
///
/// An element can be a thousand times as large in memory as on the wire: a union has the size of its largest
/// member. The number of elements is therefore limited twice: before the first one, by the limit on decoded
/// memory; and in steps, each of which reserves as much memory as octets remain, or as the elements before it
/// have.
fn step<T>(missing: usize, present: usize, decoder: &Decoder<'_>) -> usize {
    let by_octets = decoder.remaining() / size_of::<T>().max(1);
    missing.min(by_octets.max(present).max(1))
}

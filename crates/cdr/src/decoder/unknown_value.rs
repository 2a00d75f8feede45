//! The octets of a value whose type is not known.

use alloc::vec::Vec;

use super::value_header::ValueHeader;
use crate::{
    CdrError, CdrErrorKind, CharSet, CopiedValue, Decode, Decoder, Endian, ValueFactory,
    value::tags::INDIRECTION,
};

/// A value whose type is not known, as octets, with what must be known about them to copy them.
#[doc(hidden)]
#[derive(Debug)]
pub struct UnknownValue<'a> {
    /// From the repository ids, behind tag and URL, to the end tag.
    pub(crate) octets: &'a [u8],
    /// Position of the octets in their message.
    pub(crate) position: usize,
    /// Offset of the state in the octets.
    pub(crate) state: usize,
    /// Offsets of the end tags in the octets.
    pub(crate) end_tags: Vec<usize>,
    /// Whether the last of them ends this value: a tag of a value around it may end both.
    pub(crate) has_end_tag: bool,
    /// Chunked values around the state; 0 if there are no chunks.
    pub(crate) level: usize,
    pub(crate) endian: Endian,
    pub(crate) char_set: CharSet,
    /// Whether wide text has the form of GIOP 1.1.
    pub(crate) has_fixed_wide_form: bool,
    /// Offset of what may be an indirection to what precedes the octets, or the state in them; and the
    /// position to which it leads.
    pub(crate) references: Vec<(usize, usize)>,
}

impl UnknownValue<'_> {
    /// Returns it as its own copy.
    pub fn in_place(&self, header: &ValueHeader<'_>) -> CopiedValue {
        CopiedValue {
            tag: header.position,
            octets: self.position..self.position + self.octets.len(),
            begin: self.position,
        }
    }
}

impl<'a> Decoder<'a> {
    /// Passes over a value whose type is not known, behind its header. Without chunks, only the factory of
    /// its type finds its end.
    ///
    /// # Errors
    /// [`CdrErrorKind::TypeUnsupported`]: it has no chunks, and there is no factory; other ones if chunks or
    /// state are malformed.
    #[doc(hidden)]
    pub fn unknown_value(
        &mut self,
        header: &ValueHeader<'a>,
        factory: Option<&ValueFactory>,
    ) -> Result<UnknownValue<'a>, CdrError> {
        let (mut position, mut state) = (header.ids_at, self.position());
        if header.is_chunked {
            // Where the size of the first chunk is.
            state = state.next_multiple_of(4);
            position = position.next_multiple_of(4);
        }
        let state = state - position;
        let mut end_tags = Vec::new();
        let mut level = 0;
        if header.is_chunked {
            level = self.level() + 1;
            self.chunked_state(&mut |at| end_tags.push(at - position), true, |_| Ok(()))?;
        } else {
            let factory = factory.ok_or_else(|| self.error(CdrErrorKind::TypeUnsupported))?;
            self.value_state(header, false, |decoder| (factory.decode)(decoder).map(drop))?;
        }
        let message = self.behind_chunk().unwrap_or(self.place.octets);
        let octets = message.get(position..self.position()).unwrap_or_default();
        let last = end_tags.last().map(|at| self.clone().at(position + at));
        let has_end_tag = match last {
            Some(mut last) => {
                last.outside_chunks();
                u32::decode(&mut last)? as i32 == -(level as i32)
            }
            None => false,
        };
        Ok(UnknownValue {
            octets,
            position,
            state,
            end_tags,
            has_end_tag,
            level,
            endian: self.endian(),
            char_set: self.char_set(),
            has_fixed_wide_form: self.has_fixed_wide_form(),
            references: self.references_before(position, state, octets)?,
        })
    }

    /// Finds what may be indirections: in a state of an unknown type, they cannot be told from numbers.
    fn references_before(
        &mut self,
        position: usize,
        state: usize,
        octets: &[u8],
    ) -> Result<Vec<(usize, usize)>, CdrError> {
        let mut references = Vec::new();
        let words = octets.as_chunks::<4>().0;
        for (index, pair) in words.windows(2).enumerate() {
            let (offset, by) = (index * 4, number(pair[1], self.endian()));
            let target = (position + offset + 4).checked_add_signed(by as isize);
            let first = if offset < state {
                position
            } else {
                position + state
            };
            if let Some(target) = target.filter(|target| *target < first)
                && pair[0] == INDIRECTION.to_ne_bytes()
            {
                self.reserve(size_of::<(usize, usize)>())?;
                references.push((offset, target));
            }
        }
        Ok(references)
    }
}

fn number(octets: [u8; 4], endian: Endian) -> i32 {
    match endian {
        Endian::Big => i32::from_be_bytes(octets),
        Endian::Little => i32::from_le_bytes(octets),
    }
}

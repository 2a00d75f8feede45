//! The octets of a value whose type is not known.

use alloc::{vec, vec::Vec};

use super::{value_header::ValueHeader, values::Part};
use crate::{
    CdrError, CdrErrorKind, CharSet, CopiedOctets, Decode, Decoder, Endian, ValueFactory,
    value::tags::INDIRECTION,
};

/// A value whose type is not known, as octets, with what must be known about them to copy them.
#[doc(hidden)]
#[derive(Debug)]
pub struct UnknownValue<'a> {
    /// Its own, and one for each value inside.
    pub(crate) segments: Vec<Segment<'a>>,
    /// Whether the last end tag ends this value: a tag of a value around it may end both.
    pub(crate) has_end_tag: bool,
    /// Chunked values around the state; 0 if there are no chunks.
    pub(crate) level: usize,
    pub(crate) endian: Endian,
    pub(crate) char_set: CharSet,
    /// Whether wide text has the form of GIOP 1.1.
    pub(crate) has_fixed_wide_form: bool,
}

/// Octets from the repository ids of a value to the next value in it, or to the end.
#[derive(Debug)]
pub(crate) struct Segment<'a> {
    pub(crate) header: ValueHeader<'a>,
    pub(crate) octets: &'a [u8],
    /// Position of the octets in their message.
    pub(crate) position: usize,
    /// Offset of the state in the octets.
    pub(crate) state: usize,
    /// Offsets of the end tags in the octets.
    pub(crate) end_tags: Vec<usize>,
    /// Offset of what may be an indirection to what precedes the octets, or the state in them; and the
    /// position to which it leads.
    pub(crate) references: Vec<(usize, usize)>,
}

impl UnknownValue<'_> {
    /// Returns the least position to which something in its states may be an indirection, if that is its tag
    /// or precedes it: what is there must have a copy that is as far away.
    pub fn refers_to(&self) -> Option<usize> {
        let in_states = |segment: &Segment<'_>| {
            let references = segment.references.iter();
            let in_state = references.filter(|(offset, _)| *offset >= segment.state);
            in_state.map(|(_, target)| *target).min()
        };
        let least = self.segments.iter().filter_map(in_states).min()?;
        (least <= self.segments[0].header.position).then_some(least)
    }

    /// Returns its octets as their own copies.
    pub fn in_place(&self) -> Vec<CopiedOctets> {
        let segments = self.segments.iter();
        let copied = |segment: &Segment<'_>| CopiedOctets {
            tag: segment.header.position,
            octets: segment.header.position..segment.position + segment.octets.len(),
            begin: segment.header.position,
        };
        segments.map(copied).collect()
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
        header: ValueHeader<'a>,
        factory: Option<&'static ValueFactory>,
    ) -> Result<UnknownValue<'a>, CdrError> {
        let mut level = 0;
        let mut states = vec![self.position()];
        let mut headers = vec![header];
        let mut end_tags = Vec::new();
        if headers[0].is_chunked {
            level = self.level() + 1;
            let mut note = |part: Part<'a>| match part {
                Part::Value(header, state) => {
                    headers.push(header);
                    states.push(state);
                }
                Part::EndTag(at) => end_tags.push(at),
            };
            self.chunked_state(&mut note, true, |_| Ok(()))?;
        } else {
            let factory = factory.ok_or_else(|| self.error(CdrErrorKind::TypeUnsupported))?;
            // It may refer to itself.
            self.known_value(headers[0].position, factory, |decoder| {
                decoder.value_state(&headers[0], false, factory.decode)
            })?;
        }
        self.reserve(headers.len() * size_of::<Segment<'_>>())?;
        let last = end_tags.last().map(|at| self.tag_at(*at)).transpose()?;
        let ends: Vec<_> = headers.iter().skip(1).map(|header| header.position).collect();
        let ends = ends.into_iter().chain([self.position()]);
        let mut segments = Vec::new();
        let mut end_tags = end_tags.into_iter().peekable();
        for ((header, state), end) in headers.into_iter().zip(states).zip(ends) {
            let mut segment = self.segment(header, state, end)?;
            while let Some(at) = end_tags.next_if(|at| *at < end) {
                segment.end_tags.push(at - segment.position);
            }
            segments.push(segment);
        }
        Ok(UnknownValue {
            segments,
            has_end_tag: last == Some(-(level as i32)),
            level,
            endian: self.endian(),
            char_set: self.char_set(),
            has_fixed_wide_form: self.has_fixed_wide_form(),
        })
    }

    fn tag_at(&self, position: usize) -> Result<i32, CdrError> {
        let mut decoder = self.clone().at(position);
        decoder.outside_chunks();
        i32::decode(&mut decoder)
    }

    fn segment(
        &mut self,
        header: ValueHeader<'a>,
        mut state: usize,
        end: usize,
    ) -> Result<Segment<'a>, CdrError> {
        let mut position = header.ids_at;
        if header.is_chunked {
            // Where the size of the first chunk is.
            state = state.next_multiple_of(4);
            position = position.next_multiple_of(4);
        }
        let message = self.behind_chunk().unwrap_or(self.place.octets);
        let octets = message.get(position..end).unwrap_or_default();
        let state = state - position;
        Ok(Segment {
            header,
            octets,
            position,
            state,
            end_tags: Vec::new(),
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
            if pair[0] != INDIRECTION.to_ne_bytes() {
                continue;
            }
            let by = match self.endian() {
                Endian::Big => i32::from_be_bytes(pair[1]),
                Endian::Little => i32::from_le_bytes(pair[1]),
            };
            let offset = index * 4;
            let target = (position + offset + 4).checked_add_signed(by as isize);
            let first = if offset < state {
                position
            } else {
                position + state
            };
            if let Some(target) = target.filter(|target| *target < first) {
                self.reserve(size_of::<(usize, usize)>())?;
                references.push((offset, target));
            }
        }
        Ok(references)
    }
}

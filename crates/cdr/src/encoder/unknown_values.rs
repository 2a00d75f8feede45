//! Copies of values whose type is not known.

use core::ops::Range;

use crate::{
    CdrError, Encode, Encoder,
    decoder::{UnknownValue, ValueHeader},
    value::tags::{CHUNKED, CODEBASE, ID_LIST, ONE_ID, TAG},
};

/// Added to the list of URLs of a value's code, it moves by four octets what follows.
const NO_MORE_URLS: &[u8] = b"    ";

/// The state of a value begins at the same place between multiples of this, because of its alignment.
const ALIGNMENT: usize = 8;

/// A value that has been copied as octets.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct CopiedValue {
    /// Position of the tag.
    pub tag: usize,
    /// Positions, in the other message, of the octets that have been copied together.
    pub octets: Range<usize>,
    /// Position at which they begin here.
    pub begin: usize,
}

impl CopiedValue {
    /// Returns the position of the copy of what is at this position of the other message.
    pub fn copy_at(&self, position: usize) -> Option<usize> {
        let is_copied = self.octets.contains(&position);
        is_copied.then(|| position - self.octets.start + self.begin)
    }
}

impl Encoder<'_> {
    /// Appends a value whose type is not known, at any position. Returns `None`, and appends nothing, if the
    /// meaning of its octets depends on the byte order, the code set, or what precedes it. `copies` has
    /// the position of what has been copied as octets from a position of the same message.
    #[doc(hidden)]
    pub fn unknown_value(
        &mut self,
        header: &ValueHeader<'_>,
        value: &UnknownValue<'_>,
        copies: &dyn Fn(usize) -> Option<usize>,
    ) -> Result<Option<CopiedValue>, CdrError> {
        let has_its_form = value.endian == self.endian
            && value.char_set == self.char_set()
            && value.has_fixed_wide_form == self.has_fixed_wide_form();
        let level = self.sent().level as usize;
        if !has_its_form || value.level == 0 && level > 0 {
            return Ok(None);
        }
        self.end_chunk();
        let end = self.position();
        self.align(4)?;
        let tag = self.position();
        // The repository ids remain if they can, and are written anew otherwise.
        for kept in [0, value.state] {
            self.discard(tag);
            self.head_of_unknown(header, kept > 0, false)?;
            if (self.position() ^ (value.position + kept)) & (ALIGNMENT - 1) != 0 {
                self.discard(tag);
                self.head_of_unknown(header, kept > 0, true)?;
            }
            let source = value.position + kept;
            let begin = self.position();
            let is_where_it_leads = |target: usize| {
                let is_kept = target >= source && target != header.position;
                let copy = if is_kept {
                    Some(begin + target - source)
                } else {
                    copies(target)
                };
                copy.is_some_and(|copy| copy + source == begin + target)
            };
            let mut references = value.references.iter().filter(|(offset, _)| *offset >= kept);
            if (kept == 0 || value.level > 0) && references.all(|(_, target)| is_where_it_leads(*target)) {
                let octets = source..value.position + value.octets.len();
                self.octets(&value.octets[kept..])?;
                self.end_of_unknown(value, begin.wrapping_sub(kept), level)?;
                return Ok(Some(CopiedValue { tag, octets, begin }));
            }
        }
        self.discard(end);
        if level > 0 {
            self.begin_chunk()?;
        }
        Ok(None)
    }

    /// Adapts the end tags of the value whose octets would begin at this position, at this level.
    fn end_of_unknown(
        &mut self,
        value: &UnknownValue<'_>,
        begin: usize,
        level: usize,
    ) -> Result<(), CdrError> {
        if value.level > 0 {
            for at in &value.end_tags {
                self.deepen(begin.wrapping_add(*at), level as i32 + 1 - value.level as i32);
            }
            if value.has_end_tag {
                self.sent().ended = Some((self.position() - 4, self.position()));
            } else {
                self.end_tag(level as i32 + 1)?;
            }
        }
        if level > 0 {
            self.begin_chunk()?;
        }
        Ok(())
    }

    /// Tag and URL, and the ids unless they follow. In its longer form, it is by four octets longer.
    fn head_of_unknown(
        &mut self,
        header: &ValueHeader<'_>,
        has_ids: bool,
        longer: bool,
    ) -> Result<(), CdrError> {
        let is_list = header.is_id_list || longer && header.ids.len() == 1;
        // Those of an earlier copy do not add up.
        let urls = header
            .codebase
            .map(<[u8]>::trim_ascii_end)
            .filter(|urls| !urls.is_empty());
        let urls = match longer && is_list == header.is_id_list {
            true => Some([urls.unwrap_or_default(), NO_MORE_URLS].concat()),
            false => urls.map(<[u8]>::to_vec),
        };
        let types = match header.ids.len() {
            0 => 0,
            _ if is_list => ID_LIST,
            _ => ONE_ID,
        };
        let flags = [(header.is_chunked, CHUNKED), (urls.is_some(), CODEBASE)];
        let flags = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag);
        (TAG | types | flags.sum::<u32>()).encode(self)?;
        if let Some(urls) = urls {
            self.length(urls.len() + 1)?;
            self.octets(&urls)?;
            self.octets(&[0])?;
            self.align(4)?;
        }
        if is_list && (has_ids || !header.is_id_list) {
            self.length(header.ids.len())?;
        }
        if has_ids {
            for id in &header.ids {
                self.length(id.len() + 1)?;
                self.octets(id)?;
                self.octets(&[0])?;
                self.align(4)?;
            }
        }
        Ok(())
    }

    /// Changes the level of an end tag.
    fn deepen(&mut self, position: usize, by: i32) {
        let octets = self.begin()[position..]
            .first_chunk()
            .copied()
            .unwrap_or_default();
        let tag = match self.endian {
            crate::Endian::Big => i32::from_be_bytes(octets),
            crate::Endian::Little => i32::from_le_bytes(octets),
        };
        self.patch_u32(position, (tag - by) as u32);
    }
}

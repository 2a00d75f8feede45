//! Copies of values whose type is not known.

use alloc::vec::Vec;

use crate::{
    CdrError, CopiedOctets, Encode, Encoder, Endian,
    decoder::{Segment, UnknownValue, ValueHeader},
    value::tags::{CHUNKED, CODEBASE, ID_LIST, ONE_ID, TAG},
};

/// Added to the list of URLs of a value's code, it moves by four octets what follows.
const NO_MORE_URLS: &[u8] = b"    ";

/// The state of a value begins at the same place between multiples of this, because of its alignment.
const ALIGNMENT: usize = 8;

impl Encoder<'_> {
    /// Appends a value whose type is not known, at any position; `copy_of` returns the position of the copy
    /// of what precedes the value in its message, if it has one. `has_no_text`: there is no text that has
    /// other octets in another code set or version of GIOP. Returns `None`, and appends nothing, if the
    /// meaning of its octets depends on the byte order, the code set, or what precedes them.
    #[doc(hidden)]
    pub fn unknown_value(
        &mut self,
        value: &UnknownValue<'_>,
        copy_of: &dyn Fn(usize) -> Option<usize>,
        has_no_text: bool,
    ) -> Result<Option<Vec<CopiedOctets>>, CdrError> {
        let same_text =
            value.char_set == self.char_set() && value.has_fixed_wide_form == self.has_fixed_wide_form();
        let has_its_form = value.endian == self.endian && (same_text || has_no_text);
        let level = self.sent().level;
        if !has_its_form || value.level == 0 && level > 0 {
            return Ok(None);
        }
        self.end_chunk();
        let end = self.position();
        let deeper = level + 1 - value.level as i32;
        let mut copied: Vec<CopiedOctets> = Vec::new();
        for segment in &value.segments {
            let Some(one) = self.segment(segment, deeper, &copied, copy_of)? else {
                self.discard(end);
                copied.clear();
                break;
            };
            copied.push(one);
        }
        if !copied.is_empty() && value.has_end_tag {
            self.sent().ended = Some((self.position() - 4, self.position()));
        } else if !copied.is_empty() && value.level > 0 {
            self.end_tag(level + 1)?;
        }
        if level > 0 {
            self.begin_chunk()?;
        }
        Ok((!copied.is_empty()).then_some(copied))
    }

    /// Appends one of the parts of a value, unless something in it may refer to what is elsewhere here.
    fn segment(
        &mut self,
        segment: &Segment<'_>,
        deeper: i32,
        around: &[CopiedOctets],
        copy_of: &dyn Fn(usize) -> Option<usize>,
    ) -> Result<Option<CopiedOctets>, CdrError> {
        let header = &segment.header;
        self.align(4)?;
        let tag = self.position();
        // The repository ids remain if they can, and are written anew otherwise.
        for kept in [0, segment.state] {
            self.discard(tag);
            self.head_of_unknown(header, kept > 0, false)?;
            if (self.position() ^ (segment.position + kept)) & (ALIGNMENT - 1) != 0 {
                self.discard(tag);
                self.head_of_unknown(header, kept > 0, true)?;
            }
            let (source, begin) = (segment.position + kept, self.position());
            let is_where_it_leads = |target: usize| {
                let copy = match target {
                    _ if target >= source => Some(begin + target - source),
                    _ if target == header.position => Some(tag),
                    _ => CopiedOctets::find(around, target).or_else(|| copy_of(target)),
                };
                copy.is_some_and(|copy| copy + source == begin + target)
            };
            let mut references = segment.references.iter().filter(|(offset, _)| *offset >= kept);
            if !(kept == 0 || header.is_chunked) || !references.all(|(_, target)| is_where_it_leads(*target))
            {
                continue;
            }
            self.octets(&segment.octets[kept..])?;
            for at in segment.end_tags.iter().filter(|at| **at >= kept) {
                self.deepen(begin + at - kept, deeper);
            }
            let mut octets = source..segment.position + segment.octets.len();
            let mut begin = begin;
            // The tag can be referred to if it is as far away as before.
            if begin - tag == source - header.position {
                (octets.start, begin) = (header.position, tag);
            }
            return Ok(Some(CopiedOctets { tag, octets, begin }));
        }
        Ok(None)
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
            Endian::Big => i32::from_be_bytes(octets),
            Endian::Little => i32::from_le_bytes(octets),
        };
        self.patch_u32(position, (tag - by) as u32);
    }
}

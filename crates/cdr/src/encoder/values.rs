//! Encoding of values: what was sent before, and the chunks of their states.

use alloc::{boxed::Box, collections::BTreeMap, sync::Arc};
use core::any::Any;

use super::Search;
use crate::{
    CdrError, CdrErrorKind, Encode, Encoder,
    value::tags::{CHUNKED, ID_LIST, INDIRECTION, ONE_ID, TAG},
};

/// State of an encoder for the values of its message.
#[derive(Debug, Default)]
pub(crate) struct EncodedValues {
    /// Positions of values, by their addresses. The values are kept: no other one may get such an address
    /// before the message is complete.
    values: BTreeMap<usize, (usize, Arc<dyn Any + Send + Sync>)>,
    /// Positions of repository ids, by their addresses and lengths, which may be those of other ids by now.
    ids: BTreeMap<(usize, usize), usize>,
    /// Chunked values around the present position.
    pub(super) level: i32,
    /// Position of the size of the current chunk, and end of the octets before it.
    chunk: Option<(usize, usize)>,
    /// Begin and end of the last end tag.
    pub(super) ended: Option<(usize, usize)>,
    /// Values around the present position.
    depth: u16,
    /// If the octets are encoded for what is found on the way.
    search: Option<Search>,
}

impl EncodedValues {
    /// Forgets what has been discarded from `position` on.
    pub(crate) fn truncate(&mut self, position: usize) {
        self.values.retain(|_, (at, _)| *at < position);
        self.ids.retain(|_, at| *at < position);
        (self.level, self.chunk, self.ended, self.depth) = (0, None, None, 0);
    }
}

impl Encoder<'_> {
    pub(super) fn sent(&mut self) -> &mut EncodedValues {
        self.values.get_or_insert_with(Box::default)
    }

    /// Appends no values: what their states refer to is looked at.
    pub(crate) fn searching(mut self, search: Search) -> Self {
        self.sent().search = Some(search);
        self
    }

    #[inline]
    pub(crate) fn search(&mut self) -> Option<&mut Search> {
        self.values.as_mut()?.search.as_mut()
    }

    pub(crate) fn searched(mut self) -> Option<Search> {
        self.sent().search.take()
    }

    /// Returns whether values of value types have been appended.
    #[doc(hidden)]
    pub fn has_values(&self) -> bool {
        self.values.is_some()
    }

    /// Notes that octets contain values, for [`Self::has_values`] of what an `any` contains.
    #[doc(hidden)]
    pub fn note_values(&mut self) {
        if self.is_for_any {
            self.sent();
        }
    }

    /// Returns whether a chunk of a value's state is being appended.
    #[doc(hidden)]
    pub fn is_in_chunk(&self) -> bool {
        self.values.as_ref().is_some_and(|sent| sent.level > 0)
    }

    /// Returns whether this is what an `any` contains.
    pub(crate) fn is_for_any(&self) -> bool {
        self.is_for_any
    }

    /// Appends the null value.
    pub fn null_value(&mut self) -> Result<(), CdrError> {
        0_u32.encode(self)
    }

    /// Appends a value: its type, of which `ids` are the repository id and those to which it may be
    /// truncated (none if it is the declared one), and the state that `write` appends, which gets the value's
    /// position. An `object` that was appended before is referred to.
    pub fn value(
        &mut self,
        object: Option<Arc<dyn Any + Send + Sync>>,
        ids: &[&str],
        is_chunked: bool,
        write: impl FnOnce(&mut Self, usize) -> Result<(), CdrError>,
    ) -> Result<(), CdrError> {
        let address = object.as_ref().map(|object| Arc::as_ptr(object).addr());
        if let Some((position, _)) = address.and_then(|address| self.sent().values.get(&address)) {
            let position = *position;
            return self.value_at(position);
        }
        let is_chunked = is_chunked || self.sent().level > 0;
        self.end_chunk();
        self.align(4)?;
        let position = self.position();
        let types = match ids.len() {
            0 => 0,
            1 => ONE_ID,
            _ => ID_LIST,
        };
        (TAG | types | if is_chunked { CHUNKED } else { 0 }).encode(self)?;
        if let (Some(address), Some(object)) = (address, object) {
            self.sent().values.insert(address, (position, object));
        }
        match ids {
            [id] => self.repository_id(id)?,
            [] => {}
            ids => {
                self.length(ids.len())?;
                ids.iter().try_for_each(|id| self.repository_id(id))?;
            }
        }
        let limit = self.nesting_limit;
        if self.sent().depth >= limit {
            return Err(self.error(CdrErrorKind::NestingTooDeep));
        }
        self.sent().depth += 1;
        if is_chunked {
            self.sent().level += 1;
            self.begin_chunk()?;
            write(self, position)?;
            self.end_chunk();
            let level = self.sent().level;
            self.end_tag(level)?;
            self.sent().level -= 1;
            if level > 1 {
                self.begin_chunk()?;
            }
        } else {
            write(self, position)?;
        }
        self.sent().depth -= 1;
        Ok(())
    }

    /// Appends a reference to the value at this position.
    pub fn value_at(&mut self, position: usize) -> Result<(), CdrError> {
        INDIRECTION.encode(self)?;
        self.offset_to(position)
    }

    fn repository_id(&mut self, id: &str) -> Result<(), CdrError> {
        let address = (id.as_ptr().addr(), id.len());
        if let Some(position) = self.sent().ids.get(&address).copied()
            && self.has_id_at(position, id)
        {
            INDIRECTION.encode(self)?;
            return self.offset_to(position);
        }
        self.align(4)?;
        let position = self.position();
        self.sent().ids.insert(address, position);
        id.encode(self)
    }

    /// Returns whether the string at this position is this id.
    fn has_id_at(&self, position: usize, id: &str) -> bool {
        let string = self.begin().get(position + size_of::<u32>()..);
        let rest = string.and_then(|string| string.strip_prefix(id.as_bytes()));
        rest.is_some_and(|rest| rest.first() == Some(&0))
    }

    fn offset_to(&mut self, position: usize) -> Result<(), CdrError> {
        let offset =
            i32::try_from(self.position() - position).map_err(|_| self.error(CdrErrorKind::TooLarge))?;
        (-offset).encode(self)
    }

    /// Ends the value at this level, and with the same tag a value that ends there in it: omniORB fails at
    /// two tags.
    pub(super) fn end_tag(&mut self, level: i32) -> Result<(), CdrError> {
        if let Some((begin, end)) = self.sent().ended
            && end == self.position()
        {
            self.discard(begin);
        }
        let begin = self.position();
        (-level).encode(self)?;
        let end = self.position();
        self.sent().ended = Some((begin, end));
        Ok(())
    }

    pub(super) fn begin_chunk(&mut self) -> Result<(), CdrError> {
        let end = self.position();
        0_u32.encode(self)?;
        let size = self.position() - 4;
        self.sent().chunk = Some((size, end));
        Ok(())
    }

    /// Completes the present chunk; one without octets is taken back.
    pub(super) fn end_chunk(&mut self) {
        if let Some((size, end)) = self.sent().chunk.take() {
            let octets = self.position() - size - 4;
            if octets == 0 {
                self.discard(end);
            } else {
                self.patch_u32(size, octets as u32);
            }
        }
    }
}

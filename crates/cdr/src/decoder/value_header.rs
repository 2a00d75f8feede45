//! Header of a value, before its state: tag, URL of its code, and repository ids.

use alloc::vec::Vec;

use crate::{
    CdrError, CdrErrorKind, Decode, Decoder,
    value::tags::{CHUNKED, CODEBASE, ID_LIST, INDIRECTION, ONE_ID, TAG},
};

/// Longest list of repository ids: the depth of inheritance.
const MOST_IDS: usize = 64;

/// Longest repository id in octets.
const MOST_ID: usize = 1024;

/// Octets counted for each repository id of a value, besides its text, which may be that of an earlier value:
/// ids are compared and looked up.
const ID: usize = 32;

/// Tag at the place of a value.
#[derive(Debug)]
pub enum ValueTag<'a> {
    /// The null value.
    Null,
    /// The value at an earlier position.
    Earlier(usize),
    /// A value, whose state follows.
    Value(ValueHeader<'a>),
}

/// Header that precedes the state of a value.
#[derive(Clone, Debug)]
pub struct ValueHeader<'a> {
    /// Position of the tag.
    pub position: usize,
    /// Repository ids, of the most derived type first; without any, the value is of the declared type.
    pub ids: Vec<&'a [u8]>,
    /// Whether the state is in chunks.
    pub is_chunked: bool,
    /// Least position to which the header refers, its own if to none.
    pub refers_to: usize,
    /// List of URLs of the code.
    pub(crate) codebase: Option<&'a [u8]>,
    /// Position of the ids, behind tag and URLs; that of the state if there are none.
    pub(crate) ids_at: usize,
    /// Whether a list of ids follows, even of one.
    pub(crate) is_id_list: bool,
}

impl ValueHeader<'_> {
    /// Returns whether it has a list of URLs of the code.
    pub fn has_codebase(&self) -> bool {
        self.codebase.is_some()
    }
}

impl<'a> Decoder<'a> {
    /// Reads the tag before a value.
    pub fn value_tag(&mut self) -> Result<ValueTag<'a>, CdrError> {
        let is_between = self.before_value_tag()?;
        let tag = u32::decode(self)?;
        let position = self.position() - 4;
        match tag {
            0 | INDIRECTION => {
                let earlier = (tag == INDIRECTION).then(|| self.indirection()).transpose()?;
                if is_between {
                    self.between_chunks();
                }
                return Ok(earlier.map_or(ValueTag::Null, ValueTag::Earlier));
            }
            TAG..0x8000_0000 if tag & 0xf0 == 0 => {}
            _ => return Err(self.error(CdrErrorKind::ValueMalformed)),
        }
        self.outside_chunks();
        let mut refers_to = position;
        let codebase = match tag & CODEBASE {
            0 => None,
            _ => Some(self.text_or_earlier(&mut refers_to)?),
        };
        let ids_at = match tag & ID_LIST {
            0 => self.position(),
            _ => self.position().next_multiple_of(4),
        };
        let ids = match tag & ID_LIST {
            0 => Vec::new(),
            ONE_ID => Vec::from([self.repository_id(&mut refers_to)?]),
            ID_LIST => self.id_list(&mut refers_to)?,
            _ => return Err(self.error(CdrErrorKind::ValueMalformed)),
        };
        Ok(ValueTag::Value(ValueHeader {
            position,
            ids,
            is_chunked: tag & CHUNKED != 0,
            refers_to,
            codebase,
            ids_at,
            is_id_list: tag & ID_LIST == ID_LIST,
        }))
    }

    /// Reads the offset behind an indirection, which counts from itself.
    fn indirection(&mut self) -> Result<usize, CdrError> {
        let offset = i32::decode(self)?;
        let target = (self.position() - 4).checked_add_signed(offset as isize);
        target
            .filter(|_| offset < -4)
            .ok_or_else(|| self.error(CdrErrorKind::ValueMalformed))
    }

    /// The octets of a string, without its NUL; they are compared, never shown.
    fn text_or_earlier(&mut self, refers_to: &mut usize) -> Result<&'a [u8], CdrError> {
        let length = u32::decode(self)?;
        if length == INDIRECTION {
            let target = self.indirection()?;
            *refers_to = target.min(*refers_to);
            let mut earlier = self.clone().at(target);
            let length = u32::decode(&mut earlier)?;
            return text(length, &mut earlier);
        }
        text(length, self)
    }

    fn repository_id(&mut self, refers_to: &mut usize) -> Result<&'a [u8], CdrError> {
        let id = self.text_or_earlier(refers_to)?;
        if id.len() > MOST_ID {
            return Err(self.error(CdrErrorKind::ValueMalformed));
        }
        self.reserve(ID + id.len())?;
        Ok(id)
    }

    fn id_list(&mut self, refers_to: &mut usize) -> Result<Vec<&'a [u8]>, CdrError> {
        let count = u32::decode(self)?;
        if count == INDIRECTION {
            let target = self.indirection()?;
            *refers_to = target.min(*refers_to);
            let mut earlier = self.clone().at(target);
            let count = u32::decode(&mut earlier)?;
            let ids = ids(count, &mut earlier, refers_to);
            self.place.decoded = earlier.place.decoded;
            return ids;
        }
        ids(count, self, refers_to)
    }
}

fn text<'a>(length: u32, decoder: &mut Decoder<'a>) -> Result<&'a [u8], CdrError> {
    let octets = decoder.octets(length as usize)?;
    match octets.split_last() {
        Some((0, text)) => Ok(text),
        _ => Err(decoder.error(CdrErrorKind::StringUnterminated)),
    }
}

fn ids<'a>(count: u32, decoder: &mut Decoder<'a>, refers_to: &mut usize) -> Result<Vec<&'a [u8]>, CdrError> {
    if count == 0 || count as usize > MOST_IDS {
        return Err(decoder.error(CdrErrorKind::ValueMalformed));
    }
    (0..count).map(|_| decoder.repository_id(refers_to)).collect()
}

use alloc::vec::Vec;
use core::{any::Any, mem::needs_drop};

use crate::{Arena, CdrError, CdrErrorKind, CharSet, Endian};

/// A value that can be read from a message; `'a` is how long the message and the arena are lent.
pub trait Decode<'a>: Sized {
    /// The fewest octets a value takes, padding left out: bounds a sequence's length before memory is taken for it.
    const MIN_SIZE: usize;

    /// Reads the value at the decoder's position, aligned as its type asks.
    ///
    /// Errors: truncated or impossible data, text outside the code set, a bound, an unknown enumerator.
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError>;

    /// Reads the value into one that exists, keeping the memory it holds.
    fn decode_into(&mut self, decoder: &mut Decoder<'a>) -> Result<(), CdrError> {
        *self = Self::decode(decoder)?;
        Ok(())
    }

    /// Reads `count` elements into `elements`, keeping the memory it holds; numbers override it to copy at once.
    #[doc(hidden)]
    fn decode_elements_into(
        elements: &mut Vec<Self>,
        count: usize,
        decoder: &mut Decoder<'a>,
    ) -> Result<(), CdrError> {
        elements.truncate(count);
        for element in elements.iter_mut() {
            element.decode_into(decoder)?;
        }
        elements.reserve(count - elements.len());
        while elements.len() < count {
            elements.push(Self::decode(decoder)?);
        }
        Ok(())
    }

    /// Lends `count` elements: from the message where they stand there as they do in memory, else from the arena.
    #[doc(hidden)]
    fn decode_slice(decoder: &mut Decoder<'a>, count: usize) -> Result<&'a [Self], CdrError> {
        const {
            assert!(
                !needs_drop::<Self>(),
                "an arena drops nothing: lend what owns nothing, or decode a Vec"
            );
        }
        let arena = decoder.arena()?;
        arena
            .alloc_slice_try_fill_with(count, |_| Self::decode(decoder))
            .map(|slice| &*slice)
    }
}

/// Of every GIOP message.
const FRAGMENT_HEADER_SIZE: usize = 12;

/// Reads values out of one message.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    /// Alignment counts from the first octet.
    octets: &'a [u8],
    at: usize,
    endian: Endian,
    char_set: CharSet,
    arena: Option<&'a Arena>,
    depth_left: u16,
    context: Option<&'a (dyn Any + Send + Sync)>,
    fragments: &'a [usize],
}

impl<'a> Decoder<'a> {
    /// How deep values may be nested unless [`Self::with_nesting_limit`] says otherwise.
    pub const DEFAULT_NESTING_LIMIT: u16 = 64;

    /// A decoder at the first octet, with text in ISO-8859-1, the code set of peers that negotiated none.
    pub fn new(octets: &'a [u8], endian: Endian) -> Self {
        Self {
            octets,
            at: 0,
            endian,
            char_set: CharSet::Latin1,
            arena: None,
            depth_left: Self::DEFAULT_NESTING_LIMIT,
            context: None,
            fragments: &[],
        }
    }

    /// Says at which octets, in ascending order, fragments of GIOP 1.1 continue the message.
    ///
    /// There alignment counts anew, as if the header of that fragment stood before: see [`Self::align`].
    pub fn with_fragments(mut self, starts: &'a [usize]) -> Self {
        self.fragments = starts;
        self
    }

    /// Lends what is not in the message in its final form from `arena`.
    pub fn with_arena(mut self, arena: &'a Arena) -> Self {
        self.arena = Some(arena);
        self
    }

    /// Reads text in this code set.
    pub fn with_char_set(mut self, char_set: CharSet) -> Self {
        self.char_set = char_set;
        self
    }

    /// Lets values of recursive types be nested this deep.
    pub fn with_nesting_limit(mut self, limit: u16) -> Self {
        self.depth_left = limit;
        self
    }

    /// Gives the decoding of object references the ORB they belong to (see `punctual-stub`).
    pub fn with_context(mut self, context: &'a (dyn Any + Send + Sync)) -> Self {
        self.context = Some(context);
        self
    }

    /// Starts at this octet instead of the first one; alignment still counts from the first.
    pub fn at(mut self, position: usize) -> Self {
        self.at = position;
        self
    }

    /// What [`Self::with_context`] was given.
    pub fn context(&self) -> Option<&'a (dyn Any + Send + Sync)> {
        self.context
    }

    /// The order in which numbers are read.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// The code set in which text is read.
    pub fn char_set(&self) -> CharSet {
        self.char_set
    }

    /// The next octet's place.
    pub fn position(&self) -> usize {
        self.at
    }

    /// How many octets are left.
    pub fn remaining(&self) -> usize {
        self.octets.len().saturating_sub(self.at)
    }

    /// Skips to the next multiple of `alignment` (a power of two).
    #[inline]
    pub fn align(&mut self, alignment: usize) -> Result<(), CdrError> {
        let aligned = if self.fragments.is_empty() {
            (self.at + alignment - 1) & !(alignment - 1)
        } else {
            self.aligned_in_fragment(alignment)
        };
        if aligned > self.octets.len() {
            return Err(self.error(CdrErrorKind::Truncated));
        }
        self.at = aligned;
        Ok(())
    }

    /// Where the next value of this alignment stands in a message of fragments of GIOP 1.1.
    ///
    /// A value that has no room in its fragment begins the next one, aligned in that.
    #[cold]
    fn aligned_in_fragment(&self, alignment: usize) -> usize {
        let mut at = self.at;
        loop {
            let next = self.fragments.partition_point(|start| *start <= at);
            let origin = match next.checked_sub(1) {
                None => 0,
                // Positions count from the fragment's header.
                Some(present) => self.fragments[present].saturating_sub(FRAGMENT_HEADER_SIZE),
            };
            let aligned = origin + (at - origin).next_multiple_of(alignment);
            match self.fragments.get(next) {
                Some(start) if aligned >= *start => at = *start,
                _ => return aligned,
            }
        }
    }

    /// Whether values of one sequence need not stand side by side.
    pub(crate) fn is_fragmented(&self) -> bool {
        !self.fragments.is_empty()
    }

    /// Lends the next `count` octets.
    #[inline]
    pub fn octets(&mut self, count: usize) -> Result<&'a [u8], CdrError> {
        if count > self.remaining() {
            return Err(self.error(CdrErrorKind::Truncated));
        }
        let octets = &self.octets[self.at..self.at + count];
        self.at += count;
        Ok(octets)
    }

    /// Lends everything that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = self.octets.get(self.at..).unwrap_or_default();
        self.at = self.octets.len();
        rest
    }

    /// Reads the length of a sequence whose elements take `min_size` octets or more each.
    ///
    /// A length that cannot be true fails here, before any memory is taken for it.
    #[inline]
    pub fn length(&mut self, min_size: usize) -> Result<usize, CdrError> {
        let length = u32::decode(self)? as usize;
        if length.saturating_mul(min_size.max(1)) > self.remaining() {
            return Err(self.error(CdrErrorKind::LengthImpossible));
        }
        Ok(length)
    }

    /// Runs `read` one level deeper; recursive types call it so that hostile nesting ends in an error.
    pub fn nested<R>(&mut self, read: impl FnOnce(&mut Self) -> Result<R, CdrError>) -> Result<R, CdrError> {
        self.depth_left = self
            .depth_left
            .checked_sub(1)
            .ok_or_else(|| self.error(CdrErrorKind::NestingTooDeep))?;
        let result = read(self);
        self.depth_left += 1;
        result
    }

    /// The arena. Fails where the owner gave none, which is a fault of the ORB.
    #[inline]
    pub(crate) fn arena(&self) -> Result<&'a Arena, CdrError> {
        self.arena
            .ok_or_else(|| self.error(CdrErrorKind::DecoderIncomplete))
    }

    /// A decoder for octets of their own alignment, inside this message.
    pub(crate) fn inside(&self, octets: &'a [u8], endian: Endian, at: usize) -> Self {
        Self {
            octets,
            at,
            endian,
            fragments: &[],
            ..self.clone()
        }
    }

    /// An error at the current position, for generated code.
    #[cold]
    pub fn error(&self, kind: CdrErrorKind) -> CdrError {
        CdrError {
            kind,
            offset: self.at,
        }
    }
}

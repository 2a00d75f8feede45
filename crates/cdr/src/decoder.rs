//! Decoding of values.

mod context;
pub(crate) mod growth;
mod unknown_value;
mod value_header;
mod values;

use alloc::{boxed::Box, rc::Rc, vec::Vec};
use core::array;

pub use self::context::{DecodeContext, ValueFactory};
pub(crate) use self::unknown_value::Segment;
pub use self::unknown_value::UnknownValue;
pub use self::value_header::{ValueHeader, ValueTag};
pub(crate) use self::values::Earlier;
use self::values::Received;
#[cfg(test)]
pub(crate) use self::values::STEPS;
use crate::{Arena, CdrError, CdrErrorKind, CharSet, CodeSets, Encoder, Endian};

/// A value that can be read from a message; `'a` is the lifetime of the message and the arena.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as value; }
/// use punctual::value::{CdrError, Decode, Decoder, Endian};
///
/// #[derive(Debug, PartialEq)]
/// struct Plot { x: i16, label: String }
///
/// impl Decode<'_> for Plot {
///     const MIN_SIZE: usize = 2 + 5;
///
///     fn decode(decoder: &mut Decoder<'_>) -> Result<Self, CdrError> {
///         Ok(Self { x: i16::decode(decoder)?, label: String::decode(decoder)? })
///     }
/// }
///
/// // Two octets of padding align the length of the string.
/// let octets = [0, 5, 0, 0, 0, 0, 0, 2, b'a', 0];
/// let plot = Plot::decode(&mut Decoder::new(&octets, Endian::Big))?;
/// assert_eq!(plot, Plot { x: 5, label: "a".into() });
/// # Ok::<(), CdrError>(())
/// ```
pub trait Decode<'a>: Sized {
    /// Minimal size of a value in octets without padding. Limits the length of a sequence before memory is
    /// reserved.
    const MIN_SIZE: usize;

    /// Reads the value at the decoder's position, after the alignment of its type.
    ///
    /// Errors: truncated or impossible data, text outside the code set, a bound, an unknown enumerator.
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError>;

    /// Reads into an existing value and keeps its memory.
    fn decode_into(&mut self, decoder: &mut Decoder<'a>) -> Result<(), CdrError> {
        *self = Self::decode(decoder)?;
        Ok(())
    }

    /// Reads `count` elements into `elements` and keeps its memory. Numbers override it with a single copy.
    #[doc(hidden)]
    fn decode_elements_into(
        elements: &mut Vec<Self>,
        count: usize,
        decoder: &mut Decoder<'a>,
    ) -> Result<(), CdrError> {
        growth::decode_into_vec(elements, count, decoder)
    }

    /// Reads into all elements of an array. Numbers override it with a single copy.
    #[doc(hidden)]
    fn decode_each_into(elements: &mut [Self], decoder: &mut Decoder<'a>) -> Result<(), CdrError> {
        elements
            .iter_mut()
            .try_for_each(|element| element.decode_into(decoder))
    }

    /// Reads an array. Numbers override it with a single copy.
    #[doc(hidden)]
    fn decode_array<const N: usize>(decoder: &mut Decoder<'a>) -> Result<[Self; N], CdrError> {
        // `array::try_from_fn` is not stable: collect into options, which costs no heap either.
        let mut failure = None;
        let elements: [Option<Self>; N] = array::from_fn(|_| match failure {
            None => Self::decode(decoder).map_err(|error| failure = Some(error)).ok(),
            Some(_) => None,
        });
        match failure {
            Some(error) => Err(error),
            None => Ok(elements.map(|element| element.expect("no element failed"))),
        }
    }

    /// Lends `count` elements from the message if their encoding equals their memory layout, and otherwise
    /// from the arena.
    #[doc(hidden)]
    fn decode_slice(decoder: &mut Decoder<'a>, count: usize) -> Result<&'a [Self], CdrError> {
        growth::decode_into_arena(count, decoder)
    }

    /// Reads into a box. Arrays override it: they never pass through the stack.
    #[doc(hidden)]
    fn decode_boxed(decoder: &mut Decoder<'a>) -> Result<Box<Self>, CdrError> {
        decoder.reserve(size_of::<Self>())?;
        Self::decode(decoder).map(Box::new)
    }

    /// Lends a value from the message or from the arena. Arrays override it.
    #[doc(hidden)]
    fn decode_lent(decoder: &mut Decoder<'a>) -> Result<&'a Self, CdrError> {
        let one = Self::decode_slice(decoder, 1)?;
        one.first().ok_or_else(|| decoder.error(CdrErrorKind::Truncated))
    }
}

/// Size of the header of every GIOP message.
const FRAGMENT_HEADER_SIZE: usize = 12;

/// Reads values out of one message.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as value; }
/// use punctual::value::{Decode, Decoder, Endian};
///
/// let octets = [2, 0, 0, 0, 10, 0, 20, 0];
/// let mut decoder = Decoder::new(&octets, Endian::Little);
/// assert_eq!(Vec::<u16>::decode(&mut decoder)?, [10, 20]);
/// assert_eq!(decoder.remaining(), 0);
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    place: Place<'a>,
    /// Once a value type has been decoded.
    values: Option<Rc<Received<'a>>>,
}

/// A place in a message at which a [`Decoder`] can begin again. Owns nothing: views can be lent with it.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The message; alignment counts from its first octet.
    octets: &'a [u8],
    at: usize,
    endian: Endian,
    code_sets: CodeSets,
    arena: Option<&'a Arena>,
    depth_left: u16,
    /// Octets of memory that the values decoded so far take.
    decoded: usize,
    max_decoded: usize,
    context: Option<&'a dyn DecodeContext>,
    fragments: &'a [usize],
    /// The octets are a message if they begin like one.
    may_be_message: bool,
}

impl<'a> Place<'a> {
    /// Creates a decoder that begins here. It does not know the value types before it.
    pub fn decoder(&self) -> Decoder<'a> {
        Decoder {
            place: *self,
            values: None,
        }
    }
}

impl<'a> Decoder<'a> {
    /// Returns the present place.
    pub fn place(&self) -> Place<'a> {
        self.place
    }

    /// Returns whether value types have been decoded, to which later ones may refer.
    pub fn knows_values(&self) -> bool {
        self.values.is_some()
    }

    /// Copies octets to the arena.
    ///
    /// # Errors
    /// They exceed the limit of decoded octets.
    pub fn lend_copy(&mut self, octets: &[u8]) -> Result<&'a [u8], CdrError> {
        self.reserve(octets.len())?;
        Ok(self.arena()?.alloc_slice_copy(octets))
    }

    /// Default of [`Self::with_nesting_limit`].
    pub const DEFAULT_NESTING_LIMIT: u16 = Encoder::DEFAULT_NESTING_LIMIT;

    /// Highest of [`Self::with_nesting_limit`].
    pub const MAX_NESTING_LIMIT: u16 = Encoder::MAX_NESTING_LIMIT;

    /// Default of [`Self::with_decoded_limit`]: 64 MiB.
    pub const DEFAULT_DECODED_LIMIT: usize = 64 << 20;

    /// Creates a decoder at the first octet, with text in ISO-8859-1: the code set of peers that have
    /// negotiated none.
    pub fn new(octets: &'a [u8], endian: Endian) -> Self {
        let place = Place {
            octets,
            at: 0,
            endian,
            code_sets: CodeSets::from(CharSet::Latin1),
            arena: None,
            depth_left: Self::DEFAULT_NESTING_LIMIT,
            decoded: 0,
            max_decoded: Self::DEFAULT_DECODED_LIMIT.max(twice(octets)),
            context: None,
            fragments: &[],
            may_be_message: true,
        };
        place.decoder()
    }

    /// States that the octets are no message with a header, even if they begin like one: wide text has the
    /// form of GIOP 1.2.
    pub fn without_header(mut self) -> Self {
        self.place.may_be_message = false;
        self
    }

    /// Sets the offsets, in ascending order, at which fragments of GIOP 1.1 continue the message.
    ///
    /// Alignment restarts at each, as if the fragment's header preceded it: see [`Self::align`].
    pub fn with_fragments(mut self, starts: &'a [usize]) -> Self {
        self.place.fragments = starts;
        self
    }

    /// Sets the arena for values whose encoding differs from their form in memory.
    pub fn with_arena(mut self, arena: &'a Arena) -> Self {
        self.place.arena = Some(arena);
        self
    }

    /// Sets the code set of text; wide text is in UTF-16.
    pub fn with_char_set(self, char_set: CharSet) -> Self {
        self.with_code_sets(char_set.into())
    }

    /// Sets the code sets of text and wide text.
    pub fn with_code_sets(mut self, code_sets: CodeSets) -> Self {
        self.place.code_sets = code_sets;
        self
    }

    /// Sets the maximal nesting depth of values of recursive types, up to [`Self::MAX_NESTING_LIMIT`].
    pub fn with_nesting_limit(mut self, limit: u16) -> Self {
        self.place.depth_left = limit.min(Self::MAX_NESTING_LIMIT);
        self
    }

    /// Limits the octets of memory that decoded strings, sequences and references take, whether owned or in
    /// the arena; what is lent from the message itself does not count. Twice the size of the message, which
    /// numbers and text never exceed, is always allowed.
    pub fn with_decoded_limit(mut self, limit: usize) -> Self {
        self.place.max_decoded = limit.max(twice(self.place.octets));
        self
    }

    /// Sets the ORB to which decoded object references are bound (see `punctual-stub`).
    pub fn with_context(mut self, context: &'a dyn DecodeContext) -> Self {
        self.place.context = Some(context);
        self
    }

    /// Moves to this octet; alignment still counts from the first one.
    pub fn at(mut self, position: usize) -> Self {
        self.place.at = position;
        self
    }

    /// Returns how many more levels of values may be nested here.
    #[doc(hidden)]
    pub fn nesting_left(&self) -> u16 {
        self.place.depth_left
    }

    /// Returns the value set by [`Self::with_context`].
    pub fn context(&self) -> Option<&'a dyn DecodeContext> {
        self.place.context
    }

    /// Returns the byte order of numbers.
    pub fn endian(&self) -> Endian {
        self.place.endian
    }

    /// Returns the code set of text.
    pub fn char_set(&self) -> CharSet {
        self.place.code_sets.char
    }

    /// Returns the code sets of text and wide text.
    pub fn code_sets(&self) -> CodeSets {
        self.place.code_sets
    }

    /// Returns the octets of memory that the values decoded so far take: see [`Self::with_decoded_limit`].
    #[inline]
    pub fn decoded(&self) -> usize {
        self.place.decoded
    }

    /// Counts memory for decoded values, before it is allocated. Fails above the limit.
    #[inline]
    pub fn reserve(&mut self, octets: usize) -> Result<(), CdrError> {
        self.place.decoded = self.place.decoded.saturating_add(octets);
        if self.place.decoded > self.place.max_decoded {
            return Err(self.error(CdrErrorKind::DecodedTooLarge));
        }
        Ok(())
    }

    /// Returns the offset of the next octet.
    pub fn position(&self) -> usize {
        self.place.at
    }

    /// The message, from its header on; empty if there is none.
    pub(crate) fn message(&self) -> &'a [u8] {
        match self.place.may_be_message {
            true => self.place.octets,
            false => &[],
        }
    }

    /// Returns the number of octets that remain.
    pub fn remaining(&self) -> usize {
        self.place.octets.len().saturating_sub(self.place.at)
    }

    /// Skips to the next multiple of `alignment` (a power of two).
    #[inline]
    pub fn align(&mut self, alignment: usize) -> Result<(), CdrError> {
        if !self.place.fragments.is_empty() {
            return self.align_in_fragment(alignment);
        }
        let aligned = (self.place.at + alignment - 1) & !(alignment - 1);
        if aligned > self.place.octets.len() {
            return Err(self.error(CdrErrorKind::Truncated));
        }
        self.place.at = aligned;
        Ok(())
    }

    /// Skips to the next value of this alignment in a message of GIOP 1.1 fragments, or in a chunked value.
    ///
    /// A value that does not fit in its fragment starts the next one, aligned there.
    #[cold]
    fn align_in_fragment(&mut self, alignment: usize) -> Result<(), CdrError> {
        if let Some(aligned) = self.align_in_chunk(alignment) {
            return aligned;
        }
        let mut at = self.place.at;
        loop {
            let next = self.place.fragments.partition_point(|start| *start <= at);
            let origin = match next.checked_sub(1) {
                None => 0,
                // Alignment counts from the fragment's header.
                Some(present) => self.place.fragments[present].saturating_sub(FRAGMENT_HEADER_SIZE),
            };
            let aligned = origin + (at - origin).next_multiple_of(alignment);
            match self.place.fragments.get(next) {
                Some(start) if aligned >= *start => at = *start,
                _ if aligned > self.place.octets.len() => return Err(self.error(CdrErrorKind::Truncated)),
                _ => {
                    self.place.at = aligned;
                    return Ok(());
                }
            }
        }
    }

    /// Lends the octets that have been read since the decoder was at `position`.
    ///
    /// # Panics
    /// If the decoder has not been there.
    pub fn passed(&self, position: usize) -> &'a [u8] {
        &self.place.octets[position..self.place.at]
    }

    /// Returns whether the elements of a sequence may be separated by padding at a fragment boundary.
    pub fn is_fragmented(&self) -> bool {
        !self.place.fragments.is_empty()
    }

    /// Lends the next `count` octets.
    #[inline]
    pub fn octets(&mut self, count: usize) -> Result<&'a [u8], CdrError> {
        if count > self.remaining() {
            return self.octets_beyond(count);
        }
        let octets = &self.place.octets[self.place.at..self.place.at + count];
        self.place.at += count;
        Ok(octets)
    }

    /// Octets of a number, which is aligned to its size.
    #[inline(always)]
    pub(crate) fn number<const SIZE: usize>(&mut self) -> Result<[u8; SIZE], CdrError> {
        let at = (self.place.at + SIZE - 1) & !(SIZE - 1);
        match self.place.octets.get(at..).and_then(<[u8]>::first_chunk) {
            Some(octets) if self.place.fragments.is_empty() => {
                self.place.at = at + SIZE;
                Ok(*octets)
            }
            _ => self.number_in_fragment(),
        }
    }

    #[cold]
    fn number_in_fragment<const SIZE: usize>(&mut self) -> Result<[u8; SIZE], CdrError> {
        self.align(SIZE)?;
        let mut number = [0; SIZE];
        number.copy_from_slice(self.octets(SIZE)?);
        Ok(number)
    }

    #[cold]
    fn octets_beyond(&mut self, count: usize) -> Result<&'a [u8], CdrError> {
        self.octets_of_chunks(count)
    }

    /// Octets that remain in the message, also behind the present chunk of a value.
    #[cold]
    fn remaining_behind_chunk(&self) -> usize {
        self.behind_chunk()
            .map_or(self.remaining(), |octets| octets.len() - self.place.at)
    }

    /// Lends all remaining octets.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = self.place.octets.get(self.place.at..).unwrap_or_default();
        self.place.at = self.place.octets.len();
        rest
    }

    /// Reads the length of a sequence whose elements have at least `min_size` octets each.
    ///
    /// An impossible length fails here, before any memory is reserved.
    #[inline]
    pub fn length(&mut self, min_size: usize) -> Result<usize, CdrError> {
        let length = u32::decode(self)? as usize;
        let least = length.saturating_mul(min_size.max(1));
        if least > self.remaining() && least > self.remaining_behind_chunk() {
            return Err(self.error(CdrErrorKind::LengthImpossible));
        }
        Ok(length)
    }

    /// Fails if fewer octets remain than a value has at least, before any memory is reserved.
    pub(crate) fn expect(&self, octets: usize) -> Result<(), CdrError> {
        if octets > self.remaining() && octets > self.remaining_behind_chunk() {
            return Err(self.error(CdrErrorKind::Truncated));
        }
        Ok(())
    }

    /// Runs `read` one nesting level deeper; recursive types call it so that excessive nesting is an error.
    pub fn nested<R>(&mut self, read: impl FnOnce(&mut Self) -> Result<R, CdrError>) -> Result<R, CdrError> {
        let depth_left = self.place.depth_left.checked_sub(1);
        self.place.depth_left = depth_left.ok_or_else(|| self.error(CdrErrorKind::NestingTooDeep))?;
        if let Some(received) = &self.values {
            received.saw(self.place.depth_left);
        }
        let result = read(self);
        self.place.depth_left += 1;
        result
    }

    /// Returns the arena. Its absence is an internal error of the ORB.
    #[inline]
    pub(crate) fn arena(&self) -> Result<&'a Arena, CdrError> {
        self.place
            .arena
            .ok_or_else(|| self.error(CdrErrorKind::DecoderIncomplete))
    }

    /// Creates a decoder for a part of this message with its own alignment.
    pub(crate) fn inside(&self, octets: &'a [u8], endian: Endian, at: usize) -> Self {
        let place = Place {
            octets,
            at,
            endian,
            fragments: &[],
            may_be_message: false,
            ..self.place
        };
        place.decoder()
    }

    /// Creates a decoder for other octets, with text in UTF-8, and this one's limits and ORB.
    pub fn beginning_with(&self, octets: &'a [u8], endian: Endian) -> Self {
        self.inside(octets, endian, 0).with_char_set(CharSet::Utf8)
    }

    /// Returns an error at the current position, for generated code.
    #[cold]
    pub fn error(&self, kind: CdrErrorKind) -> CdrError {
        CdrError {
            kind,
            offset: self.place.at,
        }
    }
}

fn twice(octets: &[u8]) -> usize {
    octets.len().saturating_mul(2)
}

//! Encoding of values.

mod search;
mod unknown_values;
mod values;

use alloc::{boxed::Box, vec::Vec};

pub(crate) use self::search::Search;
use self::values::EncodedValues;
use crate::{CdrError, CdrErrorKind, CharSet, CodeSets, Endian};

/// A value that can be written into a message.
///
/// Slices and `Vec` are IDL sequences (a length, then the elements), arrays are IDL arrays (elements only),
/// and tuples are consecutive values.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as value; }
/// use punctual::value::{CdrError, Encode, Encoder, Endian};
///
/// struct Plot { x: i16, label: String }
///
/// impl Encode for Plot {
///     fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
///         self.x.encode(encoder)?;
///         self.label.encode(encoder)
///     }
/// }
///
/// let mut octets = Vec::new();
/// Plot { x: 5, label: "a".into() }.encode(&mut Encoder::new(&mut octets, Endian::Big))?;
/// assert_eq!(octets, [0, 5, 0, 0, 0, 0, 0, 2, b'a', 0], "the length of the string is aligned");
/// # Ok::<(), CdrError>(())
/// ```
pub trait Encode {
    /// Appends the value, after the alignment of its type.
    ///
    /// Errors: the message limit, text outside the code set, a bound, a union whose label and member
    /// disagree.
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError>;

    /// Appends several values without a length. Numbers override it with a single copy.
    #[doc(hidden)]
    fn encode_elements(elements: &[Self], encoder: &mut Encoder<'_>) -> Result<(), CdrError>
    where
        Self: Sized,
    {
        elements.iter().try_for_each(|element| element.encode(encoder))
    }
}

impl<T: Encode + ?Sized> Encode for &T {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        (**self).encode(encoder)
    }
}

/// Appends values to a buffer that its owner reuses for each message.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as value; }
/// use punctual::value::{Encode, Encoder, Endian};
///
/// let mut buffer = Vec::new();
/// let mut encoder = Encoder::new(&mut buffer, Endian::Little).with_limit(1024);
/// [10_u16, 20][..].encode(&mut encoder)?;
/// assert_eq!(encoder.position(), 8);
/// assert_eq!(buffer, [2, 0, 0, 0, 10, 0, 20, 0]);
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
#[derive(Debug)]
pub struct Encoder<'b> {
    buffer: &'b mut Vec<u8>,
    /// Offset in the buffer from which alignment and limit count.
    origin: usize,
    limit: usize,
    /// Values that may be nested in each other.
    nesting_limit: u16,
    endian: Endian,
    code_sets: CodeSets,
    /// The octets are a message if they begin like one.
    may_be_message: bool,
    /// Values state their types; those of other types than the declared one have chunks, so that their ends
    /// can be found.
    is_for_any: bool,
    /// Once it has a value type.
    values: Option<Box<EncodedValues>>,
}

impl<'b> Encoder<'b> {
    /// Default of [`Self::with_nesting_limit`].
    pub const DEFAULT_NESTING_LIMIT: u16 = 64;

    /// Highest of [`Self::with_nesting_limit`]: so many levels need 2 MiB of stack at most.
    pub const MAX_NESTING_LIMIT: u16 = 512;

    /// Creates an encoder at the end of `buffer`. Alignment counts from there, the size is unlimited, and
    /// text is in ISO-8859-1: the code set of peers that have negotiated none.
    pub fn new(buffer: &'b mut Vec<u8>, endian: Endian) -> Self {
        let origin = buffer.len();
        Self::resume_from(buffer, origin, endian)
    }

    /// Creates an encoder that continues the message at the start of `buffer`, from which alignment counts;
    /// otherwise like [`Encoder::new`].
    pub fn resume(buffer: &'b mut Vec<u8>, endian: Endian) -> Self {
        Self::resume_from(buffer, 0, endian)
    }

    /// Creates an encoder that continues the message at the octet `origin` of `buffer`, from which alignment
    /// counts; otherwise like [`Encoder::new`].
    #[inline]
    #[doc(hidden)]
    pub fn resume_from(buffer: &'b mut Vec<u8>, origin: usize, endian: Endian) -> Self {
        Self {
            buffer,
            origin,
            limit: usize::MAX,
            nesting_limit: Self::DEFAULT_NESTING_LIMIT,
            endian,
            code_sets: CodeSets::from(CharSet::Latin1),
            may_be_message: true,
            is_for_any: false,
            values: None,
        }
    }

    /// States that the octets are no message with a header, even if they begin like one: wide text has the
    /// form of GIOP 1.2.
    pub fn without_header(mut self) -> Self {
        self.may_be_message = false;
        self
    }

    /// Encodes the value of an `any`: values state their types, and those of other types than the declared
    /// one are in chunks, so that a reader that does not know the type can skip the value.
    #[doc(hidden)]
    pub fn for_any(mut self) -> Self {
        self.is_for_any = true;
        self
    }

    /// Limits the message to `limit` octets.
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Limits the depth of values (value types) that contain each other; default
    /// [`Self::DEFAULT_NESTING_LIMIT`], at most [`Self::MAX_NESTING_LIMIT`].
    pub fn with_nesting_limit(mut self, limit: u16) -> Self {
        self.nesting_limit = limit.min(Self::MAX_NESTING_LIMIT);
        self
    }

    /// Sets the code set of text; wide text is in UTF-16.
    pub fn with_char_set(self, char_set: CharSet) -> Self {
        self.with_code_sets(char_set.into())
    }

    /// Sets the code sets of text and wide text.
    pub fn with_code_sets(mut self, code_sets: CodeSets) -> Self {
        self.code_sets = code_sets;
        self
    }

    /// Returns the byte order of numbers.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Returns the code set of text.
    pub fn char_set(&self) -> CharSet {
        self.code_sets.char
    }

    /// Returns the code sets of text and wide text.
    pub fn code_sets(&self) -> CodeSets {
        self.code_sets
    }

    /// Returns the number of octets since the origin.
    pub fn position(&self) -> usize {
        self.buffer.len() - self.origin
    }

    /// Appends zeros up to the next multiple of `alignment` (a power of two) from the origin.
    #[inline]
    pub fn align(&mut self, alignment: usize) -> Result<(), CdrError> {
        let padding = self.position().wrapping_neg() & (alignment - 1);
        if padding != 0 {
            const MOST: usize = 15;
            debug_assert!(padding <= MOST, "no type has an alignment above 16");
            self.expect_room(padding)?;
            let end = self.buffer.len() + padding;
            // A copy of constant length is two stores; a copy of `padding` octets would be a call.
            self.buffer.extend_from_slice(&[0; MOST + 1]);
            self.buffer.truncate(end);
        }
        Ok(())
    }

    /// Appends the octets of a number, aligned to their count.
    #[inline]
    pub(crate) fn number<const SIZE: usize>(&mut self, octets: [u8; SIZE]) -> Result<(), CdrError> {
        const MOST: usize = 8;
        const { assert!(SIZE <= MOST && SIZE.is_power_of_two()) };
        let padding = self.position().wrapping_neg() & (SIZE - 1);
        self.expect_room(padding + SIZE)?;
        let at = self.buffer.len() + padding;
        // Copies of constant length: calls for a few octets would cost more than the octets.
        self.buffer.extend_from_slice(&[0; 2 * MOST]);
        self.buffer.truncate(at + SIZE);
        self.buffer[at..].copy_from_slice(&octets);
        Ok(())
    }

    /// Appends octets verbatim.
    #[inline]
    pub fn octets(&mut self, octets: &[u8]) -> Result<(), CdrError> {
        self.expect_room(octets.len())?;
        self.buffer.extend_from_slice(octets);
        Ok(())
    }

    /// Writes the length of a sequence or string. Fails if it does not fit an `unsigned long`.
    #[inline]
    pub fn length(&mut self, length: usize) -> Result<(), CdrError> {
        let length = u32::try_from(length).map_err(|_| self.error(CdrErrorKind::TooLarge))?;
        length.encode(self)
    }

    /// Overwrites the `unsigned long` at `position` from the origin.
    #[inline]
    pub fn patch_u32(&mut self, position: usize, value: u32) {
        let octets = match self.endian {
            Endian::Big => value.to_be_bytes(),
            Endian::Little => value.to_le_bytes(),
        };
        let at = self.origin + position;
        self.buffer[at..at + 4].copy_from_slice(&octets);
    }

    /// Discards everything after `position`.
    pub fn truncate(&mut self, position: usize) {
        self.discard(position);
        if let Some(values) = &mut self.values {
            values.truncate(position);
        }
    }

    /// Returns the octets since the origin.
    pub(crate) fn begin(&self) -> &[u8] {
        &self.buffer[self.origin..]
    }

    /// The message, from its header on; empty if there is none.
    pub(crate) fn message(&self) -> &[u8] {
        match self.may_be_message {
            true => self.begin(),
            false => &[],
        }
    }

    /// Discards octets that contain no values.
    fn discard(&mut self, position: usize) {
        self.buffer.truncate(self.origin + position);
    }

    /// Lets `write` append with alignment counted from the current position, for encapsulations.
    pub(crate) fn encapsulated<R>(
        &mut self,
        write: impl FnOnce(&mut Encoder<'_>) -> Result<R, CdrError>,
    ) -> Result<R, CdrError> {
        let limit = self.limit.saturating_sub(self.position());
        let origin = self.buffer.len();
        write(&mut Encoder {
            buffer: self.buffer,
            origin,
            limit,
            nesting_limit: self.nesting_limit,
            endian: self.endian,
            code_sets: self.code_sets,
            may_be_message: false,
            is_for_any: self.is_for_any,
            values: None,
        })
    }

    /// Fails if `length` more octets would exceed the limit.
    #[inline]
    pub(crate) fn expect_room(&self, length: usize) -> Result<(), CdrError> {
        if length > self.limit.saturating_sub(self.position()) {
            return Err(self.error(CdrErrorKind::TooLarge));
        }
        Ok(())
    }

    /// Appends an octet whose room has been checked with [`Self::expect_room`].
    #[inline]
    pub(crate) fn push(&mut self, octet: u8) {
        self.buffer.push(octet);
    }

    /// Returns an error at the current position, for generated code.
    #[cold]
    pub fn error(&self, kind: CdrErrorKind) -> CdrError {
        CdrError {
            kind,
            offset: self.position(),
        }
    }
}

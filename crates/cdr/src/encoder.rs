use alloc::vec::Vec;

use crate::{CdrError, CdrErrorKind, CharSet, Endian};

/// A value that can be written into a message.
///
/// Slices and `Vec` stand for IDL sequences (a length, then the elements), arrays for IDL arrays (elements alone),
/// tuples for values one after another.
pub trait Encode {
    /// Appends the value at the encoder's position, aligned as its type asks.
    ///
    /// Errors: the message limit, text outside the code set, a bound, a union whose label and member disagree.
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError>;

    /// Appends several values without a length; numbers override it to copy at once.
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

/// Appends values to a buffer that its owner keeps from message to message.
#[derive(Debug)]
pub struct Encoder<'b> {
    buffer: &'b mut Vec<u8>,
    /// Alignment and the limit count from here.
    origin: usize,
    limit: usize,
    endian: Endian,
    char_set: CharSet,
}

impl<'b> Encoder<'b> {
    /// An encoder that starts at the end of `buffer`, with alignment counted from there, without a size limit and
    /// with text in ISO-8859-1, the code set of peers that negotiated none.
    pub fn new(buffer: &'b mut Vec<u8>, endian: Endian) -> Self {
        let origin = buffer.len();
        Self {
            buffer,
            origin,
            limit: usize::MAX,
            endian,
            char_set: CharSet::Latin1,
        }
    }

    /// An encoder that goes on with the message that `buffer` starts with, so alignment counts from its start; otherwise
    /// as [`Encoder::new`].
    pub fn resume(buffer: &'b mut Vec<u8>, endian: Endian) -> Self {
        Self {
            buffer,
            origin: 0,
            limit: usize::MAX,
            endian,
            char_set: CharSet::Latin1,
        }
    }

    /// Refuses to let the message grow beyond `limit` octets.
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Writes text in this code set.
    pub fn with_char_set(mut self, char_set: CharSet) -> Self {
        self.char_set = char_set;
        self
    }

    /// The order in which numbers are written.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// The code set in which text is written.
    pub fn char_set(&self) -> CharSet {
        self.char_set
    }

    /// How many octets have been written since the origin.
    pub fn position(&self) -> usize {
        self.buffer.len() - self.origin
    }

    /// Zeroes up to the next multiple of `alignment` (a power of two) from the origin.
    #[inline]
    pub fn align(&mut self, alignment: usize) -> Result<(), CdrError> {
        let padding = self.position().wrapping_neg() & (alignment - 1);
        if padding != 0 {
            const MOST: usize = 15;
            debug_assert!(padding <= MOST, "no type is aligned to more than 16");
            self.expect_room(padding)?;
            let end = self.buffer.len() + padding;
            // A copy of fixed length is two stores; one of `padding` octets would be a call.
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
        // Padding and number by copies of fixed length: calls for a few octets would cost more than the octets.
        self.buffer.extend_from_slice(&[0; 2 * MOST]);
        self.buffer.truncate(at + SIZE);
        self.buffer[at..].copy_from_slice(&octets);
        Ok(())
    }

    /// Appends octets as they are.
    #[inline]
    pub fn octets(&mut self, octets: &[u8]) -> Result<(), CdrError> {
        self.expect_room(octets.len())?;
        self.buffer.extend_from_slice(octets);
        Ok(())
    }

    /// Writes the length of a sequence or string. Fails where it does not fit an `unsigned long`.
    #[inline]
    pub fn length(&mut self, length: usize) -> Result<(), CdrError> {
        let length = u32::try_from(length).map_err(|_| self.error(CdrErrorKind::TooLarge))?;
        length.encode(self)
    }

    /// Overwrites an `unsigned long` written before, at `position` from the origin.
    pub fn patch_u32(&mut self, position: usize, value: u32) {
        let octets = match self.endian {
            Endian::Big => value.to_be_bytes(),
            Endian::Little => value.to_le_bytes(),
        };
        let at = self.origin + position;
        self.buffer[at..at + 4].copy_from_slice(&octets);
    }

    /// Takes back everything written after `position`.
    pub fn truncate(&mut self, position: usize) {
        self.buffer.truncate(self.origin + position);
    }

    /// Lets `write` append at the current position with alignment counted from there, as encapsulations need.
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
            endian: self.endian,
            char_set: self.char_set,
        })
    }

    /// Fails where `length` more octets would exceed the limit.
    #[inline]
    pub(crate) fn expect_room(&self, length: usize) -> Result<(), CdrError> {
        if length > self.limit.saturating_sub(self.position()) {
            return Err(self.error(CdrErrorKind::TooLarge));
        }
        Ok(())
    }

    /// For elements that were checked with [`Self::expect_room`].
    #[inline]
    pub(crate) fn push(&mut self, octet: u8) {
        self.buffer.push(octet);
    }

    /// An error at the current position, for generated code.
    #[cold]
    pub fn error(&self, kind: CdrErrorKind) -> CdrError {
        CdrError {
            kind,
            offset: self.position(),
        }
    }
}

//! Lists of a number and octets: service contexts and profiles have this form on the wire.

use punctual_cdr::{CdrError, Decode, Decoder, Endian};

/// A list that was checked once and is read again each time it is looked at, without copying it.
#[derive(Clone, Copy)]
pub(crate) struct TaggedList<'a> {
    /// From the start of the message, because alignment counts from there, to the end of the list.
    octets: &'a [u8],
    first: usize,
    count: u32,
    endian: Endian,
}

impl<'a> TaggedList<'a> {
    pub(crate) const EMPTY: Self = Self {
        octets: &[],
        first: 0,
        count: 0,
        endian: Endian::NATIVE,
    };

    /// Checks the list at the position of `decoder` and moves behind it; `message` is what `decoder` reads.
    pub(crate) fn decode(decoder: &mut Decoder<'a>, message: &'a [u8]) -> Result<Self, CdrError> {
        let count = decoder.length(8)?;
        let first = decoder.position();
        for _ in 0..count {
            entry(decoder)?;
        }
        Ok(Self {
            octets: &message[..decoder.position()],
            first,
            // `length` read it from 32 bits.
            count: count as u32,
            endian: decoder.endian(),
        })
    }

    /// A list whose octets were checked when they were part of another message, at the same place; `octets` end with it.
    pub(crate) fn seen_before(octets: &'a [u8], first: usize, count: u32, endian: Endian) -> Self {
        Self {
            octets,
            first,
            count,
            endian,
        }
    }

    /// Where its first entry is in the message.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// Where it ends in the message.
    pub(crate) fn end(&self) -> usize {
        self.octets.len()
    }

    pub(crate) fn iter(&self) -> TaggedEntries<'a> {
        TaggedEntries {
            octets: self.octets,
            at: self.first,
            left: self.count,
            endian: self.endian,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }
}

/// By entries: the octets before and between them do not matter.
impl PartialEq for TaggedList<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for TaggedList<'_> {}

/// The entries of a list, in order: the number and the octets.
#[derive(Clone, Debug)]
pub struct TaggedEntries<'a> {
    octets: &'a [u8],
    at: usize,
    left: u32,
    endian: Endian,
}

impl<'a> Iterator for TaggedEntries<'a> {
    type Item = (u32, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let mut decoder = Decoder::new(self.octets, self.endian).at(self.at);
        // The list was checked when it was made: this cannot fail.
        let entry = entry(&mut decoder).ok()?;
        self.at = decoder.position();
        Some(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for TaggedEntries<'_> {}

#[inline]
fn entry<'a>(decoder: &mut Decoder<'a>) -> Result<(u32, &'a [u8]), CdrError> {
    let number = u32::decode(decoder)?;
    let length = decoder.length(1)?;
    Ok((number, decoder.octets(length)?))
}

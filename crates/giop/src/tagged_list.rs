//! Lists of tagged octets: the wire form of service contexts and profiles.

use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Endian};

/// A validated list that is decoded at each access, without a copy.
#[derive(Clone, Copy)]
pub(crate) struct TaggedList<'a> {
    /// The message, from whose start alignment counts, up to the end of the list.
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

    /// Validates the list at the position of `decoder`, which reads `message`, and skips it. Fails before
    /// that if it has more than `limit` entries.
    pub(crate) fn decode(
        decoder: &mut Decoder<'a>,
        message: &'a [u8],
        limit: usize,
    ) -> Result<Self, CdrError> {
        let count = decoder.length(8)?;
        if count > limit {
            return Err(decoder.error(CdrErrorKind::BoundExceeded));
        }
        let first = decoder.position();
        for _ in 0..count {
            entry(decoder)?;
        }
        Ok(Self {
            octets: &message[..decoder.position()],
            first,
            // `length` decoded it from 32 bits.
            count: count as u32,
            endian: decoder.endian(),
        })
    }

    /// Returns a list whose octets were validated at the same offset of an earlier message; `octets` ends
    /// with the list.
    pub(crate) fn seen_before(octets: &'a [u8], first: usize, count: u32, endian: Endian) -> Self {
        Self {
            octets,
            first,
            count,
            endian,
        }
    }

    /// Returns the offset of the first entry in the message.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// Returns the offset of the end of the list in the message.
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

/// Compares the entries; the octets before and between them do not matter.
impl PartialEq for TaggedList<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for TaggedList<'_> {}

/// Iterator over the entries of a list: tag and octets.
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
        // The list was validated: this cannot fail.
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
    let tag = u32::decode(decoder)?;
    let length = decoder.length(1)?;
    Ok((tag, decoder.octets(length)?))
}

//! Octets of a context under construction.

use core::ops::Deref;

use punctual_cdr::Endian;

/// The data of a service context, on the stack.
#[derive(Clone, Copy, Debug)]
pub struct ContextOctets {
    octets: [u8; Self::MOST],
    length: usize,
    endian: Endian,
}

impl ContextOctets {
    /// Maximum length of our contexts: a header of 24 octets and two blocks of 128.
    pub const MOST: usize = 24 + 2 * 128;

    pub(super) fn new(endian: Endian) -> Self {
        Self {
            octets: [0; Self::MOST],
            length: 0,
            endian,
        }
    }

    /// Sets the byte order of subsequent numbers.
    pub(super) fn set_endian(&mut self, endian: Endian) {
        self.endian = endian;
    }

    /// Adds zeros up to the next multiple of `alignment`.
    pub(super) fn align(&mut self, alignment: usize) {
        self.length = self.length.next_multiple_of(alignment);
    }

    /// Adds octets. Contexts are of bounded size: more octets than fit are an error of this module, and
    /// ignored.
    pub(super) fn octets(&mut self, octets: &[u8]) {
        let end = self.length + octets.len();
        debug_assert!(end <= Self::MOST, "contexts are bounded");
        if let Some(place) = self.octets.get_mut(self.length..end) {
            place.copy_from_slice(octets);
            self.length = end;
        }
    }

    /// Adds an aligned number of 2, 4 or 8 octets.
    pub(super) fn number<const SIZE: usize>(&mut self, mut most_significant_first: [u8; SIZE]) {
        self.align(SIZE);
        if self.endian == Endian::Little {
            most_significant_first.reverse();
        }
        self.octets(&most_significant_first);
    }

    /// Overwrites the `unsigned long` at `at`.
    pub(super) fn patch(&mut self, at: usize, value: u32) {
        let octets = match self.endian {
            Endian::Big => value.to_be_bytes(),
            Endian::Little => value.to_le_bytes(),
        };
        self.octets[at..at + 4].copy_from_slice(&octets);
    }

    /// Returns the number of octets so far.
    pub(super) fn position(&self) -> usize {
        self.length
    }
}

impl Deref for ContextOctets {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.octets[..self.length]
    }
}

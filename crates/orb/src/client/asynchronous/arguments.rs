use punctual_cdr::{CdrError, CdrErrorKind, CharSet, Encoder};

/// Arguments as they stood in a request, to be sent again when the caller has gone on and cannot be asked for them any more.
pub(super) struct Arguments {
    pub(super) octets: Box<[u8]>,
    pub(super) place: Place,
}

/// What the octets of arguments follow from, besides the arguments.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) struct Place {
    /// Where they begin, from a multiple of 8.
    offset: usize,
    char_set: CharSet,
}

impl Place {
    pub(super) fn of(encoder: &Encoder<'_>) -> Self {
        Self {
            offset: encoder.position() % 8,
            char_set: encoder.char_set(),
        }
    }
}

impl Arguments {
    /// Fails where they would look different.
    pub(super) fn write(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        if self.octets.is_empty() || self.place == Place::of(encoder) {
            encoder.octets(&self.octets)
        } else {
            Err(encoder.error(CdrErrorKind::ValueNotRepresentable))
        }
    }
}

//! Encoded arguments of an asynchronous call, kept for further attempts.

use punctual_cdr::{CdrError, CdrErrorKind, CodeSets, Encoder};

/// Encoded arguments of a request, to be sent again after the caller has continued.
pub(super) struct Arguments {
    pub(super) octets: Box<[u8]>,
    pub(super) context: Context,
}

/// Properties that determine the octets of arguments, besides their values.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) struct Context {
    /// Offset of their first octet from a multiple of 8.
    offset: usize,
    code_sets: CodeSets,
}

impl Context {
    pub(super) fn of(encoder: &Encoder<'_>) -> Self {
        Self {
            offset: encoder.position() % 8,
            code_sets: encoder.code_sets(),
        }
    }
}

impl Arguments {
    /// Fails if they would be encoded differently in this context.
    pub(super) fn write(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        if self.octets.is_empty() || self.context == Context::of(encoder) {
            encoder.octets(&self.octets)
        } else {
            Err(encoder.error(CdrErrorKind::ValueNotRepresentable))
        }
    }
}

//! Object references inside messages: an IOR, or one without profiles for nil.

use crate::{CdrError, Decode, Decoder, Encode, Encoder, Ior};

/// A typed object reference that can be sent.
pub trait HasIor {
    /// What stands on the wire for it.
    fn ior(&self) -> &Ior;
}

impl<T: HasIor> HasIor for &T {
    fn ior(&self) -> &Ior {
        (**self).ior()
    }
}

/// A typed object reference that can be received.
pub trait FromIor: Sized {
    /// Binds an IOR that is not nil to the ORB that `decoder` was given as context.
    fn from_ior(ior: Ior, decoder: &Decoder<'_>) -> Result<Self, CdrError>;
}

/// `None` is nil.
impl<T: HasIor> Encode for Option<T> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        match self {
            Some(reference) => reference.ior().encode(encoder),
            None => Ior::default().encode(encoder),
        }
    }
}

impl<'a, T: FromIor> Decode<'a> for Option<T> {
    const MIN_SIZE: usize = Ior::MIN_SIZE;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let ior = Ior::decode(decoder)?;
        if ior.is_nil() {
            Ok(None)
        } else {
            T::from_ior(ior, decoder).map(Some)
        }
    }
}

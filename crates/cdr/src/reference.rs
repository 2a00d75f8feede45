//! Object references in messages: an IOR, without profiles for nil.

use crate::{CdrError, Decode, Decoder, Encode, Encoder, Ior};

/// A typed object reference that can be sent.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_cdr as rt, punctual_cdr::*}; }
/// # mod shapes { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/shapes.rs")); }
/// # use shapes::ShapeRef;
/// use punctual::{Ior, rt::HasIor};
///
/// let shape = ShapeRef(Ior { type_id: "IDL:Shape:1.0".into(), profiles: Vec::new() });
/// assert_eq!(shape.ior().type_id, "IDL:Shape:1.0");
/// ```
pub trait HasIor {
    /// Returns the wire form of the reference.
    fn ior(&self) -> &Ior;
}

impl<T: HasIor> HasIor for &T {
    fn ior(&self) -> &Ior {
        (**self).ior()
    }
}

/// A typed object reference that can be received.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_cdr as value, punctual_cdr::*}; }
/// # mod shapes { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/shapes.rs")); }
/// # use shapes::ShapeRef;
/// use punctual::{Ior, TaggedProfile, value::{Decode, Decoder, Encode, Encoder, Endian}};
///
/// let ior = Ior { type_id: "IDL:Shape:1.0".into(), profiles: vec![TaggedProfile::default()] };
/// let mut octets = Vec::new();
/// ior.encode(&mut Encoder::new(&mut octets, Endian::NATIVE))?;
/// let received = Option::<ShapeRef>::decode(&mut Decoder::new(&octets, Endian::NATIVE))?;
/// assert_eq!(received, Some(ShapeRef(ior)));
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
pub trait FromIor: Sized {
    /// Binds an IOR that is not nil to the ORB in the context of `decoder`.
    fn from_ior(ior: Ior, decoder: &Decoder<'_>) -> Result<Self, CdrError>;
}

/// Least octets counted for the memory of a bound reference, besides its IOR: what an ORB needs to call the
/// object.
const BOUND: usize = 1 << 10;

/// Octets counted for each of its IOR: an address of 12 octets becomes an endpoint of 280.
const BOUND_PER_OCTET: usize = 24;

/// `None` is the nil reference.
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
        let start = decoder.position();
        let ior = Ior::decode(decoder)?;
        if ior.is_nil() {
            Ok(None)
        } else {
            let size = decoder.position() - start;
            decoder.reserve(BOUND.max(size.saturating_mul(BOUND_PER_OCTET)))?;
            T::from_ior(ior, decoder).map(Some)
        }
    }
}

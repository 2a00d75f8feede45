//! Context of a decoder, besides the octets.

use alloc::sync::Arc;
use core::{any::Any, fmt};

use crate::{CdrError, Decoder, ValueObject};

/// The ORB, as decoders know it: `punctual-stub` binds references to it.
pub trait DecodeContext: Any + Send + Sync {
    /// Returns the factory for values of the type with this repository id, if the ORB was given one.
    fn value_factory(&self, id: &[u8]) -> Option<&'static ValueFactory>;
}

impl fmt::Debug for dyn DecodeContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DecodeContext")
    }
}

/// A concrete type whose values can be received.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_cdr as rt, punctual_cdr as value}; }
/// # mod shapes { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/shapes.rs")); }
/// # use shapes::Circle;
/// use punctual::{rt::ValueFactory, value::{Decoder, Encode, Encoder, Endian, ValueType}};
///
/// let mut state = Vec::new();
/// 2.5_f64.encode(&mut Encoder::new(&mut state, Endian::NATIVE))?;
/// let factory: &ValueFactory = &Circle::factories()[0];
/// let value = (factory.decode)(&mut Decoder::new(&state, Endian::NATIVE))?;
/// assert_eq!(value.ids(), [factory.id]);
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
#[derive(Debug)]
pub struct ValueFactory {
    /// Repository id of the type.
    pub id: &'static str,
    /// Repository ids of all types from which it inherits.
    pub bases: &'static [&'static str],
    /// Decodes the state.
    pub decode: fn(&mut Decoder<'_>) -> Result<Arc<dyn ValueObject>, CdrError>,
}

//! Interface of values of concrete types for code that does not know the type.

use core::any::{Any, TypeId};

use crate::{CdrError, Encoder};

/// A value of a concrete type. Generated code implements it.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_cdr as rt, punctual_cdr as value}; }
/// # mod shapes { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/shapes.rs")); }
/// # use shapes::Circle;
/// use punctual::{rt::ValueObject, value::{Encoder, Endian}};
///
/// let object: Box<dyn ValueObject> = Box::new(Circle { radius: 2.5 });
/// assert_eq!(object.bases(), ["IDL:Shape:1.0"]);
/// let mut state = Vec::new();
/// object.encode_state(&mut Encoder::new(&mut state, Endian::Little))?;
/// assert_eq!(state, 2.5_f64.to_le_bytes());
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
pub trait ValueObject: Any + Send + Sync {
    /// Returns the repository id of its type, then those of the bases to which it may be truncated.
    fn ids(&self) -> &'static [&'static str];

    /// Returns the repository ids of all types from which it inherits.
    fn bases(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns whether its state is sent in chunks: it is custom, or may be truncated.
    fn is_chunked(&self) -> bool;

    /// Returns whether it is a boxed value.
    fn is_box(&self) -> bool {
        false
    }

    /// Encodes the state, that of the base first.
    fn encode_state(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError>;

    /// Returns the value itself, or the base of this type in it.
    fn part(&self, wanted: TypeId) -> Option<&dyn Any>;

    /// Returns whether this is no value, but a reference to one in a circle.
    #[doc(hidden)]
    fn link(&self) -> Option<&dyn Any> {
        None
    }
}

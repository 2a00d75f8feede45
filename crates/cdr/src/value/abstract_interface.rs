//! Parameters of an abstract interface: a reference to an object, or a value.
//!
//! Source: CORBA 3.3 part 2, 9.3.7 "Abstract Interfaces".

use super::shared::{Inherits, Shared, ValueType};
use crate::{CdrError, Decode, Decoder, Encode, Encoder, FromIor, HasIor};

/// The reference type of an abstract interface. Generated code implements it; [`ValueType::factories`] are
/// those of the value types that support the interface.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as rt; }
/// # mod shapes { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/shapes.rs")); }
/// # use shapes::ShapeRef;
/// use punctual::rt::{AbstractInterface, ValueType};
///
/// // abstract interface Shape {};
/// assert_eq!(ShapeRef::NAME, "Shape");
/// let supporting: Vec<_> = ShapeRef::factories().iter().map(|factory| factory.id).collect();
/// assert_eq!(supporting, ["IDL:Circle:1.0"]);
/// ```
pub trait AbstractInterface: ValueType {
    /// Name of the interface in IDL, without its scope.
    const NAME: &'static str;
}

/// A reference to an object with the abstract interface of `I`, or a value of a type that supports it. Null,
/// of which it cannot be said whether it is a reference or a value, is `None`.
///
/// References are compared as those of `I`; values are equal if they are the same one.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as value; }
/// # mod shapes { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/shapes.rs")); }
/// # use shapes::{Circle, ShapeRef};
/// use punctual::value::{Abstract, Shared};
///
/// fn radius(shape: &Abstract<ShapeRef>) -> Option<f64> {
///     match shape {
///         Abstract::Reference(_) => None, // a call to the object
///         Abstract::Value(value) => value.narrow::<Circle>().map(|circle| circle.radius),
///     }
/// }
/// assert_eq!(radius(&Shared::new(Circle { radius: 2.5 }).into()), Some(2.5));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Abstract<I> {
    /// An object, which is passed by reference.
    Reference(I),
    /// A value, of which the receiver gets a copy.
    Value(Shared<I>),
}

impl<I: AbstractInterface> From<I> for Abstract<I> {
    fn from(reference: I) -> Self {
        Self::Reference(reference)
    }
}

impl<I: AbstractInterface, V: Inherits<I>> From<Shared<V>> for Abstract<I> {
    fn from(value: Shared<V>) -> Self {
        Self::Value(value.widen())
    }
}

/// A boolean, and the reference if it is true, else the value. `None` is the null value.
impl<I: AbstractInterface + HasIor> Encode for Option<&Abstract<I>> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        match self {
            Some(Abstract::Reference(reference)) => {
                true.encode(encoder)?;
                reference.ior().encode(encoder)
            }
            Some(Abstract::Value(value)) => {
                false.encode(encoder)?;
                Some(value).encode(encoder)
            }
            None => {
                false.encode(encoder)?;
                encoder.null_value()
            }
        }
    }
}

impl<I: AbstractInterface + HasIor> Encode for Option<Abstract<I>> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.as_ref().encode(encoder)
    }
}

/// The nil reference and the null value are both `None`.
impl<'a, I: AbstractInterface + FromIor> Decode<'a> for Option<Abstract<I>> {
    const MIN_SIZE: usize = 5;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        if bool::decode(decoder)? {
            Ok(Option::decode(decoder)?.map(Abstract::Reference))
        } else {
            Ok(Option::decode(decoder)?.map(Abstract::Value))
        }
    }
}

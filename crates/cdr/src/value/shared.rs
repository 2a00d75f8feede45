//! References to values, and the traits of generated value types.

use alloc::sync::Arc;
use core::{any::TypeId, fmt, marker::PhantomData, ops::Deref};

use super::{
    circle::{Slot, identity, is_in_circle_of, is_kept, kept, real},
    object::ValueObject,
    outsiders::look_at,
    state::{ValueState, state},
};
use crate::{
    CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, ValueFactory, ValueHeader, ValueTag,
    decoder::Earlier,
};

/// A declared value type: concrete, abstract, boxed or `ValueBase`. Generated code implements it.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as value; }
/// # mod shapes { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/shapes.rs")); }
/// # use shapes::Circle;
/// use punctual::value::ValueType;
///
/// // valuetype Circle supports Shape { public double radius; };
/// assert_eq!(Circle::REPOSITORY_ID, "IDL:Circle:1.0");
/// assert_eq!(Circle::BASES, ["IDL:Shape:1.0"]);
/// assert_eq!(Circle::factories()[0].id, Circle::REPOSITORY_ID, "values of it can be received");
/// ```
pub trait ValueType: Send + Sync + 'static {
    /// Repository id, such as `IDL:Node:1.0`.
    const REPOSITORY_ID: &'static str;

    /// Repository ids of all value types and abstract interfaces from which it inherits.
    const BASES: &'static [&'static str] = &[];

    /// Whether a reference of this type may close a circle. It is weak then, and its value is read with
    /// [`Shared::state`]. Abstract types are circular, because their references may be to values of circular
    /// types: only at these do they close circles.
    const CIRCULAR: bool = false;

    /// Returns the concrete types that a value of this type can have, itself first unless it is abstract:
    /// those of the same generated file.
    fn factories() -> &'static [ValueFactory];
}

/// The state of a `custom` value type as its application sends it.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as value; }
/// use punctual::value::{CdrError, CustomMarshal, Decode, Decoder, Encode, Encoder};
///
/// struct Sparse(Vec<f64>);
///
/// impl CustomMarshal for Sparse {
///     fn marshal(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
///         let present: Vec<f64> = self.0.iter().copied().filter(|number| *number != 0.0).collect();
///         present.encode(encoder)
///     }
///
///     fn unmarshal(decoder: &mut Decoder<'_>) -> Result<Self, CdrError> {
///         Ok(Self(Vec::decode(decoder)?))
///     }
/// }
/// ```
pub trait CustomMarshal: Sized {
    /// Appends the state.
    fn marshal(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError>;

    /// Reads the state.
    fn unmarshal(decoder: &mut Decoder<'_>) -> Result<Self, CdrError>;
}

/// A value type that inherits, directly or not, from `B`. Generated code implements it.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as rt; }
/// # mod shapes { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/shapes.rs")); }
/// # use shapes::{Circle, ShapeRef};
/// use punctual::rt::{Inherits, Shared, ValueObject, ValueType};
///
/// /// Takes any value that supports the abstract interface.
/// fn as_shape<V: Inherits<ShapeRef>>(value: Shared<V>) -> Shared<ShapeRef> {
///     value.widen()
/// }
/// let shape = as_shape(Shared::new(Circle { radius: 1.0 }));
/// assert_eq!(shape.repository_id(), "IDL:Circle:1.0", "its own type is known");
/// ```
pub trait Inherits<B: ValueType>: ValueType {}

/// A shared, immutable value of type `T` or of one derived from it. Its clones are the same value, for peers
/// as well: a value that is reachable in several ways is sent once. Null is `None`.
///
/// Two are equal if they are the same value; `**a == **b` compares states.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as value; }
/// # mod shapes { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/shapes.rs")); }
/// # use shapes::Circle;
/// use punctual::value::{Decode, Decoder, Encode, Encoder, Endian, Shared};
///
/// let circle = Shared::new(Circle { radius: 2.5 });
/// let mut octets = Vec::new();
/// let pair = (Some(circle.clone()), Some(circle));
/// pair.encode(&mut Encoder::new(&mut octets, Endian::NATIVE))?;
///
/// let mut decoder = Decoder::new(&octets, Endian::NATIVE);
/// let one = Option::<Shared<Circle>>::decode(&mut decoder)?.expect("it is not null");
/// let other = Option::<Shared<Circle>>::decode(&mut decoder)?.expect("it is not null");
/// assert_eq!(one.radius, 2.5);
/// assert!(one.is_same(&other), "the value was sent once");
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
pub struct Shared<T: ?Sized> {
    object: Arc<dyn ValueObject>,
    of: PhantomData<fn() -> T>,
}

impl<T: ValueType + ValueObject> Shared<T> {
    /// Creates a value. One in a circle is made by a [`ValueGraph`](super::ValueGraph).
    pub fn new(value: T) -> Self {
        Self::of(Arc::new(value))
    }
}

impl<T: ValueType> Shared<T> {
    pub(super) fn of(object: Arc<dyn ValueObject>) -> Self {
        Self {
            object,
            of: PhantomData,
        }
    }

    /// Returns the repository id of the type that the value has.
    pub fn repository_id(&self) -> &'static str {
        self.object.ids()[0]
    }

    /// Returns the same value as one of a base.
    pub fn widen<B: ValueType>(self) -> Shared<B>
    where
        T: Inherits<B>,
    {
        const {
            assert!(
                B::CIRCULAR || !T::CIRCULAR,
                "the base of a circular value type is circular, too: name it with `circular` in build.rs"
            )
        };
        Shared::of(self.object)
    }

    /// Returns the same value as one of another type, `None` if it is not of that type.
    pub fn narrow<D: ValueType>(&self) -> Option<Shared<D>> {
        let value = self.clone();
        let is_readable = D::CIRCULAR || value.is_kept();
        (is_readable && is_of::<D>(&value.object)).then(|| Shared::of(value.object))
    }

    /// Returns whether both are the same value.
    pub fn is_same<O>(&self, other: &Shared<O>) -> bool {
        identity(&self.object) == identity(&other.object)
    }

    /// Whether it is a reference inside of the circle with these slots.
    pub(super) fn is_in_circle_of(&self, slots: &[Arc<Slot>]) -> bool {
        is_in_circle_of(&self.object, slots)
    }

    /// Whether it keeps its value.
    fn is_kept(&self) -> bool {
        is_kept(&self.object)
    }
}

impl<T: ValueType + ValueObject> Shared<T> {
    /// Returns the state of a value that may be in a circle; of others, a reference is the state. `None`
    /// while the value is being decoded (in a [`CustomMarshal`]) or released (in a [`Drop`]), and if nothing
    /// keeps it: see [`ValueGraph::close`](super::ValueGraph::close).
    pub fn state(&self) -> Option<ValueState<T>> {
        let value = self.clone();
        value.is_kept().then(|| ValueState::of(value.object))?
    }
}

/// Whether a value is of this type. If the type is concrete, the value contains its state: one of other
/// generated code with the same repository id does not.
fn is_of<T: ValueType>(object: &Arc<dyn ValueObject>) -> bool {
    let Some(object) = real(object) else {
        return false;
    };
    if is_concrete::<T>() {
        return object.part(TypeId::of::<T>()).is_some();
    }
    is_base::<T>(object.bases())
}

fn is_concrete<T: ValueType>() -> bool {
    let own = T::factories().first();
    own.is_some_and(|own| own.id == T::REPOSITORY_ID)
}

/// Whether the type is among these bases. All values have the base `ValueBase`.
fn is_base<T: ValueType>(bases: &[&str]) -> bool {
    T::REPOSITORY_ID == VALUE_BASE || bases.contains(&T::REPOSITORY_ID)
}

const VALUE_BASE: &str = "IDL:omg.org/CORBA/ValueBase:1.0";

/// The state, that of the base if the value is of a derived type. Circular types have [`Shared::state`].
impl<T: ValueType + ValueObject> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        const {
            assert!(
                !T::CIRCULAR,
                "this reference may close a circle, and be weak: read its value with `Shared::state`"
            )
        };
        state(&self.object)
    }
}

impl<T: ValueType + ValueObject> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self {
            object: kept(&self.object),
            of: PhantomData,
        }
    }
}

impl<T: ?Sized> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        identity(&self.object) == identity(&other.object)
    }
}

impl<T: ?Sized> Eq for Shared<T> {}

/// The type only: a small message can describe a value that is reachable in very many ways.
impl<T: ?Sized> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shared({})", self.object.ids()[0])
    }
}

impl ValueFactory {
    /// Decodes the state of a value, for factories of generated types.
    pub fn decode<'a, T: ValueType + ValueObject + Decode<'a>>(
        decoder: &mut Decoder<'a>,
    ) -> Result<Arc<dyn ValueObject>, CdrError> {
        decoder.reserve(size_of::<T>())?;
        if T::CIRCULAR {
            decoder.may_be_in_circles();
        }
        Ok(Arc::new(T::decode(decoder)?))
    }
}

/// `None` is null.
impl<T: ValueType> Encode for Option<Shared<T>> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        let Some(shared) = self else {
            return encoder.null_value();
        };
        if encoder.search().is_some() {
            return look_at(&shared.object, encoder);
        }
        let Some(object) = real(&shared.object) else {
            return Err(encoder.error(CdrErrorKind::ValueReleased));
        };
        // Of the declared type, a value needs no id. In an `any`, JacORB reads none without an id, and boxes
        // without one only.
        let ids = object.ids();
        let is_derived = ids[0] != T::REPOSITORY_ID;
        let ids = match is_derived {
            true => ids,
            false if encoder.is_for_any() && !object.is_box() => &ids[..1],
            false => &[],
        };
        let same = Arc::clone(&object);
        let is_chunked = object.is_chunked() || is_derived && encoder.is_for_any();
        encoder.value(Some(same), ids, is_chunked, |encoder, _| {
            object.encode_state(encoder)
        })
    }
}

impl<T: ValueType> Encode for Option<&Shared<T>> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.cloned().encode(encoder)
    }
}

impl<'a, T: ValueType> Decode<'a> for Option<Shared<T>> {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        decoder.nested(|decoder| match decoder.value_tag()? {
            ValueTag::Null => Ok(None),
            ValueTag::Earlier(position) => match decoder.earlier_value(position)? {
                Earlier::Complete(object) => of_type(object, decoder).map(Some),
                Earlier::Around { factory, is_circular } => {
                    let reference = around(factory, is_circular, position, decoder)?;
                    Ok(Some(reference))
                }
            },
            ValueTag::Value(header) => {
                let (factory, is_truncated) = choose::<T>(&header, decoder)?;
                let object = decoder.known_value(header.position, factory, |decoder| {
                    decoder.value_state(&header, is_truncated, factory.decode)
                })?;
                of_type(object, decoder).map(Some)
            }
        })
    }
}

fn of_type<T: ValueType>(object: Arc<dyn ValueObject>, decoder: &Decoder<'_>) -> Result<Shared<T>, CdrError> {
    if !is_of::<T>(&object) {
        return Err(decoder.error(CdrErrorKind::ValueTypeUnknown));
    }
    Ok(Shared::of(object))
}

/// A reference to a value that contains it, which closes a circle. Only the types of both together show
/// whether applications expect that: a reference of an abstract type is read as one of the type of its value.
fn around<T: ValueType>(
    factory: &ValueFactory,
    is_circular: bool,
    position: usize,
    decoder: &mut Decoder<'_>,
) -> Result<Shared<T>, CdrError> {
    if !T::CIRCULAR {
        return Err(decoder.error(CdrErrorKind::ValueCyclic));
    }
    if factory.id != T::REPOSITORY_ID && !is_base::<T>(factory.bases) {
        return Err(decoder.error(CdrErrorKind::ValueTypeUnknown));
    }
    if !is_circular {
        return Err(decoder.error(CdrErrorKind::ValueCyclic));
    }
    let concrete = is_concrete::<T>().then(TypeId::of::<T>);
    decoder.value_around(position, concrete).map(Shared::of)
}

/// The first of the types in the message that is known here, and whether it is not the value's own.
fn choose<T: ValueType>(
    header: &ValueHeader<'_>,
    decoder: &Decoder<'_>,
) -> Result<(&'static ValueFactory, bool), CdrError> {
    let unknown = || decoder.error(CdrErrorKind::ValueTypeUnknown);
    let factory = |id: &[u8]| {
        let own = T::factories().iter().find(|factory| factory.id.as_bytes() == id);
        own.or_else(|| {
            let known_to_orb = decoder.context()?.value_factory(id)?;
            is_base::<T>(known_to_orb.bases).then_some(known_to_orb)
        })
    };
    if header.ids.is_empty() {
        let factory = factory(T::REPOSITORY_ID.as_bytes()).ok_or_else(unknown)?;
        return Ok((factory, false));
    }
    let known = header.ids.iter().enumerate();
    let (index, factory) = known
        .filter_map(|(index, id)| Some((index, factory(id)?)))
        .next()
        .ok_or_else(unknown)?;
    // Without chunks, the end of what is to be left out cannot be found.
    if index > 0 && !header.is_chunked {
        return Err(unknown());
    }
    Ok((factory, index > 0))
}

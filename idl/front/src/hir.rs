//! The resolved specification, the input of code generators.

mod not_generated;
mod queries;
mod sent;

use std::fmt;

pub use not_generated::not_generated;
pub use queries::Declared;

pub use crate::binary128::Binary128;
use crate::source::{SourceFile, Span};

/// A whole specification: the compiled files and everything they include, resolved and checked.
///
/// All definitions live in one arena ([`Specification::definitions`]) and name each other by
/// [`DefinitionId`]. [`Specification::roots`] lists the definitions of the global scope in source order;
/// modules, interfaces and constructed types list what they contain (see [`Specification::children`]). A
/// module that is opened several times is one definition with the members of all its openings. A forward
/// declaration has no definition of its own.
///
/// Queries (through typedefs, inherited operations, recursion, ...) are methods of [`Specification`].
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Specification {
    /// Every file that was read, the first compiled one first. [`Span::file`] indexes this list.
    pub files: Vec<SourceFile>,
    /// The arena. Definitions appear in the order in which they were first declared.
    pub definitions: Vec<Definition>,
    /// The definitions of the global scope, in source order.
    pub roots: Vec<DefinitionId>,
    /// For each definition that is a typedef, the last one of its chain; itself for any other.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) last_typedefs: Vec<DefinitionId>,
}

/// Index of a definition in [`Specification::definitions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DefinitionId(pub u32);

/// A name from the global scope down, without the leading `::`; displays as `A::B::C`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ScopedName(pub Vec<String>);

impl fmt::Display for ScopedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("::"))
    }
}

/// One named definition.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Definition {
    /// Index in the arena.
    pub id: DefinitionId,
    /// The enclosing module, interface or constructed type; `None` in the global scope.
    pub parent: Option<DefinitionId>,
    /// The identifier as IDL spells it, without the underscore of an escaped identifier.
    pub name: String,
    /// The full name, this definition's own name last.
    pub scoped_name: ScopedName,
    /// Repository id, such as `IDL:omg.org/CosNaming/NamingContext:1.0`.
    pub repository_id: String,
    /// The comments directly above, without their marks; lines separated by `\n`. Empty without comments.
    pub doc: String,
    /// The identifier in its declaration (the full one, not a forward declaration).
    pub span: Span,
    /// Kind of the definition.
    pub kind: DefinitionKind,
}

/// Kind of a definition.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum DefinitionKind {
    /// `module`
    Module(Module),
    /// `interface`, abstract and local ones too
    Interface(Interface),
    /// `struct`
    Struct(Struct),
    /// `union`
    Union(Union),
    /// `enum`
    Enum(Enum),
    /// `bitmask` (IDL 4.2)
    Bitmask(Bitmask),
    /// `bitset` (IDL 4.2)
    Bitset(Bitset),
    /// `typedef`, one per declarator
    Typedef(Typedef),
    /// `const`
    Constant(Constant),
    /// `exception`
    Exception(Exception),
    /// `native`
    Native(Native),
    /// `valuetype` with state, abstract ones too
    ValueType(ValueType),
    /// `valuetype` that boxes one type
    ValueBox(ValueBox),
    /// A construct that is only accepted: component, home, event type, port type, connector, template module,
    /// ...
    Accepted(Accepted),
}

/// A module; all its openings together.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Module {
    /// Members in source order.
    pub members: Vec<DefinitionId>,
}

/// An interface.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Interface {
    /// Kind of the interface.
    pub flavour: InterfaceFlavour,
    /// The direct bases in source order.
    pub bases: Vec<DefinitionId>,
    /// Types, constants and exceptions declared inside, in source order.
    pub members: Vec<DefinitionId>,
    /// Its own operations in source order; see [`Specification::all_operations`] for the inherited ones.
    pub operations: Vec<Operation>,
    /// Its own attributes in source order; see [`Specification::all_attributes`] for the inherited ones.
    pub attributes: Vec<Attribute>,
    /// Declared forward and never defined: its references can be passed on, and not called.
    pub is_forward: bool,
}

/// The kinds of interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum InterfaceFlavour {
    /// An ordinary, remotely callable one.
    Plain,
    /// `abstract interface`
    Abstract,
    /// `local interface`
    Local,
}

/// A `native` type.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Native {
    /// Exceptions declared inside; only `CORBA::TypeCode` has them.
    pub nested: Vec<DefinitionId>,
}

/// An operation.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Operation {
    /// IDL spelling; also the name in a GIOP request.
    pub name: String,
    /// The full name.
    pub scoped_name: ScopedName,
    /// Repository id of the operation.
    pub repository_id: String,
    /// The comments directly above.
    pub doc: String,
    /// The identifier.
    pub span: Span,
    /// `oneway`: the result is then `Void` and every parameter `In`.
    pub oneway: bool,
    /// The result, [`Type::Void`] if there is none.
    pub result: Type,
    /// Parameters in source order.
    pub parameters: Vec<Parameter>,
    /// The exceptions of the `raises` clause.
    pub raises: Vec<DefinitionId>,
    /// The names of the `context` clause.
    pub contexts: Vec<String>,
}

/// A parameter.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Parameter {
    /// IDL spelling.
    pub name: String,
    /// The comments directly above.
    pub doc: String,
    /// The identifier.
    pub span: Span,
    /// `in`, `out` or `inout`.
    pub direction: Direction,
    /// Its type.
    pub ty: Type,
}

/// Direction of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Direction {
    /// `in`
    In,
    /// `out`
    Out,
    /// `inout`
    InOut,
}

/// An attribute; one per declarator. In a GIOP request its operations are `_get_NAME` and `_set_NAME`.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Attribute {
    /// IDL spelling.
    pub name: String,
    /// The full name.
    pub scoped_name: ScopedName,
    /// Repository id of the attribute.
    pub repository_id: String,
    /// The comments directly above.
    pub doc: String,
    /// The identifier.
    pub span: Span,
    /// `readonly`
    pub readonly: bool,
    /// Its type.
    pub ty: Type,
    /// Exceptions that reading may raise (`getraises`; `raises` of a readonly one).
    pub get_raises: Vec<DefinitionId>,
    /// Exceptions that writing may raise (`setraises`).
    pub set_raises: Vec<DefinitionId>,
}

/// A structure.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Struct {
    /// The struct from which it inherits (clause 7.4.13).
    pub base: Option<DefinitionId>,
    /// Members in source order, those of the base first: on the wire, they precede the others.
    pub members: Vec<Member>,
    /// Number of the members that are those of the base.
    pub inherited: usize,
    /// Types that are defined inside a member declaration.
    pub nested: Vec<DefinitionId>,
    /// Declared forward and never defined, which is an error: never true in a valid specification.
    pub is_forward: bool,
}

/// A member of a structure or exception, or the element of a union's case; one per declarator.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Member {
    /// IDL spelling.
    pub name: String,
    /// The comments directly above.
    pub doc: String,
    /// The identifier.
    pub span: Span,
    /// Its type, including the dimensions of an array declarator.
    pub ty: Type,
    /// The value of `@default`, in its type.
    pub default: Option<ConstantValue>,
}

/// An exception.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Exception {
    /// Members in source order; may be empty.
    pub members: Vec<Member>,
    /// Types that are defined inside a member declaration.
    pub nested: Vec<DefinitionId>,
}

/// A discriminated union.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Union {
    /// Declared type; an integer type, char, boolean or an enum, possibly through typedefs.
    pub discriminator: Type,
    /// Cases in source order.
    pub cases: Vec<Case>,
    /// No `default:` label, and the labels do not cover every value of the discriminator: the union may hold
    /// no member at all.
    pub has_implicit_default: bool,
    /// Types that are defined inside a case.
    pub nested: Vec<DefinitionId>,
    /// Declared forward and never defined, which is an error: never true in a valid specification.
    pub is_forward: bool,
}

/// One case of a union.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Case {
    /// The values of its `case` labels, in the discriminator's type.
    pub labels: Vec<ConstantValue>,
    /// One of its labels is `default:`.
    pub is_default: bool,
    /// Member of the union in this case.
    pub member: Member,
}

/// An enumeration.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Enum {
    /// Enumerators in source order, so by ordinal.
    pub enumerators: Vec<Enumerator>,
}

/// A value of an enumeration. Its name lives in the scope that encloses the enumeration.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Enumerator {
    /// IDL spelling.
    pub name: String,
    /// The comments directly above.
    pub doc: String,
    /// The identifier.
    pub span: Span,
    /// Encoded value, from 0.
    pub ordinal: u32,
}

/// A set of flags. Encoded as the unsigned integer that has room for its bits, a set flag as a set bit.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bitmask {
    /// Type of the encoded integer.
    pub holder: Type,
    /// Flags in source order.
    pub flags: Vec<Flag>,
}

/// A flag of a bitmask.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Flag {
    /// IDL spelling.
    pub name: String,
    /// The comments directly above.
    pub doc: String,
    /// The identifier.
    pub span: Span,
    /// Number of its bit, from 0, the lowest one.
    pub position: u32,
}

/// Integers of a few bits each. Encoded as the unsigned integer that has room for them, the first one in its
/// lowest bits.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bitset {
    /// Type of the encoded integer.
    pub holder: Type,
    /// Number of bits of all fields, at most 64.
    pub bits: u32,
    /// Fields, those of the base first.
    pub fields: Vec<Bitfield>,
}

/// A named field of a bitset.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bitfield {
    /// IDL spelling.
    pub name: String,
    /// The comments directly above.
    pub doc: String,
    /// The identifier.
    pub span: Span,
    /// Number of its lowest bit.
    pub offset: u32,
    /// Number of its bits, from 1 to 64.
    pub width: u32,
    /// Type of its values: `boolean`, or an integer of at least as many bits.
    pub ty: Type,
}

/// A type definition.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Typedef {
    /// The aliased type, including the dimensions of an array declarator.
    pub target: Type,
    /// A type that is defined inside the declaration (`typedef struct S {...} T;`). It belongs to the
    /// enclosing scope.
    pub inner: Option<DefinitionId>,
}

/// A constant.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Constant {
    /// Spelling in the source.
    pub ty: Type,
    /// Evaluated value, within the range of its type.
    pub value: ConstantValue,
}

/// The value of a constant or a union label.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum ConstantValue {
    /// `boolean`
    Boolean(bool),
    /// `char`, at most U+00FF
    Char(char),
    /// `wchar`
    WChar(char),
    /// `octet`
    Octet(u8),
    /// `int8`
    Int8(i8),
    /// `short`
    Short(i16),
    /// `unsigned short`
    UShort(u16),
    /// `long`
    Long(i32),
    /// `unsigned long`
    ULong(u32),
    /// `long long`
    LongLong(i64),
    /// `unsigned long long`
    ULongLong(u64),
    /// `float`
    Float(f32),
    /// `double`
    Double(f64),
    /// `long double`
    LongDouble(Binary128),
    /// `string`
    String(String),
    /// `wstring`
    WString(String),
    /// `fixed`: the exact decimal, such as `-12.50`
    Fixed(FixedValue),
    /// A value of an enumeration.
    Enumerator {
        /// The enumeration.
        enumeration: DefinitionId,
        /// Ordinal of the enumerator.
        ordinal: u32,
    },
}

impl ConstantValue {
    /// Returns the value of an integer type, `octet` included; `None` for all others.
    pub fn as_integer(&self) -> Option<i128> {
        Some(match self {
            Self::Octet(value) => i128::from(*value),
            Self::Int8(value) => i128::from(*value),
            Self::Short(value) => i128::from(*value),
            Self::UShort(value) => i128::from(*value),
            Self::Long(value) => i128::from(*value),
            Self::ULong(value) => i128::from(*value),
            Self::LongLong(value) => i128::from(*value),
            Self::ULongLong(value) => i128::from(*value),
            _ => return None,
        })
    }

    /// Returns the label of a union as an integer, which is equal for equal labels of one union; `None` if no
    /// label can have this type.
    pub fn as_label(&self) -> Option<i128> {
        match self {
            Self::Boolean(value) => Some(i128::from(*value)),
            Self::Char(value) | Self::WChar(value) => Some(i128::from(u32::from(*value))),
            Self::Enumerator { ordinal, .. } => Some(i128::from(*ordinal)),
            _ => self.as_integer(),
        }
    }
}

/// An exact decimal of at most 31 digits: `unscaled / 10^scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FixedValue {
    /// All digits as an integer, with the sign.
    pub unscaled: i128,
    /// Number of digits after the point.
    pub scale: u8,
}

/// A value type with state, or an abstract one.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ValueType {
    /// `abstract`
    pub is_abstract: bool,
    /// `custom`
    pub is_custom: bool,
    /// `truncatable` to its first base.
    pub is_truncatable: bool,
    /// The value types it inherits from.
    pub bases: Vec<DefinitionId>,
    /// The interfaces it supports.
    pub supports: Vec<DefinitionId>,
    /// `true` for a public state member.
    pub state: Vec<(bool, Member)>,
    /// Its initialisers: name and parameters.
    pub factories: Vec<Operation>,
    /// Types, constants and exceptions declared inside.
    pub members: Vec<DefinitionId>,
    /// Its own operations.
    pub operations: Vec<Operation>,
    /// Its own attributes.
    pub attributes: Vec<Attribute>,
    /// An `eventtype` rather than a `valuetype`.
    pub is_event: bool,
    /// Declared forward and never defined: its state is unknown, so that there are no values of it here.
    pub is_forward: bool,
}

/// A boxed value type.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ValueBox {
    /// The boxed type.
    pub content: Type,
    /// A type that is defined inside the declaration.
    pub nested: Vec<DefinitionId>,
}

/// A construct that is parsed and named, but not resolved in depth.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Accepted {
    /// Name in the specification: `component`, `home`, `porttype`, `connector`, `template module`, ...
    pub construct: &'static str,
    /// Contents, as far as they are resolved.
    pub members: Vec<DefinitionId>,
}

/// A resolved type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Type {
    /// `void`; only the result of an operation.
    Void,
    /// `boolean`
    Boolean,
    /// `char`
    Char,
    /// `wchar`
    WChar,
    /// `octet`
    Octet,
    /// `int8` (IDL 4.2)
    Int8,
    /// `short`
    Short,
    /// `unsigned short`
    UShort,
    /// `long`
    Long,
    /// `unsigned long`
    ULong,
    /// `long long`
    LongLong,
    /// `unsigned long long`
    ULongLong,
    /// `float`
    Float,
    /// `double`
    Double,
    /// `long double`
    LongDouble,
    /// `any`
    Any,
    /// `Object`
    Object,
    /// `ValueBase`
    ValueBase,
    /// `string`
    String {
        /// Maximum number of characters, if the type has a bound.
        bound: Option<u32>,
    },
    /// `wstring`
    WString {
        /// Maximum number of characters, if the type has a bound.
        bound: Option<u32>,
    },
    /// `fixed<digits, scale>`; a `const fixed` has the digits and scale of its value.
    Fixed {
        /// Decimal digits, from 1 to 31.
        digits: u8,
        /// Decimal places; at most `digits`.
        scale: u8,
    },
    /// `sequence<element, bound>`
    Sequence {
        /// Type of the elements.
        element: Box<Type>,
        /// Maximum number of elements, if the type has a bound.
        bound: Option<u32>,
    },
    /// `map<key, value, bound>` (IDL 4.2). Encoded as a sequence of keys and values, in order of the keys.
    Map {
        /// Type of the keys: an integer, `boolean`, a character, a string or an enumeration.
        key: Box<Type>,
        /// Type of the values.
        value: Box<Type>,
        /// Maximum number of keys, if the type has a bound.
        bound: Option<u32>,
    },
    /// An array; `dims` is never empty and holds no zero.
    Array {
        /// Type of the elements.
        element: Box<Type>,
        /// The lengths, outermost first.
        dims: Vec<u32>,
    },
    /// A struct, union, enum, typedef, interface, native, value type or value box; also a definition that is
    /// only [`Accepted`].
    Ref(DefinitionId),
}

//! The model from which code is emitted: resolved IDL with Rust names.
//!
//! [`lower`](crate::lower) builds it from the front end's representation.

use std::{collections::HashSet, ops::Range};

use proc_macro2::TokenStream;

/// Model of one specification.
#[derive(Debug, Default)]
pub struct Model {
    /// Named types, indexed by [`TypeId`].
    pub types: Vec<NamedType>,
    /// Facts that follow from their shapes, also indexed by [`TypeId`].
    pub facts: Vec<Facts>,
    /// Interfaces, indexed by [`InterfaceId`].
    pub interfaces: Vec<Interface>,
    /// Items at file scope.
    pub root: Vec<Item>,
    /// Name of the type parameter for servants, different from all generated types.
    pub servant_parameter: String,
    /// `ValueBase`, if the specification uses it.
    pub value_base: Option<ValueType>,
    /// References of the interfaces from which local ones inherit: their traits are those of clients, too.
    pub bases_of_local: HashSet<TypeId>,
}

/// Index into [`Model::types`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct TypeId(pub usize);

/// Index into [`Model::interfaces`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct InterfaceId(pub usize);

/// Rust module of a definition.
#[derive(Clone, Debug, Default)]
pub struct ModulePath {
    /// Declared by other code: the module of that code in which [`Self::names`] begin.
    pub external: Option<TokenStream>,
    /// Modules, outermost first.
    pub names: Vec<String>,
}

impl ModulePath {
    /// A module in this one.
    pub fn join(&self, name: &str) -> Self {
        let mut inner = self.clone();
        inner.names.push(String::from(name));
        inner
    }
}

/// A named type as seen by other definitions.
#[derive(Debug)]
pub struct NamedType {
    /// Enclosing Rust module.
    pub module: ModulePath,
    /// Rust name; for an interface that of its `Ref`.
    pub name: String,
    /// Rust name of the lent form, for structs and unions of variable length.
    pub view: String,
    /// Rust names of its parts, of structs and states of very many members.
    pub parts: Vec<String>,
    /// Name in IDL, without scope.
    pub idl: String,
    pub repository_id: String,
    /// Kind of the type.
    pub shape: Shape,
}

/// Facts about one named type.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// Whether its length varies: it contains a string, a sequence or a reference.
    pub variable: bool,
    /// Whether it contains object references.
    pub reference: bool,
    /// Whether it is or contains a local interface or a native type: its values are never encoded.
    pub local: bool,
    /// Whether it contains itself, through sequences.
    pub recursive: bool,
    /// Minimum of octets on the wire, without padding.
    pub min_size: u64,
    /// Its form in memory on a 64-bit machine, about.
    pub layout: Layout,
    /// Whether it is a struct or exception some of whose members are boxed or lent because it is large.
    pub large: bool,
    /// Whether it is or contains a struct whose members are in parts with a box each.
    pub in_parts: bool,
    /// Octets of all values of which the functions that decode it, one inside the other, hold a copy each.
    pub decoding: u64,
    /// Octets of its state, if it is a value type with one.
    pub state: u64,
    /// The same, with the states of its bases that are boxed.
    pub whole_state: u64,
    /// The typedef itself, or the last one of the chain of typedefs that it begins.
    pub last_alias: Option<TypeId>,
}

/// Form of a type in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// Octets.
    pub size: u64,
    /// Alignment in octets.
    pub alignment: u64,
}

/// Kind of a named type, as far as other types depend on it.
#[derive(Debug)]
pub enum Shape {
    /// A typedef.
    Alias(Type),
    /// An enum with its variants, in order.
    Enum(Vec<String>),
    /// A struct or exception with its members' types.
    Struct(Vec<Type>),
    /// A union: discriminator, members' types, and whether some discriminators select no member.
    Union {
        discriminator: Type,
        members: Vec<Type>,
        may_be_empty: bool,
    },
    /// An object reference.
    Interface,
    /// An abstract interface; in use, a reference, a shared value or null.
    Abstract,
    /// A local interface; in use, a shared object or none.
    Local,
    /// A value type of any kind; in use, a shared value or null.
    Value(State),
    /// A native type, whose values are any of the program. Never encoded.
    Native,
}

/// The state of a value type.
#[derive(Debug)]
pub enum State {
    /// Content of a boxed value type.
    Box(Type),
    /// The concrete base, and the types of its own members; an abstract type has none.
    Members {
        base: Option<TypeId>,
        members: Vec<Type>,
    },
}

/// A type in use.
#[derive(Clone, Debug)]
pub enum Type {
    Basic(Basic),
    String {
        bound: Option<u64>,
    },
    WString {
        bound: Option<u64>,
    },
    Fixed {
        digits: u8,
        scale: u8,
    },
    Sequence {
        element: Box<Type>,
        bound: Option<u64>,
    },
    /// A map, sorted by its keys.
    Map {
        key: Box<Type>,
        value: Box<Type>,
        bound: Option<u64>,
    },
    /// An array of one dimension.
    Array {
        element: Box<Type>,
        length: u64,
    },
    /// `Object`.
    Object,
    /// `any`.
    Any,
    /// `CORBA::TypeCode`.
    #[expect(clippy::enum_variant_names, reason = "the name of the IDL type")]
    TypeCode,
    Named(TypeId),
}

/// A primitive type of Rust or of `rt`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Basic {
    Boolean,
    Octet,
    Int8,
    Char,
    Short,
    UnsignedShort,
    Long,
    UnsignedLong,
    LongLong,
    UnsignedLongLong,
    Float,
    Double,
    LongDouble,
    WChar,
}

/// A definition in its scope.
#[derive(Debug)]
pub enum Item {
    Module(Module),
    Typedef(Typedef),
    Native(Native),
    Struct(Struct),
    Union(Union),
    Enum(Enum),
    Bitmask(Bitmask),
    Bitset(Bitset),
    Exception(Exception),
    Constant(Constant),
    Interface(InterfaceId),
    Value(Box<ValueType>),
    /// Module of the types declared inside a struct, union or exception; its documentation is one plain line.
    Inner(Module),
}

/// Documentation of an item.
#[derive(Clone, Debug, Default)]
pub struct Documentation {
    /// Lines of the comment above it in the IDL; may be empty.
    pub comment: Vec<String>,
    /// IDL construct and name, such as `struct Radar::Track`, used without a comment.
    pub idl: String,
}

#[derive(Debug)]
pub struct Module {
    pub docs: Documentation,
    pub name: String,
    pub items: Vec<Item>,
}

#[derive(Debug)]
pub struct Typedef {
    pub docs: Documentation,
    pub name: String,
    pub aliased: Type,
}

#[derive(Debug)]
pub struct Native {
    pub docs: Documentation,
    pub name: String,
}

#[derive(Debug)]
pub struct Struct {
    pub docs: Documentation,
    /// Attributes that the user adds.
    pub attributes: TokenStream,
    pub id: TypeId,
    /// The struct whose members are the first of these, in the same order.
    pub base: Option<Box<Struct>>,
    pub members: Vec<Member>,
    /// The members of each part, if they are in parts.
    pub parts: Vec<Range<usize>>,
}

#[derive(Debug)]
pub struct Member {
    pub docs: Documentation,
    pub attributes: TokenStream,
    pub name: String,
    /// Name in IDL.
    pub idl: String,
    pub of: Type,
    /// Whether it is boxed, and lent in the lent form, because what contains it is large.
    pub boxed: bool,
    /// Its value in the default of what contains it, if an annotation states one.
    pub default: Option<Value>,
}

#[derive(Debug)]
pub struct Exception {
    /// The generated struct.
    pub data: Struct,
    /// `Radar::Refused`.
    pub scoped_name: String,
}

#[derive(Debug)]
pub struct Enum {
    pub docs: Documentation,
    /// Attributes that the user adds.
    pub attributes: TokenStream,
    pub id: TypeId,
    pub name: String,
    pub enumerators: Vec<Enumerator>,
}

/// A set of flags.
#[derive(Debug)]
pub struct Bitmask {
    pub docs: Documentation,
    /// Attributes that the user adds.
    pub attributes: TokenStream,
    pub id: TypeId,
    /// Type on the wire.
    pub holder: Type,
    pub flags: Vec<Flag>,
}

#[derive(Debug)]
pub struct Flag {
    pub docs: Documentation,
    pub name: String,
    pub position: u32,
}

/// Integers of a few bits each.
#[derive(Debug)]
pub struct Bitset {
    pub docs: Documentation,
    /// Attributes that the user adds.
    pub attributes: TokenStream,
    pub id: TypeId,
    /// Type on the wire.
    pub holder: Type,
    pub fields: Vec<Bitfield>,
}

#[derive(Debug)]
pub struct Bitfield {
    pub docs: Documentation,
    pub name: String,
    pub of: Basic,
    /// Number of its lowest bit.
    pub offset: u32,
    /// Number of its bits.
    pub width: u32,
}

#[derive(Debug)]
pub struct Enumerator {
    pub docs: Documentation,
    pub name: String,
    /// Name in IDL.
    pub idl: String,
}

#[derive(Debug)]
pub struct Union {
    pub docs: Documentation,
    /// Attributes that the user adds.
    pub attributes: TokenStream,
    pub id: TypeId,
    pub discriminator: Type,
    pub cases: Vec<Case>,
    /// Variant for discriminators that select no member, if any.
    pub no_member: Option<String>,
}

#[derive(Debug)]
pub struct Case {
    pub docs: Documentation,
    pub variant: String,
    /// Name of the member in IDL.
    pub idl: String,
    pub of: Type,
    /// Labels without `default`.
    pub labels: Vec<Value>,
    pub is_default: bool,
}

impl Case {
    /// Whether the variant contains its discriminator.
    pub fn carries_discriminator(&self) -> bool {
        self.is_default || self.labels.len() > 1
    }
}

#[derive(Debug)]
pub struct Constant {
    pub docs: Documentation,
    pub name: String,
    pub of: Type,
    pub value: Value,
}

/// Value of a constant or label.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Boolean(bool),
    Char(char),
    Integer(i128),
    Single(f32),
    Double(f64),
    /// Bits of a `long double`.
    LongDouble(u128),
    String(String),
    WChar(char),
    WString(String),
    /// All digits as an integer.
    Fixed(i128),
    Enumerator {
        enumeration: TypeId,
        variant: String,
        ordinal: u32,
    },
}

#[derive(Debug)]
pub struct Interface {
    pub docs: Documentation,
    /// Type of its reference.
    pub reference: TypeId,
    /// Enclosing Rust modules, outermost first.
    pub module: ModulePath,
    /// Name of its trait.
    pub name: String,
    /// Module of nested declarations.
    pub scope: String,
    pub scoped_name: String,
    pub repository_id: String,
    /// Direct base interfaces.
    pub bases: Vec<InterfaceId>,
    /// All base interfaces, each after its own bases, without duplicates.
    pub all_bases: Vec<InterfaceId>,
    /// Operations declared in it, including attributes.
    pub operations: Vec<Operation>,
    /// Methods of its `Ref`: inherited ones first.
    pub methods: Vec<Method>,
    /// Nested declarations.
    pub items: Vec<Item>,
    /// Concrete value types that support the interface, if it is abstract.
    pub values: Vec<TypeId>,
}

/// A value type.
#[derive(Debug)]
pub struct ValueType {
    pub docs: Documentation,
    /// User-defined attributes, for a type with a state and a box.
    pub attributes: TokenStream,
    pub id: TypeId,
    /// An event type, which differs in its type code only.
    pub is_event: bool,
    /// Whether references to its values may close circles, as those of abstract types may, too: to values of
    /// circular types.
    pub circular: bool,
    pub kind: ValueKind,
    /// All value types from which it inherits and abstract interfaces that it supports, directly or not.
    pub ancestors: Vec<TypeId>,
    /// The concrete types that a value of this type can have.
    pub concrete: Vec<TypeId>,
    /// Its operations and attributes, as those of an interface with the module of what is declared inside.
    pub operations: Interface,
    /// Its initializers.
    pub factories: Vec<Operation>,
    /// Name of the trait of its initializers.
    pub factories_name: String,
}

/// The kinds of value types.
#[derive(Debug)]
pub enum ValueKind {
    /// Abstract type, which has no state; also `ValueBase`.
    Abstract,
    Boxed(Type),
    Concrete(ValueState),
}

/// The state of a concrete value type.
#[derive(Debug)]
pub struct ValueState {
    /// The member that contains the state of the concrete base.
    pub base: Option<BaseState>,
    /// Whether each of its own members is public.
    pub members: Vec<(bool, Member)>,
    /// The members of each part, if they are in parts.
    pub parts: Vec<Range<usize>>,
    /// The types to which it may be truncated.
    pub truncatable_to: Vec<TypeId>,
    pub is_custom: bool,
}

/// The state of a base.
#[derive(Debug)]
pub struct BaseState {
    pub id: TypeId,
    /// Name of the member.
    pub name: String,
    /// Whether it is boxed, because the state that contains it is large.
    pub boxed: bool,
}

/// A method of a `Ref`.
#[derive(Debug)]
pub struct Method {
    pub declared_in: InterfaceId,
    pub operation: usize,
    pub name: String,
    pub into_name: String,
    /// Name of the asynchronous form; `None` for oneway operations.
    pub async_name: String,
}

#[derive(Debug)]
pub struct Operation {
    pub docs: Documentation,
    /// Name on the wire.
    pub wire_name: String,
    /// Method of the servant's trait.
    pub name: String,
    /// Method for results in existing memory.
    pub into_name: String,
    pub oneway: bool,
    /// Whether its servants answer later, through a `ResponseHandler`.
    pub deferred: bool,
    /// Patterns of its `context` clause. If there are any, requests end with a sequence of names and values.
    pub context: Vec<String>,
    pub returns: Option<Type>,
    pub parameters: Vec<Parameter>,
    /// Exceptions with their variants; empty if it raises system exceptions only.
    pub raises: Vec<(TypeId, String)>,
    /// Error enum in the module of the interface, used if `raises` is not empty.
    pub error: String,
}

#[derive(Debug)]
pub struct Parameter {
    pub mode: Mode,
    pub name: String,
    pub of: Type,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    In,
    InOut,
    Out,
}

//! What is generated, with Rust names: the resolved IDL as the emitting half of this crate sees it.
//!
//! [`lower`](crate::lower) makes it from the front end's representation.

use std::cell::OnceCell;

/// Everything that is generated from one specification.
#[derive(Debug, Default)]
pub struct Model {
    /// All types that have a name; [`TypeId`] indexes it.
    pub types: Vec<NamedType>,
    /// All interfaces; [`InterfaceId`] indexes it.
    pub interfaces: Vec<Interface>,
    /// What stands at file scope.
    pub root: Vec<Item>,
}

/// One of [`Model::types`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct TypeId(pub usize);

/// One of [`Model::interfaces`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct InterfaceId(pub usize);

/// How other definitions name a type, and what they must know about it.
#[derive(Debug)]
pub struct NamedType {
    /// The Rust modules around it, outermost first.
    pub module: Vec<String>,
    /// The Rust name; of an interface its `Ref`.
    pub name: String,
    /// The Rust name of the lent form, for structs and unions of variable length.
    pub view: String,
    /// What it is.
    pub shape: Shape,
    /// See [`Model::min_size_of`]; kept, since types share parts.
    pub min_size: OnceCell<u64>,
}

/// What a named type is, as far as other types care.
#[derive(Debug)]
pub enum Shape {
    /// A typedef.
    Alias(Type),
    /// An enum with its variants, in order.
    Enum(Vec<String>),
    /// A struct or exception: its members' types.
    Struct(Vec<Type>),
    /// A union: discriminator, members' types, and whether some discriminators select no member.
    Union {
        discriminator: Type,
        members: Vec<Type>,
        may_be_empty: bool,
    },
    /// A reference.
    Interface,
}

/// A type in use.
#[derive(Clone, Debug)]
pub enum Type {
    Basic(Basic),
    String {
        bound: Option<u64>,
    },
    Sequence {
        element: Box<Type>,
        bound: Option<u64>,
    },
    /// One dimension.
    Array {
        element: Box<Type>,
        length: u64,
    },
    /// `Object`.
    Object,
    Named(TypeId),
}

/// A type that Rust has, or that `rt` adds to it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Basic {
    Boolean,
    Octet,
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
}

/// A definition where it stands.
#[derive(Debug)]
pub enum Item {
    Module(Module),
    Typedef(Typedef),
    Struct(Struct),
    Union(Union),
    Enum(Enum),
    Exception(Exception),
    Constant(Constant),
    Interface(InterfaceId),
    /// What is declared inside a struct, union or exception; its documentation is one plain line.
    Inner(Module),
}

/// What rustdoc says about something.
#[derive(Clone, Debug, Default)]
pub struct Documentation {
    /// The comment above it in the IDL, line by line; may be empty.
    pub comment: Vec<String>,
    /// What it is in IDL, such as `struct Radar::Track`, for where there is no comment.
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
pub struct Struct {
    pub docs: Documentation,
    pub id: TypeId,
    pub members: Vec<Member>,
}

#[derive(Debug)]
pub struct Member {
    pub docs: Documentation,
    pub name: String,
    pub of: Type,
}

#[derive(Debug)]
pub struct Exception {
    /// Its struct.
    pub data: Struct,
    /// `Radar::Refused`.
    pub scoped_name: String,
    pub repository_id: String,
}

#[derive(Debug)]
pub struct Enum {
    pub docs: Documentation,
    pub name: String,
    pub enumerators: Vec<Enumerator>,
}

#[derive(Debug)]
pub struct Enumerator {
    pub docs: Documentation,
    pub name: String,
}

#[derive(Debug)]
pub struct Union {
    pub docs: Documentation,
    pub id: TypeId,
    pub discriminator: Type,
    pub cases: Vec<Case>,
    /// The variant for discriminators that select nothing, if there are such.
    pub no_member: Option<String>,
}

#[derive(Debug)]
pub struct Case {
    pub docs: Documentation,
    pub variant: String,
    pub of: Type,
    /// Its labels without `default`.
    pub labels: Vec<Value>,
    pub is_default: bool,
}

impl Case {
    /// Whether the variant must say which of its discriminators it has.
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

/// A constant's or label's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Boolean(bool),
    Char(char),
    Integer(i128),
    Single(f32),
    Double(f64),
    /// A `long double`, by its bits.
    LongDouble(u128),
    String(String),
    /// The enum and the variant.
    Enumerator(TypeId, String),
}

#[derive(Debug)]
pub struct Interface {
    pub docs: Documentation,
    /// The reference type.
    pub reference: TypeId,
    /// The Rust modules around it, outermost first.
    pub module: Vec<String>,
    /// The trait.
    pub name: String,
    /// The module for what is declared inside.
    pub scope: String,
    pub scoped_name: String,
    pub repository_id: String,
    /// Those it names itself.
    pub bases: Vec<InterfaceId>,
    /// All, each after those it inherits from, none twice.
    pub all_bases: Vec<InterfaceId>,
    /// Those declared in it; attributes are operations here.
    pub operations: Vec<Operation>,
    /// Methods of its `Ref`: what it inherits, then its own.
    pub methods: Vec<Method>,
    /// Declared inside it.
    pub items: Vec<Item>,
}

/// A method of a `Ref`.
#[derive(Debug)]
pub struct Method {
    pub declared_in: InterfaceId,
    pub operation: usize,
    pub name: String,
    pub into_name: String,
    /// The same without waiting; not for what is oneway.
    pub async_name: String,
}

#[derive(Debug)]
pub struct Operation {
    pub docs: Documentation,
    /// On the wire.
    pub wire_name: String,
    /// The method of the servant's trait.
    pub name: String,
    /// The same for results in existing memory.
    pub into_name: String,
    pub oneway: bool,
    /// It has a `context` clause: requests end with a sequence of names and values, ours with an empty one.
    pub has_context: bool,
    pub returns: Option<Type>,
    pub parameters: Vec<Parameter>,
    /// The exceptions with their variants; empty: fails with system exceptions only.
    pub raises: Vec<(TypeId, String)>,
    /// The enum of what it fails with, where `raises` is not empty; in the interface's own module.
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

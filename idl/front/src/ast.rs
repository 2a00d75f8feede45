//! The syntax tree, as parsed, without resolved names.

use std::rc::Rc;

use crate::hir::{Direction, FixedValue, InterfaceFlavour, Type};
use crate::source::Span;

/// An identifier in a declaration or a use.
#[derive(Debug, Clone)]
pub(crate) struct Ident {
    pub name: Rc<str>,
    pub span: Span,
    /// The index of its token, to order it with pragmas.
    pub at: usize,
}

/// `a::b` or `::a::b`; at least one part.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub absolute: bool,
    pub parts: Vec<Ident>,
}

impl Name {
    pub fn span(&self) -> Span {
        match (self.parts.first(), self.parts.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => Span::default(),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub doc: String,
    pub kind: DefinitionKind,
}

impl Definition {
    /// The name that an import takes from elsewhere.
    pub fn imported(&self) -> Option<&str> {
        match &self.kind {
            DefinitionKind::Accepted {
                construct: "import",
                name,
            } => Some(&name.name),
            _ => None,
        }
    }

    /// The name of a definition that contains names, as imports name it.
    pub fn scope_name(&self) -> Option<&str> {
        let name = match &self.kind {
            DefinitionKind::Module { name, .. } | DefinitionKind::Exception { name, .. } => name,
            DefinitionKind::Interface(interface) => &interface.name,
            DefinitionKind::Value(value) => &value.name,
            DefinitionKind::Constructed(ty) => match &ty.kind {
                TypeKind::Struct(structure) => &structure.name,
                TypeKind::Union(union) => &union.name,
                _ => return None,
            },
            _ => return None,
        };
        Some(&name.name)
    }
}

/// A definition, or an element of the body of an interface or value type.
#[derive(Debug, Clone)]
pub(crate) enum DefinitionKind {
    Module {
        name: Ident,
        body: Body,
    },
    Interface(Interface),
    Value(Value),
    ValueBox {
        name: Ident,
        ty: TypeSpec,
    },
    Constant {
        name: Ident,
        ty: TypeSpec,
        value: Expr,
    },
    Typedef {
        annotations: Vec<Annotation>,
        ty: TypeSpec,
        declarators: Vec<Declarator>,
    },
    /// A struct, union or enum outside a declaration.
    Constructed(TypeSpec),
    ForwardStruct(Ident),
    ForwardUnion(Ident),
    Exception {
        name: Ident,
        members: Vec<Member>,
        end: usize,
    },
    Native(Ident),
    Operation(Operation),
    Attribute(Attribute),
    StateMember {
        public: bool,
        member: Member,
    },
    TypeId {
        name: Name,
        id: String,
        span: Span,
    },
    TypePrefix {
        name: Name,
        prefix: String,
        span: Span,
    },
    Accepted {
        construct: &'static str,
        name: Ident,
    },
}

/// Contents of braces, and the closing token.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub definitions: Vec<Definition>,
    pub end: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct Interface {
    pub name: Ident,
    pub flavour: InterfaceFlavour,
    pub bases: Vec<Name>,
    /// `None` for a forward declaration.
    pub body: Option<Body>,
}

#[derive(Debug, Clone)]
pub(crate) struct Value {
    pub name: Ident,
    pub is_abstract: bool,
    pub is_custom: bool,
    pub is_truncatable: bool,
    pub is_event: bool,
    pub bases: Vec<Name>,
    pub supports: Vec<Name>,
    /// `None` for a forward declaration.
    pub body: Option<Body>,
}

#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub name: Ident,
    pub oneway: bool,
    /// An initialiser of a value type.
    pub factory: bool,
    pub result: TypeSpec,
    pub parameters: Vec<Parameter>,
    pub raises: Vec<Name>,
    pub contexts: Vec<(String, Span)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub doc: String,
    pub name: Ident,
    pub direction: Direction,
    pub direction_span: Span,
    pub annotations: Vec<Annotation>,
    pub ty: TypeSpec,
}

#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    pub annotations: Vec<Annotation>,
    pub readonly: bool,
    pub ty: TypeSpec,
    /// Names without dimensions.
    pub declarators: Vec<Declarator>,
    pub get_raises: Vec<Name>,
    pub set_raises: Vec<Name>,
}

/// One member declaration, possibly of several members.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub doc: String,
    pub annotations: Vec<Annotation>,
    pub ty: TypeSpec,
    pub declarators: Vec<Declarator>,
}

/// The value of an annotation of a member, parameter, attribute or typedef; `@range` is a minimum and a
/// maximum.
#[derive(Debug, Clone)]
pub(crate) struct Annotation {
    pub kind: AnnotationKind,
    pub value: Expr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnnotationKind {
    Default,
    Min,
    Max,
}

/// A name and, for an array, its dimensions.
#[derive(Debug, Clone)]
pub(crate) struct Declarator {
    pub name: Ident,
    pub dims: Vec<Expr>,
    /// Comments above this one of several declarators, and those behind it.
    pub comments: Vec<Rc<str>>,
    pub has_comment_behind: bool,
}

impl Declarator {
    pub fn new(name: Ident, dims: Vec<Expr>) -> Self {
        Self {
            name,
            dims,
            comments: Vec::new(),
            has_comment_behind: false,
        }
    }

    /// Documentation: that of the whole declaration, and its own.
    pub fn doc(&self, of_declaration: &str) -> String {
        let mut doc = of_declaration.to_owned();
        for comment in &self.comments {
            let newline = if doc.is_empty() { "" } else { "\n" };
            doc.push_str(newline);
            doc.push_str(comment);
        }
        doc
    }
}

#[derive(Debug, Clone)]
pub(crate) struct TypeSpec {
    pub span: Span,
    pub kind: TypeKind,
}

#[derive(Debug, Clone)]
pub(crate) enum TypeKind {
    /// A type of one or more keywords.
    Basic(Type),
    String {
        wide: bool,
        bound: Option<Expr>,
    },
    /// Fixed-point type; `None` in the type of a constant.
    Fixed(Option<Box<(Expr, Expr)>>),
    Sequence {
        element: Box<TypeSpec>,
        bound: Option<Expr>,
    },
    Map {
        key: Box<TypeSpec>,
        value: Box<TypeSpec>,
        bound: Option<Expr>,
    },
    Named(Name),
    Struct(Struct),
    Union(Box<Union>),
    Enum(Enum),
    Bitmask(Bitmask),
    Bitset(Bitset),
}

#[derive(Debug, Clone)]
pub(crate) struct Struct {
    pub name: Ident,
    pub base: Option<Name>,
    pub members: Vec<Member>,
    pub end: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct Union {
    pub name: Ident,
    pub discriminator: TypeSpec,
    pub cases: Vec<Case>,
    pub end: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub labels: Vec<CaseLabel>,
    pub element: Member,
}

#[derive(Debug, Clone)]
pub(crate) enum CaseLabel {
    Value(Expr),
    Default(Span),
}

#[derive(Debug, Clone)]
pub(crate) struct Enum {
    pub name: Ident,
    pub enumerators: Vec<Listed>,
}

/// A name in a list: an enumerator, or a flag of a bitmask.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    pub name: Ident,
    pub doc: String,
    /// The annotation `@position`.
    pub position: Option<u32>,
}

#[derive(Debug, Clone)]
pub(crate) struct Bitmask {
    pub name: Ident,
    /// The annotation `@bit_bound`.
    pub bits: Option<u32>,
    pub flags: Vec<Listed>,
    pub end: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct Bitset {
    pub name: Ident,
    pub base: Option<Name>,
    pub fields: Vec<Bitfield>,
    pub end: usize,
}

/// One declaration of bit fields; without names, bits that are not used.
#[derive(Debug, Clone)]
pub(crate) struct Bitfield {
    pub doc: String,
    pub width: Expr,
    pub ty: Option<Box<TypeSpec>>,
    pub names: Vec<Ident>,
}

/// A constant expression in postfix order, so that neither evaluating nor dropping a long one recurses.
#[derive(Debug, Clone)]
pub(crate) struct Expr {
    pub steps: Vec<Step>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub span: Span,
    pub kind: StepKind,
}

#[derive(Debug, Clone)]
pub(crate) enum StepKind {
    Literal(Literal),
    Name(Name),
    /// `+`, `-` or `~`
    Unary(char),
    Binary(Operator),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    Xor,
    And,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Integer(u64),
    /// A number with a point or an exponent, as it is written: its type rounds it.
    Float(Rc<str>),
    Fixed(FixedValue),
    Char(char),
    WideChar(char),
    String(String),
    WideString(String),
    Boolean(bool),
    /// An error that the parser has reported.
    Malformed,
}

//! Building type codes.

use alloc::{borrow::Cow, string::String, vec::Vec};

use punctual_cdr::{Encode, Encoder, Endian, WChar};

use crate::{Kind, TypeCode, ValueModifier, kind::Parameters};

/// A member of a struct or exception: its name and type.
///
/// ```
/// # mod punctual { pub(crate) use punctual_any as any; }
/// use punctual::any::{Kind, Member, TypeCode};
///
/// let members: [Member<'_>; 2] = [("x", TypeCode::basic(Kind::Double)), ("name", TypeCode::string(0))];
/// let plot = TypeCode::structure("IDL:Plot:1.0", "Plot", members);
/// assert_eq!(plot.kind()?, Kind::Struct);
/// # Ok::<(), punctual_any::AnyError>(())
/// ```
pub type Member<'n> = (&'n str, TypeCode);

/// A member of a union: label, name and type. Labels of characters and enums are their numbers. The label of
/// the default member is ignored.
///
/// ```
/// # mod punctual { pub(crate) use punctual_any as any; }
/// use punctual::any::{Kind, TypeCode, UnionMember};
///
/// // union Reading switch (long) { case 1: double speed; default: string name; };
/// let members: [UnionMember<'_>; 2] =
///     [(1, "speed", TypeCode::basic(Kind::Double)), (0, "name", TypeCode::string(0))];
/// let long = TypeCode::basic(Kind::Long);
/// let reading = TypeCode::union("IDL:Reading:1.0", "Reading", long, Some(1), members);
/// assert_eq!(reading.kind()?, Kind::Union);
/// # Ok::<(), punctual_any::AnyError>(())
/// ```
pub type UnionMember<'n> = (i128, &'n str, TypeCode);

/// A member of a value type: its name and type, and whether it is public.
///
/// ```
/// # mod punctual { pub(crate) use punctual_any as any; }
/// use punctual::any::{Kind, TypeCode, ValueMember, ValueModifier};
///
/// // valuetype Node { public long id; private string secret; };
/// let members: [ValueMember<'_>; 2] =
///     [("id", TypeCode::basic(Kind::Long), true), ("secret", TypeCode::string(0), false)];
/// let node = TypeCode::value("IDL:Node:1.0", "Node", ValueModifier::None, None, members);
/// assert_eq!(node.kind()?, Kind::Value);
/// # Ok::<(), punctual_any::AnyError>(())
/// ```
pub type ValueMember<'n> = (&'n str, TypeCode, bool);

impl TypeCode {
    /// Creates the type code of a kind without parameters, such as `long`, of `string` and of `wstring`
    /// without bound, and of `Object`.
    ///
    /// # Panics
    /// If the kind has parameters.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_any as any; }
    /// use punctual::any::{Kind, TypeCode};
    ///
    /// assert_eq!(TypeCode::basic(Kind::LongLong).to_string(), "long long");
    /// ```
    pub fn basic(kind: Kind) -> Self {
        match kind {
            Kind::String => Self::string(0),
            Kind::WString => Self::wide_string(0),
            Kind::ObjRef => Self::interface("IDL:omg.org/CORBA/Object:1.0", "Object"),
            _ => {
                assert!(
                    kind.parameters() == Parameters::None,
                    "a type code of `{}` has parameters: use the function of its name",
                    kind.idl()
                );
                Self::closed(Writer::new(kind).octets)
            }
        }
    }

    /// Creates the type code of a string; bound 0 is none.
    pub fn string(bound: u32) -> Self {
        let mut writer = Writer::new(Kind::String);
        writer.number(bound);
        Self::closed(writer.octets)
    }

    /// Creates the type code of a wide string; bound 0 is none.
    pub fn wide_string(bound: u32) -> Self {
        let mut writer = Writer::new(Kind::WString);
        writer.number(bound);
        Self::closed(writer.octets)
    }

    /// Creates the type code of a `fixed`.
    pub fn fixed(digits: u16, scale: i16) -> Self {
        let mut writer = Writer::new(Kind::Fixed);
        writer.octets.extend(digits.to_le_bytes());
        writer.octets.extend(scale.to_le_bytes());
        Self::closed(writer.octets)
    }

    /// Creates the type code of a sequence; bound 0 is none.
    pub fn sequence(element: Self, bound: u32) -> Self {
        let mut writer = Writer::encapsulated(Kind::Sequence);
        writer.type_code(element);
        writer.number(bound);
        writer.finish("")
    }

    /// Creates the type code of an array of one dimension.
    pub fn array(element: Self, length: u32) -> Self {
        let mut writer = Writer::encapsulated(Kind::Array);
        writer.type_code(element);
        writer.number(length);
        writer.finish("")
    }

    /// Creates the type code of references to an interface.
    pub fn interface(id: &str, name: &str) -> Self {
        Writer::named(Kind::ObjRef, id, name).finish(id)
    }

    /// Creates the type code of an abstract interface: references to objects, or values.
    pub fn abstract_interface(id: &str, name: &str) -> Self {
        Writer::named(Kind::AbstractInterface, id, name).finish(id)
    }

    /// Creates the type code of a typedef.
    pub fn alias(id: &str, name: &str, aliased: Self) -> Self {
        let mut writer = Writer::named(Kind::Alias, id, name);
        writer.type_code(aliased);
        writer.finish(id)
    }

    /// Creates the type code of a struct.
    pub fn structure<'n>(id: &str, name: &str, members: impl IntoIterator<Item = Member<'n>>) -> Self {
        Self::with_members(Kind::Struct, id, name, members)
    }

    /// Creates the type code of an exception.
    pub fn exception<'n>(id: &str, name: &str, members: impl IntoIterator<Item = Member<'n>>) -> Self {
        Self::with_members(Kind::Except, id, name, members)
    }

    /// Creates the type code of an enum.
    pub fn enumeration<'n>(id: &str, name: &str, enumerators: impl IntoIterator<Item = &'n str>) -> Self {
        let mut writer = Writer::named(Kind::Enum, id, name);
        let count = writer.number(0);
        for name in enumerators {
            writer.text(name);
            writer.increment(count);
        }
        writer.finish(id)
    }

    /// Creates the type code of a union; `default` is the index of the member for all other discriminators.
    ///
    /// # Panics
    /// If the discriminator is of no integer type, character, boolean or enum.
    pub fn union<'n>(
        id: &str,
        name: &str,
        discriminator: Self,
        default: Option<usize>,
        members: impl IntoIterator<Item = UnionMember<'n>>,
    ) -> Self {
        let kind = discriminator.view().resolved().and_then(|code| code.kind());
        let size = match kind.expect("the discriminator is well formed") {
            Kind::Enum => 4,
            Kind::WChar => WIDE_LABEL,
            kind => kind.number_size().expect("the discriminator is discrete"),
        };
        let mut writer = Writer::named(Kind::Union, id, name);
        writer.type_code(discriminator);
        let default = default.and_then(|index| i32::try_from(index).ok());
        writer.number(default.unwrap_or(-1) as u32);
        let count = writer.number(0);
        for (index, (label, name, of)) in members.into_iter().enumerate() {
            let is_default = default == i32::try_from(index).ok();
            writer.label(if is_default { 0 } else { label }, size);
            writer.text(name);
            writer.type_code(of);
            writer.increment(count);
        }
        writer.finish(id)
    }

    /// Creates the type code of a value type from its concrete base, and names, types and visibility of its
    /// own members.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_any as any; }
    /// use punctual::any::{Kind, TypeCode, ValueModifier};
    ///
    /// let id = ("id", TypeCode::basic(Kind::Long), true);
    /// let node = TypeCode::value("IDL:Node:1.0", "Node", ValueModifier::None, None, [id]);
    /// assert_eq!(node.kind()?, Kind::Value);
    /// # Ok::<(), punctual_any::AnyError>(())
    /// ```
    pub fn value<'n>(
        id: &str,
        name: &str,
        modifier: ValueModifier,
        base: Option<Self>,
        members: impl IntoIterator<Item = ValueMember<'n>>,
    ) -> Self {
        Self::with_state(Kind::Value, id, name, modifier, base, members)
    }

    /// Creates the type code of an event type, as [`Self::value`] does that of a value type.
    pub fn event<'n>(
        id: &str,
        name: &str,
        modifier: ValueModifier,
        base: Option<Self>,
        members: impl IntoIterator<Item = ValueMember<'n>>,
    ) -> Self {
        Self::with_state(Kind::Event, id, name, modifier, base, members)
    }

    pub(crate) fn with_state<'n>(
        kind: Kind,
        id: &str,
        name: &str,
        modifier: ValueModifier,
        base: Option<Self>,
        members: impl IntoIterator<Item = ValueMember<'n>>,
    ) -> Self {
        let mut writer = Writer::named(kind, id, name);
        writer.short(modifier as i16);
        writer.type_code(base.unwrap_or_default());
        let count = writer.number(0);
        for (name, of, is_public) in members {
            writer.text(name);
            writer.type_code(of);
            writer.short(is_public.into());
            writer.increment(count);
        }
        writer.finish(id)
    }

    /// Creates the type code of a boxed value type.
    pub fn value_box(id: &str, name: &str, content: Self) -> Self {
        let mut writer = Writer::named(Kind::ValueBox, id, name);
        writer.type_code(content);
        writer.finish(id)
    }

    /// Creates a reference to the struct, union or value type with this id, in which it will be placed: the
    /// description of a recursive type.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_any as any; }
    /// use punctual::any::TypeCode;
    ///
    /// let children = TypeCode::sequence(TypeCode::recursive("IDL:Node:1.0"), 0);
    /// let node = TypeCode::structure("IDL:Node:1.0", "Node", [("children", children)]);
    /// assert_eq!(node.to_string(), "struct Node { sequence<Node> children; }");
    /// ```
    pub fn recursive(id: &str) -> Self {
        let mut octets = Vec::from([0xff; 4]);
        octets.extend([0; 4]);
        Self {
            octets: Cow::Owned(octets),
            open: Vec::from([(4, String::from(id))]),
        }
    }

    fn with_members<'n>(
        kind: Kind,
        id: &str,
        name: &str,
        members: impl IntoIterator<Item = Member<'n>>,
    ) -> Self {
        let mut writer = Writer::named(kind, id, name);
        let count = writer.number(0);
        for (name, of) in members {
            writer.text(name);
            writer.type_code(of);
            writer.increment(count);
        }
        writer.finish(id)
    }

    pub(crate) fn closed(octets: Vec<u8>) -> Self {
        Self {
            octets: Cow::Owned(octets),
            open: Vec::new(),
        }
    }
}

/// Stands for the size of a label that is a `wchar`.
const WIDE_LABEL: usize = 0;

/// The encoded form of one type code, little-endian.
pub(crate) struct Writer {
    pub(crate) octets: Vec<u8>,
    /// Nested sequences, as in [`TypeCode`].
    open: Vec<(usize, String)>,
}

/// Offset of the encapsulation in a type code: behind kind and length.
const ENCAPSULATION: usize = 8;

impl Writer {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            octets: Vec::from((kind as u32).to_le_bytes()),
            open: Vec::new(),
        }
    }

    pub(crate) fn encapsulated(kind: Kind) -> Self {
        let mut writer = Self::new(kind);
        writer.octets.extend([0, 0, 0, 0, 1]);
        writer
    }

    pub(crate) fn named(kind: Kind, id: &str, name: &str) -> Self {
        let mut writer = Self::encapsulated(kind);
        writer.text(id);
        writer.text(name);
        writer
    }

    /// Alignment counts from the encapsulation, which begins at a multiple of 8 octets.
    fn align(&mut self, alignment: usize) {
        let aligned = self.octets.len().next_multiple_of(alignment);
        self.octets.resize(aligned, 0);
    }

    /// Appends a number and returns its offset.
    pub(crate) fn number(&mut self, number: u32) -> usize {
        self.align(4);
        self.octets.extend(number.to_le_bytes());
        self.octets.len() - 4
    }

    pub(crate) fn short(&mut self, number: i16) {
        self.align(2);
        self.octets.extend(number.to_le_bytes());
    }

    fn label(&mut self, label: i128, size: usize) {
        if size == WIDE_LABEL {
            let character = u32::try_from(label)
                .ok()
                .and_then(char::from_u32)
                .unwrap_or_default();
            let mut octets = Vec::new();
            let written = WChar(character).encode(&mut Encoder::new(&mut octets, Endian::Little));
            written.expect("a character has a wide form");
            return self.octets.extend(octets);
        }
        self.align(size);
        self.octets.extend(&label.to_le_bytes()[..size]);
    }

    pub(crate) fn increment(&mut self, at: usize) {
        let octets: [u8; 4] = self.octets[at..at + 4].try_into().expect("four octets");
        self.octets[at..at + 4].copy_from_slice(&(u32::from_le_bytes(octets) + 1).to_le_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u32 + 1);
        self.octets.extend(text.as_bytes());
        self.octets.push(0);
    }

    pub(crate) fn type_code(&mut self, code: TypeCode) {
        self.align(4);
        let at = self.octets.len();
        self.octets.extend(&*code.octets);
        self.open
            .extend(code.open.into_iter().map(|(offset, id)| (at + offset, id)));
    }

    /// Completes the type code with this id, which those inside may refer to.
    pub(crate) fn finish(mut self, id: &str) -> TypeCode {
        let length = (self.octets.len() - ENCAPSULATION) as u32;
        self.octets[4..8].copy_from_slice(&length.to_le_bytes());
        let octets = &mut self.octets;
        self.open.retain(|(offset, enclosing)| {
            if id.is_empty() || enclosing != id {
                return true;
            }
            let back = -(*offset as i32);
            octets[*offset..*offset + 4].copy_from_slice(&back.to_le_bytes());
            false
        });
        TypeCode {
            octets: Cow::Owned(self.octets),
            open: self.open,
        }
    }
}

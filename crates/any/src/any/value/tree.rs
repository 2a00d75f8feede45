//! Building and changing a tree of values: the operations of `DynamicAny::DynAny`.
//!
//! Source: CORBA 3.3 part 1, 16 "Management of Dynamic Any Values".

use alloc::{boxed::Box, string::String, vec::Vec};

use punctual_cdr::{CdrError, CdrErrorKind, Decoder, Endian, Ior, LongDouble};

use super::{Value, write::chosen_label};
use crate::{Any, AnyError, Kind, TypeCode, TypeCodeView, type_code::MAX_DEPTH};

impl Value {
    /// Creates the initial value of a type: numbers are 0, texts and sequences empty, references nil, values
    /// of value types null, enums their first value, and unions have their first member.
    ///
    /// # Errors
    /// The type code is malformed, or describes more than 64 MiB.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_any as any; }
    /// use punctual::any::{Any, Kind, TypeCode, Value};
    ///
    /// let point = TypeCode::structure("IDL:Point:1.0", "Point", [("x", TypeCode::basic(Kind::Long))]);
    /// let line = TypeCode::array(point, 2);
    /// let mut value = Value::initial(&line)?;
    /// *value.seek_mut("1.x").expect("an x") = 7.into();
    /// let any = Any::from_value(line, &value)?;
    /// assert_eq!(any.value()?.seek("1.x"), Some(&Value::Long(7)));
    /// assert_eq!(any.value()?.seek("0.x"), Some(&Value::Long(0)));
    /// # Ok::<(), punctual_any::AnyError>(())
    /// ```
    pub fn initial(code: &TypeCode) -> Result<Self, AnyError> {
        Ok(Initial::default().value(&code.view(), 0)?)
    }

    /// Creates the value of an enum by its name: `DynEnum::set_as_string`.
    ///
    /// # Errors
    /// The type is no enum, or does not have the name.
    pub fn enumerator(code: &TypeCode, name: &str) -> Result<Self, AnyError> {
        for (ordinal, of_type) in code.view().resolved()?.enumerators()?.enumerate() {
            if of_type? == name {
                return Ok(Self::Enum(ordinal as u32, name.into()));
            }
        }
        Err(AnyError::NotOfType(Kind::Enum))
    }

    /// Creates a union with this discriminator and the initial value of the member that it selects:
    /// `DynUnion::set_discriminator`.
    ///
    /// # Errors
    /// The type is no union, or has another discriminator.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_any as any; }
    /// use punctual::any::{Kind, TypeCode, Value};
    ///
    /// let members = [(1, "speed", TypeCode::basic(Kind::Double)), (2, "name", TypeCode::string(0))];
    /// let report = TypeCode::union("IDL:R:1.0", "R", TypeCode::basic(Kind::Short), None, members);
    /// let value = Value::union(&report, 2_i16.into())?;
    /// assert_eq!(value.seek("name"), Some(&Value::String(String::new())));
    /// assert_eq!(Value::union(&report, 3_i16.into())?.component(1), None, "no member");
    /// # Ok::<(), punctual_any::AnyError>(())
    /// ```
    pub fn union(code: &TypeCode, discriminator: Self) -> Result<Self, AnyError> {
        let mut union = code.view().resolved()?.union()?;
        let label = chosen_label(&discriminator, &union, Endian::NATIVE, 0)?;
        let member = match union.select(label)?.member {
            Some((name, of)) => {
                let value = Initial::default().value(&of, 1)?;
                Some((String::from(name.read()?), Box::new(value)))
            }
            None => None,
        };
        Ok(Self::Union(Box::new(discriminator), member))
    }

    /// Returns a component: a member of a struct, exception or value type, an element, the discriminator (0)
    /// or the member (1) of a union. Octets of a sequence are not components: see [`Value::Octets`].
    pub fn component(&self, index: usize) -> Option<&Self> {
        match self {
            Self::Struct(members) => members.get(index).map(|(_, value)| value),
            Self::ValueType(object) => object.members().get(index).map(|(_, value)| value),
            Self::Sequence(elements) => elements.get(index),
            Self::Union(selector, _) if index == 0 => Some(selector),
            Self::Union(_, Some((_, value))) if index == 1 => Some(value),
            _ => None,
        }
    }

    /// Lends a component, as [`Self::component`], to change it. Members of a value that is elsewhere, too,
    /// are not lent.
    pub fn component_mut(&mut self, index: usize) -> Option<&mut Self> {
        match self {
            Self::Struct(members) => members.get_mut(index).map(|(_, value)| value),
            Self::ValueType(object) => object.members_mut()?.get_mut(index).map(|(_, value)| value),
            Self::Sequence(elements) => elements.get_mut(index),
            Self::Union(selector, _) if index == 0 => Some(selector),
            Self::Union(_, Some((_, value))) if index == 1 => Some(value),
            _ => None,
        }
    }

    /// Returns the part with this path: names of members and indices of components, such as `"tracks.3.x"`.
    pub fn seek(&self, path: &str) -> Option<&Self> {
        let mut parts = path.split('.');
        parts.try_fold(self, |value, part| value.component(value.index(part)?))
    }

    /// Lends the part with this path, as [`Self::seek`], to change it. Whether the tree still is of its type
    /// is checked when it becomes an [`Any`].
    pub fn seek_mut(&mut self, path: &str) -> Option<&mut Self> {
        path.split('.').try_fold(self, |value, part| {
            let index = value.index(part)?;
            value.component_mut(index)
        })
    }

    fn index(&self, part: &str) -> Option<usize> {
        let named = |members: &[(String, Self)]| members.iter().position(|(name, _)| name == part);
        match self {
            Self::Struct(members) => named(members).or_else(|| part.parse().ok()),
            Self::ValueType(object) => named(object.members()).or_else(|| part.parse().ok()),
            Self::Union(_, Some((name, _))) if name == part => Some(1),
            _ => part.parse().ok(),
        }
    }
}

/// Creates initial values of bounded size: a type code of few octets may describe many.
struct Initial {
    /// Octets that values and names may still take.
    left: usize,
}

impl Default for Initial {
    fn default() -> Self {
        Self {
            left: Decoder::DEFAULT_DECODED_LIMIT,
        }
    }
}

impl Initial {
    fn value(&mut self, code: &TypeCodeView<'_>, depth: u16) -> Result<Value, CdrError> {
        if depth > MAX_DEPTH {
            return Err(code.error(CdrErrorKind::NestingTooDeep));
        }
        self.take(size_of::<Value>(), code)?;
        Ok(match code.kind()? {
            Kind::String => Value::String(String::new()),
            Kind::WString => Value::WString(String::new()),
            Kind::LongDouble => Value::LongDouble(LongDouble::default()),
            Kind::Fixed => Value::Fixed(0, code.digits_and_scale()?.1),
            Kind::Alias => self.value(&code.content()?, depth + 1)?,
            Kind::Struct | Kind::Except => {
                let mut members = Vec::new();
                for member in code.members()? {
                    let (name, of) = member?;
                    members.push((self.name(name, code)?, self.value(&of, depth + 1)?));
                }
                Value::Struct(members)
            }
            Kind::Union => self.union(code, depth)?,
            kind @ (Kind::Sequence | Kind::Array) => {
                let count = if kind == Kind::Array { code.length()? } else { 0 };
                self.elements(count, code, depth)?
            }
            Kind::AbstractInterface | Kind::Value | Kind::ValueBox | Kind::Event => Value::None,
            Kind::Any => Value::Any(Any::default()),
            Kind::TypeCode => Value::TypeCode(TypeCode::default()),
            Kind::ObjRef | Kind::Component | Kind::Home => Value::Reference(Ior::default()),
            _ => self.number(0, code)?,
        })
    }

    fn elements(&mut self, count: u32, code: &TypeCodeView<'_>, depth: u16) -> Result<Value, CdrError> {
        let element = code.content()?.resolved()?;
        if element.kind()? == Kind::Octet {
            self.take(count as usize, code)?;
            return Ok(Value::Octets(alloc::vec![0; count as usize]));
        }
        let elements: Result<_, _> = (0..count).map(|_| self.value(&element, depth + 1)).collect();
        Ok(Value::Sequence(elements?))
    }

    /// Returns a union with its first member that has a label.
    fn union(&mut self, code: &TypeCodeView<'_>, depth: u16) -> Result<Value, CdrError> {
        let mut union = code.union()?;
        let (discriminator, default) = (union.discriminator.resolved()?, union.default);
        let mut label = 0;
        for index in 0..union.members.min(2) {
            let (of_member, ..) = union.next()?;
            if default != Some(index) {
                label = of_member;
                break;
            }
        }
        let selector = self.number(label, &discriminator)?;
        let member = match code.union()?.select(label)?.member {
            Some((name, of)) => {
                let name = self.name(name.read()?, code)?;
                Some((name, Box::new(self.value(&of, depth + 1)?)))
            }
            None => None,
        };
        Ok(Value::Union(Box::new(selector), member))
    }

    /// Returns a value of a type without parts, or of an enum.
    fn number(&mut self, number: i128, code: &TypeCodeView<'_>) -> Result<Value, CdrError> {
        let character = || char::from_u32(number as u32).ok_or_else(|| code.invalid());
        Ok(match code.kind()? {
            Kind::Null | Kind::Void => Value::None,
            Kind::Boolean => Value::Boolean(number != 0),
            Kind::Char => Value::Char(character()?),
            Kind::WChar => Value::WChar(character()?),
            Kind::Octet => Value::Octet(number as u8),
            Kind::Short => Value::Short(number as i16),
            Kind::UShort => Value::UShort(number as u16),
            Kind::Long => Value::Long(number as i32),
            Kind::ULong => Value::ULong(number as u32),
            Kind::LongLong => Value::LongLong(number as i64),
            Kind::ULongLong => Value::ULongLong(number as u64),
            Kind::Float => Value::Float(number as f32),
            Kind::Double => Value::Double(number as f64),
            Kind::Enum => {
                let ordinal = u32::try_from(number).map_err(|_| code.invalid())?;
                // The names that are passed over count as memory, which bounds them.
                self.take(ordinal as usize, code)?;
                let name = code.unread_enumerators()?.nth(ordinal as usize);
                let name = name.ok_or_else(|| code.error(CdrErrorKind::EnumOutOfRange))??;
                Value::Enum(ordinal, self.name(name.read()?, code)?)
            }
            _ => return Err(code.error(CdrErrorKind::TypeUnsupported)),
        })
    }

    fn name(&mut self, name: &str, code: &TypeCodeView<'_>) -> Result<String, CdrError> {
        self.take(name.len(), code)?;
        Ok(name.into())
    }

    fn take(&mut self, octets: usize, code: &TypeCodeView<'_>) -> Result<(), CdrError> {
        let left = self.left.checked_sub(octets);
        self.left = left.ok_or_else(|| code.error(CdrErrorKind::DecodedTooLarge))?;
        Ok(())
    }
}

macro_rules! from {
    ($($type:ty => $variant:ident),+ $(,)?) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        })+
    };
}

from! {
    bool => Boolean, char => Char, u8 => Octet, i16 => Short, u16 => UShort, i32 => Long, u32 => ULong,
    i64 => LongLong, u64 => ULongLong, f32 => Float, f64 => Double, String => String, &str => String,
    Any => Any, TypeCode => TypeCode, Ior => Reference,
}

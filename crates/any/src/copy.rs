//! Copies of type codes: whole ones, parts of others, and compact ones.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use punctual_cdr::{CdrError, CdrErrorKind, Decode};

use crate::{
    Kind, TypeCode, TypeCodeView,
    build::Writer,
    kind::Parameters,
    type_code::{ENUMERATORS_PER_STEP, MAX_DEPTH, NAME_OCTETS_PER_STEP},
};

impl TypeCodeView<'_> {
    /// Copies it, so that it outlives the message.
    ///
    /// # Errors
    /// [`CdrErrorKind::TypeCodeInvalid`]: it is malformed; [`CdrErrorKind::NestingTooDeep`]: it is too
    /// complex.
    pub fn to_owned(&self) -> Result<TypeCode, CdrError> {
        let Some(octets) = self.whole() else {
            return Rebuild::new(Names::Kept, self).type_code(self);
        };
        if octets.len() > 8 || self.kind()?.parameters() == Parameters::Encapsulation {
            let mut copy = Writer::new(self.kind()?).octets;
            let parameters = octets.get(8..).ok_or_else(|| self.invalid())?;
            copy.extend((parameters.len() as u32).to_le_bytes());
            copy.extend(parameters);
            return Ok(TypeCode::closed(copy));
        }
        Rebuild::new(Names::Kept, self).type_code(self)
    }

    /// Returns a copy without the names of types and members: what differs in two compact type codes makes
    /// the types different.
    ///
    /// # Errors
    /// Like [`Self::to_owned`].
    pub fn compact(&self) -> Result<TypeCode, CdrError> {
        Rebuild::new(Names::Removed, self).type_code(self)
    }

    /// Returns a copy that is four octets longer or shorter, if a type in it has a name: the outermost one
    /// gets four underscores, or loses them. It is equivalent, and what follows it is aligned differently.
    pub(crate) fn shifted(&self) -> Result<TypeCode, CdrError> {
        Rebuild::new(Names::Shifted, self).type_code(self)
    }
}

/// A copy part by part, for a type code that may refer to enclosing ones.
struct Rebuild {
    names: Names,
    /// Places and ids of the types around the one that is being copied, to which it may refer.
    enclosing: Vec<((usize, usize), String)>,
    depth: u16,
    /// Type codes and parts of names that may still be copied: a type code that refers to parts many times is
    /// larger than its octets.
    left: usize,
}

/// Treatment of the names in a type code.
#[derive(PartialEq)]
enum Names {
    Kept,
    Removed,
    /// The next one is by four octets longer or shorter.
    Shifted,
}

/// Added to a name, it moves by four octets what follows.
const LONGER: &str = "____";

impl Rebuild {
    fn new(names: Names, code: &TypeCodeView<'_>) -> Self {
        Self {
            names,
            enclosing: Vec::new(),
            depth: 0,
            left: 10_000 + code.size() / NAME_OCTETS_PER_STEP,
        }
    }

    fn count(&mut self, steps: usize, code: &TypeCodeView<'_>) -> Result<(), CdrError> {
        self.left = self.left.saturating_sub(steps);
        match self.left {
            0 => Err(code.error(CdrErrorKind::NestingTooDeep)),
            _ => Ok(()),
        }
    }

    fn type_code(&mut self, code: &TypeCodeView<'_>) -> Result<TypeCode, CdrError> {
        self.count(1, code)?;
        if let Some((_, id)) = self.enclosing.iter().find(|(place, _)| *place == code.place()) {
            return Ok(TypeCode::recursive(id));
        }
        if self.depth > MAX_DEPTH {
            return Err(code.error(CdrErrorKind::NestingTooDeep));
        }
        let kind = code.kind()?;
        match kind.parameters() {
            Parameters::None => return Ok(TypeCode::basic(kind)),
            Parameters::Bound if kind == Kind::String => return Ok(TypeCode::string(code.length()?)),
            Parameters::Bound => return Ok(TypeCode::wide_string(code.length()?)),
            Parameters::Fixed => {
                let (digits, scale) = code.digits_and_scale()?;
                return Ok(TypeCode::fixed(digits, scale));
            }
            Parameters::Encapsulation => {}
        }
        self.depth += 1;
        let copy = if matches!(
            kind,
            Kind::Struct | Kind::Union | Kind::Value | Kind::ValueBox | Kind::Event
        ) {
            let id = code.id()?;
            self.count(id.len() / NAME_OCTETS_PER_STEP, code)?;
            self.enclosing.push((code.place(), String::from(id)));
            let copy = self.complex(kind, id, code);
            self.enclosing.pop();
            copy
        } else {
            self.complex(kind, "", code)
        };
        self.depth -= 1;
        copy
    }

    fn complex(&mut self, kind: Kind, id: &str, code: &TypeCodeView<'_>) -> Result<TypeCode, CdrError> {
        let mut writer = match kind {
            Kind::Sequence | Kind::Array => Writer::encapsulated(kind),
            _ => {
                let (id, name) = (code.id()?, self.name(code.name()?, code)?);
                self.count(id.len() / NAME_OCTETS_PER_STEP, code)?;
                let name = self.shift(name);
                if kind == Kind::Union {
                    return self.union(id, &name, code);
                }
                Writer::named(kind, id, &name)
            }
        };
        match kind {
            Kind::Sequence | Kind::Array => {
                writer.type_code(self.type_code(&code.content()?)?);
                writer.number(code.length()?);
            }
            Kind::Alias | Kind::ValueBox => writer.type_code(self.type_code(&code.content()?)?),
            Kind::Struct | Kind::Except => {
                let count = writer.number(0);
                for member in code.members()? {
                    let (name, of) = member?;
                    writer.text(self.name(name, code)?);
                    writer.type_code(self.type_code(&of)?);
                    writer.increment(count);
                }
            }
            Kind::Enum => {
                let names = code.enumerators()?;
                self.count(names.len() / ENUMERATORS_PER_STEP + 1, code)?;
                writer.number(names.len() as u32);
                for name in names {
                    writer.text(self.name(name?, code)?);
                }
            }
            Kind::Value | Kind::Event => self.value(&mut writer, code)?,
            // An id and a name.
            _ => {}
        }
        Ok(writer.finish(id))
    }

    fn union(&mut self, id: &str, name: &str, code: &TypeCodeView<'_>) -> Result<TypeCode, CdrError> {
        let mut union = code.union()?;
        let discriminator = self.type_code(&union.discriminator)?;
        let mut members = Vec::new();
        for _ in 0..union.members {
            let (label, name, of) = union.next()?;
            members.push((label, self.name(name, code)?, self.type_code(&of)?));
        }
        Ok(TypeCode::union(id, name, discriminator, union.default, members))
    }

    fn value(&mut self, writer: &mut Writer, code: &TypeCodeView<'_>) -> Result<(), CdrError> {
        let mut parameters = code.named_parameters()?;
        writer.short(i16::decode(&mut parameters.decoder)?);
        writer.type_code(self.type_code(&parameters.type_code()?)?);
        let members = parameters.decoder.length(9)?;
        writer.number(members as u32);
        for _ in 0..members {
            let name = parameters.text()?;
            writer.text(self.name(name, code)?);
            writer.type_code(self.type_code(&parameters.type_code()?)?);
            writer.short(i16::decode(&mut parameters.decoder)?);
        }
        Ok(())
    }

    fn name<'n>(&mut self, name: &'n str, code: &TypeCodeView<'_>) -> Result<&'n str, CdrError> {
        let name = if self.names == Names::Removed { "" } else { name };
        self.count(name.len() / NAME_OCTETS_PER_STEP, code)?;
        Ok(name)
    }

    /// The name of a type, which is by four octets longer or shorter if that is still to be done. A name
    /// begins with a letter: JacORB examines that.
    fn shift<'n>(&mut self, name: &'n str) -> Cow<'n, str> {
        if self.names != Names::Shifted {
            return name.into();
        }
        self.names = Names::Kept;
        match name.strip_suffix(LONGER) {
            Some(shorter) if !shorter.is_empty() => shorter.into(),
            _ if name.is_empty() => "T___".into(),
            _ => format!("{name}{LONGER}").into(),
        }
    }
}

//! Type codes of rustorb from IDL.

use std::error::Error;

use punctual_idl::{
    Specification,
    hir::{ConstantValue, DefinitionId, DefinitionKind, InterfaceFlavour, Member, Type},
};
use rustorb_core::{TCKind, TypeCode, register_value_type};

type Built<T> = Result<T, Box<dyn Error>>;

/// Builds type codes.
pub struct Types<'i> {
    idl: &'i Specification,
    /// Types whose type codes are being built: those inside refer to them.
    enclosing: Vec<DefinitionId>,
}

impl<'i> Types<'i> {
    pub fn new(idl: &'i Specification) -> Self {
        Self {
            idl,
            enclosing: Vec::new(),
        }
    }

    /// Lets the ORB know all value types.
    pub fn register_values(&mut self) -> Built<()> {
        for definition in &self.idl.definitions {
            if let DefinitionKind::ValueType(_) | DefinitionKind::ValueBox(_) = definition.kind {
                register_value_type(&self.of_definition(definition.id)?);
            }
        }
        Ok(())
    }

    /// Builds the type codes of these definitions.
    pub fn all(&mut self, ids: &[DefinitionId]) -> Built<Vec<TypeCode>> {
        ids.iter().map(|id| self.of_definition(*id)).collect()
    }

    /// That of a type.
    pub fn of(&mut self, ty: &Type) -> Built<TypeCode> {
        let simple = |kind| Ok(TypeCode::simple(kind)?);
        match ty {
            Type::Void => simple(TCKind::Void),
            Type::Boolean => simple(TCKind::Boolean),
            Type::Char => simple(TCKind::Char),
            Type::WChar => simple(TCKind::WChar),
            Type::Octet => simple(TCKind::Octet),
            Type::Short => simple(TCKind::Short),
            Type::UShort => simple(TCKind::UShort),
            Type::Long => simple(TCKind::Long),
            Type::ULong => simple(TCKind::ULong),
            Type::LongLong => simple(TCKind::LongLong),
            Type::ULongLong => simple(TCKind::ULongLong),
            Type::Float => simple(TCKind::Float),
            Type::Double => simple(TCKind::Double),
            Type::LongDouble => simple(TCKind::LongDouble),
            Type::Any => simple(TCKind::Any),
            Type::Object => Ok(TypeCode::object()),
            Type::String { bound } => Ok(TypeCode::string(bound.unwrap_or(0))),
            Type::WString { bound } => Ok(TypeCode::wstring(bound.unwrap_or(0))),
            Type::Fixed { digits, scale } => Ok(TypeCode::fixed((*digits).into(), (*scale).into())?),
            Type::Sequence { element, bound } => {
                Ok(TypeCode::sequence(&self.of(element)?, bound.unwrap_or(0))?)
            }
            Type::Array { element, dims } => {
                let mut code = self.of(element)?;
                for length in dims.iter().rev() {
                    code = TypeCode::array(&code, *length)?;
                }
                Ok(code)
            }
            Type::ValueBase => {
                let id = "IDL:omg.org/CORBA/ValueBase:1.0";
                Ok(TypeCode::value_tc(
                    TCKind::Value,
                    id,
                    "ValueBase",
                    0,
                    None,
                    &[] as &[(&str, TypeCode, i16)],
                )?)
            }
            Type::Ref(id) if self.idl.is_type_code(&self.idl[*id]) => simple(TCKind::TypeCode),
            Type::Ref(id) => self.of_definition(*id),
            other => Err(format!("the IDL of the tests has no {other:?}").into()),
        }
    }

    fn of_definition(&mut self, id: DefinitionId) -> Built<TypeCode> {
        let definition = &self.idl[id];
        let (repository_id, name) = (&definition.repository_id[..], &definition.name[..]);
        if self.enclosing.contains(&id) {
            return Ok(TypeCode::recursive(repository_id));
        }
        self.enclosing.push(id);
        let code = match &definition.kind {
            DefinitionKind::Typedef(item) => TypeCode::alias(repository_id, name, &self.of(&item.target)?)?,
            DefinitionKind::Struct(item) => {
                TypeCode::struct_tc(repository_id, name, &self.members(&item.members)?)?
            }
            DefinitionKind::Exception(item) => {
                TypeCode::exception(repository_id, name, &self.members(&item.members)?)?
            }
            DefinitionKind::Enum(item) => {
                let names: Vec<&str> = item.enumerators.iter().map(|item| &item.name[..]).collect();
                TypeCode::enum_tc(repository_id, name, &names)?
            }
            DefinitionKind::Union(item) => {
                let discriminator = self.of(&item.discriminator)?;
                let mut members = Vec::new();
                for case in &item.cases {
                    let of = self.of(&case.member.ty)?;
                    let labels = case.labels.iter().map(ConstantValue::as_label);
                    let default = case.is_default.then_some(None);
                    let labels = labels.chain(default);
                    members.extend(labels.map(|label| (label, &case.member.name[..], of.clone())));
                }
                TypeCode::union_tc(repository_id, name, &discriminator, &members)?
            }
            DefinitionKind::Interface(item) => {
                let kind = match item.flavour {
                    InterfaceFlavour::Plain => TCKind::Objref,
                    InterfaceFlavour::Abstract => TCKind::AbstractInterface,
                    InterfaceFlavour::Local => TCKind::LocalInterface,
                };
                TypeCode::interface(kind, repository_id, name)?
            }
            DefinitionKind::ValueBox(item) => {
                TypeCode::value_box(repository_id, name, &self.of(&item.content)?)?
            }
            DefinitionKind::ValueType(item) => {
                let modifier = match item {
                    _ if item.is_custom => 1,
                    _ if item.is_abstract => 2,
                    _ if item.is_truncatable => 3,
                    _ => 0,
                };
                let base = item
                    .bases
                    .first()
                    .map(|base| self.of_definition(*base))
                    .transpose()?;
                let mut members = Vec::new();
                for (is_public, member) in &item.state {
                    members.push((&member.name[..], self.of(&member.ty)?, i16::from(*is_public)));
                }
                TypeCode::value_tc(
                    TCKind::Value,
                    repository_id,
                    name,
                    modifier,
                    base.as_ref(),
                    &members,
                )?
            }
            _ => return Err(format!("`{name}` is no type whose values can be sent").into()),
        };
        self.enclosing.pop();
        Ok(code)
    }

    fn members<'m>(&mut self, members: &'m [Member]) -> Built<Vec<(&'m str, TypeCode)>> {
        let member = |member: &'m Member| Ok((&member.name[..], self.of(&member.ty)?));
        members.iter().map(member).collect()
    }
}

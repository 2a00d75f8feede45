//! Operations and types from IDL files.

use std::path::PathBuf;

use clap::Args;
use punctual::any::{Kind, TypeCode, ValueModifier};
use punctual_idl::{
    FileLoader, Options, Specification,
    hir::{Bitmask, Bitset, Case, DefinitionId, DefinitionKind, Direction, InterfaceFlavour, Member, Type},
};

use super::operation::{Mode, Operation, Parameter};
use crate::{arguments::macro_definition, diagnostics::rendered};

/// The IDL of a command, with settings of the preprocessor.
#[derive(Args, Debug)]
pub struct IdlFile {
    /// IDL file that declares the types
    #[arg(long = "idl", value_name = "FILE")]
    file: Option<PathBuf>,
    /// Search this folder for files that the IDL includes
    #[arg(short = 'I', long = "include-dir", value_name = "DIR")]
    include_dirs: Vec<PathBuf>,
    /// Define a macro of the IDL's preprocessor; the default value is 1
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = macro_definition)]
    defines: Vec<(String, String)>,
}

impl IdlFile {
    /// Reads the file and what it includes; errors go to standard error. `None`: no file is stated.
    ///
    /// # Errors
    /// There are errors in the IDL.
    pub fn read(&self) -> Result<Option<Specification>, String> {
        let Some(file) = &self.file else {
            return Ok(None);
        };
        let options = Options {
            include_dirs: self.include_dirs.clone(),
            defines: self.defines.clone(),
            ..Options::default()
        };
        let outcome = punctual_idl::compile(file, &options, &FileLoader::new());
        let specification = outcome.specification.ok_or_else(|| {
            eprint!("{}", rendered(&outcome.diagnostics, &outcome.files));
            format!(
                "{} cannot be used; `punctual idl check` shows errors and warnings",
                file.display()
            )
        });
        specification.map(Some)
    }
}

/// All interfaces, each behind its bases.
pub fn interfaces(idl: &Specification) -> impl Iterator<Item = DefinitionId> {
    let all = idl.definitions.iter();
    all.filter_map(|definition| match &definition.kind {
        DefinitionKind::Interface(interface) if interface.flavour != InterfaceFlavour::Local => {
            Some(definition.id)
        }
        _ => None,
    })
}

/// An interface by its name, with or without scope, or its repository id.
pub fn interface(idl: &Specification, name: &str) -> Option<DefinitionId> {
    let named = |id: &DefinitionId| {
        let definition = &idl[*id];
        let scoped = definition.scoped_name.to_string();
        [&definition.repository_id, &scoped, &definition.name]
            .contains(&&name.trim_start_matches("::").to_owned())
    };
    interfaces(idl).find(named)
}

/// The names of an interface's operations, inherited ones first, and of its attributes.
pub fn names(idl: &Specification, of: DefinitionId) -> Vec<String> {
    let operations = idl
        .all_operations(of)
        .into_iter()
        .map(|operation| operation.item.name.clone());
    let attributes = idl
        .all_attributes(of)
        .into_iter()
        .map(|attribute| attribute.item.name.clone());
    operations.chain(attributes).collect()
}

/// The operation of an interface with this name; `None`: it has none.
///
/// # Errors
/// It has a parameter that cannot be sent.
pub fn operation(idl: &Specification, of: DefinitionId, name: &str) -> Option<Result<Operation, String>> {
    let operations = idl.all_operations(of);
    if let Some(found) = operations.iter().find(|operation| operation.item.name == name) {
        let item = found.item;
        let operation = || {
            let parameters = item.parameters.iter().map(|parameter| {
                Ok(Parameter {
                    name: parameter.name.clone(),
                    mode: match parameter.direction {
                        Direction::In => Mode::In,
                        Direction::Out => Mode::Out,
                        Direction::InOut => Mode::InOut,
                    },
                    of: type_code(idl, &parameter.ty)?,
                })
            });
            Ok(Operation {
                name: name.to_owned(),
                is_oneway: item.oneway,
                returns: type_code(idl, &item.result)?,
                parameters: parameters.collect::<Result<_, String>>()?,
                raises: definitions(idl, &item.raises)?,
                has_context: !item.contexts.is_empty(),
            })
        };
        return Some(operation());
    }
    let attributes = idl.all_attributes(of);
    let named = |prefix: &str| {
        let name = name.strip_prefix(prefix)?;
        attributes.iter().find(|attribute| attribute.item.name == name)
    };
    if let Some(found) = named("_get_") {
        let get = || {
            let of = type_code(idl, &found.item.ty)?;
            let raises = definitions(idl, &found.item.get_raises)?;
            Ok(Operation {
                raises,
                ..Operation::simple(name, of, &[])
            })
        };
        return Some(get());
    }
    let found = named("_set_").filter(|attribute| !attribute.item.readonly)?;
    let set = || {
        let value = [(&*found.item.name, type_code(idl, &found.item.ty)?)];
        let raises = definitions(idl, &found.item.set_raises)?;
        Ok(Operation {
            raises,
            ..Operation::simple(name, TypeCode::basic(Kind::Void), &value)
        })
    };
    Some(set())
}

/// The type with this name.
pub fn named_type(idl: &Specification, name: &str) -> Option<TypeCode> {
    Types {
        idl,
        enclosing: Vec::new(),
    }
    .of_definition(idl.find(name)?.id)
    .ok()
}

fn type_code(idl: &Specification, of: &Type) -> Result<TypeCode, String> {
    Types {
        idl,
        enclosing: Vec::new(),
    }
    .of(of)
}

fn definitions(idl: &Specification, ids: &[DefinitionId]) -> Result<Vec<TypeCode>, String> {
    let code = |id: &DefinitionId| {
        Types {
            idl,
            enclosing: Vec::new(),
        }
        .of_definition(*id)
    };
    ids.iter().map(code).collect()
}

/// Builds type codes.
struct Types<'i> {
    idl: &'i Specification,
    /// Types whose type codes are being built: those inside refer to them.
    enclosing: Vec<DefinitionId>,
}

impl Types<'_> {
    fn of(&mut self, ty: &Type) -> Result<TypeCode, String> {
        let basic = |kind| Ok(TypeCode::basic(kind));
        match ty {
            Type::Void => basic(Kind::Void),
            Type::Boolean => basic(Kind::Boolean),
            Type::Char => basic(Kind::Char),
            Type::WChar => basic(Kind::WChar),
            Type::Octet | Type::Int8 => basic(Kind::Octet),
            Type::Short => basic(Kind::Short),
            Type::UShort => basic(Kind::UShort),
            Type::Long => basic(Kind::Long),
            Type::ULong => basic(Kind::ULong),
            Type::LongLong => basic(Kind::LongLong),
            Type::ULongLong => basic(Kind::ULongLong),
            Type::Float => basic(Kind::Float),
            Type::Double => basic(Kind::Double),
            Type::LongDouble => basic(Kind::LongDouble),
            Type::Any => basic(Kind::Any),
            Type::Object => basic(Kind::ObjRef),
            Type::ValueBase => Err("values of `ValueBase` cannot be shown".to_owned()),
            Type::String { bound } => Ok(TypeCode::string(bound.unwrap_or(0))),
            Type::WString { bound } => Ok(TypeCode::wide_string(bound.unwrap_or(0))),
            Type::Fixed { digits, scale } => Ok(TypeCode::fixed((*digits).into(), (*scale).into())),
            Type::Sequence { element, bound } => {
                Ok(TypeCode::sequence(self.of(element)?, bound.unwrap_or(0)))
            }
            Type::Map { key, value, .. } => {
                let members = [("key", self.of(key)?), ("value", self.of(value)?)];
                Ok(TypeCode::sequence(TypeCode::structure("", "", members), 0))
            }
            Type::Array { element, dims } => {
                let element = self.of(element)?;
                Ok(dims
                    .iter()
                    .rev()
                    .fold(element, |inner, length| TypeCode::array(inner, *length)))
            }
            Type::Ref(id) => self.of_definition(*id),
        }
    }

    fn of_definition(&mut self, id: DefinitionId) -> Result<TypeCode, String> {
        let idl = self.idl;
        let definition = &idl[id];
        let (repository_id, name) = (&definition.repository_id[..], &definition.name[..]);
        if self.enclosing.contains(&id) {
            return Ok(TypeCode::recursive(repository_id));
        }
        self.enclosing.push(id);
        let code = match &definition.kind {
            DefinitionKind::Typedef(typedef) => self.of(&typedef.target)?,
            DefinitionKind::Struct(item) => {
                TypeCode::structure(repository_id, name, self.members(&item.members)?)
            }
            DefinitionKind::Exception(item) => {
                TypeCode::exception(repository_id, name, self.members(&item.members)?)
            }
            DefinitionKind::Bitmask(Bitmask { holder, .. })
            | DefinitionKind::Bitset(Bitset { holder, .. }) => {
                TypeCode::alias(repository_id, name, self.of(holder)?)
            }
            DefinitionKind::Enum(item) => {
                let names = item.enumerators.iter().map(|enumerator| &enumerator.name[..]);
                TypeCode::enumeration(repository_id, name, names)
            }
            DefinitionKind::Union(item) => {
                let discriminator = self.of(&item.discriminator)?;
                let (members, default) = self.cases(&item.cases)?;
                TypeCode::union(repository_id, name, discriminator, default, members)
            }
            DefinitionKind::Interface(item) => match item.flavour {
                InterfaceFlavour::Plain => TypeCode::interface(repository_id, name),
                InterfaceFlavour::Abstract => TypeCode::abstract_interface(repository_id, name),
                InterfaceFlavour::Local => return Err(format!("`{name}` is local: it cannot be sent")),
            },
            DefinitionKind::ValueBox(item) => {
                TypeCode::value_box(repository_id, name, self.of(&item.content)?)
            }
            DefinitionKind::ValueType(item) => {
                let modifier = match item {
                    _ if item.is_custom => ValueModifier::Custom,
                    _ if item.is_abstract => ValueModifier::Abstract,
                    _ if item.is_truncatable => ValueModifier::Truncatable,
                    _ => ValueModifier::None,
                };
                let is_concrete = |id: &&DefinitionId| match &idl[**id].kind {
                    DefinitionKind::ValueType(base) => !base.is_abstract,
                    _ => false,
                };
                let base = item
                    .bases
                    .iter()
                    .find(is_concrete)
                    .map(|base| self.of_definition(*base));
                let members = item
                    .state
                    .iter()
                    .map(|(is_public, member)| Ok((&member.name[..], self.of(&member.ty)?, *is_public)));
                let members = members.collect::<Result<Vec<_>, String>>()?;
                TypeCode::value(repository_id, name, modifier, base.transpose()?, members)
            }
            DefinitionKind::Native(_) if idl.is_type_code(definition) => TypeCode::basic(Kind::TypeCode),
            _ => {
                return Err(format!(
                    "`{}` is not a type whose values can be sent",
                    definition.scoped_name
                ));
            }
        };
        self.enclosing.pop();
        Ok(code)
    }

    fn members<'m>(&mut self, members: &'m [Member]) -> Result<Vec<(&'m str, TypeCode)>, String> {
        let member = |member: &'m Member| Ok((&member.name[..], self.of(&member.ty)?));
        members.iter().map(member).collect()
    }

    /// A member for each label, and the index of the default one.
    #[expect(clippy::type_complexity, reason = "what `TypeCode::union` takes")]
    fn cases<'m>(
        &mut self,
        cases: &'m [Case],
    ) -> Result<(Vec<(i128, &'m str, TypeCode)>, Option<usize>), String> {
        let (mut members, mut default) = (Vec::new(), None);
        for case in cases {
            let of = self.of(&case.member.ty)?;
            let name = &case.member.name[..];
            let labels = case
                .labels
                .iter()
                .map(|label| label.as_label().expect("as the front end ensures"));
            members.extend(labels.map(|label| (label, name, of.clone())));
            if case.is_default {
                default = Some(members.len());
                members.push((0, name, of));
            }
        }
        Ok((members, default))
    }
}

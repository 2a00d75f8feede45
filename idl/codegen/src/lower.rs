//! Converts the front end's representation to the model: gives every definition its Rust name and module.
//!
//! Three passes, because definitions may refer to later ones: structure of types, names, definitions.

mod bits;
mod interfaces;
mod named;
mod values;

pub(crate) use values::is_concrete;

use std::{
    cell::Cell,
    collections::{HashMap, HashSet},
};

use proc_macro2::TokenStream;
use punctual_idl::hir::{self, ConstantValue, DefinitionId, DefinitionKind, InterfaceFlavour, Specification};

use crate::{
    Settings, attributes,
    model::{
        Basic, Case, Constant, Documentation, Enum, Enumerator, Exception, Interface, InterfaceId, Item,
        Member, Model, Module, ModulePath, NamedType, Native, Shape, Struct, Type, TypeId, Typedef, Union,
        Value,
    },
    names::{Scope, snake, upper_camel},
};

/// Builds the model of a specification. Constructs without code must have been refused before.
pub fn lower(specification: &Specification, settings: &Settings) -> Model {
    let mut lowering = Lowering {
        specification,
        settings,
        types: HashMap::new(),
        interfaces: HashMap::new(),
        names: HashMap::new(),
        derived: HashMap::new(),
        circular: HashSet::new(),
        value_base: TypeId(0),
        uses_value_base: Cell::new(false),
        model: Model::default(),
    };
    lowering.number_types();
    lowering.find_derived();
    lowering.find_circular();
    lowering.shape_types();
    lowering.add_value_base();
    lowering.model.compute_facts();
    let mut scope = Scope::default();
    let root = named::Modules {
        external: lowering.external(&[]),
        ..named::Modules::default()
    };
    lowering.name(&specification.roots, &root, &mut scope);
    lowering.name_value_base(&mut scope);
    lowering.lower_interfaces();
    lowering.model.bases_of_local = bases_of_local(&lowering.model);
    lowering.model.root = lowering.items(&specification.roots);
    lowering.model.value_base = lowering.uses_value_base.get().then(|| lowering.value_base_type());
    lowering.model.servant_parameter = servant_parameter(&lowering.model);
    lowering.model
}

fn bases_of_local(model: &Model) -> HashSet<TypeId> {
    let is_local = |interface: &&Interface| matches!(model.named(interface.reference).shape, Shape::Local);
    let local = model.interfaces.iter().filter(is_local);
    let bases = local.flat_map(|interface| &interface.all_bases);
    bases.map(|base| model.interfaces[base.0].reference).collect()
}

fn servant_parameter(model: &Model) -> String {
    let types = model.types.iter().flat_map(|named| [&named.name, &named.view]);
    let traits = model.interfaces.iter().map(|interface| &interface.name);
    Scope::without(types.chain(traits).map(String::as_str)).claim("S")
}

/// State of the passes.
struct Lowering<'s> {
    specification: &'s Specification,
    settings: &'s Settings,
    types: HashMap<DefinitionId, TypeId>,
    interfaces: HashMap<DefinitionId, InterfaceId>,
    names: HashMap<DefinitionId, Names>,
    /// Concrete types that inherit from each value type or support each abstract interface.
    derived: HashMap<DefinitionId, Vec<TypeId>>,
    /// Roots of the hierarchies whose values may be in circles.
    circular: HashSet<DefinitionId>,
    /// The type of `ValueBase`, behind all declared ones.
    value_base: TypeId,
    uses_value_base: Cell<bool>,
    model: Model,
}

/// Rust names of a definition.
#[derive(Clone, Debug, Default)]
struct Names {
    /// Enclosing module.
    module: ModulePath,
    /// Its name; for an interface that of the trait.
    name: String,
    /// Module of nested declarations.
    scope: String,
    /// Names used in that module.
    inside: Scope,
    /// Names of the traits of a value type's operations and initializers.
    traits: [String; 2],
}

impl Lowering<'_> {
    fn definition(&self, id: DefinitionId) -> &hir::Definition {
        &self.specification.definitions[id.0 as usize]
    }

    fn number_types(&mut self) {
        for definition in &self.specification.definitions {
            if matches!(definition.kind, DefinitionKind::Interface(_)) {
                self.interfaces
                    .insert(definition.id, InterfaceId(self.interfaces.len()));
            }
            let is_type = !matches!(
                definition.kind,
                DefinitionKind::Module(_) | DefinitionKind::Constant(_) | DefinitionKind::Accepted(_)
            );
            if is_type && !self.specification.is_type_code(definition) {
                self.types.insert(definition.id, TypeId(self.types.len()));
            }
        }
        self.value_base = TypeId(self.types.len());
    }

    fn shape_types(&mut self) {
        for definition in &self.specification.definitions {
            if !self.types.contains_key(&definition.id) {
                continue;
            }
            let members =
                |members: &[hir::Member]| members.iter().map(|member| self.ty(&member.ty)).collect();
            let shape = match &definition.kind {
                DefinitionKind::Typedef(typedef) => Shape::Alias(self.ty(&typedef.target)),
                DefinitionKind::Struct(item) => Shape::Struct(members(&item.members)),
                DefinitionKind::Exception(item) => Shape::Struct(members(&item.members)),
                DefinitionKind::Union(item) => Shape::Union {
                    discriminator: self.ty(&item.discriminator),
                    members: item.cases.iter().map(|case| self.ty(&case.member.ty)).collect(),
                    may_be_empty: item.has_implicit_default,
                },
                DefinitionKind::Enum(item) => Shape::Enum(enumerator_names(item)),
                DefinitionKind::Bitmask(hir::Bitmask { holder, .. })
                | DefinitionKind::Bitset(hir::Bitset { holder, .. }) => Shape::Struct(vec![self.ty(holder)]),
                DefinitionKind::Interface(item) => match item.flavour {
                    InterfaceFlavour::Plain => Shape::Interface,
                    InterfaceFlavour::Abstract => Shape::Abstract,
                    InterfaceFlavour::Local => Shape::Local,
                },
                DefinitionKind::ValueType(_) | DefinitionKind::ValueBox(_) => {
                    Shape::Value(self.state_shape(definition))
                }
                DefinitionKind::Native(_) => Shape::Native,
                other => unreachable!("refused before: {other:?}"),
            };
            self.model.types.push(NamedType {
                module: ModulePath::default(),
                name: String::new(),
                view: String::new(),
                parts: Vec::new(),
                idl: definition.name.clone(),
                repository_id: definition.repository_id.clone(),
                shape,
            });
        }
    }

    /// Items of definitions, without those that other code declares.
    fn items(&self, ids: &[DefinitionId]) -> Vec<Item> {
        let is_own = |id: &&DefinitionId| {
            let names = self.names.get(id);
            names.is_none_or(|names| names.module.external.is_none())
        };
        ids.iter().filter(is_own).flat_map(|id| self.item(*id)).collect()
    }

    /// Items of one definition, including nested ones.
    fn item(&self, id: DefinitionId) -> Vec<Item> {
        let definition = self.definition(id);
        let names = self.names.get(&id).cloned().unwrap_or_default();
        let mut inner = None;
        let item = match &definition.kind {
            DefinitionKind::Module(module) => Item::Module(Module {
                docs: docs(definition, "module"),
                name: names.name,
                items: self.items(&module.members),
            }),
            DefinitionKind::Typedef(typedef) => Item::Typedef(Typedef {
                docs: docs(definition, "typedef"),
                name: names.name,
                aliased: self.ty(&typedef.target),
            }),
            DefinitionKind::Struct(item) => {
                inner = self.inner(definition, &names, &item.nested);
                Item::Struct(self.inheriting(definition, item))
            }
            DefinitionKind::Exception(item) => {
                inner = self.inner(definition, &names, &item.nested);
                Item::Exception(Exception {
                    data: self.structure(definition, "exception", &item.members),
                    scoped_name: definition.scoped_name.to_string(),
                })
            }
            DefinitionKind::Union(item) => {
                inner = self.inner(definition, &names, &item.nested);
                Item::Union(self.union(definition, item))
            }
            DefinitionKind::Enum(item) => Item::Enum(self.enumeration(definition, names.name, item)),
            DefinitionKind::Bitmask(item) => Item::Bitmask(self.bitmask(definition, item)),
            DefinitionKind::Bitset(item) => Item::Bitset(self.bitset(definition, item)),
            DefinitionKind::Constant(constant) => Item::Constant(Constant {
                docs: docs(definition, "const"),
                name: names.name,
                of: self.ty(&constant.ty),
                value: self.value(&constant.value),
            }),
            DefinitionKind::Interface(_) => Item::Interface(self.interfaces[&id]),
            DefinitionKind::ValueType(item) => {
                Item::Value(Box::new(self.value_type(definition, item, names)))
            }
            DefinitionKind::ValueBox(item) => Item::Value(Box::new(self.value_box(definition, item, names))),
            DefinitionKind::Native(item) if self.specification.is_type_code(definition) => {
                return Vec::from_iter(self.inner(definition, &names, &item.nested));
            }
            DefinitionKind::Native(_) => Item::Native(Native {
                docs: docs(definition, "native"),
                name: names.name,
            }),
            other => unreachable!("refused before: {other:?}"),
        };
        [Some(item), inner].into_iter().flatten().collect()
    }

    /// Module of the types declared inside a struct, union or exception.
    fn inner(&self, definition: &hir::Definition, names: &Names, nested: &[DefinitionId]) -> Option<Item> {
        (!nested.is_empty()).then(|| {
            Item::Inner(Module {
                docs: Documentation {
                    comment: Vec::new(),
                    idl: format!("Declarations inside `{}`.", definition.scoped_name),
                },
                name: names.scope.clone(),
                items: self.items(nested),
            })
        })
    }

    fn attributes(&self, definition: &hir::Definition) -> TokenStream {
        attributes::of(&definition.scoped_name.to_string(), &self.settings.attributes)
    }

    /// A struct, with what conversions need to know about its base.
    fn inheriting(&self, definition: &hir::Definition, item: &hir::Struct) -> Struct {
        let base = item.base.map(|base| &self.specification[base]);
        let base = base.and_then(|base| match &base.kind {
            DefinitionKind::Struct(item) => Some(self.structure(base, "struct", &item.members)),
            _ => None,
        });
        Struct {
            base: base.map(Box::new),
            ..self.structure(definition, "struct", &item.members)
        }
    }

    fn structure(&self, definition: &hir::Definition, construct: &str, members: &[hir::Member]) -> Struct {
        let mut scope = Scope::default();
        let members = members
            .iter()
            .map(|member| self.member(definition, member, &mut scope));
        let mut members: Vec<Member> = members.collect();
        self.model.box_members(None, &mut members);
        let types: Vec<Type> = members.iter().map(|member| member.of.clone()).collect();
        Struct {
            docs: docs(definition, construct),
            attributes: self.attributes(definition),
            id: self.types[&definition.id],
            base: None,
            parts: self.model.parts_of(None, &types),
            members,
        }
    }

    /// A member of a struct, exception or value type, not boxed.
    fn member(&self, definition: &hir::Definition, member: &hir::Member, scope: &mut Scope) -> Member {
        let scoped_name = format!("{}::{}", definition.scoped_name, member.name);
        Member {
            attributes: attributes::of_member(&scoped_name, &self.settings.attributes),
            docs: documentation(&member.doc, scoped_name),
            name: scope.claim(&snake(&member.name)),
            idl: member.name.clone(),
            of: self.ty(&member.ty),
            boxed: false,
            default: member.default.as_ref().map(|value| self.value(value)),
        }
    }

    fn union(&self, definition: &hir::Definition, item: &hir::Union) -> Union {
        let mut scope = Scope::default();
        let cases = item.cases.iter().map(|case| Case {
            docs: documentation(
                &case.member.doc,
                format!("{}::{}", definition.scoped_name, case.member.name),
            ),
            variant: scope.claim(&upper_camel(&case.member.name)),
            idl: case.member.name.clone(),
            of: self.ty(&case.member.ty),
            labels: case.labels.iter().map(|label| self.value(label)).collect(),
            is_default: case.is_default,
        });
        Union {
            docs: docs(definition, "union"),
            attributes: self.attributes(definition),
            id: self.types[&definition.id],
            discriminator: self.ty(&item.discriminator),
            cases: cases.collect(),
            no_member: item.has_implicit_default.then(|| scope.claim("NoMember")),
        }
    }

    fn enumeration(&self, definition: &hir::Definition, name: String, item: &hir::Enum) -> Enum {
        let enumerators = item
            .enumerators
            .iter()
            .zip(enumerator_names(item))
            .map(|(enumerator, name)| Enumerator {
                docs: documentation(&enumerator.doc, enumerator.name.clone()),
                name,
                idl: enumerator.name.clone(),
            });
        Enum {
            docs: docs(definition, "enum"),
            attributes: self.attributes(definition),
            id: self.types[&definition.id],
            name,
            enumerators: enumerators.collect(),
        }
    }

    fn ty(&self, ty: &hir::Type) -> Type {
        match ty {
            hir::Type::Boolean => Type::Basic(Basic::Boolean),
            hir::Type::Char => Type::Basic(Basic::Char),
            hir::Type::Octet => Type::Basic(Basic::Octet),
            hir::Type::Int8 => Type::Basic(Basic::Int8),
            hir::Type::Short => Type::Basic(Basic::Short),
            hir::Type::UShort => Type::Basic(Basic::UnsignedShort),
            hir::Type::Long => Type::Basic(Basic::Long),
            hir::Type::ULong => Type::Basic(Basic::UnsignedLong),
            hir::Type::LongLong => Type::Basic(Basic::LongLong),
            hir::Type::ULongLong => Type::Basic(Basic::UnsignedLongLong),
            hir::Type::Float => Type::Basic(Basic::Float),
            hir::Type::Double => Type::Basic(Basic::Double),
            hir::Type::LongDouble => Type::Basic(Basic::LongDouble),
            hir::Type::Object => Type::Object,
            hir::Type::ValueBase => {
                self.uses_value_base.set(true);
                Type::Named(self.value_base)
            }
            hir::Type::Any => Type::Any,
            hir::Type::WChar => Type::Basic(Basic::WChar),
            hir::Type::WString { bound } => Type::WString {
                bound: bound.map(u64::from),
            },
            hir::Type::Fixed { digits, scale } => Type::Fixed {
                digits: *digits,
                scale: *scale,
            },
            hir::Type::String { bound } => Type::String {
                bound: bound.map(u64::from),
            },
            hir::Type::Sequence { element, bound } => Type::Sequence {
                element: Box::new(self.ty(element)),
                bound: bound.map(u64::from),
            },
            hir::Type::Map { key, value, bound } => Type::Map {
                key: Box::new(self.ty(key)),
                value: Box::new(self.ty(value)),
                bound: bound.map(u64::from),
            },
            hir::Type::Array { element, dims } => {
                dims.iter()
                    .rev()
                    .fold(self.ty(element), |element, length| Type::Array {
                        element: Box::new(element),
                        length: (*length).into(),
                    })
            }
            hir::Type::Ref(id) if self.specification.is_type_code(self.definition(*id)) => Type::TypeCode,
            hir::Type::Ref(id) => Type::Named(self.types[id]),
            other => unreachable!("refused before: {other:?}"),
        }
    }

    fn value(&self, value: &ConstantValue) -> Value {
        match value {
            ConstantValue::Boolean(value) => Value::Boolean(*value),
            ConstantValue::Char(value) => Value::Char(*value),
            ConstantValue::Octet(value) => Value::Integer((*value).into()),
            ConstantValue::Int8(value) => Value::Integer((*value).into()),
            ConstantValue::Short(value) => Value::Integer((*value).into()),
            ConstantValue::UShort(value) => Value::Integer((*value).into()),
            ConstantValue::Long(value) => Value::Integer((*value).into()),
            ConstantValue::ULong(value) => Value::Integer((*value).into()),
            ConstantValue::LongLong(value) => Value::Integer((*value).into()),
            ConstantValue::ULongLong(value) => Value::Integer((*value).into()),
            ConstantValue::Float(value) => Value::Single(*value),
            ConstantValue::Double(value) => Value::Double(*value),
            ConstantValue::LongDouble(value) => Value::LongDouble(value.to_bits()),
            ConstantValue::String(value) => Value::String(value.clone()),
            ConstantValue::Enumerator { enumeration, ordinal } => {
                let id = self.types[enumeration];
                let variant = match &self.model.named(id).shape {
                    Shape::Enum(variants) => variants[*ordinal as usize].clone(),
                    other => unreachable!("an enumerator belongs to an enum, not {other:?}"),
                };
                Value::Enumerator {
                    enumeration: id,
                    variant,
                    ordinal: *ordinal,
                }
            }
            ConstantValue::WChar(value) => Value::WChar(*value),
            ConstantValue::WString(value) => Value::WString(value.clone()),
            ConstantValue::Fixed(value) => Value::Fixed(value.unscaled),
        }
    }
}

fn enumerator_names(item: &hir::Enum) -> Vec<String> {
    let mut scope = Scope::default();
    item.enumerators
        .iter()
        .map(|enumerator| scope.claim(&upper_camel(&enumerator.name)))
        .collect()
}

fn docs(definition: &hir::Definition, construct: &str) -> Documentation {
    documentation(&definition.doc, format!("{construct} {}", definition.scoped_name))
}

fn documentation(comment: &str, idl: String) -> Documentation {
    Documentation {
        comment: comment.lines().map(String::from).collect(),
        idl,
    }
}

//! Value types: what they inherit, and which types their values can have.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use punctual_idl::hir::{self, DefinitionId, DefinitionKind, InterfaceFlavour};

use super::{Lowering, Names, docs, documentation};
use crate::{
    attributes,
    model::{
        BaseState, Documentation, Interface, Member, ModulePath, NamedType, Shape, State, Type, TypeId,
        ValueKind, ValueState, ValueType,
    },
    names::Scope,
};

impl Lowering<'_> {
    /// Adds the type of `ValueBase`, which no definition declares.
    pub(super) fn add_value_base(&mut self) {
        debug_assert_eq!(
            self.value_base,
            TypeId(self.model.types.len()),
            "behind all declared types"
        );
        self.model.types.push(NamedType {
            module: ModulePath::default(),
            name: String::new(),
            view: String::new(),
            parts: Vec::new(),
            idl: String::from("ValueBase"),
            repository_id: String::from("IDL:omg.org/CORBA/ValueBase:1.0"),
            shape: Shape::Value(State::Members {
                base: None,
                members: Vec::new(),
            }),
        });
    }

    /// Names it after all declared types.
    pub(super) fn name_value_base(&mut self, scope: &mut Scope) {
        self.model.types[self.value_base.0].name = scope.claim("ValueBase");
    }

    pub(super) fn value_base_type(&self) -> ValueType {
        let values = self.specification.definitions.iter();
        ValueType {
            docs: Documentation {
                comment: Vec::new(),
                idl: String::from("ValueBase"),
            },
            attributes: TokenStream::new(),
            id: self.value_base,
            is_event: false,
            circular: false,
            kind: ValueKind::Abstract,
            ancestors: Vec::new(),
            concrete: values
                .filter(|value| is_concrete(value))
                .map(|value| self.types[&value.id])
                .collect(),
            operations: self.without_operations(Names::default()),
            factories: Vec::new(),
            factories_name: String::new(),
        }
    }

    pub(super) fn value_type(
        &self,
        definition: &hir::Definition,
        value: &hir::ValueType,
        names: Names,
    ) -> ValueType {
        let interface = hir::Interface {
            flavour: hir::InterfaceFlavour::Plain,
            bases: Vec::new(),
            members: Vec::new(),
            operations: value.operations.clone(),
            attributes: value.attributes.clone(),
            is_forward: false,
        };
        let mut methods = Scope::default();
        let factories = value
            .factories
            .iter()
            .map(|factory| self.operation(factory, &mut methods));
        let kind = if is_concrete(definition) {
            ValueKind::Concrete(self.state(definition, value))
        } else {
            ValueKind::Abstract
        };
        let [name, factories_name] = names.traits.clone();
        let declared = Names { name, ..names };
        ValueType {
            docs: docs(definition, if value.is_event { "eventtype" } else { "valuetype" }),
            attributes: self.attributes(definition),
            id: self.types[&definition.id],
            is_event: value.is_event,
            circular: self.is_circular(definition.id),
            kind,
            ancestors: self
                .value_ancestors(definition.id)
                .iter()
                .chain(&self.supported_abstractly(definition.id))
                .map(|id| self.types[id])
                .collect(),
            concrete: self.concrete(definition.id),
            factories: factories.collect(),
            factories_name,
            operations: Interface {
                operations: self.operations(&interface, &declared, &[], &HashMap::new()),
                items: self.items(&value.members),
                scoped_name: definition.scoped_name.to_string(),
                docs: documentation(
                    "",
                    format!("Operations and attributes of `{}`.", definition.scoped_name),
                ),
                ..self.without_operations(declared)
            },
        }
    }

    pub(super) fn value_box(
        &self,
        definition: &hir::Definition,
        value: &hir::ValueBox,
        names: Names,
    ) -> ValueType {
        let id = self.types[&definition.id];
        ValueType {
            docs: docs(definition, "valuetype"),
            attributes: self.attributes(definition),
            id,
            is_event: false,
            circular: self.is_circular(definition.id),
            kind: ValueKind::Boxed(self.ty(&value.content)),
            ancestors: Vec::new(),
            concrete: vec![id],
            factories: Vec::new(),
            factories_name: String::new(),
            operations: Interface {
                items: self.items(&value.nested),
                scoped_name: definition.scoped_name.to_string(),
                ..self.without_operations(names)
            },
        }
    }

    fn state(&self, definition: &hir::Definition, value: &hir::ValueType) -> ValueState {
        let mut scope = Scope::default();
        let base = self.concrete_base(value);
        let (is_public, members): (Vec<_>, Vec<_>) = value.state.iter().cloned().unzip();
        let members = members
            .iter()
            .map(|member| self.member(definition, member, &mut scope));
        let mut members: Vec<Member> = members.collect();
        let base_type = base.map(|base| self.types[&base]);
        let boxed = self.model.box_members(base_type, &mut members);
        let types: Vec<Type> = members.iter().map(|member| member.of.clone()).collect();
        let mut truncatable_to = Vec::new();
        let mut next = base.filter(|_| value.is_truncatable);
        while let Some(id) = next {
            truncatable_to.push(self.types[&id]);
            next = match &self.definition(id).kind {
                DefinitionKind::ValueType(value) if value.is_truncatable => {
                    value.bases.first().map(|base| self.behind_typedefs(*base))
                }
                _ => None,
            };
        }
        ValueState {
            base: base_type.map(|id| BaseState {
                id,
                name: scope.claim("base"),
                boxed,
            }),
            members: is_public.into_iter().zip(members).collect(),
            parts: self.model.parts_of(base_type, &types),
            truncatable_to,
            is_custom: value.is_custom,
        }
    }

    /// The state of a value type, or the content of a boxed one.
    pub(super) fn state_shape(&self, definition: &hir::Definition) -> State {
        let value = match &definition.kind {
            DefinitionKind::ValueBox(boxed) => return State::Box(self.ty(&boxed.content)),
            DefinitionKind::ValueType(value) => value,
            other => unreachable!("no value type: {other:?}"),
        };
        let members = value.state.iter().map(|(_, member)| self.ty(&member.ty));
        State::Members {
            base: self.concrete_base(value).map(|base| self.types[&base]),
            members: members.collect(),
        }
    }

    fn concrete_base(&self, value: &hir::ValueType) -> Option<DefinitionId> {
        let base = value.bases.first().map(|base| self.behind_typedefs(*base));
        base.filter(|base| is_concrete(self.definition(*base)))
    }

    fn without_operations(&self, names: Names) -> Interface {
        Interface {
            docs: Documentation::default(),
            reference: self.value_base,
            module: names.module,
            name: names.name,
            scope: names.scope,
            scoped_name: String::new(),
            repository_id: String::new(),
            bases: Vec::new(),
            all_bases: Vec::new(),
            operations: Vec::new(),
            methods: Vec::new(),
            items: Vec::new(),
            values: Vec::new(),
        }
    }

    /// A value type's base may be named by a typedef.
    fn behind_typedefs(&self, id: DefinitionId) -> DefinitionId {
        match self.specification.resolve_aliases(&hir::Type::Ref(id)) {
            hir::Type::Ref(target) => *target,
            _ => id,
        }
    }

    fn value_ancestors(&self, id: DefinitionId) -> Vec<DefinitionId> {
        let (mut found, mut open) = (Vec::new(), vec![id]);
        while let Some(id) = open.pop() {
            let DefinitionKind::ValueType(value) = &self.definition(id).kind else {
                continue;
            };
            for base in value.bases.iter().map(|base| self.behind_typedefs(*base)) {
                if !found.contains(&base) {
                    found.push(base);
                    open.push(base);
                }
            }
        }
        found
    }

    /// The abstract interfaces that a value type supports: those of its ancestors, and their bases, too.
    fn supported_abstractly(&self, id: DefinitionId) -> Vec<DefinitionId> {
        let supports = |id: &DefinitionId| match &self.definition(*id).kind {
            DefinitionKind::ValueType(value) => value.supports.clone(),
            _ => Vec::new(),
        };
        let ancestors = self.value_ancestors(id);
        let mut open: Vec<_> = std::iter::once(&id)
            .chain(&ancestors)
            .flat_map(supports)
            .collect();
        let mut found = Vec::new();
        while let Some(id) = open.pop() {
            let id = self.behind_typedefs(id);
            if let DefinitionKind::Interface(interface) = &self.definition(id).kind {
                open.extend(&interface.bases);
                if interface.flavour == InterfaceFlavour::Abstract && !found.contains(&id) {
                    found.push(id);
                }
            }
        }
        found
    }

    /// Finds the concrete types that inherit from each value type, and support each abstract interface.
    pub(super) fn find_derived(&mut self) {
        let mut derived: HashMap<DefinitionId, Vec<TypeId>> = HashMap::new();
        for value in self
            .specification
            .definitions
            .iter()
            .filter(|value| is_concrete(value))
        {
            let supported = self.supported_abstractly(value.id);
            for ancestor in self.value_ancestors(value.id).into_iter().chain(supported) {
                derived.entry(ancestor).or_default().push(self.types[&value.id]);
            }
        }
        self.derived = derived;
    }

    /// Finds the hierarchies of value types of which the settings name one: a reference to a value is one to
    /// its base, too.
    pub(super) fn find_circular(&mut self) {
        let names = &self.settings.circular;
        let values = self.specification.definitions.iter();
        let named = values.filter(|value| is_concrete(value)).filter(|value| {
            let scoped_name = value.scoped_name.to_string();
            names.iter().any(|name| attributes::is_within(&scoped_name, name))
        });
        self.circular = named.map(|value| self.root(value.id)).collect();
    }

    fn is_circular(&self, id: DefinitionId) -> bool {
        !self.circular.is_empty() && self.circular.contains(&self.root(id))
    }

    /// The type with a state at the root of its hierarchy.
    fn root(&self, mut id: DefinitionId) -> DefinitionId {
        while let DefinitionKind::ValueType(value) = &self.definition(id).kind
            && let Some(base) = self.concrete_base(value)
        {
            id = base;
        }
        id
    }

    /// The concrete value types that support this abstract interface.
    pub(super) fn values_with(&self, id: DefinitionId) -> Vec<TypeId> {
        self.derived.get(&id).cloned().unwrap_or_default()
    }

    /// The concrete types that inherit from this one, itself first.
    fn concrete(&self, id: DefinitionId) -> Vec<TypeId> {
        let own = is_concrete(self.definition(id)).then(|| self.types[&id]);
        let derived = self.derived.get(&id).into_iter().flatten();
        own.into_iter().chain(derived.copied()).collect()
    }
}

/// Whether values have this type: it has a state, or is a box.
pub(crate) fn is_concrete(definition: &hir::Definition) -> bool {
    match &definition.kind {
        DefinitionKind::ValueType(value) => !value.is_abstract && !value.is_forward,
        DefinitionKind::ValueBox(_) => true,
        _ => false,
    }
}

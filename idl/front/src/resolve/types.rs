//! Types: resolution, and definitions of structures, exceptions, enumerations and typedefs (clauses 7.4.4,
//! 7.4.5).

use std::collections::HashSet;

use super::Resolver;
use super::arithmetic::Target;
use super::convert::integer_target;
use super::scope::Entity;
use crate::ast::{self, Annotation, Declarator, Expr, Ident, Name, TypeKind, TypeSpec};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{
    ConstantValue, DefinitionId, DefinitionKind, Enum, Enumerator, Exception, Member, Struct, Type, Typedef,
};
use crate::source::Span;

impl Resolver<'_> {
    /// Resolves a type that must be complete.
    pub(super) fn type_spec(&mut self, ty: &TypeSpec) -> Option<Type> {
        let resolved = self.element_type(ty)?;
        self.require_complete(&resolved, ty.span);
        Some(resolved)
    }

    /// Resolves the type of a parameter, result or attribute: complete, and so are its elements and members.
    pub(super) fn sent_type(&mut self, ty: &TypeSpec) -> Option<Type> {
        let resolved = self.type_spec(ty)?;
        if let Some(part) = self.incomplete_part(&resolved).filter(|part| *part != resolved) {
            self.require_complete(&part, ty.span);
        }
        Some(resolved)
    }

    /// The first struct or union in a type that is not complete. What has none is not searched again.
    fn incomplete_part(&mut self, ty: &Type) -> Option<Type> {
        if self.findings.is_full() {
            return None;
        }
        let mut seen = HashSet::new();
        let mut open = vec![ty];
        while let Some(ty) = open.pop() {
            let id = match ty {
                Type::Sequence { element, .. } | Type::Array { element, .. } => {
                    open.push(element);
                    continue;
                }
                Type::Map { key, value, .. } => {
                    open.extend([key.as_ref(), value.as_ref()]);
                    continue;
                }
                Type::Ref(id) => id,
                _ => continue,
            };
            if self.without_incomplete_parts.contains(id) || !seen.insert(*id) {
                continue;
            }
            match &self.spec[*id].kind {
                DefinitionKind::Typedef(typedef) => open.push(&typedef.target),
                DefinitionKind::Struct(_) | DefinitionKind::Union(_) if !self.complete[id.0 as usize] => {
                    return Some(ty.clone());
                }
                DefinitionKind::Struct(structure) => {
                    open.extend(structure.members.iter().map(|member| &member.ty));
                }
                DefinitionKind::Union(union) => open.extend(union.cases.iter().map(|case| &case.member.ty)),
                _ => {}
            }
        }
        self.without_incomplete_parts.extend(seen);
        None
    }

    /// Resolves a type that may be declared forward only: the element of a sequence.
    fn element_type(&mut self, ty: &TypeSpec) -> Option<Type> {
        Some(match &ty.kind {
            TypeKind::Basic(basic) => basic.clone(),
            TypeKind::String { wide, bound } => {
                let bound = self.bound(bound.as_ref())?;
                if *wide {
                    Type::WString { bound }
                } else {
                    Type::String { bound }
                }
            }
            TypeKind::Fixed(None) => {
                self.report(
                    Diagnostic::new(Code::BadBound, ty.span, "`fixed` needs its digits and scale here")
                        .with_help("write `fixed<9, 2>` for 9 digits, 2 of them after the point"),
                );
                return None;
            }
            TypeKind::Fixed(Some(arguments)) => {
                let digits = self.size(&arguments.0, 1, 31, "the number of digits")?;
                let scale = self.size(&arguments.1, 0, digits, "the scale")?;
                Type::Fixed {
                    digits: digits as u8,
                    scale: scale as u8,
                }
            }
            TypeKind::Sequence { element, bound } => {
                let element = Box::new(self.element_type(element)?);
                Type::Sequence {
                    element,
                    bound: self.bound(bound.as_ref())?,
                }
            }
            TypeKind::Map { key, value, bound } => Type::Map {
                key: Box::new(self.key_type(key)?),
                value: Box::new(self.element_type(value)?),
                bound: self.bound(bound.as_ref())?,
            },
            TypeKind::Named(name) => self.named_type(name)?,
            TypeKind::Struct(_)
            | TypeKind::Union(_)
            | TypeKind::Enum(_)
            | TypeKind::Bitmask(_)
            | TypeKind::Bitset(_) => Type::Ref(self.constructed(ty, "")?),
        })
    }

    /// Resolves the type of a map's keys, whose values have an order.
    fn key_type(&mut self, ty: &TypeSpec) -> Option<Type> {
        let resolved = self.type_spec(ty)?;
        let has_order = match self.spec.resolve_aliases(&resolved) {
            Type::Boolean | Type::Char | Type::WChar | Type::String { .. } | Type::WString { .. } => true,
            Type::Ref(id) => matches!(self.spec[*id].kind, DefinitionKind::Enum(_)),
            other => integer_target(other).is_some(),
        };
        if !has_order {
            self.report(
                Diagnostic::new(Code::BadKey, ty.span, "a map cannot have keys of this type").with_help(
                    "keys are integers, characters, booleans, strings or enumerators: use a \
                     sequence of structs for others",
                ),
            );
        }
        has_order.then_some(resolved)
    }

    fn named_type(&mut self, name: &Name) -> Option<Type> {
        if let Some(integer) = self.integer_of_idl_4(name) {
            return Some(integer);
        }
        if let Some(of_the_orb) = self.undeclared_orb_type(name) {
            return Some(of_the_orb);
        }
        let entity = self.lookup(name)?;
        if let Entity::Definition(id) = entity {
            match &self.spec[id].kind {
                DefinitionKind::Module(_) | DefinitionKind::Constant(_) | DefinitionKind::Exception(_) => {}
                _ => return Some(Type::Ref(id)),
            }
        }
        self.wrong_kind(name, entity, "a type");
        None
    }

    /// The integer types of IDL 4.2 (clause 7.4.13), unless the specification gives their names to its own
    /// types, as older ones do.
    fn integer_of_idl_4(&self, name: &Name) -> Option<Type> {
        let [only] = name.parts.as_slice() else {
            return None;
        };
        let integer = match &*only.name {
            "uint8" => Type::Octet,
            "int8" => Type::Int8,
            "int16" => Type::Short,
            "uint16" => Type::UShort,
            "int32" => Type::Long,
            "uint32" => Type::ULong,
            "int64" => Type::LongLong,
            "uint64" => Type::ULongLong,
            _ => return None,
        };
        (!name.absolute && !self.is_visible(only)).then_some(integer)
    }

    /// Refuses a struct or union that is not defined yet, or is being defined.
    fn require_complete(&mut self, ty: &Type, span: Span) {
        let Type::Ref(id) = ty else { return };
        if self.complete[id.0 as usize] {
            return;
        }
        let definition = &self.spec[*id];
        // References to interfaces and value types need no definition.
        if !matches!(
            definition.kind,
            DefinitionKind::Struct(_) | DefinitionKind::Union(_)
        ) {
            return;
        }
        let (name, first) = (&definition.name, definition.span);
        let message = format!("`{name}` is not complete here");
        let is_inside = self
            .outwards(self.current)
            .any(|scope| self.scopes[scope.0].owner == Some(*id));
        let help = if is_inside {
            "a type contains itself only through a sequence: `sequence<...>`".to_owned()
        } else {
            format!("define it above this place: until then, only `typedef sequence<{name}>` can name it")
        };
        self.report(
            Diagnostic::new(Code::IncompleteType, span, message)
                .with_label(first, "declared here")
                .with_help(help),
        );
    }

    /// `Some(None)` if there is no bound.
    fn bound(&mut self, bound: Option<&Expr>) -> Option<Option<u32>> {
        match bound {
            None => Some(None),
            Some(bound) => self.size(bound, 1, u32::MAX, "a bound").map(Some),
        }
    }

    /// Evaluates an integer between two limits.
    fn size(&mut self, expression: &Expr, least: u32, most: u32, what: &str) -> Option<u32> {
        let value = self.evaluate_integer(expression, Target::unsigned(64))?;
        match u32::try_from(value) {
            Ok(size) if (least..=most).contains(&size) => Some(size),
            _ => {
                let message = format!("{what} cannot be {value}");
                self.report(
                    Diagnostic::new(Code::BadBound, expression.span, message)
                        .with_help(format!("it is at least {least} and at most {most}")),
                );
                None
            }
        }
    }

    /// A type with the dimensions of its declarator.
    fn with_dimensions(&mut self, ty: &Type, declarator: &Declarator) -> Option<Type> {
        if declarator.dims.len() > self.limits.nesting {
            self.nested_too_deeply(declarator.name.span);
            return None;
        }
        let mut dims = Vec::with_capacity(declarator.dims.len());
        for dim in &declarator.dims {
            dims.push(self.size(dim, 1, u32::MAX, "the length of an array")?);
        }
        let ty = match dims.is_empty() {
            true => ty.clone(),
            false => Type::Array {
                element: Box::new(ty.clone()),
                dims,
            },
        };
        self.check_extent(&ty, declarator.name.span)?;
        Some(ty)
    }

    /// Resolves the members of a declaration and declares their names in the present scope.
    pub(super) fn members(&mut self, member: &ast::Member) -> Vec<Member> {
        let ty = self.type_spec(&member.ty);
        let mut members = Vec::new();
        for declarator in &member.declarators {
            let ty = ty.as_ref().and_then(|ty| self.with_dimensions(ty, declarator));
            let declared = self.declare(&declarator.name, Entity::Member);
            if let (true, Some(ty)) = (declared, ty) {
                let default = self.annotated_default(&member.annotations, &ty);
                members.push(Member {
                    name: declarator.name.name.to_string(),
                    doc: declarator.doc(&member.doc),
                    span: declarator.name.span,
                    ty,
                    default,
                });
            }
        }
        members
    }

    /// Defines a struct, union or enum.
    pub(super) fn constructed(&mut self, ty: &TypeSpec, doc: &str) -> Option<DefinitionId> {
        match &ty.kind {
            TypeKind::Struct(structure) => self.structure(structure, doc),
            TypeKind::Union(union) => self.union(union, doc),
            TypeKind::Enum(enumeration) => self.enumeration(enumeration, doc),
            TypeKind::Bitmask(bitmask) => self.bitmask(bitmask, doc),
            TypeKind::Bitset(bitset) => self.bitset(bitset, doc),
            _ => None,
        }
    }

    /// Starts a definition that may have a forward declaration; it is incomplete until the end.
    pub(super) fn begin(
        &mut self,
        name: &Ident,
        empty: DefinitionKind,
        same: fn(&DefinitionKind) -> bool,
        doc: &str,
    ) -> Option<DefinitionId> {
        self.events_until(name.at);
        let id = match self.declared_here(name) {
            Some((Entity::Definition(id), _))
                if !self.complete[id.0 as usize] && same(&self.spec[id].kind) =>
            {
                self.check_case(name, id);
                self.check_same_prefix(id, name);
                self.attach_again(id);
                let definition = &mut self.spec.definitions[id.0 as usize];
                definition.span = name.span;
                definition.kind = empty;
                // A forward declaration's comment is often a remark, or that of the line above.
                definition.doc = doc.to_owned();
                id
            }
            Some((Entity::Definition(id), first)) if !self.complete[id.0 as usize] => {
                let message = format!("`{}` is declared forward as {}", name.name, self.describe(id));
                self.report(
                    Diagnostic::new(Code::ForwardMismatch, name.span, message)
                        .with_label(first, "declared forward here")
                        .with_help("make both of the same kind, or rename one of them"),
                );
                // The forward declaration counts as defined, although wrongly.
                self.complete[id.0 as usize] = true;
                return None;
            }
            _ => self.define(name, empty, doc)?,
        };
        self.complete[id.0 as usize] = false;
        Some(id)
    }

    /// Ends what [`Self::begin`] started.
    pub(super) fn finish(&mut self, id: DefinitionId) {
        self.complete[id.0 as usize] = true;
        self.keep_extent(id);
    }

    /// Declares something forward; repetitions are allowed, also after the definition.
    pub(super) fn forward(
        &mut self,
        name: &Ident,
        empty: DefinitionKind,
        same: fn(&DefinitionKind) -> bool,
        doc: &str,
    ) -> Option<DefinitionId> {
        self.events_until(name.at);
        if let Some((Entity::Definition(id), _)) = self.declared_here(name)
            && same(&self.spec[id].kind)
        {
            self.check_case(name, id);
            self.check_same_prefix(id, name);
            return Some(id);
        }
        let id = self.define(name, empty, doc)?;
        self.complete[id.0 as usize] = false;
        Some(id)
    }

    pub(super) fn forward_struct(&mut self, name: &Ident, doc: &str) {
        let empty = Struct {
            is_forward: true,
            ..Struct::default()
        };
        self.forward(
            name,
            DefinitionKind::Struct(empty),
            |kind| matches!(kind, DefinitionKind::Struct(_)),
            doc,
        );
    }

    pub(super) fn exception(&mut self, name: &Ident, members: &[ast::Member], end: usize, doc: &str) {
        let Some(id) = self.define(name, DefinitionKind::Exception(Exception::default()), doc) else {
            return;
        };
        let members = self.within(id, name, end, |this| {
            members.iter().flat_map(|member| this.members(member)).collect()
        });
        if let DefinitionKind::Exception(exception) = self.kind_mut(id) {
            exception.members = members;
        }
    }

    fn enumeration(&mut self, enumeration: &ast::Enum, doc: &str) -> Option<DefinitionId> {
        let id = self.define(&enumeration.name, DefinitionKind::Enum(Enum::default()), doc)?;
        let mut enumerators = Vec::with_capacity(enumeration.enumerators.len());
        for ast::Listed { name, doc, .. } in &enumeration.enumerators {
            let ordinal = enumerators.len() as u32;
            if self.declare(
                name,
                Entity::Enumerator {
                    enumeration: id,
                    ordinal,
                },
            ) {
                enumerators.push(Enumerator {
                    name: name.name.to_string(),
                    doc: doc.clone(),
                    span: name.span,
                    ordinal,
                });
            }
        }
        if let DefinitionKind::Enum(enumeration) = self.kind_mut(id) {
            enumeration.enumerators = enumerators;
        }
        Some(id)
    }

    pub(super) fn typedef(
        &mut self,
        annotations: &[Annotation],
        ty: &TypeSpec,
        declarators: &[Declarator],
        doc: &str,
    ) {
        self.default_without_effect(annotations, "a typedef");
        let target = self.type_spec(ty);
        let inner = match (&ty.kind, &target) {
            (TypeKind::Named(_), _) => None,
            (_, Some(Type::Ref(id))) => Some(*id),
            _ => None,
        };
        for declarator in declarators {
            match target
                .as_ref()
                .and_then(|target| self.with_dimensions(target, declarator))
            {
                Some(target) => {
                    self.annotated_default(annotations, &target);
                    let typedef = DefinitionKind::Typedef(Typedef { target, inner });
                    if let Some(id) = self.define(&declarator.name, typedef, &declarator.doc(doc)) {
                        self.keep_extent(id);
                    }
                }
                None => {
                    self.declare(&declarator.name, Entity::Broken);
                }
            }
        }
    }

    /// The value of an enumerator as a constant, if the name denotes one of `enumeration`.
    pub(super) fn enumerator_named(&self, enumeration: DefinitionId, name: &Name) -> Option<ConstantValue> {
        let [part] = name.parts.as_slice() else {
            return None;
        };
        let found = self
            .spec
            .enumerators(enumeration)
            .iter()
            .find(|enumerator| *enumerator.name == *part.name)?;
        Some(ConstantValue::Enumerator {
            enumeration,
            ordinal: found.ordinal,
        })
    }
}

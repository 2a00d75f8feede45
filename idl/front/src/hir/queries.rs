//! Queries of generators about a specification.

use std::collections::HashSet;
use std::ops::Index;

use super::{
    Attribute, Definition, DefinitionId, DefinitionKind, Enumerator, Interface, Operation, Specification,
    Type,
};

/// An operation or attribute and the interface that declares it.
#[derive(Debug, Clone, Copy)]
pub struct Declared<'a, T> {
    /// The interface that declares it, which may be a base.
    pub interface: DefinitionId,
    /// The operation or attribute.
    pub item: &'a T,
}

impl Index<DefinitionId> for Specification {
    type Output = Definition;

    fn index(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.0 as usize]
    }
}

impl Specification {
    /// Returns whether a definition is `CORBA::TypeCode`, the native type whose values can be sent.
    pub fn is_type_code(&self, definition: &Definition) -> bool {
        matches!(definition.kind, DefinitionKind::Native(_))
            && definition.scoped_name.0 == ["CORBA", "TypeCode"]
    }

    /// Returns whether a definition comes from a file that was only included. Of a module, the first opening
    /// counts.
    pub fn is_included(&self, definition: &Definition) -> bool {
        let file = self.files.get(definition.span.file as usize);
        file.is_some_and(|file| !file.is_compiled)
    }

    /// Returns the definition with this name (such as `A::B`), if there is one.
    pub fn find(&self, scoped_name: &str) -> Option<&Definition> {
        let parts: Vec<&str> = scoped_name.trim_start_matches("::").split("::").collect();
        self.definitions
            .iter()
            .find(|definition| definition.scoped_name.0 == parts)
    }

    /// Returns the definitions directly inside a definition, in source order; none for those that contain
    /// nothing.
    pub fn children(&self, id: DefinitionId) -> &[DefinitionId] {
        match &self[id].kind {
            DefinitionKind::Module(module) => &module.members,
            DefinitionKind::Interface(interface) => &interface.members,
            DefinitionKind::ValueType(value) => &value.members,
            DefinitionKind::Struct(structure) => &structure.nested,
            DefinitionKind::Union(union) => &union.nested,
            DefinitionKind::Exception(exception) => &exception.nested,
            DefinitionKind::ValueBox(boxed) => &boxed.nested,
            DefinitionKind::Accepted(accepted) => &accepted.members,
            DefinitionKind::Native(native) => &native.nested,
            DefinitionKind::Enum(_)
            | DefinitionKind::Typedef(_)
            | DefinitionKind::Constant(_)
            | DefinitionKind::Bitmask(_)
            | DefinitionKind::Bitset(_) => &[],
        }
    }

    /// Returns the interface with this id, if it is one.
    pub fn interface(&self, id: DefinitionId) -> Option<&Interface> {
        match &self[id].kind {
            DefinitionKind::Interface(interface) => Some(interface),
            _ => None,
        }
    }

    /// Returns the enumerators of a definition, if it is an enumeration.
    pub fn enumerators(&self, id: DefinitionId) -> &[Enumerator] {
        match &self[id].kind {
            DefinitionKind::Enum(enumeration) => &enumeration.enumerators,
            _ => &[],
        }
    }

    /// Returns the type behind all typedefs: never a [`Type::Ref`] to a typedef.
    pub fn resolve_aliases<'a>(&'a self, ty: &'a Type) -> &'a Type {
        let mut ty = ty;
        // A typedef refers to an earlier declaration, so the chain ends.
        while let Some(last) = self.last_typedef(ty) {
            #[cfg(test)]
            tests::STEPS.set(tests::STEPS.get() + 1);
            match &self[last].kind {
                DefinitionKind::Typedef(typedef) => ty = &typedef.target,
                _ => break,
            }
        }
        ty
    }

    /// Returns the last typedef of the chain that begins with a type, if this is one.
    pub(crate) fn last_typedef(&self, ty: &Type) -> Option<DefinitionId> {
        match ty {
            Type::Ref(id) if matches!(self[*id].kind, DefinitionKind::Typedef(_)) => {
                Some(self.last_typedefs.get(id.0 as usize).copied().unwrap_or(*id))
            }
            _ => None,
        }
    }

    /// Returns the bases of an interface, direct and indirect, without the interface itself and without
    /// duplicates: depth first, the first base first, each after its own bases.
    pub fn all_bases(&self, id: DefinitionId) -> Vec<DefinitionId> {
        let mut found = Vec::new();
        let mut seen = HashSet::from([id]);
        let mut open = vec![(id, 0)];
        while let Some((interface, next)) = open.pop() {
            match self.direct_base(interface, next) {
                Some(base) => {
                    open.push((interface, next + 1));
                    if seen.insert(base) {
                        open.push((base, 0));
                    }
                }
                None if interface != id => found.push(interface),
                None => {}
            }
        }
        found
    }

    /// Returns a direct base of an interface, or of a value type, whose supported interfaces come behind its
    /// bases.
    fn direct_base(&self, id: DefinitionId, number: usize) -> Option<DefinitionId> {
        match &self[id].kind {
            DefinitionKind::Interface(interface) => interface.bases.get(number).copied(),
            DefinitionKind::ValueType(value) => {
                value.bases.iter().chain(&value.supports).nth(number).copied()
            }
            _ => None,
        }
    }

    /// Returns the operations of an interface: those of [`Self::all_bases`] in that order, then its own.
    pub fn all_operations(&self, id: DefinitionId) -> Vec<Declared<'_, Operation>> {
        self.collect(id, |definition| match &definition.kind {
            DefinitionKind::Interface(interface) => &interface.operations,
            DefinitionKind::ValueType(value) => &value.operations,
            _ => &[],
        })
    }

    /// Returns the attributes of an interface: those of [`Self::all_bases`] in that order, then its own.
    pub fn all_attributes(&self, id: DefinitionId) -> Vec<Declared<'_, Attribute>> {
        self.collect(id, |definition| match &definition.kind {
            DefinitionKind::Interface(interface) => &interface.attributes,
            DefinitionKind::ValueType(value) => &value.attributes,
            _ => &[],
        })
    }

    fn collect<'a, T>(
        &'a self,
        id: DefinitionId,
        items: impl Fn(&'a Definition) -> &'a [T],
    ) -> Vec<Declared<'a, T>> {
        let mut interfaces = self.all_bases(id);
        interfaces.push(id);
        let all = interfaces.into_iter();
        all.flat_map(|interface| {
            items(&self[interface])
                .iter()
                .map(move |item| Declared { interface, item })
        })
        .collect()
    }

    /// Returns whether values of a type differ in their encoded length: strings, sequences, references, `any`
    /// and what contains them. A union is variable if one of its cases is (the convention of the C++
    /// mapping).
    pub fn is_variable_length(&self, ty: &Type) -> bool {
        self.reaches(vec![ty], |part| match part {
            Type::Any
            | Type::Object
            | Type::ValueBase
            | Type::String { .. }
            | Type::WString { .. }
            | Type::Sequence { .. }
            | Type::Map { .. } => true,
            Type::Ref(id) => matches!(
                self[*id].kind,
                DefinitionKind::Interface(_)
                    | DefinitionKind::ValueType(_)
                    | DefinitionKind::ValueBox(_)
                    | DefinitionKind::Native(_)
                    | DefinitionKind::Accepted(_)
            ),
            _ => false,
        })
    }

    /// Returns whether a type contains itself, through sequences: its definition then needs indirection.
    pub fn is_recursive(&self, id: DefinitionId) -> bool {
        self.reaches(self.parts(&Type::Ref(id)), |part| *part == Type::Ref(id))
    }

    /// Returns whether `wanted` holds for one of the types or something that they contain. References to
    /// interfaces and value types are not entered.
    fn reaches<'a>(&'a self, start: Vec<&'a Type>, wanted: impl Fn(&Type) -> bool) -> bool {
        let mut seen = HashSet::new();
        let mut open = start;
        while let Some(ty) = open.pop() {
            if wanted(ty) {
                return true;
            }
            let new = match ty {
                Type::Ref(id) => seen.insert(*id),
                _ => true,
            };
            if new {
                open.extend(self.parts(ty));
            }
        }
        false
    }

    /// Returns the types of which a type directly consists.
    fn parts<'a>(&'a self, ty: &'a Type) -> Vec<&'a Type> {
        match ty {
            Type::Sequence { element, .. } | Type::Array { element, .. } => vec![element],
            Type::Map { key, value, .. } => vec![key, value],
            Type::Ref(id) => match &self[*id].kind {
                DefinitionKind::Struct(structure) => {
                    structure.members.iter().map(|member| &member.ty).collect()
                }
                DefinitionKind::Exception(exception) => {
                    exception.members.iter().map(|member| &member.ty).collect()
                }
                DefinitionKind::Union(union) => union.cases.iter().map(|case| &case.member.ty).collect(),
                DefinitionKind::Typedef(typedef) => vec![&typedef.target],
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// Typedefs that were looked up.
        pub(super) static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    /// A chain of typedefs, and as many uses of its end.
    fn steps(length: usize) -> usize {
        let mut text = String::from("typedef long T0;\n");
        for number in 1..length {
            text += &format!("typedef T{} T{number};\n", number - 1);
        }
        for number in 0..length {
            text += &format!("const T{} c{number} = 1;\n", length - 1);
        }
        STEPS.set(0);
        let outcome = crate::compile_text("test.idl", &text, &crate::Options::default());
        let specification = outcome.specification.unwrap();
        let last = specification.find(&format!("T{}", length - 1)).unwrap();
        assert_eq!(*specification.resolve_aliases(&Type::Ref(last.id)), Type::Long);
        STEPS.get()
    }

    #[test]
    fn the_work_for_a_chain_of_typedefs_is_linear() {
        let (short, long) = (steps(1_000), steps(2_000));
        assert!(short > 0 && long <= 3 * short, "{short} and {long} steps");
    }

    #[test]
    fn a_chain_ends_at_what_is_no_typedef() {
        let text = "struct S { long a; }; typedef S A; typedef A B; typedef B C[2]; typedef C D;";
        let outcome = crate::compile_text("test.idl", text, &crate::Options::default());
        let specification = outcome.specification.unwrap();
        let id = |name: &str| specification.find(name).unwrap().id;
        let resolved = |name: &str| specification.resolve_aliases(&Type::Ref(id(name))).clone();
        assert_eq!(resolved("B"), Type::Ref(id("S")));
        let element = Box::new(Type::Ref(id("B")));
        assert_eq!(
            resolved("D"),
            Type::Array {
                element,
                dims: vec![2]
            }
        );
    }
}

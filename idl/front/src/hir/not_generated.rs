//! Constructs that are accepted, but for which no code is generated.

use std::collections::HashSet;

use super::{Attribute, Definition, DefinitionKind, InterfaceFlavour, Operation, Specification, Type};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::findings::{self, Findings};
use crate::source::Span;
use crate::{Limits, Options};

/// One diagnostic, with construct and reason, for every use of a construct without code, in the main file and
/// in included files: what belongs to the CORBA Component Model, imports of what no file declares, and native
/// types where values are sent.
/// Those beyond [`Limits::diagnostics`](crate::Limits::diagnostics) are counted.
pub fn not_generated(specification: &Specification, limits: &Limits) -> Vec<Diagnostic> {
    let options = Options {
        limits: limits.clone(),
        ..Options::default()
    };
    let mut check = Check {
        specification,
        found: Findings::new(&options),
        seen: HashSet::new(),
    };
    for definition in &specification.definitions {
        check.definition(definition);
    }
    findings::join(vec![check.found])
}

const COMPONENT_MODEL: &str = "it belongs to the CORBA Component Model, which Punctual does not implement";
const NOT_IN_FILES: &str = "only files are read: `#include` the one that declares it";
const NO_WIRE_FORM: &str = "its values have no form in messages; only local interfaces can use it";

struct Check<'s> {
    specification: &'s Specification,
    found: Findings<'s>,
    /// One report per place and construct.
    seen: HashSet<(Span, &'static str)>,
}

impl Check<'_> {
    fn report(&mut self, span: Span, construct: &'static str, user: &str, reason: &str) {
        if self.seen.insert((span, construct)) {
            self.found.add(
                Diagnostic::new(
                    Code::NotGenerated,
                    span,
                    format!("`{user}` uses {construct}, for which no code is generated: {reason}"),
                )
                .here(format!("{construct} is checked, but not generated"))
                .with_help("exclude it with `#ifndef __PUNCTUAL_IDL__` and `#endif`"),
            );
        }
    }

    fn definition(&mut self, definition: &Definition) {
        let span = definition.span;
        let name = definition.scoped_name.to_string();
        match &definition.kind {
            DefinitionKind::Interface(interface) if interface.flavour != InterfaceFlavour::Local => {
                self.exports(&interface.operations, &interface.attributes);
            }
            DefinitionKind::Struct(item) => {
                let members = item.members[item.inherited..].iter();
                members.for_each(|member| self.native(member.span, &member.ty, &member.name));
            }
            DefinitionKind::Exception(item) => {
                let members = item.members.iter();
                members.for_each(|member| self.native(member.span, &member.ty, &member.name));
            }
            DefinitionKind::Union(item) => {
                let members = item.cases.iter().map(|case| &case.member);
                members.for_each(|member| self.native(member.span, &member.ty, &member.name));
            }
            DefinitionKind::ValueBox(value) => self.native(span, &value.content, &name),
            DefinitionKind::ValueType(value) => {
                let members = value.state.iter().map(|(_, member)| member);
                members.for_each(|member| self.native(member.span, &member.ty, &member.name));
                self.exports(&value.operations, &value.attributes);
                self.exports(&value.factories, &[]);
            }
            DefinitionKind::Accepted(accepted) => {
                let reason = match accepted.construct {
                    "import" => NOT_IN_FILES,
                    _ => COMPONENT_MODEL,
                };
                self.report(span, accepted.construct, &name, reason)
            }
            _ => {}
        }
    }

    fn exports(&mut self, operations: &[Operation], attributes: &[Attribute]) {
        for operation in operations {
            self.native(operation.span, &operation.result, &operation.name);
            for parameter in &operation.parameters {
                self.native(parameter.span, &parameter.ty, &parameter.name);
            }
        }
        for attribute in attributes {
            self.native(attribute.span, &attribute.ty, &attribute.name);
        }
    }

    fn native(&mut self, span: Span, ty: &Type, user: &str) {
        let is_native = |of: &&Definition| matches!(of.kind, DefinitionKind::Native(_));
        let native = self.innermost(ty).filter(is_native);
        if native.is_some_and(|native| !self.specification.is_type_code(native)) {
            self.report(span, "a native type", user, NO_WIRE_FORM);
        }
    }

    /// Returns the definition of a type, of its elements, or of what it is another name for.
    fn innermost<'t>(&'t self, mut ty: &'t Type) -> Option<&'t Definition> {
        loop {
            match ty {
                Type::Sequence { element, .. }
                | Type::Array { element, .. }
                | Type::Map { value: element, .. } => ty = element,
                Type::Ref(id) => match &self.specification[*id] {
                    Definition {
                        kind: DefinitionKind::Typedef(typedef),
                        ..
                    } => ty = &typedef.target,
                    definition => return Some(definition),
                },
                _ => return None,
            }
        }
    }
}

//! Constructs that are accepted, but for which no code is generated yet.

use std::collections::HashSet;

use super::{ConstantValue, Definition, DefinitionKind, InterfaceFlavour, Operation, Specification, Type};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// One diagnostic, naming the construct, for every use of a construct that is not generated yet, in the main
/// file and in included files.
pub fn not_generated_yet(specification: &Specification) -> Vec<Diagnostic> {
    let mut check = Check {
        found: Vec::new(),
        seen: HashSet::new(),
    };
    for definition in &specification.definitions {
        check.definition(definition);
    }
    check.found
}

struct Check {
    found: Vec<Diagnostic>,
    /// One report per place and construct.
    seen: HashSet<(Span, &'static str)>,
}

impl Check {
    fn report(&mut self, span: Span, construct: &'static str, user: &str) {
        if self.seen.insert((span, construct)) {
            self.found.push(
                Diagnostic::new(
                    Code::NotGeneratedYet,
                    span,
                    format!("`{user}` uses {construct}, for which no code is generated yet"),
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
            DefinitionKind::Module(_) | DefinitionKind::Enum(_) => {}
            DefinitionKind::Interface(interface) => {
                match interface.flavour {
                    InterfaceFlavour::Plain => {}
                    InterfaceFlavour::Abstract => self.report(span, "an abstract interface", &name),
                    InterfaceFlavour::Local => self.report(span, "a local interface", &name),
                }
                for operation in &interface.operations {
                    self.operation(operation);
                }
                for attribute in &interface.attributes {
                    self.ty(&attribute.ty, attribute.span, &attribute.scoped_name.to_string());
                }
            }
            DefinitionKind::Struct(structure) => {
                for member in &structure.members {
                    self.ty(&member.ty, member.span, &name);
                }
            }
            DefinitionKind::Exception(exception) => {
                for member in &exception.members {
                    self.ty(&member.ty, member.span, &name);
                }
            }
            DefinitionKind::Union(union) => {
                for case in &union.cases {
                    self.ty(&case.member.ty, case.member.span, &name);
                }
            }
            DefinitionKind::Typedef(typedef) => self.ty(&typedef.target, span, &name),
            DefinitionKind::Constant(constant) => match constant.value {
                ConstantValue::Fixed(_) => self.report(span, "`fixed`", &name),
                ConstantValue::WChar(_) => self.report(span, "`wchar`", &name),
                ConstantValue::WString(_) => self.report(span, "`wstring`", &name),
                _ => {}
            },
            DefinitionKind::Native => self.report(span, "`native`", &name),
            DefinitionKind::ValueType(value) if value.is_event => self.report(span, "`eventtype`", &name),
            DefinitionKind::ValueType(value) => {
                for (_, member) in &value.state {
                    self.ty(&member.ty, member.span, &name);
                }
                for operation in value.operations.iter().chain(&value.factories) {
                    self.operation(operation);
                }
                for attribute in &value.attributes {
                    self.ty(&attribute.ty, attribute.span, &attribute.scoped_name.to_string());
                }
            }
            DefinitionKind::ValueBox(value) => self.ty(&value.content, span, &name),
            DefinitionKind::Accepted(accepted) => self.report(span, accepted.construct, &name),
        }
    }

    fn operation(&mut self, operation: &Operation) {
        let name = operation.scoped_name.to_string();
        self.ty(&operation.result, operation.span, &name);
        for parameter in &operation.parameters {
            self.ty(&parameter.ty, parameter.span, &name);
        }
    }

    /// Reports the parts of a type. Definitions to which it refers are reported at their place.
    fn ty(&mut self, ty: &Type, span: Span, user: &str) {
        match ty {
            Type::WChar => self.report(span, "`wchar`", user),
            Type::WString { .. } => self.report(span, "`wstring`", user),
            Type::Fixed { .. } => self.report(span, "`fixed`", user),
            Type::Sequence { element, .. } | Type::Array { element, .. } => self.ty(element, span, user),
            _ => {}
        }
    }
}

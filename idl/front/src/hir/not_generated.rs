//! Constructs that are accepted, but for which no code is generated yet.

use std::collections::HashSet;

use super::{Definition, DefinitionKind, InterfaceFlavour, Specification};
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
            DefinitionKind::Interface(interface) => match interface.flavour {
                InterfaceFlavour::Plain => {}
                InterfaceFlavour::Abstract => self.report(span, "an abstract interface", &name),
                InterfaceFlavour::Local => self.report(span, "a local interface", &name),
            },
            DefinitionKind::Native => self.report(span, "`native`", &name),
            DefinitionKind::ValueType(value) if value.is_event => self.report(span, "`eventtype`", &name),
            DefinitionKind::Accepted(accepted) => self.report(span, accepted.construct, &name),
            _ => {}
        }
    }
}

//! Constructs that are accepted, but for which no code is generated.

use super::{DefinitionKind, Specification};
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
    let mut found = Findings::new(&options);
    for definition in &specification.definitions {
        if let DefinitionKind::Accepted(accepted) = &definition.kind {
            let reason = match accepted.construct {
                "import" => NOT_IN_FILES,
                _ => COMPONENT_MODEL,
            };
            let user = format!("`{}`", definition.scoped_name);
            found.add(refused(definition.span, accepted.construct, &user, reason));
        }
    }
    let native = specification.sent_with(|definition| {
        matches!(definition.kind, DefinitionKind::Native(_)) && !specification.is_type_code(definition)
    });
    for (span, user) in native {
        found.add(refused(span, "a native type", &user, NO_WIRE_FORM));
    }
    findings::join(vec![found])
}

const COMPONENT_MODEL: &str = "it belongs to the CORBA Component Model, which Punctual does not implement";
const NOT_IN_FILES: &str = "only files are read: `#include` the one that declares it";
const NO_WIRE_FORM: &str = "its values have no form in messages; only local interfaces and operations of \
                            value types can use it, also inside of structs, unions and exceptions";

fn refused(span: Span, construct: &str, user: &str, reason: &str) -> Diagnostic {
    Diagnostic::new(
        Code::NotGenerated,
        span,
        format!("{user} uses {construct}, for which no code is generated: {reason}"),
    )
    .here(format!("{construct} is checked, but not generated"))
    .with_help("exclude it with `#ifndef __PUNCTUAL_IDL__` and `#endif`")
}

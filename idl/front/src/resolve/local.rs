//! Local interfaces: what cannot be sent must not be part of what is (clause 7.4.6).

use super::Resolver;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{DefinitionKind, InterfaceFlavour};

impl Resolver<'_> {
    /// Reports local types in operations and attributes of interfaces that are not local, in the state of
    /// value types, and in boxes.
    pub(super) fn check_local_types(&mut self) {
        let found = self.spec.sent_with(|definition| {
            matches!(&definition.kind, DefinitionKind::Interface(interface)
                if interface.flavour == InterfaceFlavour::Local)
        });
        for (span, what) in found {
            self.report(
                Diagnostic::new(Code::LocalType, span, format!("{what} is of a local type"))
                    .here("a local object cannot be sent")
                    .with_help("make the interface `local` that has it here, or use another type"),
            );
        }
    }
}

//! Unions: discriminators and labels (clause 7.4.4.4.2).

use std::collections::HashMap;

use super::Resolver;
use crate::ast::{self, CaseLabel, Expr, Ident, StepKind};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{Case, ConstantValue, DefinitionId, DefinitionKind, Type, Union};
use crate::source::Span;
use crate::suggest::did_you_mean;

impl Resolver<'_> {
    pub(super) fn forward_union(&mut self, name: &Ident, doc: &str) {
        let empty = Union {
            is_forward: true,
            ..empty()
        };
        self.forward(
            name,
            DefinitionKind::Union(empty),
            |kind| matches!(kind, DefinitionKind::Union(_)),
            doc,
        );
    }

    pub(super) fn union(&mut self, union: &ast::Union, doc: &str) -> Option<DefinitionId> {
        let kind = DefinitionKind::Union(empty());
        let id = self.begin(
            &union.name,
            kind,
            |kind| matches!(kind, DefinitionKind::Union(_)),
            doc,
        )?;
        let resolved = self.within(id, &union.name, union.end, |this| this.union_body(union));
        if let (DefinitionKind::Union(union), Some((discriminator, cases, implicit))) =
            (self.kind_mut(id), resolved)
        {
            union.discriminator = discriminator;
            union.cases = cases;
            union.has_implicit_default = implicit;
        }
        self.finish(id);
        Some(id)
    }

    fn union_body(&mut self, union: &ast::Union) -> Option<(Type, Vec<Case>, bool)> {
        let discriminator = self.type_spec(&union.discriminator)?;
        let values = self.number_of_values(&discriminator);
        if values.is_none() && !self.is_unknown(self.spec.resolve_aliases(&discriminator)) {
            self.report(
                Diagnostic::new(
                    Code::BadDiscriminator,
                    union.discriminator.span,
                    "a union cannot be switched on this type",
                )
                .with_help("use an integer type, `octet`, `char`, `wchar`, `boolean` or an enum"),
            );
        }
        let mut labels = HashMap::new();
        let mut default: Option<Span> = None;
        let mut cases = Vec::with_capacity(union.cases.len());
        for case in &union.cases {
            let mut own = Vec::new();
            let mut is_default = false;
            for label in &case.labels {
                match label {
                    CaseLabel::Default(span) => {
                        is_default = true;
                        if let Some(first) = default.replace(*span) {
                            self.duplicate_label(*span, first, "`default`");
                        }
                    }
                    CaseLabel::Value(expression) if values.is_some() => {
                        let Some(value) = self.label(expression, &discriminator) else {
                            continue;
                        };
                        if let Some(first) = labels.insert(value.as_label(), expression.span) {
                            self.duplicate_label(expression.span, first, "this value");
                        }
                        own.push(value);
                    }
                    CaseLabel::Value(_) => {}
                }
            }
            self.default_without_effect(&case.element.annotations, "a union's member");
            for member in self.members(&case.element) {
                cases.push(Case {
                    labels: own.clone(),
                    is_default,
                    member,
                });
            }
        }
        let covered = values.is_some_and(|values| labels.len() as u128 >= values);
        if let (true, Some(span)) = (covered, default) {
            self.report(
                Diagnostic::new(
                    Code::UselessDefault,
                    span,
                    "the other labels cover all values of the discriminator",
                )
                .here("this case can never be chosen")
                .with_help("remove the `default`, or one of the other cases"),
            );
        }
        Some((discriminator, cases, default.is_none() && !covered))
    }

    /// How many values a discriminator has; `None` if it cannot be one.
    fn number_of_values(&self, discriminator: &Type) -> Option<u128> {
        Some(match self.spec.resolve_aliases(discriminator) {
            Type::Boolean => 2,
            // IDL 4.2, 7.4.13.4.
            Type::Char | Type::Octet | Type::Int8 => 1 << 8,
            Type::Short | Type::UShort => 1 << 16,
            // IDL 4.2, 7.4.13.4; Unicode has no characters for surrogates.
            Type::WChar => 0x11_0000 - 0x800,
            Type::Long | Type::ULong => 1 << 32,
            Type::LongLong | Type::ULongLong => 1 << 64,
            Type::Ref(id) => match &self.spec[*id].kind {
                DefinitionKind::Enum(enumeration) => enumeration.enumerators.len() as u128,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Evaluates a label. An enumerator may also be named without the scope of its enumeration.
    fn label(&mut self, expression: &Expr, discriminator: &Type) -> Option<ConstantValue> {
        if let ([step], Type::Ref(id)) = (
            expression.steps.as_slice(),
            self.spec.resolve_aliases(discriminator).clone(),
        ) && let StepKind::Name(name) = &step.kind
        {
            if let Some(value) = self.enumerator_named(id, name) {
                return Some(value);
            }
            if let [part] = name.parts.as_slice()
                && !self.spec.enumerators(id).is_empty()
                && !self.is_visible(part)
            {
                let message = format!("`{}` is not an enumerator of `{}`", part.name, self.spec[id].name);
                let error = Diagnostic::new(Code::WrongLabel, part.span, message);
                let names = self
                    .spec
                    .enumerators(id)
                    .iter()
                    .map(|enumerator| &*enumerator.name);
                let help = did_you_mean(&part.name, names).unwrap_or_else(|| self.labels(id));
                self.report(error.with_help(help));
                return None;
            }
        }
        self.evaluate_label(expression, discriminator)
    }

    fn duplicate_label(&mut self, span: Span, first: Span, what: &str) {
        self.report(
            Diagnostic::new(Code::DuplicateLabel, span, format!("{what} already has a case"))
                .with_label(first, "first used here")
                .with_help("remove one of the two labels"),
        );
    }
}

fn empty() -> Union {
    Union {
        discriminator: Type::Boolean,
        cases: Vec::new(),
        has_implicit_default: false,
        nested: Vec::new(),
        is_forward: false,
    }
}

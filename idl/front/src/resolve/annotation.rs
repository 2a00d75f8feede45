//! Values that annotations of IDL 4.2 give to members (clause 8.3.2): `@default`, `@min`, `@max`, `@range`.

use std::cmp::Ordering;

use super::Resolver;
use crate::ast::{Annotation, AnnotationKind};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{ConstantValue, FixedValue, Type};
use crate::source::Span;

impl Resolver<'_> {
    /// Checks the annotations of a member; its default value, if one of them states it.
    pub(super) fn annotated_default(
        &mut self,
        annotations: &[Annotation],
        ty: &Type,
    ) -> Option<ConstantValue> {
        if annotations.is_empty() {
            return None;
        }
        let target = self.spec.resolve_aliases(ty).clone();
        if self.is_unknown(&target) {
            return None;
        }
        let (mut default, mut least, mut most) = (None, None, None);
        for Annotation { kind, value } in annotations {
            if !self.may_be_constant(&target) {
                let message = "this annotation suits numbers, characters, booleans, strings and enums only";
                self.bad_annotation(value.span, message.to_owned(), "remove it");
                continue;
            }
            let Some(found) = self.evaluate_annotation(value, &target) else {
                continue;
            };
            let place = match kind {
                AnnotationKind::Default => &mut default,
                AnnotationKind::Min => &mut least,
                AnnotationKind::Max => &mut most,
            };
            *place = Some((found, value.span));
        }
        for (lower, upper, message) in [
            (&least, &most, "the minimum is greater than the maximum"),
            (&least, &default, "the default is less than the minimum"),
            (&default, &most, "the default is greater than the maximum"),
        ] {
            let (Some((lower, first)), Some((upper, second))) = (lower, upper) else {
                continue;
            };
            let span = (*first).max(*second);
            match compare(lower, upper) {
                Some(Ordering::Greater) => {
                    self.bad_annotation(span, message.to_owned(), "change one of the two values");
                }
                None => {
                    let message = "only numbers and characters have a minimum and a maximum";
                    self.bad_annotation(span, message.to_owned(), "remove it");
                }
                _ => {}
            }
        }
        default.map(|(value, _)| with_scale_of(value, &target))
    }

    /// Warns of a `@default` where no default is generated.
    pub(super) fn default_without_effect(&mut self, annotations: &[Annotation], place: &str) {
        let defaults = annotations.iter().filter(|of| of.kind == AnnotationKind::Default);
        for default in defaults {
            let message = format!("`@default` of {place} has no effect");
            self.report(
                Diagnostic::new(Code::WithoutEffect, default.value.span, message)
                    .with_help("write it before members of structs, exceptions and value types"),
            );
        }
    }

    fn bad_annotation(&mut self, span: Span, message: String, help: &str) {
        self.report(Diagnostic::new(Code::BadAnnotation, span, message).with_help(help));
    }
}

/// Compares numbers or characters of one type.
fn compare(one: &ConstantValue, other: &ConstantValue) -> Option<Ordering> {
    use ConstantValue::{Char, Double, Fixed, Float, LongDouble, WChar};
    match (one, other) {
        (Char(one), Char(other)) | (WChar(one), WChar(other)) => Some(one.cmp(other)),
        (Float(one), Float(other)) => one.partial_cmp(other),
        (Double(one), Double(other)) => one.partial_cmp(other),
        (LongDouble(one), LongDouble(other)) => Some(one.compare(*other)),
        (Fixed(one), Fixed(other)) => {
            let least = one.scale.min(other.scale);
            let scaled = |value: &FixedValue| 10_i128.checked_pow(u32::from(value.scale - least));
            // The one with fewer digits behind the point has as many as the other one.
            let (one_factor, other_factor) = (scaled(other)?, scaled(one)?);
            let one = one.unscaled.checked_mul(one_factor)?;
            Some(one.cmp(&other.unscaled.checked_mul(other_factor)?))
        }
        _ => Some(one.as_integer()?.cmp(&other.as_integer()?)),
    }
}

/// A number of a fixed-point type, with as many digits behind the point as the type has.
fn with_scale_of(value: ConstantValue, ty: &Type) -> ConstantValue {
    match (value, ty) {
        (ConstantValue::Fixed(value), Type::Fixed { scale, .. }) if value.scale < *scale => {
            let factor = 10_i128.pow(u32::from(scale - value.scale));
            ConstantValue::Fixed(FixedValue {
                unscaled: value.unscaled * factor,
                scale: *scale,
            })
        }
        (value, _) => value,
    }
}

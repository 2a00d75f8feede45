//! Evaluation of constant expressions (clause 7.4.3.2).

use super::Resolver;
use super::arithmetic::{Problem, Target, Value, binary, constant_value, in_precision, literal_value, unary};
use super::convert::target_of;
use super::fixed;
use super::scope::Entity;
use crate::ast::{Expr, StepKind};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{Binary128, ConstantValue, DefinitionId, DefinitionKind, FixedValue, Type};
use crate::source::Span;

impl Resolver<'_> {
    /// Evaluates the value of a constant: its type, which `fixed` takes from the value, and the value in that
    /// type.
    pub(super) fn evaluate_constant(
        &mut self,
        expression: &Expr,
        ty: &Type,
        type_span: Span,
    ) -> Option<(Type, ConstantValue)> {
        let target = self.spec.resolve_aliases(ty).clone();
        if self.is_unknown(&target) {
            return None;
        }
        if !self.may_be_constant(&target) {
            self.report(
                Diagnostic::new(
                    Code::ConstantTypeMismatch,
                    type_span,
                    "a constant cannot have this type",
                )
                .with_help(
                    "constants are integers, characters, booleans, floating or fixed point numbers, strings or enums",
                ),
            );
            return None;
        }
        let value = self.evaluate_for(expression, &target)?;
        let ty = match (&target, &value) {
            (Type::Fixed { .. }, ConstantValue::Fixed(value)) if *ty == target => {
                let scale = value.scale;
                Type::Fixed {
                    digits: (fixed::digits(value.unscaled) as u8).max(scale),
                    scale,
                }
            }
            _ => ty.clone(),
        };
        Some((ty, value))
    }

    /// Evaluates the value of an annotation. An integer is also a value of a type with a fraction.
    pub(super) fn evaluate_annotation(&mut self, expression: &Expr, target: &Type) -> Option<ConstantValue> {
        let value = self.evaluate(expression, target_of(target))?;
        let value = match (value, target) {
            (Value::Integer(number), Type::Float | Type::Double) => Value::Float(number as f64),
            (Value::Integer(number), Type::LongDouble) => Value::LongDouble(Binary128::from_integer(number)),
            (Value::Integer(unscaled), Type::Fixed { .. }) => Value::Fixed(FixedValue { unscaled, scale: 0 }),
            (value, _) => value,
        };
        self.converted(&value, target, expression.span)
    }

    /// Evaluates a case label of a union with this discriminator.
    pub(super) fn evaluate_label(
        &mut self,
        expression: &Expr,
        discriminator: &Type,
    ) -> Option<ConstantValue> {
        let target = self.spec.resolve_aliases(discriminator).clone();
        let value = self.evaluate(expression, target_of(&target))?;
        match self.convert(&value, &target) {
            Ok(value) => Some(value),
            Err(problem) => {
                let help = match &target {
                    Type::Ref(id) => self.labels(*id),
                    _ => "use a label of the type in `switch (...)`".to_owned(),
                };
                self.report(
                    Diagnostic::new(
                        Code::WrongLabel,
                        expression.span,
                        format!("this label cannot be used: {}", problem.1),
                    )
                    .with_help(help),
                );
                None
            }
        }
    }

    /// Returns which labels a union over this enumeration has.
    pub(super) fn labels(&self, enumeration: DefinitionId) -> String {
        let enumerators = self.spec.enumerators(enumeration).iter().take(8);
        let names: Vec<String> = enumerators
            .map(|enumerator| format!("`{}`", enumerator.name))
            .collect();
        format!(
            "the labels are the enumerators of `{}`: {}",
            self.spec[enumeration].name,
            names.join(", ")
        )
    }

    /// Evaluates an integer, of any size.
    pub(super) fn evaluate_integer(&mut self, expression: &Expr, target: Target) -> Option<i128> {
        match self.evaluate(expression, target)? {
            Value::Integer(value) => Some(value),
            other => {
                let message = format!("this is {}, not an integer", other.describe());
                self.report(
                    Diagnostic::new(Code::ConstantTypeMismatch, expression.span, message)
                        .with_help("sizes are integer expressions"),
                );
                None
            }
        }
    }

    fn evaluate_for(&mut self, expression: &Expr, target: &Type) -> Option<ConstantValue> {
        let value = self.evaluate(expression, target_of(target))?;
        self.converted(&value, target, expression.span)
    }

    fn converted(&mut self, value: &Value, target: &Type, span: Span) -> Option<ConstantValue> {
        match self.convert(value, target) {
            Ok(value) => Some(value),
            Err((code, problem, help)) => {
                self.report(Diagnostic::new(code, span, problem).with_help(help));
                None
            }
        }
    }

    /// Runs the steps of an expression on a stack.
    fn evaluate(&mut self, expression: &Expr, target: Target) -> Option<Value> {
        let mut stack: Vec<Value> = Vec::new();
        for step in &expression.steps {
            let value = match &step.kind {
                StepKind::Literal(literal) => self.checked(literal_value(literal, target), step.span)??,
                StepKind::Name(name) => {
                    let entity = self.lookup(name)?;
                    match self.entity_value(entity) {
                        Some(value) => self.checked(in_precision(value, target), step.span)?,
                        // The value of an imported constant is unknown, and so is that of the expression.
                        None if self.is_opaque(entity) => return None,
                        None => {
                            self.wrong_kind(name, entity, "a constant");
                            return None;
                        }
                    }
                }
                StepKind::Unary(operator) => {
                    let operand = stack.pop()?;
                    self.checked(unary(*operator, operand, target), step.span)?
                }
                StepKind::Binary(operator) => {
                    let right = stack.pop()?;
                    let left = stack.pop()?;
                    self.checked(binary(*operator, left, right), step.span)?
                }
            };
            stack.push(value);
        }
        stack.pop()
    }

    fn checked<T>(&mut self, result: Result<T, Problem>, span: Span) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err((code, message, help)) => {
                self.report(Diagnostic::new(code, span, message).with_help(help));
                None
            }
        }
    }

    fn entity_value(&self, entity: Entity) -> Option<Value> {
        match entity {
            Entity::Enumerator { enumeration, ordinal } => Some(Value::Enumerator(enumeration, ordinal)),
            Entity::Definition(id) => match &self.spec[id].kind {
                DefinitionKind::Constant(constant) => Some(constant_value(&constant.value)),
                _ => None,
            },
            _ => None,
        }
    }
}

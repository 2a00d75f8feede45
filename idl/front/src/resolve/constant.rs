//! Evaluation of constant expressions (clause 7.4.3.2).

use super::Resolver;
use super::fixed;
use super::scope::Entity;
use crate::ast::{Expr, Literal, Operator, StepKind};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{ConstantValue, DefinitionId, DefinitionKind, FixedValue, Type};
use crate::source::Span;

/// What an integer expression is evaluated for: it decides what `~` is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    bits: u32,
    signed: bool,
}

impl Target {
    pub fn unsigned(bits: u32) -> Self {
        Self { bits, signed: false }
    }

    fn signed(bits: u32) -> Self {
        Self { bits, signed: true }
    }

    fn range(self) -> std::ops::RangeInclusive<i128> {
        match self.signed {
            true => -(1i128 << (self.bits - 1))..=(1i128 << (self.bits - 1)) - 1,
            false => 0..=(1i128 << self.bits) - 1,
        }
    }
}

/// A value on the way.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Integer(i128),
    Float(f64),
    Fixed(FixedValue),
    Boolean(bool),
    Char(char),
    WideChar(char),
    String(String),
    WideString(String),
    Enumerator(DefinitionId, u32),
}

impl Value {
    fn describe(&self) -> &'static str {
        match self {
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a floating point number",
            Value::Fixed(_) => "a fixed point number",
            Value::Boolean(_) => "a boolean",
            Value::Char(_) => "a character",
            Value::WideChar(_) => "a wide character",
            Value::String(_) => "a string",
            Value::WideString(_) => "a wide string",
            Value::Enumerator(..) => "an enumerator",
        }
    }
}

impl Resolver<'_> {
    /// Evaluates the value of a constant: its type, which `fixed` takes from the value, and the value in that type.
    pub(super) fn evaluate_constant(
        &mut self,
        expression: &Expr,
        ty: &Type,
        type_span: Span,
    ) -> Option<(Type, ConstantValue)> {
        let target = self.spec.resolve_aliases(ty).clone();
        if !self.may_be_constant(&target) {
            self.report(
                Diagnostic::new(Code::ConstantTypeMismatch, type_span, "a constant cannot have this type").with_help(
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

    /// Evaluates a case label of a union with this discriminator.
    pub(super) fn evaluate_label(
        &mut self,
        expression: &Expr,
        discriminator: &Type,
    ) -> Option<ConstantValue> {
        let target = self.spec.resolve_aliases(discriminator).clone();
        let value = self.evaluate(expression, integer_target(&target).unwrap_or(Target::signed(64)))?;
        match self.convert(&value, &target) {
            Ok(value) => Some(value),
            Err(problem) => {
                let help = match &target {
                    Type::Ref(id) => {
                        let names: Vec<String> = self
                            .spec
                            .enumerators(*id)
                            .iter()
                            .take(8)
                            .map(|enumerator| format!("`{}`", enumerator.name))
                            .collect();
                        format!(
                            "the labels are the enumerators of `{}`: {}",
                            self.spec[*id].name,
                            names.join(", ")
                        )
                    }
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
        let value = self.evaluate(expression, integer_target(target).unwrap_or(Target::signed(64)))?;
        match self.convert(&value, target) {
            Ok(value) => Some(value),
            Err((code, problem, help)) => {
                self.report(Diagnostic::new(code, expression.span, problem).with_help(help));
                None
            }
        }
    }

    fn may_be_constant(&self, target: &Type) -> bool {
        match target {
            Type::Ref(id) => matches!(self.spec[*id].kind, DefinitionKind::Enum(_)),
            Type::Void
            | Type::Any
            | Type::Object
            | Type::ValueBase
            | Type::Sequence { .. }
            | Type::Array { .. } => false,
            _ => true,
        }
    }

    /// Runs the steps of an expression on a stack.
    fn evaluate(&mut self, expression: &Expr, target: Target) -> Option<Value> {
        let mut stack: Vec<Value> = Vec::new();
        for step in &expression.steps {
            let value = match &step.kind {
                StepKind::Literal(literal) => literal_value(literal)?,
                StepKind::Name(name) => {
                    let entity = self.lookup(name)?;
                    match self.entity_value(entity) {
                        Some(value) => value,
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

    fn checked(&mut self, result: Result<Value, Problem>, span: Span) -> Option<Value> {
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

    /// Brings a value into a type.
    fn convert(&self, value: &Value, target: &Type) -> Result<ConstantValue, Problem> {
        if let (Value::Integer(value), Some(range)) = (value, integer_target(target).map(Target::range)) {
            return integer(*value, target).ok_or_else(|| {
                let message = format!("{value} does not fit in `{}`", type_name(target));
                let help = format!("the range is {} to {}", range.start(), range.end());
                (Code::ConstantOutOfRange, message, help)
            });
        }
        match (value, target) {
            (Value::Float(value), Type::Float) if (*value as f32).is_finite() => {
                return Ok(ConstantValue::Float(*value as f32));
            }
            (Value::Float(value), Type::Float) => {
                let message = format!("{value:e} does not fit in `float`");
                return Err((Code::ConstantOutOfRange, message, "use `double`".to_owned()));
            }
            (Value::Float(value), Type::Double) => return Ok(ConstantValue::Double(*value)),
            (Value::Float(value), Type::LongDouble) => return Ok(ConstantValue::LongDouble(*value)),
            (Value::Integer(_), Type::Float | Type::Double | Type::LongDouble) => {
                let message = format!("an integer is not a value of `{}`", type_name(target));
                let help = "write the numbers with a point, such as `1.0`".to_owned();
                return Err((Code::ConstantTypeMismatch, message, help));
            }
            (Value::Fixed(value), Type::Fixed { digits, scale }) => {
                return fixed_constant(*value, *digits, *scale);
            }
            (Value::Boolean(value), Type::Boolean) => return Ok(ConstantValue::Boolean(*value)),
            (Value::Char(value), Type::Char) => return Ok(ConstantValue::Char(*value)),
            (Value::WideChar(value), Type::WChar) => return Ok(ConstantValue::WChar(*value)),
            (Value::String(text), Type::String { bound }) => {
                return within_bound(text, *bound).map(ConstantValue::String);
            }
            (Value::WideString(text), Type::WString { bound }) => {
                return within_bound(text, *bound).map(ConstantValue::WString);
            }
            (Value::Enumerator(enumeration, ordinal), Type::Ref(id)) if enumeration == id => {
                return Ok(ConstantValue::Enumerator {
                    enumeration: *enumeration,
                    ordinal: *ordinal,
                });
            }
            _ => {}
        }
        let wanted = match target {
            Type::Ref(id) => self.spec[*id].name.as_str(),
            other => type_name(other),
        };
        let help = match (value, target) {
            (Value::String(_), Type::WString { .. }) | (Value::Char(_), Type::WChar) => {
                "put `L` before the literal"
            }
            (Value::WideString(_), Type::String { .. }) | (Value::WideChar(_), Type::Char) => {
                "remove the `L` before the literal, or use the wide type"
            }
            (Value::Float(_), Type::Fixed { .. }) => "end the literals with `d`, such as `1.5d`",
            (Value::Integer(_), Type::Boolean) => "write `TRUE` or `FALSE`",
            _ => "change the value or the type so that they agree",
        };
        Err((
            Code::ConstantTypeMismatch,
            format!("{} is not a value of `{wanted}`", value.describe()),
            help.to_owned(),
        ))
    }
}

/// Code, message, help.
type Problem = (Code, String, String);

fn literal_value(literal: &Literal) -> Option<Value> {
    Some(match literal {
        Literal::Integer(value) => Value::Integer(i128::from(*value)),
        Literal::Float(value) => Value::Float(*value),
        Literal::Fixed(value) => Value::Fixed(*value),
        Literal::Char(value) => Value::Char(*value),
        Literal::WideChar(value) => Value::WideChar(*value),
        Literal::String(value) => Value::String(value.clone()),
        Literal::WideString(value) => Value::WideString(value.clone()),
        Literal::Boolean(value) => Value::Boolean(*value),
        Literal::Malformed => return None,
    })
}

fn constant_value(value: &ConstantValue) -> Value {
    match value {
        ConstantValue::Boolean(value) => Value::Boolean(*value),
        ConstantValue::Char(value) => Value::Char(*value),
        ConstantValue::WChar(value) => Value::WideChar(*value),
        ConstantValue::Octet(value) => Value::Integer(i128::from(*value)),
        ConstantValue::Short(value) => Value::Integer(i128::from(*value)),
        ConstantValue::UShort(value) => Value::Integer(i128::from(*value)),
        ConstantValue::Long(value) => Value::Integer(i128::from(*value)),
        ConstantValue::ULong(value) => Value::Integer(i128::from(*value)),
        ConstantValue::LongLong(value) => Value::Integer(i128::from(*value)),
        ConstantValue::ULongLong(value) => Value::Integer(i128::from(*value)),
        ConstantValue::Float(value) => Value::Float(f64::from(*value)),
        ConstantValue::Double(value) | ConstantValue::LongDouble(value) => Value::Float(*value),
        ConstantValue::String(value) => Value::String(value.clone()),
        ConstantValue::WString(value) => Value::WideString(value.clone()),
        ConstantValue::Fixed(value) => Value::Fixed(*value),
        ConstantValue::Enumerator { enumeration, ordinal } => Value::Enumerator(*enumeration, *ordinal),
    }
}

fn unary(operator: char, operand: Value, target: Target) -> Result<Value, Problem> {
    Ok(match (operator, operand) {
        ('+', value @ (Value::Integer(_) | Value::Float(_) | Value::Fixed(_))) => value,
        ('-', Value::Integer(value)) => Value::Integer(value.checked_neg().ok_or_else(overflow)?),
        ('-', Value::Float(value)) => Value::Float(-value),
        ('-', Value::Fixed(value)) => Value::Fixed(FixedValue {
            unscaled: -value.unscaled,
            ..value
        }),
        // The complement in an unsigned type has as many bits as the type.
        ('~', Value::Integer(value)) if target.signed => Value::Integer(!value),
        ('~', Value::Integer(value)) => Value::Integer(!value & *target.range().end()),
        (operator, operand) => {
            let message = format!("`{operator}` cannot be applied to {}", operand.describe());
            return Err((
                Code::ConstantTypeMismatch,
                message,
                "operators work on numbers of one kind".to_owned(),
            ));
        }
    })
}

fn binary(operator: Operator, left: Value, right: Value) -> Result<Value, Problem> {
    match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => {
            integer_operation(operator, left, right).map(Value::Integer)
        }
        (Value::Float(left), Value::Float(right)) => float_operation(operator, left, right).map(Value::Float),
        (Value::Fixed(_), Value::Fixed(right)) if operator == Operator::Divide && right.unscaled == 0 => {
            Err(division_by_zero())
        }
        (Value::Fixed(left), Value::Fixed(right)) => fixed::apply(operator, left, right)
            .map(Value::Fixed)
            .ok_or_else(overflow),
        (left, right) => Err((
            Code::ConstantTypeMismatch,
            format!("{} and {} cannot be combined", left.describe(), right.describe()),
            "operators work on two numbers of the same kind: all with a point, or all without".to_owned(),
        )),
    }
}

fn integer_operation(operator: Operator, left: i128, right: i128) -> Result<i128, Problem> {
    let shift = || {
        u32::try_from(right)
            .ok()
            .filter(|bits| *bits < 64)
            .ok_or_else(|| {
                let message = format!("a shift by {right} bits");
                (Code::BadShift, message, "shift by 0 to 63 bits".to_owned())
            })
    };
    let result = match operator {
        Operator::Or => Some(left | right),
        Operator::Xor => Some(left ^ right),
        Operator::And => Some(left & right),
        Operator::ShiftLeft => left.checked_mul(1i128 << shift()?),
        Operator::ShiftRight => Some(left >> shift()?),
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide | Operator::Remainder if right == 0 => return Err(division_by_zero()),
        Operator::Divide => left.checked_div(right),
        Operator::Remainder => left.checked_rem(right),
    };
    // Every integer type fits in the range between the smallest `long long` and the largest `unsigned long long`;
    // one bit more is left for what a later operator brings back into it.
    result
        .filter(|value| value.unsigned_abs() <= 1 << 65)
        .ok_or_else(overflow)
}

fn float_operation(operator: Operator, left: f64, right: f64) -> Result<f64, Problem> {
    let result = match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide if right == 0.0 => return Err(division_by_zero()),
        Operator::Divide => left / right,
        _ => {
            let message = "this operator works on integers only".to_owned();
            return Err((
                Code::ConstantTypeMismatch,
                message,
                "use `+`, `-`, `*` or `/`".to_owned(),
            ));
        }
    };
    if result.is_finite() {
        Ok(result)
    } else {
        Err(overflow())
    }
}

fn division_by_zero() -> Problem {
    (
        Code::DivisionByZero,
        "division by zero".to_owned(),
        "check the value of the divisor".to_owned(),
    )
}

fn overflow() -> Problem {
    let help = "split the expression, or use smaller numbers".to_owned();
    (
        Code::ArithmeticOverflow,
        "the result is too large for any type".to_owned(),
        help,
    )
}

fn integer_target(ty: &Type) -> Option<Target> {
    Some(match ty {
        Type::Octet => Target::unsigned(8),
        Type::Short => Target::signed(16),
        Type::UShort => Target::unsigned(16),
        Type::Long => Target::signed(32),
        Type::ULong => Target::unsigned(32),
        Type::LongLong => Target::signed(64),
        Type::ULongLong => Target::unsigned(64),
        _ => return None,
    })
}

fn integer(value: i128, ty: &Type) -> Option<ConstantValue> {
    match ty {
        Type::Octet => value.try_into().ok().map(ConstantValue::Octet),
        Type::Short => value.try_into().ok().map(ConstantValue::Short),
        Type::UShort => value.try_into().ok().map(ConstantValue::UShort),
        Type::Long => value.try_into().ok().map(ConstantValue::Long),
        Type::ULong => value.try_into().ok().map(ConstantValue::ULong),
        Type::LongLong => value.try_into().ok().map(ConstantValue::LongLong),
        Type::ULongLong => value.try_into().ok().map(ConstantValue::ULongLong),
        _ => None,
    }
}

/// A fixed-point value in a type: the fraction is cut off, the whole number must fit.
fn fixed_constant(value: FixedValue, digits: u8, scale: u8) -> Result<ConstantValue, Problem> {
    let mut value = value;
    while value.scale > scale {
        value = FixedValue {
            unscaled: value.unscaled / 10,
            scale: value.scale - 1,
        };
    }
    let whole = fixed::digits(value.unscaled).saturating_sub(u32::from(value.scale));
    // `fixed` without digits is fixed<31, 31> here and takes any value.
    let room = if scale == 31 {
        31
    } else {
        u32::from(digits - scale)
    };
    let is_zero_whole = value.unscaled.unsigned_abs() < 10u128.pow(u32::from(value.scale));
    if is_zero_whole || whole <= room {
        return Ok(ConstantValue::Fixed(value));
    }
    let message = format!("the value has {whole} digits before the point, the type has {room}");
    Err((
        Code::ConstantOutOfRange,
        message,
        "use a fixed type with more digits".to_owned(),
    ))
}

fn within_bound(text: &str, bound: Option<u32>) -> Result<String, Problem> {
    let length = text.chars().count();
    match bound {
        Some(bound) if length > bound as usize => Err((
            Code::ConstantOutOfRange,
            format!("the string has {length} characters, its type at most {bound}"),
            "shorten the text, or use a larger bound".to_owned(),
        )),
        _ => Ok(text.to_owned()),
    }
}

/// A type as IDL writes it.
fn type_name(ty: &Type) -> &'static str {
    match ty {
        Type::Boolean => "boolean",
        Type::Char => "char",
        Type::WChar => "wchar",
        Type::Octet => "octet",
        Type::Short => "short",
        Type::UShort => "unsigned short",
        Type::Long => "long",
        Type::ULong => "unsigned long",
        Type::LongLong => "long long",
        Type::ULongLong => "unsigned long long",
        Type::Float => "float",
        Type::Double => "double",
        Type::LongDouble => "long double",
        Type::String { .. } => "string",
        Type::WString { .. } => "wstring",
        Type::Fixed { .. } => "fixed",
        _ => "this type",
    }
}

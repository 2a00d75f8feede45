//! Values of constant expressions and the operators on them (clause 7.4.3.2).

use super::fixed;
use crate::ast::{Literal, Operator};
use crate::codes::Code;
use crate::hir::{Binary128, ConstantValue, DefinitionId, FixedValue};

/// Target of an expression, which determines the meaning of `~` and the precision of numbers with a fraction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    bits: u32,
    signed: bool,
    is_long_double: bool,
}

impl Target {
    pub fn unsigned(bits: u32) -> Self {
        Self {
            bits,
            signed: false,
            is_long_double: false,
        }
    }

    pub fn signed(bits: u32) -> Self {
        Self {
            bits,
            signed: true,
            is_long_double: false,
        }
    }

    /// Target of an expression of type `long double`.
    pub fn long_double() -> Self {
        Self {
            is_long_double: true,
            ..Self::signed(64)
        }
    }

    pub fn range(self) -> std::ops::RangeInclusive<i128> {
        match self.signed {
            true => -(1i128 << (self.bits - 1))..=(1i128 << (self.bits - 1)) - 1,
            false => 0..=(1i128 << self.bits) - 1,
        }
    }
}

/// An intermediate value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Integer(i128),
    Float(f64),
    LongDouble(Binary128),
    Fixed(FixedValue),
    Boolean(bool),
    Char(char),
    WideChar(char),
    String(String),
    WideString(String),
    Enumerator(DefinitionId, u32),
}

impl Value {
    pub fn describe(&self) -> &'static str {
        match self {
            Value::Integer(_) => "an integer",
            Value::Float(_) | Value::LongDouble(_) => "a floating point number",
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

/// Code, message, help.
pub(super) type Problem = (Code, String, String);

/// Returns the value of a literal, `Ok(None)` for one that is malformed.
pub(super) fn literal_value(literal: &Literal, target: Target) -> Result<Option<Value>, Problem> {
    Ok(Some(match literal {
        Literal::Integer(value) => Value::Integer(i128::from(*value)),
        Literal::Float(text) => number(text, target)?,
        Literal::Fixed(value) => Value::Fixed(*value),
        Literal::Char(value) => Value::Char(*value),
        Literal::WideChar(value) => Value::WideChar(*value),
        Literal::String(value) => Value::String(value.clone()),
        Literal::WideString(value) => Value::WideString(value.clone()),
        Literal::Boolean(value) => Value::Boolean(*value),
        Literal::Malformed => return Ok(None),
    }))
}

/// Rounds a decimal to the precision of the target.
fn number(text: &str, target: Target) -> Result<Value, Problem> {
    let value = match target.is_long_double {
        true => Binary128::from_decimal(text).map(Value::LongDouble),
        false => text
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
            .map(Value::Float),
    };
    value.ok_or_else(|| {
        let (ty, largest) = match target.is_long_double {
            true => ("long double", "1.19e4932"),
            false => ("double", "1.8e308"),
        };
        (
            Code::NumberTooLarge,
            format!("`{text}` does not fit in a `{ty}`"),
            format!("the largest `{ty}` is about {largest}"),
        )
    })
}

/// Converts a number with a fraction to the precision of the target.
pub(super) fn in_precision(value: Value, target: Target) -> Result<Value, Problem> {
    match value {
        Value::Float(value) if target.is_long_double => Ok(Value::LongDouble(Binary128::from_f64(value))),
        Value::LongDouble(value) if !target.is_long_double => match value.to_f64() {
            value if value.is_finite() => Ok(Value::Float(value)),
            _ => Err((
                Code::ConstantOutOfRange,
                "the value of this constant does not fit in a `double`".to_owned(),
                "use `long double`".to_owned(),
            )),
        },
        value => Ok(value),
    }
}

pub(super) fn constant_value(value: &ConstantValue) -> Value {
    match value {
        ConstantValue::Boolean(value) => Value::Boolean(*value),
        ConstantValue::Char(value) => Value::Char(*value),
        ConstantValue::WChar(value) => Value::WideChar(*value),
        ConstantValue::Octet(value) => Value::Integer(i128::from(*value)),
        ConstantValue::Int8(value) => Value::Integer(i128::from(*value)),
        ConstantValue::Short(value) => Value::Integer(i128::from(*value)),
        ConstantValue::UShort(value) => Value::Integer(i128::from(*value)),
        ConstantValue::Long(value) => Value::Integer(i128::from(*value)),
        ConstantValue::ULong(value) => Value::Integer(i128::from(*value)),
        ConstantValue::LongLong(value) => Value::Integer(i128::from(*value)),
        ConstantValue::ULongLong(value) => Value::Integer(i128::from(*value)),
        ConstantValue::Float(value) => Value::Float(f64::from(*value)),
        ConstantValue::Double(value) => Value::Float(*value),
        ConstantValue::LongDouble(value) => Value::LongDouble(*value),
        ConstantValue::String(value) => Value::String(value.clone()),
        ConstantValue::WString(value) => Value::WideString(value.clone()),
        ConstantValue::Fixed(value) => Value::Fixed(*value),
        ConstantValue::Enumerator { enumeration, ordinal } => Value::Enumerator(*enumeration, *ordinal),
    }
}

pub(super) fn unary(operator: char, operand: Value, target: Target) -> Result<Value, Problem> {
    Ok(match (operator, operand) {
        ('+', value @ (Value::Integer(_) | Value::Float(_) | Value::LongDouble(_) | Value::Fixed(_))) => {
            value
        }
        ('-', Value::Integer(value)) => Value::Integer(value.checked_neg().ok_or_else(overflow)?),
        ('-', Value::Float(value)) => Value::Float(-value),
        ('-', Value::LongDouble(value)) => Value::LongDouble(value.negated()),
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

pub(super) fn binary(operator: Operator, left: Value, right: Value) -> Result<Value, Problem> {
    match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => {
            integer_operation(operator, left, right).map(Value::Integer)
        }
        (Value::Float(left), Value::Float(right)) => float_operation(operator, left, right).map(Value::Float),
        (Value::LongDouble(left), Value::LongDouble(right)) => {
            long_double_operation(operator, left, right).map(Value::LongDouble)
        }
        (Value::Fixed(_), Value::Fixed(right)) if operator == Operator::Divide && right.unscaled == 0 => {
            Err(division_by_zero())
        }
        (Value::Fixed(left), Value::Fixed(right)) => fixed::apply(operator, left, right)
            .map(Value::Fixed)
            .ok_or_else(overflow),
        (left, right) => Err((
            Code::ConstantTypeMismatch,
            format!("{} and {} cannot be combined", left.describe(), right.describe()),
            "both operands must be of the same kind: both with a point, or both without".to_owned(),
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
    // Every integer type fits in the range between the smallest `long long` and the largest `unsigned long
    // long`; one more bit is kept for results that a later operator brings back into range.
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
        _ => return Err(only_for_integers()),
    };
    if result.is_finite() {
        Ok(result)
    } else {
        Err(overflow())
    }
}

fn long_double_operation(
    operator: Operator,
    left: Binary128,
    right: Binary128,
) -> Result<Binary128, Problem> {
    let result = match operator {
        Operator::Add => left.plus(right),
        Operator::Subtract => left.plus(right.negated()),
        Operator::Multiply => left.times(right),
        Operator::Divide if right.is_zero() => return Err(division_by_zero()),
        Operator::Divide => left.over(right),
        _ => return Err(only_for_integers()),
    };
    result.ok_or_else(overflow)
}

fn only_for_integers() -> Problem {
    (
        Code::ConstantTypeMismatch,
        "this operator works on integers only".to_owned(),
        "use `+`, `-`, `*` or `/`".to_owned(),
    )
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

//! Values of constant expressions and the operators on them (clause 7.4.3.2).

use super::fixed;
use crate::ast::{Literal, Operator};
use crate::codes::Code;
use crate::hir::{ConstantValue, DefinitionId, FixedValue};

/// Target of an integer expression, which determines the meaning of `~`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    bits: u32,
    signed: bool,
}

impl Target {
    pub fn unsigned(bits: u32) -> Self {
        Self { bits, signed: false }
    }

    pub fn signed(bits: u32) -> Self {
        Self { bits, signed: true }
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

/// Code, message, help.
pub(super) type Problem = (Code, String, String);

pub(super) fn literal_value(literal: &Literal) -> Option<Value> {
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
        ConstantValue::Double(value) | ConstantValue::LongDouble(value) => Value::Float(*value),
        ConstantValue::String(value) => Value::String(value.clone()),
        ConstantValue::WString(value) => Value::WideString(value.clone()),
        ConstantValue::Fixed(value) => Value::Fixed(*value),
        ConstantValue::Enumerator { enumeration, ordinal } => Value::Enumerator(*enumeration, *ordinal),
    }
}

pub(super) fn unary(operator: char, operand: Value, target: Target) -> Result<Value, Problem> {
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

pub(super) fn binary(operator: Operator, left: Value, right: Value) -> Result<Value, Problem> {
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

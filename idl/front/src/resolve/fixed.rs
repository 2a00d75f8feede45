//! Exact decimal arithmetic for constants of type `fixed`.

use crate::ast::Operator;
use crate::hir::FixedValue;

const DIGITS: u32 = 31;

/// Applies an operator; `None` if the result, or a step towards it, has too many digits.
pub(super) fn apply(operator: Operator, a: FixedValue, b: FixedValue) -> Option<FixedValue> {
    let (unscaled, scale) = match operator {
        Operator::Add | Operator::Subtract => {
            let scale = a.scale.max(b.scale);
            let (a, b) = (rescale(a, scale)?, rescale(b, scale)?);
            (
                if operator == Operator::Add {
                    a.checked_add(b)?
                } else {
                    a.checked_sub(b)?
                },
                u32::from(scale),
            )
        }
        Operator::Multiply => (
            a.unscaled.checked_mul(b.unscaled)?,
            u32::from(a.scale) + u32::from(b.scale),
        ),
        Operator::Divide => divide(a, b)?,
        _ => return None,
    };
    normal(unscaled, scale)
}

fn rescale(value: FixedValue, scale: u8) -> Option<i128> {
    value
        .unscaled
        .checked_mul(10i128.checked_pow(u32::from(scale - value.scale))?)
}

/// Quotient with as many digits after the point as fit.
fn divide(a: FixedValue, b: FixedValue) -> Option<(i128, u32)> {
    let mut dividend = a.unscaled;
    let mut scale = i64::from(a.scale) - i64::from(b.scale);
    while scale < i64::from(DIGITS) {
        match dividend.checked_mul(10) {
            Some(more) => dividend = more,
            None => break,
        }
        scale += 1;
    }
    let quotient = dividend.checked_div(b.unscaled)?;
    if scale < 0 {
        return Some((
            quotient.checked_mul(10i128.checked_pow(u32::try_from(-scale).ok()?)?)?,
            0,
        ));
    }
    Some((quotient, u32::try_from(scale).ok()?))
}

/// Truncates the fraction to 31 digits in total and removes its trailing zeros.
fn normal(mut unscaled: i128, mut scale: u32) -> Option<FixedValue> {
    while scale > 0 && (unscaled % 10 == 0 || digits(unscaled) > DIGITS || scale > DIGITS) {
        unscaled /= 10;
        scale -= 1;
    }
    (digits(unscaled) <= DIGITS).then_some(FixedValue {
        unscaled,
        scale: scale as u8,
    })
}

/// Returns the number of digits of an integer; 0 has one.
pub(super) fn digits(value: i128) -> u32 {
    value.unsigned_abs().checked_ilog10().unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(unscaled: i128, scale: u8) -> FixedValue {
        FixedValue { unscaled, scale }
    }

    #[test]
    fn arithmetic_is_exact_where_the_result_has_room() {
        assert_eq!(
            apply(Operator::Add, fixed(15, 1), fixed(25, 2)),
            Some(fixed(175, 2))
        );
        assert_eq!(
            apply(Operator::Subtract, fixed(15, 1), fixed(150, 2)),
            Some(fixed(0, 0))
        );
        assert_eq!(
            apply(Operator::Multiply, fixed(12, 1), fixed(5, 1)),
            Some(fixed(6, 1))
        );
        assert_eq!(
            apply(Operator::Divide, fixed(1, 0), fixed(8, 0)),
            Some(fixed(125, 3))
        );
        assert_eq!(
            apply(Operator::Divide, fixed(6, 0), fixed(2, 3)),
            Some(fixed(3000, 0))
        );
    }

    #[test]
    fn a_fraction_is_cut_at_31_digits_and_a_whole_number_is_not() {
        let third = apply(Operator::Divide, fixed(1, 0), fixed(3, 0)).unwrap();
        assert_eq!((digits(third.unscaled), third.scale), (31, 31));
        let large = fixed(10i128.pow(30), 0);
        assert_eq!(apply(Operator::Multiply, large, large), None);
    }
}

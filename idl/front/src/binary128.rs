//! IEEE 754 binary128, the numbers of `long double`: conversion of decimals and the four operations, each
//! rounded once, to the nearest number, and to the even one of two.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;

/// Bits of a significand, with the implicit one.
const PRECISION: i64 = 113;
/// Exponent of the least subnormal number.
const LEAST: i64 = -16494;
const BIAS: i64 = 16383;
const FRACTION: u32 = 112;
const FRACTION_MASK: u128 = (1 << FRACTION) - 1;
const SIGN: u128 = 1 << 127;
/// Bits of a quotient: enough for a correct rounding, together with whether there is a remainder.
const QUOTIENT: i64 = PRECISION + 3;
/// Digits of a decimal that can decide its rounding: a number in the middle of two has fewer.
const MOST_DIGITS: usize = 12_000;
/// Decimals outside 10 to the power of this, or its reciprocal, are too large or round to 0.
const MOST_EXPONENT: i64 = 5_000;

/// Bits of a truncated power of 5.
const NEAR: i64 = 256;
/// How much the exact power can be greater than the truncated one, in its lowest bits. The relative error
/// doubles with each of at most 15 squares, and each truncation adds less than 2^-255: it is below 2^-238.
const NEAR_ERROR: u128 = 1 << 20;

/// A finite number of IEEE 754 binary128.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Binary128(u128);

impl Binary128 {
    /// Returns the sign, the 15 bits of the exponent and the 112 bits of the fraction.
    pub fn to_bits(self) -> u128 {
        self.0
    }

    /// Reads digits with a point or an exponent; `None` if the number is too large.
    pub(crate) fn from_decimal(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = || whole.bytes().chain(fraction.bytes());
        let leading = digits().take_while(|digit| *digit == b'0').count();
        let mut digits = digits().skip(leading);
        let mut kept: Vec<u8> = digits.by_ref().take(MOST_DIGITS).collect();
        let beyond = whole.len() + fraction.len() - leading - kept.len();
        if kept.is_empty() {
            return Some(Self(0));
        }
        let mut power = integer(exponent)
            .saturating_add(beyond as i64)
            .saturating_sub(fraction.len() as i64);
        if digits.any(|digit| digit != b'0') {
            // One more digit stands for all others.
            kept.push(b'1');
            power = power.saturating_sub(1);
        }
        let point = power.saturating_add(kept.len() as i64);
        if point > MOST_EXPONENT {
            return None;
        }
        if point < -MOST_EXPONENT {
            return Some(Self(0));
        }
        let number = Natural::from_digits(&kept);
        // The power is between two near ones. They nearly always lead to the same number.
        let (below, scale) = Natural::power_of_five(power.unsigned_abs(), NEAR);
        let near = Self::scaled(&number, &below, power, scale);
        if scale == 0 {
            return near;
        }
        let above = below.plus(&Natural::from(NEAR_ERROR));
        if Self::scaled(&number, &above, power, scale) == near {
            return near;
        }
        let (exact, _) = Natural::power_of_five(power.unsigned_abs(), i64::MAX);
        Self::scaled(&number, &exact, power, 0)
    }

    /// Rounds a number times 10 to a power, whose part `5^|power|` is `five * 2^scale`.
    fn scaled(number: &Natural, five: &Natural, power: i64, scale: i64) -> Option<Self> {
        if power >= 0 {
            return Self::rounded(false, &number.times(five), power + scale, false);
        }
        let (quotient, exponent, has_rest) = number.divided(five);
        Self::rounded(false, &quotient, exponent + power - scale, has_rest)
    }

    pub(crate) fn from_integer(value: i128) -> Self {
        let magnitude = Natural::from(value.unsigned_abs());
        Self::rounded(value < 0, &magnitude, 0, false).unwrap_or(Self(0))
    }

    pub(crate) fn from_f64(value: f64) -> Self {
        let bits = value.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        let (significand, exponent) = match bits >> 52 & 0x7ff {
            0 => (fraction, -1074),
            exponent => (fraction | 1 << 52, exponent as i64 - 1075),
        };
        let magnitude = Natural::from(u128::from(significand));
        Self::rounded(value.is_sign_negative(), &magnitude, exponent, false).unwrap_or(Self(0))
    }

    /// Returns the nearest `double`, or an infinite one.
    pub(crate) fn to_f64(self) -> f64 {
        let (magnitude, exponent) = self.parts();
        let (kept, unit) = round(&magnitude, exponent, false, 53, -1074);
        let biased = (unit + 1075) as u64;
        let magnitude = match kept as u64 {
            subnormal if subnormal < 1 << 52 => f64::from_bits(subnormal),
            _ if biased >= 0x7ff => f64::INFINITY,
            normal => f64::from_bits(biased << 52 | (normal & ((1 << 52) - 1))),
        };
        if self.is_negative() { -magnitude } else { magnitude }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.0 & !SIGN == 0
    }

    /// Compares the values: the two zeros are equal.
    pub(crate) fn compare(self, other: Self) -> Ordering {
        let key = |number: Self| {
            let magnitude = (number.0 & !SIGN) as i128;
            if number.is_negative() {
                -magnitude
            } else {
                magnitude
            }
        };
        key(self).cmp(&key(other))
    }

    pub(crate) fn negated(self) -> Self {
        Self(self.0 ^ SIGN)
    }

    /// Returns the sum; `None` if it is too large.
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let ((left, left_exponent), (right, right_exponent)) = (self.parts(), other.parts());
        let exponent = left_exponent.min(right_exponent);
        let left = left.shifted_left((left_exponent - exponent) as usize);
        let right = right.shifted_left((right_exponent - exponent) as usize);
        let (is_negative, magnitude) = match (self.is_negative() == other.is_negative(), left.cmp(&right)) {
            (true, _) => (self.is_negative(), left.plus(&right)),
            (false, Ordering::Equal) => (false, Natural(Vec::new())),
            (false, Ordering::Greater) => (self.is_negative(), left.minus(&right)),
            (false, Ordering::Less) => (other.is_negative(), right.minus(&left)),
        };
        Self::rounded(is_negative, &magnitude, exponent, false)
    }

    /// Returns the product; `None` if it is too large.
    pub(crate) fn times(self, other: Self) -> Option<Self> {
        let ((left, left_exponent), (right, right_exponent)) = (self.parts(), other.parts());
        let is_negative = self.is_negative() != other.is_negative();
        Self::rounded(
            is_negative,
            &left.times(&right),
            left_exponent + right_exponent,
            false,
        )
    }

    /// Returns the quotient; `None` if it is too large or the divisor is 0.
    pub(crate) fn over(self, other: Self) -> Option<Self> {
        let ((left, left_exponent), (right, right_exponent)) = (self.parts(), other.parts());
        let is_negative = self.is_negative() != other.is_negative();
        if right.0.is_empty() {
            return None;
        }
        let (quotient, shift, has_rest) = left.divided(&right);
        let exponent = shift + left_exponent - right_exponent;
        Self::rounded(is_negative, &quotient, exponent, has_rest)
    }

    fn is_negative(self) -> bool {
        self.0 & SIGN != 0
    }

    /// Returns the magnitude as an integer and an exponent of 2.
    fn parts(self) -> (Natural, i64) {
        let fraction = self.0 & FRACTION_MASK;
        match (self.0 & !SIGN) >> FRACTION {
            0 => (Natural::from(fraction), LEAST),
            exponent => (
                Natural::from(fraction | 1 << FRACTION),
                LEAST + exponent as i64 - 1,
            ),
        }
    }

    /// Rounds an integer times a power of 2; `None` if it is too large.
    fn rounded(is_negative: bool, magnitude: &Natural, exponent: i64, has_rest: bool) -> Option<Self> {
        let (kept, unit) = round(magnitude, exponent, has_rest, PRECISION, LEAST);
        let biased = match kept >> FRACTION {
            0 => 0,
            _ => u128::try_from(unit + i64::from(FRACTION) + BIAS).ok()?,
        };
        let sign = if is_negative { SIGN } else { 0 };
        (biased < 0x7fff).then_some(Self(sign | biased << FRACTION | (kept & FRACTION_MASK)))
    }
}

impl fmt::Debug for Binary128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#034x}", self.0)
    }
}

/// The bits, in hexadecimal: there is no exact number of other formats for them.
#[cfg(feature = "serde")]
impl serde::Serialize for Binary128 {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{self:?}"))
    }
}

/// Reads an integer with a sign, as far as it matters.
fn integer(text: &str) -> i64 {
    let digits = text.trim_start_matches(['+', '-']);
    let magnitude = digits.bytes().fold(0_i64, |value, digit| {
        value
            .saturating_mul(10)
            .saturating_add(i64::from(digit.wrapping_sub(b'0')))
    });
    if text.starts_with('-') {
        -magnitude
    } else {
        magnitude
    }
}

/// Rounds `magnitude * 2^exponent` to `precision` bits, the lowest of which is not below `2^least`: the bits,
/// and the exponent of the lowest. `has_rest`: the exact number is greater, by less than 1 in `magnitude`.
fn round(magnitude: &Natural, exponent: i64, has_rest: bool, precision: i64, least: i64) -> (u128, i64) {
    let dropped = (magnitude.bits() - precision).max(least - exponent);
    let unit = exponent + dropped;
    let Ok(dropped) = usize::try_from(dropped) else {
        return (magnitude.low() << dropped.unsigned_abs(), unit);
    };
    let kept = magnitude.shifted_right(dropped).low();
    let is_half = dropped > 0 && magnitude.bit(dropped - 1);
    let is_more = has_rest || magnitude.has_bits_below(dropped.saturating_sub(1));
    let kept = kept + u128::from(is_half && (is_more || kept & 1 == 1));
    match kept >> precision {
        0 => (kept, unit),
        _ => (kept >> 1, unit + 1),
    }
}

/// A natural number, its lowest 64 bits first, without zeros at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Natural(Vec<u64>);

impl From<u128> for Natural {
    fn from(value: u128) -> Self {
        Self(vec![value as u64, (value >> 64) as u64]).trimmed()
    }
}

impl Natural {
    fn trimmed(mut self) -> Self {
        let length = self
            .0
            .iter()
            .rposition(|limb| *limb != 0)
            .map_or(0, |last| last + 1);
        self.0.truncate(length);
        self
    }

    fn from_digits(digits: &[u8]) -> Self {
        let mut number = Self(Vec::new());
        for chunk in digits.chunks(19) {
            let value = chunk
                .iter()
                .fold(0, |value, digit| value * 10 + u64::from(digit.wrapping_sub(b'0')));
            number.multiply_and_add(10_u64.pow(chunk.len() as u32), value);
        }
        number
    }

    /// The highest bits of a power of 5, `most` at most, and the exponent of the lowest one. Every step
    /// truncates.
    fn power_of_five(exponent: u64, most: i64) -> (Self, i64) {
        let (mut power, mut scale) = (Self::from(1), 0);
        for bit in (0..u64::BITS - exponent.leading_zeros()).rev() {
            power = power.times(&power);
            scale *= 2;
            if exponent >> bit & 1 == 1 {
                power.multiply_and_add(5, 0);
            }
            if let Ok(dropped @ 1..) = usize::try_from(power.bits() - most) {
                power = power.shifted_right(dropped);
                scale += dropped as i64;
            }
        }
        (power, scale)
    }

    fn multiply_and_add(&mut self, factor: u64, summand: u64) {
        let mut carry = summand;
        for limb in &mut self.0 {
            let wide = u128::from(*limb) * u128::from(factor) + u128::from(carry);
            *limb = wide as u64;
            carry = (wide >> 64) as u64;
        }
        if carry > 0 {
            self.0.push(carry);
        }
    }

    /// Number of bits, without leading zeros.
    fn bits(&self) -> i64 {
        let last = self
            .0
            .last()
            .map_or(0, |last| 64 - i64::from(last.leading_zeros()));
        64 * self.0.len().saturating_sub(1) as i64 + last
    }

    fn bit(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|limb| limb >> (at % 64) & 1 == 1)
    }

    fn has_bits_below(&self, end: usize) -> bool {
        let whole = self.0.iter().take(end / 64).any(|limb| *limb != 0);
        let part = self
            .0
            .get(end / 64)
            .map_or(0, |limb| limb & ((1 << (end % 64)) - 1));
        whole || part != 0
    }

    /// The lowest 128 bits.
    fn low(&self) -> u128 {
        let limb = |at: usize| u128::from(self.0.get(at).copied().unwrap_or(0));
        limb(1) << 64 | limb(0)
    }

    fn shifted_left(&self, by: usize) -> Self {
        let mut limbs = vec![0; by / 64];
        limbs.extend_from_slice(&self.0);
        let mut shifted = Self(limbs);
        if !by.is_multiple_of(64) {
            shifted.multiply_and_add(1 << (by % 64), 0);
        }
        shifted.trimmed()
    }

    fn shifted_right(&self, by: usize) -> Self {
        let limbs = self.0.get(by / 64..).unwrap_or_default();
        let high = |at: usize| limbs.get(at + 1).copied().unwrap_or(0);
        let part = by % 64;
        let shifted = limbs.iter().enumerate().map(|(at, limb)| match part {
            0 => *limb,
            _ => limb >> part | high(at) << (64 - part),
        });
        Self(shifted.collect()).trimmed()
    }

    fn plus(&self, other: &Self) -> Self {
        let mut carry = false;
        let length = self.0.len().max(other.0.len());
        let mut limbs = Vec::with_capacity(length + 1);
        for at in 0..length {
            let limb = |number: &Self| number.0.get(at).copied().unwrap_or(0);
            let (sum, first) = limb(self).overflowing_add(limb(other));
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            limbs.push(sum);
            carry = first || second;
        }
        limbs.push(u64::from(carry));
        Self(limbs).trimmed()
    }

    /// The difference to a number that is not greater.
    fn minus(&self, other: &Self) -> Self {
        let mut difference = self.clone();
        difference.subtract(other);
        difference.trimmed()
    }

    fn subtract(&mut self, other: &Self) {
        let mut borrow = false;
        for (at, limb) in self.0.iter_mut().enumerate() {
            let subtrahend = other.0.get(at).copied().unwrap_or(0);
            let (difference, first) = limb.overflowing_sub(subtrahend);
            let (difference, second) = difference.overflowing_sub(u64::from(borrow));
            *limb = difference;
            borrow = first || second;
        }
    }

    fn times(&self, other: &Self) -> Self {
        let mut limbs = vec![0_u64; self.0.len() + other.0.len()];
        for (at, factor) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (limb, other) in limbs[at..].iter_mut().zip(other.0.iter().chain([&0])) {
                let wide = u128::from(*factor) * u128::from(*other) + u128::from(*limb) + carry;
                *limb = wide as u64;
                carry = wide >> 64;
            }
        }
        Self(limbs).trimmed()
    }

    /// The highest bits of a quotient, the exponent of their lowest one, and whether there is a remainder.
    fn divided(&self, divisor: &Self) -> (Self, i64, bool) {
        let shift = QUOTIENT + divisor.bits() - self.bits();
        let (dividend, mut has_rest) = match usize::try_from(shift) {
            Ok(shift) => (self.shifted_left(shift), false),
            Err(_) => {
                let shift = shift.unsigned_abs() as usize;
                (self.shifted_right(shift), self.has_bits_below(shift))
            }
        };
        // The quotient has at most one bit more than `QUOTIENT`.
        let steps = QUOTIENT as usize + 1;
        let mut rest = dividend.shifted_right(steps);
        let mut quotient = 0_u128;
        for at in (0..steps).rev() {
            rest.multiply_and_add(2, u64::from(dividend.bit(at)));
            quotient <<= 1;
            if rest >= *divisor {
                rest.subtract(divisor);
                rest = rest.trimmed();
                quotient |= 1;
            }
        }
        has_rest |= !rest.0.is_empty();
        (Self::from(quotient), -shift, has_rest)
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        let length = self.0.len().cmp(&other.0.len());
        length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

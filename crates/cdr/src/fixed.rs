//! IDL `fixed`: decimal numbers, two digits in an octet, the sign in the last half.
//!
//! Source: CORBA 3.3 part 2, 9.3.2.8.

use core::{fmt, str::FromStr};

use crate::{CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder};

/// IDL `fixed<D, S>`: a number of at most `D` digits (31 at most), `S` of them behind the point. Exact.
///
/// ```
/// # use punctual_cdr as punctual;
/// use punctual::Fixed;
///
/// type Price = Fixed<8, 2>;
///
/// let price: Price = "19.90".parse()?;
/// assert_eq!(price.unscaled(), 1990);
/// assert_eq!(price.checked_add("0.15".parse()?).unwrap().to_string(), "20.05");
/// assert_eq!(price.checked_mul(3).unwrap().to_string(), "59.70");
/// assert!("1234567.00".parse::<Price>().is_err(), "nine digits");
/// assert!("0.125".parse::<Price>().is_err(), "it is not rounded");
/// assert_eq!(Price::new(-5).unwrap().to_string(), "-0.05");
/// # Ok::<(), punctual_cdr::FixedOverflow>(())
/// ```
#[derive(Clone, Copy, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Fixed<const D: u8, const S: u8>(i128);

/// A number is not one of a `fixed` type: it has too many digits, or is none.
///
/// ```
/// # use punctual_cdr as punctual;
/// use punctual::{Fixed, FixedOverflow};
///
/// let overflow = Fixed::<4, 2>::new(12_345).unwrap_err();
/// assert_eq!(overflow, FixedOverflow { digits: 4, scale: 2 });
/// ```
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct FixedOverflow {
    /// Digits of the type.
    pub digits: u8,
    /// Digits behind the point.
    pub scale: u8,
}

punctual_types::debug_as_display!(FixedOverflow);

impl fmt::Display for FixedOverflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { digits, scale } = self;
        write!(
            f,
            "no number of {digits} digits with {scale} behind the point: round it before"
        )
    }
}

impl core::error::Error for FixedOverflow {}

impl<const D: u8, const S: u8> Fixed<D, S> {
    const OVERFLOW: FixedOverflow = FixedOverflow { digits: D, scale: S };

    /// Creates the number `unscaled / 10^S`. Fails beyond `D` digits.
    pub const fn new(unscaled: i128) -> Result<Self, FixedOverflow> {
        const { assert!(D > 0 && D <= 31 && S <= D, "IDL has fixed of 1 to 31 digits") };
        if unscaled.unsigned_abs() >= 10_u128.pow(D as u32) {
            return Err(Self::OVERFLOW);
        }
        Ok(Self(unscaled))
    }

    /// Returns all digits as an integer, with the sign.
    pub const fn unscaled(self) -> i128 {
        self.0
    }

    /// Returns the sum, `None` beyond `D` digits.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        Self::new(self.0 + other.0).ok()
    }

    /// Returns the difference, `None` beyond `D` digits.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        Self::new(self.0 - other.0).ok()
    }

    /// Returns the product with an integer, `None` beyond `D` digits.
    pub fn checked_mul(self, factor: i64) -> Option<Self> {
        Self::new(self.0.checked_mul(factor.into())?).ok()
    }

    /// Returns the number with other digits. Fails if it does not fit, or if digits other than 0 would be
    /// lost.
    pub fn convert<const E: u8, const T: u8>(self) -> Result<Fixed<E, T>, FixedOverflow> {
        let power = 10_i128.pow(S.abs_diff(T).into());
        let unscaled = match T >= S {
            true => self.0.checked_mul(power),
            false => (self.0 % power == 0).then_some(self.0 / power),
        };
        Fixed::new(unscaled.ok_or(Fixed::<E, T>::OVERFLOW)?)
    }

    /// Returns the nearest number of binary floating point, about.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / 10_u128.pow(S.into()) as f64
    }
}

impl<const D: u8, const S: u8> core::ops::Neg for Fixed<D, S> {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl<const D: u8, const S: u8> TryFrom<i64> for Fixed<D, S> {
    type Error = FixedOverflow;

    fn try_from(number: i64) -> Result<Self, FixedOverflow> {
        let unscaled = i128::from(number).checked_mul(10_i128.pow(S.into()));
        Self::new(unscaled.ok_or(Self::OVERFLOW)?)
    }
}

impl<const D: u8, const S: u8> FromStr for Fixed<D, S> {
    type Err = FixedOverflow;

    /// Digits with at most one point and a sign, such as `-12.50`.
    fn from_str(text: &str) -> Result<Self, FixedOverflow> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let fraction = fraction.trim_end_matches('0');
        if whole.is_empty() && !digits.contains(|digit: char| digit.is_ascii_digit())
            || fraction.len() > S.into()
        {
            return Err(Self::OVERFLOW);
        }
        let zeros = core::iter::repeat_n(b'0', usize::from(S) - fraction.len());
        let mut unscaled = 0_i128;
        for digit in whole.bytes().chain(fraction.bytes()).chain(zeros) {
            if !digit.is_ascii_digit() {
                return Err(Self::OVERFLOW);
            }
            unscaled = unscaled
                .checked_mul(10)
                .and_then(|more| more.checked_add((digit - b'0').into()))
                .ok_or(Self::OVERFLOW)?;
        }
        Self::new(sign * unscaled)
    }
}

impl<const D: u8, const S: u8> fmt::Display for Fixed<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power = 10_u128.pow(S.into());
        let (whole, fraction) = (self.0.unsigned_abs() / power, self.0.unsigned_abs() % power);
        let mut text = alloc::format!("{whole}");
        if S > 0 {
            text += &alloc::format!(".{fraction:0width$}", width = usize::from(S));
        }
        f.pad_integral(self.0 >= 0, "", &text)
    }
}

impl<const D: u8, const S: u8> fmt::Debug for Fixed<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<const D: u8, const S: u8> Encode for Fixed<D, S> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        let mut halves = [0; 32];
        let used = (usize::from(D) / 2 + 1) * 2;
        halves[used - 1] = if self.0 < 0 { 0xd } else { 0xc };
        let mut rest = self.0.unsigned_abs();
        for half in halves[..used - 1].iter_mut().rev() {
            *half = (rest % 10) as u8;
            rest /= 10;
        }
        let (octets, _) = halves[..used].as_chunks::<2>();
        octets
            .iter()
            .try_for_each(|[high, low]| encoder.octets(&[high << 4 | low]))
    }
}

impl<'a, const D: u8, const S: u8> Decode<'a> for Fixed<D, S> {
    const MIN_SIZE: usize = D as usize / 2 + 1;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let octets = decoder.octets(Self::MIN_SIZE)?;
        let invalid = decoder.error(CdrErrorKind::FixedInvalid);
        let unscaled = unscaled(octets).ok_or(invalid)?;
        Self::new(unscaled).map_err(|_| invalid)
    }
}

/// Returns the number in the octets of a `fixed`; `None` if they contain no digits and sign.
pub fn unscaled(octets: &[u8]) -> Option<i128> {
    let halves = octets.iter().flat_map(|octet| [octet >> 4, octet & 0xf]);
    let count = 2 * octets.len() - 1;
    let mut number = 0_i128;
    for digit in halves.take(count) {
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(digit.into())?;
    }
    match octets.last()? & 0xf {
        0xc => Some(number),
        0xd => Some(-number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::Endian;

    fn octets<const D: u8, const S: u8>(text: &str) -> Vec<u8> {
        let number: Fixed<D, S> = text.parse().unwrap();
        let mut octets = Vec::new();
        number
            .encode(&mut Encoder::new(&mut octets, Endian::Little))
            .unwrap();
        let back = Fixed::<D, S>::decode(&mut Decoder::new(&octets, Endian::Big)).unwrap();
        assert_eq!(back, number);
        octets
    }

    #[test]
    fn digits_are_packed_with_the_sign_last() {
        assert_eq!(octets::<5, 2>("-123.45"), [0x12, 0x34, 0x5d]);
        assert_eq!(octets::<4, 2>("12.3"), [0x01, 0x23, 0x0c]);
        assert_eq!(octets::<1, 0>("7"), [0x7c]);
        assert_eq!(
            octets::<31, 31>("0.0000000000000000000000000000001").last(),
            Some(&0x1c)
        );
        assert_eq!(octets::<31, 0>("9999999999999999999999999999999").len(), 16);
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for octets in [[0x12, 0x34, 0x5a], [0x1a, 0x34, 0x5c], [0x12, 0x34, 0x50]] {
            let error = Fixed::<5, 2>::decode(&mut Decoder::new(&octets, Endian::Big)).unwrap_err();
            assert_eq!(error.kind, CdrErrorKind::FixedInvalid);
        }
        // Five digits where four are allowed.
        assert!(Fixed::<4, 2>::decode(&mut Decoder::new(&[0x12, 0x34, 0x5c], Endian::Big)).is_err());
        for text in ["", ".", "-", "1.2.3", "1e3", "٣", "--1", "1-", "100000", "0.001"] {
            assert!(text.parse::<Fixed<5, 2>>().is_err(), "{text}");
        }
        for (text, expected) in [
            ("+1", "1.00"),
            (".5", "0.50"),
            ("5.", "5.00"),
            ("-0.10", "-0.10"),
            ("1.2300", "1.23"),
        ] {
            let number: Fixed<5, 2> = text.parse().unwrap();
            assert_eq!(alloc::format!("{number}"), expected);
        }
    }

    #[test]
    fn arithmetic_stays_exact() {
        let one: Fixed<5, 2> = Fixed::try_from(1).unwrap();
        assert_eq!(one.checked_sub(Fixed::new(1).unwrap()).unwrap().unscaled(), 99);
        assert!(
            Fixed::<5, 2>::new(99_999)
                .unwrap()
                .checked_add(Fixed::new(1).unwrap())
                .is_none()
        );
        assert!(one.checked_mul(i64::MAX).is_none());
        assert_eq!((-one).to_f64(), -1.0);
        assert_eq!(one.convert::<3, 0>().unwrap().unscaled(), 1);
        assert!(Fixed::<5, 2>::new(150).unwrap().convert::<3, 0>().is_err());
        assert!(one.convert::<31, 31>().is_err());
    }
}

//! `long double` (IEEE 754 binary128) from and to `double`: tools need no more digits than that.

/// Bits of the fraction of a `long double` below those of a `double`.
const MORE_FRACTION: u32 = 112 - 52;

/// Difference of the exponents of 1.0.
const BIAS: u128 = 16_383 - 1_023;

/// Returns the octets of a `long double` as a number.
pub fn from_f64(number: f64) -> u128 {
    let bits = u128::from(number.abs().to_bits());
    let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let sign = u128::from(number.is_sign_negative()) << 127;
    let (exponent, fraction) = match exponent {
        0 if fraction == 0 => (0, 0),
        // Normal here, with the leading 1 left out.
        0 => {
            let shift = fraction.leading_zeros() - (127 - 52);
            (
                BIAS + 1 - u128::from(shift),
                (fraction << shift) & ((1 << 52) - 1),
            )
        }
        0x7ff => (0x7fff, fraction),
        _ => (exponent + BIAS, fraction),
    };
    sign | exponent << 112 | fraction << MORE_FRACTION
}

/// Returns the nearest `double` towards zero; infinite where there is none.
pub fn to_f64(quad: u128) -> f64 {
    let (exponent, fraction) = ((quad >> 112) & 0x7fff, quad & ((1 << 112) - 1));
    let magnitude = match exponent {
        0x7fff if fraction != 0 => f64::NAN,
        _ if exponent >= BIAS + 0x7ff => f64::INFINITY,
        _ if exponent > BIAS => {
            let bits = (exponent - BIAS) << 52 | fraction >> MORE_FRACTION;
            f64::from_bits(bits as u64)
        }
        // Too small for the leading 1 to be left out.
        _ => {
            let shift = u128::from(MORE_FRACTION) + 1 + (BIAS - exponent);
            let significand = 1 << 112 | fraction;
            f64::from_bits(if shift < 128 {
                (significand >> shift) as u64
            } else {
                0
            })
        }
    };
    if quad >> 127 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::{from_f64, to_f64};

    #[test]
    fn numbers_come_back() {
        let numbers = [
            0.0,
            -0.0,
            1.0,
            -2.5,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            1e-310,
            0.1,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ];
        for number in numbers {
            assert_eq!(to_f64(from_f64(number)).to_bits(), number.to_bits(), "{number:e}");
        }
        assert!(to_f64(from_f64(f64::NAN)).is_nan());
        // 1.0 and 2.0, as the standard has them.
        assert_eq!(from_f64(1.0), 0x3fff << 112);
        assert_eq!(from_f64(2.0), 0x4000 << 112);
        assert_eq!(to_f64(0x7ffe << 112), f64::INFINITY, "too large");
        assert_eq!(to_f64(1), 0.0, "too small");
    }
}

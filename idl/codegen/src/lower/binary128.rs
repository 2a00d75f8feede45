//! Converts `long double` constants, which the front end evaluates as `double`, to IEEE 754 binary128.

/// Bits of a number as binary128.
pub fn from_f64(value: f64) -> u128 {
    const FRACTION_BITS: u32 = 52;
    const WIDER_BY: u32 = 112 - FRACTION_BITS;
    const BIAS_DIFFERENCE: u128 = 16383 - 1023;
    let bits = value.to_bits();
    let sign = u128::from(bits >> 63) << 127;
    let exponent = u128::from(bits >> FRACTION_BITS & 0x7ff);
    let fraction = u128::from(bits & ((1 << FRACTION_BITS) - 1));
    let magnitude = match (exponent, fraction) {
        (0, 0) => 0,
        // Subnormal as double, normal as binary128: the first set bit becomes the implicit one.
        (0, _) => {
            let shift = fraction.leading_zeros() - (127 - FRACTION_BITS);
            let exponent = BIAS_DIFFERENCE + 1 - u128::from(shift);
            let fraction = fraction << shift & ((1 << FRACTION_BITS) - 1);
            exponent << 112 | fraction << WIDER_BY
        }
        (0x7ff, _) => 0x7fff << 112 | fraction << WIDER_BY,
        _ => (exponent + BIAS_DIFFERENCE) << 112 | fraction << WIDER_BY,
    };
    sign | magnitude
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_value() {
        for (value, bits) in [
            (0.0, 0),
            (-0.0, 1 << 127),
            (1.0, 0x3fff << 112),
            (-2.0, 0xc000 << 112),
            (1.5, 0x3fff8 << 108),
            (f64::INFINITY, 0x7fff << 112),
            // The smallest positive double, 2^-1074.
            (f64::from_bits(1), (16383 - 1074) << 112),
            // The greatest subnormal, 2^-1022 * (1 - 2^-52).
            (
                f64::from_bits((1 << 52) - 1),
                (16383 - 1023) << 112 | ((1 << 51) - 1) << 61,
            ),
        ] {
            assert_eq!(from_f64(value), bits, "{value:e}");
        }
    }
}

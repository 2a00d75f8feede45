//! The expected bits are those of GCC's `__float128`.

use proptest::prelude::*;

use super::*;

const DECIMALS: &[(&str, u128)] = &[
    ("0.1", 0x3ffb999999999999999999999999999a),
    ("3.", 0x40008000000000000000000000000000),
    ("0.0", 0x00000000000000000000000000000000),
    ("1e1000", 0x4cf8e71b63f3ba7b580af1a52d2a7379),
    ("1e4932", 0x7ffeae596552b8fded99d037e3d04b75),
    (
        "1.189731495357231765085759326628007016e4932",
        0x7ffeffffffffffffffffffffffffffff,
    ),
    ("1e-4940", 0x00000000000cc64f1cc4376f7da08f39),
    (
        "3.362103143112093506262677817321752603e-4932",
        0x00010000000000000000000000000000,
    ),
    (
        "6.475175119438025110924438958227646552e-4966",
        0x00000000000000000000000000000001,
    ),
    ("3.3e-4966", 0x00000000000000000000000000000001),
    ("3.2e-4966", 0x00000000000000000000000000000000),
    ("1e-5000", 0x00000000000000000000000000000000),
    (
        "123456789012345678901234567890123456789.5",
        0x407d7383a6958057fb16ab7e8ca2b8e6,
    ),
    (
        "10384593717069655257060992658440192.5",
        0x40700000000000000000000000000000,
    ),
    (
        "10384593717069655257060992658440191.5",
        0x40700000000000000000000000000000,
    ),
    (
        "10384593717069655257060992658440191.50000000000000000000000000000000000001",
        0x40700000000000000000000000000000,
    ),
    (
        "3.3621031431120935062626778173217526e-4932",
        0x00010000000000000000000000000000,
    ),
    (
        "10384593717069655257060992658440193.0",
        0x40700000000000000000000000000000,
    ),
    (
        "90996030824.628194821993518190937865797543e0",
        0x402352fc93d68a0d16037fa8c3970358,
    ),
    (
        "487574911862527601895559.7971147104974e0",
        0x404d9cfdf4ab417c392da21f303ed6b3,
    ),
    (
        "5291.70342366712768426846563212e0",
        0x400b4abb41392cd8bb92b0146dea14a6,
    ),
    (
        "924402685995289078666.61760313721e0",
        0x404490e55089bd31575c54f0d9e9e1cb,
    ),
    (
        "0139624595711777741215.472803852808414852e-1340",
        0x2ede734e89312d787794553d457f1e18,
    ),
    (
        "853933633875004743957551313735.37990e646",
        0x48c450c337fcf05c80327d2342e7ef27,
    ),
];

const OPERATIONS: &[(&str, char, &str, u128)] = &[
    ("1.0", '/', "3.0", 0x3ffd5555555555555555555555555555),
    ("0.1", '+', "0.2", 0x3ffd3333333333333333333333333334),
    ("1e-4940", '/', "3.0", 0x000000000004421a5eec127a7f358513),
    (
        "6.475175119438025110924438958227646552e-4966",
        '/',
        "2.0",
        0x00000000000000000000000000000000,
    ),
    ("1.0", '-', "1e-30", 0x3ffeffffffffffffffffffffffffd76f),
    ("1.0", '-', "1e-40", 0x3fff0000000000000000000000000000),
    (
        "2.0",
        '*',
        "3.362103143112093506262677817321752603e-4932",
        0x00020000000000000000000000000000,
    ),
    (
        "06.277228628644131759188828320153531062e-25",
        '-',
        "5277493257383449223.59852353412136224e0",
        0xc03d24f5b09ffb704a1e64e35a73c018,
    ),
    (
        "5277493257383449223.59852353412136224e0",
        '-',
        "0.1",
        0x403d24f5b09ffb704a1dfe7cf40d59b2,
    ),
    (
        "5096738.921e-22",
        '+',
        "5428.211673e-22",
        0x3fcc261eb272245ba1577e8383d72d6e,
    ),
    ("0.11e-18", '-', "4172.52e0", 0xc00b04c851eb851eb851eb64a75ae0a3),
    (
        "0.77795192132323753577020271170e2886",
        '-',
        "2794.01995305520340930565294130787e-4",
        0x6571a6551102aa5c9a8e9a24729b5fc3,
    ),
    (
        "760207764265651505561304451.66915e0",
        '/',
        "163726.e0",
        0x4046f769e00a929fea89a682df0bf8dd,
    ),
    (
        "311544.44279953011019386769931000260294742445056e0",
        '-',
        "1.0",
        0x4011303ddc56d3d7207a0f4e01153e8f,
    ),
    (
        "9.4311538902939688e0",
        '+',
        "4172.52e0",
        0x400b055f37ed2444698b850f83de90d4,
    ),
    (
        "493066683645.074952883143e-5",
        '/',
        "15915081153072748.079e0",
        0x3fdf54a4099697ed9ac761d516e5af68,
    ),
    ("37.e0", '-', "9.e-21", 0x400427fffffffffffffffeabfd574af9),
    (
        "09141.806304145210984179827182469443e17",
        '+',
        "4.37932344220375465840951405832237e0",
        0x40448c76703e9a818b05b2e5761cf56f,
    ),
    (
        "47025674625.22e-20",
        '-',
        "0.1",
        0xbffb9999997948c17e28ce004c2eac62,
    ),
];

fn number(text: &str) -> Binary128 {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let magnitude = Binary128::from_decimal(digits).unwrap();
    if is_negative {
        magnitude.negated()
    } else {
        magnitude
    }
}

#[test]
fn decimals_are_rounded_once() {
    for &(text, bits) in DECIMALS {
        assert_eq!(number(text).to_bits(), bits, "{text}");
    }
    // Half of the least number rounds to 0, and anything greater does not.
    let half = number("1.0").over(number("2.0")).unwrap();
    let least = number("6.475175119438025110924438958227646552e-4966");
    assert!(least.times(half).unwrap().is_zero());
    for text in ["1.2e4932", "1e99999999999999999999", "1e5000"] {
        assert_eq!(Binary128::from_decimal(text), None, "{text}");
    }
}

#[test]
fn digits_far_behind_the_point_decide() {
    // In the middle of two numbers, then a little above.
    let middle = format!("10384593717069655257060992658440192.5{}", "0".repeat(20_000));
    assert_eq!(number(&middle), number("10384593717069655257060992658440192."));
    assert_eq!(
        number(&format!("{middle}1")),
        number("10384593717069655257060992658440193.")
    );
    let zeros = "0".repeat(20_000);
    assert_eq!(number(&format!("{zeros}.{zeros}1e20001")), number("1.0"));
    assert_eq!(number(&format!("1{zeros}.0e-20000")), number("1.0"));
}

#[test]
fn operations_are_rounded_once() {
    for &(left, operator, right, bits) in OPERATIONS {
        let (one, other) = (number(left), number(right));
        let result = match operator {
            '+' => one.plus(other),
            '-' => one.plus(other.negated()),
            '*' => one.times(other),
            _ => one.over(other),
        };
        assert_eq!(result.unwrap().to_bits(), bits, "{left} {operator} {right}");
    }
    let greatest = number("1.189731495357231765085759326628007016e4932");
    assert_eq!(greatest.plus(greatest), None);
    assert_eq!(greatest.over(number("0.5")), None);
    assert_eq!(greatest.over(number("0.0")), None);
    assert_eq!(number("1.0").plus(number("-1.0")).unwrap().to_bits(), 0);
    assert_eq!(number("-0.0").plus(number("-0.0")).unwrap().to_bits(), SIGN);
}

proptest! {
    /// 113 bits are more than twice 53: rounding to `double` afterwards changes nothing.
    #[test]
    fn operations_agree_with_those_of_double(
        left in -1e150..1e150_f64,
        right in -1e150..1e150_f64,
        scale in -300..300,
    ) {
        let left = left * 2_f64.powi(scale);
        let (one, other) = (Binary128::from_f64(left), Binary128::from_f64(right));
        prop_assert_eq!(one.to_f64().to_bits(), left.to_bits());
        prop_assert_eq!(one.plus(other).unwrap().to_f64(), left + right);
        prop_assert_eq!(one.times(other).unwrap().to_f64(), left * right);
        if right != 0.0 {
            prop_assert_eq!(one.over(other).unwrap().to_f64(), left / right);
        }
        prop_assert_eq!(Some(one.compare(other)), left.partial_cmp(&right));
    }

    /// Every `double` is written out with all its digits, and read back.
    #[test]
    fn doubles_are_read_exactly(bits in 0..0x7ff0_0000_0000_0000_u64) {
        let value = f64::from_bits(bits);
        let exact = Binary128::from_decimal(&format!("{value:.1100}")).unwrap();
        prop_assert_eq!(exact, Binary128::from_f64(value));
        prop_assert_eq!(exact.to_f64(), value);
    }

    /// The near power of 5 leads to the same number as the exact one.
    #[test]
    fn powers_are_exact_enough(digits in "[1-9][0-9]{0,60}", power in -4980_i64..4860) {
        let read = Binary128::from_decimal(&format!("{digits}.0e{power}"));
        let natural = Natural::from_digits(digits.as_bytes());
        let (five, _) = Natural::power_of_five(power.unsigned_abs(), i64::MAX);
        prop_assert_eq!(read, Binary128::scaled(&natural, &five, power, 0));
    }
}

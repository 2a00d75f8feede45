//! Bit fields of IDL 4.2: parts of an unsigned integer, the first one in its lowest bits.

/// Returns the lowest `width` bits (1 to 64) of a value, if it is representable in them: in two's complement
/// if `signed`.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as rt; }
/// use punctual::rt::pack_bits;
///
/// assert_eq!(pack_bits(-2, 3, true), Some(0b110));
/// assert_eq!(pack_bits(8, 3, false), None, "three bits end at 7");
/// ```
pub fn pack_bits(value: i128, width: u32, signed: bool) -> Option<u64> {
    let (least, most) = match signed {
        true => (-(1_i128 << (width - 1)), (1_i128 << (width - 1)) - 1),
        false => (0, (1_i128 << width) - 1),
    };
    let mask = (1_i128 << width) - 1;
    (least..=most).contains(&value).then_some((value & mask) as u64)
}

/// Returns the value in `width` bits (1 to 64) from bit `offset` on.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as rt; }
/// use punctual::rt::unpack_bits;
///
/// // bitset Status { bitfield<4> mode; bitfield<3, short> trim; };
/// let bits = 0b110_1001;
/// assert_eq!(unpack_bits(bits, 0, 4, false), 9);
/// assert_eq!(unpack_bits(bits, 4, 3, true), -2);
/// ```
pub fn unpack_bits(bits: u64, offset: u32, width: u32, signed: bool) -> i128 {
    let value = i128::from(bits >> offset) & ((1_i128 << width) - 1);
    let is_negative = signed && value >> (width - 1) == 1;
    value - if is_negative { 1_i128 << width } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        for (value, width, signed) in [
            (0, 1, false),
            (1, 1, false),
            (-1, 1, true),
            (5, 3, false),
            (-4, 3, true),
            (3, 3, true),
            (i128::from(u64::MAX), 64, false),
            (i128::from(i64::MIN), 64, true),
        ] {
            let packed = pack_bits(value, width, signed).unwrap();
            assert_eq!(unpack_bits(packed, 0, width, signed), value);
            if width < 60 {
                assert_eq!(unpack_bits(packed << 4 | 0b1111, 4, width, signed), value);
            }
        }
    }

    #[test]
    fn what_has_no_room_is_refused() {
        for (value, width, signed) in [
            (2, 1, false),
            (-1, 3, false),
            (8, 3, false),
            (4, 3, true),
            (-5, 3, true),
        ] {
            assert_eq!(pack_bits(value, width, signed), None, "{value} in {width} bits");
        }
    }
}

//! Maps of IDL 4.2: on the wire, a sequence of pairs in the order of their keys.

use alloc::collections::BTreeMap;

use crate::{CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder};

impl<K: Encode, V: Encode> Encode for BTreeMap<K, V> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        encoder.length(self.len())?;
        self.iter().try_for_each(|(key, value)| {
            key.encode(encoder)?;
            value.encode(encoder)
        })
    }
}

impl<'a, K: Decode<'a> + Ord, V: Decode<'a>> Decode<'a> for BTreeMap<K, V> {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let count = decoder.length(K::MIN_SIZE + V::MIN_SIZE)?;
        pairs(decoder, count)
    }
}

/// Decodes the pairs of a map.
pub(crate) fn pairs<'a, K: Decode<'a> + Ord, V: Decode<'a>>(
    decoder: &mut Decoder<'a>,
    count: usize,
) -> Result<BTreeMap<K, V>, CdrError> {
    let mut map = BTreeMap::new();
    for _ in 0..count {
        decoder.reserve(size_of::<(K, V)>())?;
        let (key, value) = (K::decode(decoder)?, V::decode(decoder)?);
        if map.insert(key, value).is_some() {
            return Err(decoder.error(CdrErrorKind::KeyRepeated));
        }
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use alloc::{string::String, vec, vec::Vec};

    use super::*;
    use crate::{BoundedMap, Endian, TooLong};

    fn decoded(octets: &[u8]) -> Result<BTreeMap<u16, i8>, CdrErrorKind> {
        BTreeMap::decode(&mut Decoder::new(octets, Endian::Big)).map_err(|error| error.kind)
    }

    #[test]
    fn a_map_is_a_sequence_of_pairs() {
        let map = BTreeMap::from([(7_u16, -2_i8), (1, 3)]);
        let octets = [0, 0, 0, 2, 0, 1, 3, 0, 0, 7, 0xfe];
        let mut message = Vec::new();
        map.encode(&mut Encoder::new(&mut message, Endian::Big)).unwrap();
        assert_eq!(message, octets);
        assert_eq!(decoded(&octets), Ok(map));
        let pairs = BTreeMap::from([(String::from("a"), vec![1_u8])]);
        let mut message = Vec::new();
        pairs
            .encode(&mut Encoder::new(&mut message, Endian::Little))
            .unwrap();
        let again = BTreeMap::decode(&mut Decoder::new(&message, Endian::Little));
        assert_eq!(again, Ok(pairs));
    }

    #[test]
    fn repeated_keys_and_false_lengths_are_refused() {
        assert_eq!(
            decoded(&[0, 0, 0, 2, 0, 1, 3, 0, 0, 1, 4]),
            Err(CdrErrorKind::KeyRepeated)
        );
        assert_eq!(
            decoded(&[0xff, 0, 0, 2, 0, 1, 3, 0]),
            Err(CdrErrorKind::LengthImpossible)
        );
    }

    #[test]
    fn a_bound_is_kept_in_both_directions() {
        let two = [0, 0, 0, 2, 0, 1, 3, 0, 0, 7, 0xfe];
        let within = BoundedMap::<u16, i8, 2>::decode(&mut Decoder::new(&two, Endian::Big)).unwrap();
        let mut message = Vec::new();
        within
            .encode(&mut Encoder::new(&mut message, Endian::Big))
            .unwrap();
        assert_eq!(message, two);
        let above = BoundedMap::<u16, i8, 1>::decode(&mut Decoder::new(&two, Endian::Big));
        assert_eq!(
            above.map_err(|error| error.kind),
            Err(CdrErrorKind::BoundExceeded)
        );
        let above = BoundedMap::<u16, i8, 1>::try_from(within.into_inner());
        assert_eq!(above, Err(TooLong { length: 2, bound: 1 }));
    }
}

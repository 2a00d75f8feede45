//! Any octets as values of all kinds of types: what the fuzz target `values` checks.

use punctual_cdr::{
    Arena, BoundedSeq, BoundedString, CharSet, Decode, Decoder, Encode, Encoder, Endian, Fixed, Ior,
    LongDouble, WChar, WString,
};

/// Decodes the octets behind the first two, which choose byte order, code set and type. What can be decoded
/// can be encoded, and is the same again after that.
pub fn check(input: &[u8]) {
    let [settings, of, octets @ ..] = input else {
        return;
    };
    let form = Form {
        endian: [Endian::Little, Endian::Big][usize::from(settings & 1)],
        char_set: [CharSet::Utf8, CharSet::Latin1][usize::from(settings >> 1 & 1)],
    };
    TYPES[usize::from(*of) % TYPES.len()](form, octets);
}

/// Byte order and code set.
#[derive(Clone, Copy)]
pub struct Form {
    endian: Endian,
    char_set: CharSet,
}

/// The lent value is the owned one.
macro_rules! lent {
    ($lent:ty, $owned:ty) => {
        |form, octets| {
            let arena = Arena::new();
            let lent = <$lent>::decode(&mut form.decoder(octets, &arena));
            let owned = <$owned>::decode(&mut form.decoder(octets, &arena));
            match (lent, owned) {
                (Ok(lent), Ok(owned)) => assert_eq!(form.encoded(&lent), form.encoded(&owned)),
                (lent, owned) => assert_eq!(lent.is_err(), owned.is_err()),
            }
        }
    };
}

const TYPES: &[fn(Form, &[u8])] = &[
    round_trip::<f64>,
    round_trip::<char>,
    round_trip::<String>,
    round_trip::<Vec<i32>>,
    round_trip::<Vec<bool>>,
    round_trip::<Vec<String>>,
    round_trip::<Vec<Vec<f64>>>,
    round_trip::<[i16; 5]>,
    round_trip::<[String; 2]>,
    round_trip::<BoundedSeq<u16, 7>>,
    round_trip::<BoundedString<5>>,
    round_trip::<WString>,
    round_trip::<Vec<WChar>>,
    round_trip::<Fixed<7, 2>>,
    round_trip::<LongDouble>,
    round_trip::<Ior>,
    lent!(&str, String),
    lent!(&[f64], Vec<f64>),
    lent!(&[&str], Vec<String>),
    lent!(&[bool], Vec<bool>),
];

impl Form {
    fn decoder<'a>(&self, octets: &'a [u8], arena: &'a Arena) -> Decoder<'a> {
        Decoder::new(octets, self.endian)
            .with_char_set(self.char_set)
            .with_arena(arena)
    }

    fn encoded(&self, value: &impl Encode) -> Vec<u8> {
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, self.endian).with_char_set(self.char_set);
        value
            .encode(&mut encoder)
            .expect("what was decoded can be encoded");
        octets
    }
}

fn round_trip<T: Encode + for<'a> Decode<'a>>(form: Form, octets: &[u8]) {
    let arena = Arena::new();
    let mut decoder = form.decoder(octets, &arena);
    let Ok(value) = T::decode(&mut decoder) else {
        return;
    };
    assert!(decoder.position() <= octets.len());
    let first = form.encoded(&value);
    let back = T::decode(&mut form.decoder(&first, &arena)).expect("what was encoded can be decoded");
    assert_eq!(form.encoded(&back), first);
}

#[cfg(test)]
mod tests {
    use crate::corpus::Corpus;

    fn corpus() -> Corpus {
        Corpus::of_octets(include_str!("../../../../fuzz/corpus/values.txt"))
    }

    #[test]
    fn the_corpus_passes() {
        corpus().inputs().for_each(super::check);
    }

    #[test]
    fn mutations_of_the_corpus_pass() {
        corpus().mutations(200_000, super::check);
    }
}

//! Any octets as type codes and values in an `any`: what the fuzz target `any` checks.

use punctual_any::{Any, AnyView, TypeCode, TypeCodeView};
use punctual_cdr::{Arena, CdrError, CharSet, Decode, Decoder, Encode, Encoder, Endian};

/// Decodes a type code or an `any` from the octets behind the first one, which chooses byte order, code set
/// and form. What can be decoded passes through both byte orders unchanged.
pub fn check(input: &[u8]) {
    let [settings, octets @ ..] = input else {
        return;
    };
    let form = Form {
        endian: [Endian::Little, Endian::Big][usize::from(settings & 1)],
        char_set: [CharSet::Utf8, CharSet::Latin1][usize::from(settings >> 1 & 1)],
    };
    match settings >> 2 & 3 {
        0 => type_code(form, octets),
        1 => owned(form, octets),
        2 => lent(form, octets),
        _ => lent(form, &[&[0; 4], octets].concat()),
    }
}

#[derive(Clone, Copy)]
struct Form {
    endian: Endian,
    char_set: CharSet,
}

impl Form {
    fn decoder<'a>(&self, octets: &'a [u8], arena: &'a Arena) -> Decoder<'a> {
        Decoder::new(octets, self.endian)
            .with_char_set(self.char_set)
            .with_arena(arena)
    }

    fn encoded(&self, value: &impl Encode) -> Result<Vec<u8>, CdrError> {
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, self.endian).with_char_set(self.char_set);
        value.encode(&mut encoder).map(|()| octets)
    }

    /// UTF-8 in the other byte order.
    fn other(self) -> Self {
        Self {
            endian: match self.endian {
                Endian::Little => Endian::Big,
                Endian::Big => Endian::Little,
            },
            char_set: CharSet::Utf8,
        }
    }
}

fn type_code(form: Form, octets: &[u8]) {
    let arena = Arena::new();
    let Ok(lent) = TypeCodeView::decode(&mut form.decoder(octets, &arena)) else {
        return;
    };
    assert!(lent.to_string().len() <= 1 << 20, "its text is bounded");
    let Ok(code) = lent.to_owned() else { return };
    if let Ok(compact) = lent.compact() {
        assert!(compact.equivalent(&code), "{code}");
    }
    let other = form.other();
    let Ok(octets) = other.encoded(&code) else { return };
    let back = TypeCode::decode(&mut other.decoder(&octets, &arena));
    assert_eq!(back.expect("what was encoded can be decoded"), code);
}

fn owned(form: Form, octets: &[u8]) {
    let arena = Arena::new();
    let Ok(any) = Any::decode(&mut form.decoder(octets, &arena)) else {
        return;
    };
    pass(form, &any);
}

fn lent(form: Form, octets: &[u8]) {
    let arena = Arena::new();
    let mut decoder = form.decoder(octets, &arena);
    if let Some(rest) = octets.get(..4).filter(|rest| **rest == [0; 4]) {
        // Another alignment.
        decoder = decoder.at(rest.len());
    }
    let Ok(lent) = AnyView::decode(&mut decoder) else {
        return;
    };
    assert!(decoder.position() <= octets.len());
    pass(form, &lent.to_owned());
}

/// Values that can be decoded pass through the other byte order unchanged.
fn pass(form: Form, any: &Any) {
    let Ok(value) = any.value() else { return };
    let other = form.other();
    let Ok(octets) = other.encoded(any) else { return };
    let arena = Arena::new();
    let back = Any::decode(&mut other.decoder(&octets, &arena)).expect("what was encoded can be decoded");
    assert_eq!(other.encoded(&back).expect("as before"), octets);
    assert!(back.value().is_ok(), "{value:?}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Corpus;

    fn corpus() -> Corpus {
        Corpus::of_octets(include_str!("../../../../fuzz/corpus/any.txt"))
    }

    #[test]
    fn the_corpus_passes() {
        corpus().inputs().for_each(check);
    }

    #[test]
    fn the_corpus_has_values_of_all_kinds() {
        let corpus = corpus();
        let arena = Arena::new();
        let found: std::collections::BTreeSet<String> = corpus
            .inputs()
            .filter(|input| input[0] & 0b1100 == 4)
            .filter_map(|input| {
                let endian = [Endian::Little, Endian::Big][usize::from(input[0] & 1)];
                Any::decode(&mut Decoder::new(&input[1..], endian).with_arena(&arena)).ok()
            })
            .map(|any| format!("{:?}", any.type_code().kind().unwrap()))
            .collect();
        for wanted in [
            "Struct", "Union", "Enum", "Sequence", "Array", "Alias", "Any", "TypeCode", "Value", "ValueBox",
        ] {
            assert!(found.contains(wanted), "{wanted} is not among {found:?}");
        }
    }

    #[test]
    fn mutations_of_the_corpus_pass() {
        corpus().mutations(200_000, check);
    }
}

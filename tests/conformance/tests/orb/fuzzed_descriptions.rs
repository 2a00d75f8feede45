//! Any octets as the answer of an interface repository: what the fuzz target `descriptions` checks.

use punctual::{
    any::TypeCode,
    dynamic::InterfaceDescription,
    transport::{Decode, Decoder, Encode, Encoder},
};
use punctual_cdr::{Arena, Endian};

/// Decodes the description of an interface from the octets behind the first one, which chooses the byte
/// order. It takes no more memory than the limit; each type code in it can be encoded, and is the same again
/// after that.
pub fn check(input: &[u8]) {
    let [settings, octets @ ..] = input else {
        return;
    };
    let endian = [Endian::Little, Endian::Big][usize::from(settings & 1)];
    let Some(described) = decode(octets, endian) else {
        return;
    };
    for of in type_codes(&described) {
        let mut octets = Vec::new();
        of.encode(&mut Encoder::new(&mut octets, endian))
            .expect("what was decoded can be encoded");
        let again = TypeCode::decode(&mut Decoder::new(&octets, endian));
        assert_eq!(&again.expect("what was encoded can be decoded"), of);
        assert!(of.to_string().len() <= 1 << 20, "its text is bounded");
    }
}

fn decode(octets: &[u8], endian: Endian) -> Option<InterfaceDescription> {
    let arena = Arena::new();
    let mut decoder = Decoder::new(octets, endian)
        .with_arena(&arena)
        .with_decoded_limit(64 << 10);
    let described = InterfaceDescription::decode(&mut decoder).ok()?;
    assert!(decoder.position() <= octets.len());
    Some(described)
}

fn type_codes(described: &InterfaceDescription) -> Vec<&TypeCode> {
    let operations = described.operations.iter().flat_map(|operation| {
        let parameters = operation.parameters.iter().map(|parameter| &parameter.of);
        [&operation.returns]
            .into_iter()
            .chain(parameters)
            .chain(&operation.raises)
    });
    let attributes = described.attributes.iter().map(|attribute| &attribute.of);
    operations.chain(attributes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Corpus;

    fn corpus() -> Corpus {
        Corpus::of_octets(include_str!("../../../../fuzz/corpus/descriptions.txt"))
    }

    #[test]
    fn the_corpus_passes() {
        let corpus = corpus();
        corpus.inputs().for_each(check);
        let decoded = corpus.inputs().filter_map(|input| {
            let endian = [Endian::Little, Endian::Big][usize::from(input[0] & 1)];
            decode(&input[1..], endian)
        });
        let with_types = decoded.filter(|described| !type_codes(described).is_empty());
        assert!(with_types.count() >= 4);
    }

    #[test]
    fn mutations_of_the_corpus_pass() {
        corpus().mutations(100_000, check);
    }
}

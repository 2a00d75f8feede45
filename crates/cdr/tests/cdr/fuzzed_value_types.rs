//! Any octets as values of value types, shared, nested and truncated: what the fuzz target `value_types`
//! checks.

use std::any::{Any, TypeId};

use punctual_cdr::{
    Arena, CdrError, Decode, Decoder, Encode, Encoder, Endian, Inherits, Shared, ValueFactory, ValueObject,
    ValueType,
};

/// A value that is sent without chunks.
#[derive(Clone, Default)]
struct Node {
    id: i32,
    next: Option<Shared<Node>>,
}

/// A derived value that is sent in chunks, and may be truncated to a node.
#[derive(Clone, Default)]
struct Special {
    base: Node,
    text: String,
    weight: f64,
    others: Vec<Option<Shared<Node>>>,
}

impl Inherits<Node> for Special {}

macro_rules! value {
    ($type:ty, $ids:expr, $is_chunked:expr, $factories:expr,
     |$self:ident, $of:ident| $base:expr, [$($member:ident),*]) => {
        impl ValueType for $type {
            const REPOSITORY_ID: &'static str = $ids[0];
            const CIRCULAR: bool = true;

            fn factories() -> &'static [ValueFactory] {
                static ALL: &[ValueFactory] = &$factories;
                ALL
            }
        }

        impl ValueObject for $type {
            fn ids(&self) -> &'static [&'static str] {
                static IDS: &[&str] = &$ids;
                IDS
            }

            fn is_chunked(&self) -> bool {
                $is_chunked
            }

            fn encode_state(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
                $(self.$member.encode(encoder)?;)*
                Ok(())
            }

            fn part(&self, $of: TypeId) -> Option<&dyn Any> {
                let $self = self;
                if $of == TypeId::of::<Self>() { Some(self) } else { $base }
            }
        }

        impl Encode for $type {
            fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
                self.encode_state(encoder)
            }
        }

        impl<'a> Decode<'a> for $type {
            const MIN_SIZE: usize = 0;

            fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
                Ok(Self { $($member: Decode::decode(decoder)?),* })
            }
        }
    };
}

const NODE: ValueFactory = ValueFactory {
    id: "IDL:N:1.0",
    bases: &[],
    decode: |decoder| ValueFactory::decode::<Node>(decoder),
};
const SPECIAL: ValueFactory = ValueFactory {
    id: "IDL:S:1.0",
    bases: &["IDL:N:1.0"],
    decode: |decoder| ValueFactory::decode::<Special>(decoder),
};

value!(
    Node,
    ["IDL:N:1.0"],
    false,
    [NODE, SPECIAL],
    |_value, wanted| None,
    [id, next]
);
value!(
    Special,
    ["IDL:S:1.0", "IDL:N:1.0"],
    true,
    [SPECIAL],
    |value, wanted| value.base.part(wanted),
    [base, text, weight, others]
);

/// Decodes two parameters, which may share values, from the octets behind the first one; it chooses the byte
/// order, and whether there is an arena, without which data in several chunks is refused. What can be decoded
/// can be encoded, and is the same again after that.
pub fn check(input: &[u8]) {
    let [settings, octets @ ..] = input else {
        return;
    };
    let endian = [Endian::Little, Endian::Big][usize::from(settings & 1)];
    let arena = (settings & 2 != 0).then(Arena::new);
    let Some(first) = decode(octets, endian, arena.as_ref()) else {
        return;
    };
    if arena.is_none() {
        let arena = Arena::new();
        let with = decode(octets, endian, Some(&arena)).expect("an arena permits more");
        assert_eq!(encode(&with, endian), encode(&first, endian));
    }
    let octets = encode(&first, endian);
    let second = decode(&octets, endian, None).expect("what was encoded can be decoded");
    assert_eq!(encode(&second, endian), octets);
    assert_eq!(
        first.0 == first.1,
        second.0 == second.1,
        "what is shared stays shared"
    );
}

type Parameters = (Option<Shared<Node>>, Option<Shared<Node>>);

fn decode(octets: &[u8], endian: Endian, arena: Option<&Arena>) -> Option<Parameters> {
    let mut decoder = Decoder::new(octets, endian);
    if let Some(arena) = arena {
        decoder = decoder.with_arena(arena);
    }
    let first = Decode::decode(&mut decoder).ok()?;
    let second = Decode::decode(&mut decoder).ok()?;
    assert!(decoder.position() <= octets.len());
    Some((first, second))
}

fn encode(values: &Parameters, endian: Endian) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, endian);
    let written = values
        .0
        .encode(&mut encoder)
        .and_then(|()| values.1.encode(&mut encoder));
    written.expect("what was decoded can be encoded");
    octets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Corpus;

    fn corpus() -> Corpus {
        Corpus::of_octets(include_str!("../../../../fuzz/corpus/value_types.txt"))
    }

    #[test]
    fn the_corpus_passes() {
        corpus().inputs().for_each(check);
        let decoded = corpus()
            .inputs()
            .filter(|input| decode(&input[1..], Endian::Little, None).is_some())
            .count();
        assert!(decoded >= 6, "{decoded}");
        let arena = Arena::new();
        let needs_arena = |input: &&[u8]| {
            let decoded = |arena| decode(&input[1..], Endian::Little, arena).is_some();
            input[0] & 2 != 0 && decoded(Some(&arena)) && !decoded(None)
        };
        assert!(corpus().inputs().filter(needs_arena).count() >= 2);
    }

    #[test]
    fn mutations_of_the_corpus_pass() {
        corpus().mutations(200_000, check);
    }
}

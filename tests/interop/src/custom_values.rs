//! Values of a custom type: how its state is sent, and a client that checks a server of them.

use punctual::{
    Orb,
    value::{CdrError, CustomMarshal, Decode, Decoder, Encode, Encoder, Shared},
};

use crate::dynamics::{ExchangeRef, Reading};

impl CustomMarshal for Reading {
    fn marshal(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        (1_u8, &*self.text).encode(encoder)?;
        (self.weight, self.id).encode(encoder)
    }

    fn unmarshal(decoder: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let _version = u8::decode(decoder)?;
        let (text, weight) = (Decode::decode(decoder)?, Decode::decode(decoder)?);
        let id = Decode::decode(decoder)?;
        Ok(Self { id, text, weight })
    }
}

type Given = Option<Shared<Reading>>;

fn reading(id: i32, text: &str) -> Given {
    let (text, weight) = (text.to_owned(), f64::from(id) / 4.0);
    Some(Shared::new(Reading { id, text, weight }))
}

fn described(reading: &Given) -> Option<(i32, &str, f64)> {
    let reading = reading.as_ref()?;
    Some((reading.id, &reading.text, reading.weight))
}

/// Sends values with texts of several lengths, so that what follows has to be aligned, and none. Returns how
/// many triples came back unchanged.
///
/// # Panics
/// If one is changed, or refused.
pub fn check(orb: &Orb, reference: &str) -> usize {
    let exchange: ExchangeRef = orb.resolve(reference).expect("the server's reference");
    let long = "x".repeat(5_000);
    let triples = [
        [reading(1, ""), reading(-2, "a"), reading(3, "five.")],
        [reading(i32::MAX, "one"), None, reading(5, &long)],
        [None, reading(6, "twelve chars"), None],
    ];
    for [a, b, c] in &triples {
        let mut inout = b.clone();
        let (result, d) = exchange
            .rotate_reading(a.as_ref(), &mut inout, c.as_ref())
            .expect("an answer");
        let found = [&result, &inout, &d].map(described);
        assert_eq!(found, [a, c, b].map(described));
    }
    // One value in two places is one on arrival, and so it is sent back.
    let same = reading(7, "shared");
    let mut inout = same.clone();
    let (result, d) = exchange
        .rotate_reading(same.as_ref(), &mut inout, None)
        .expect("an answer");
    assert_eq!(described(&result), described(&same));
    assert!(result == d && inout.is_none(), "one value has become two");
    triples.len() + 1
}

//! Tests of the code sets of one octet for each character.

use alloc::{string::String, vec, vec::Vec};
use core::fmt::Debug;

use crate::{Arena, CdrErrorKind, CharSet, Decode, Decoder, Encode, Encoder, Endian, Text};

const NAMES: [(CharSet, &str); 23] = [
    (CharSet::Iso8859_2, "ISO-8859-2"),
    (CharSet::Iso8859_3, "ISO-8859-3"),
    (CharSet::Iso8859_4, "ISO-8859-4"),
    (CharSet::Iso8859_5, "ISO-8859-5"),
    (CharSet::Iso8859_6, "ISO-8859-6"),
    (CharSet::Iso8859_7, "ISO-8859-7"),
    (CharSet::Iso8859_8, "ISO-8859-8"),
    (CharSet::Iso8859_9, "ISO-8859-9"),
    (CharSet::Iso8859_10, "ISO-8859-10"),
    (CharSet::Iso8859_11, "ISO-8859-11"),
    (CharSet::Iso8859_13, "ISO-8859-13"),
    (CharSet::Iso8859_14, "ISO-8859-14"),
    (CharSet::Iso8859_15, "ISO-8859-15"),
    (CharSet::Iso8859_16, "ISO-8859-16"),
    (CharSet::Windows1250, "windows-1250"),
    (CharSet::Windows1251, "windows-1251"),
    (CharSet::Windows1252, "windows-1252"),
    (CharSet::Windows1253, "windows-1253"),
    (CharSet::Windows1254, "windows-1254"),
    (CharSet::Windows1255, "windows-1255"),
    (CharSet::Windows1256, "windows-1256"),
    (CharSet::Windows1257, "windows-1257"),
    (CharSet::Windows1258, "windows-1258"),
];

/// Names, each followed by eight lines of the first octet and 16 characters; `-`: none. The characters come
/// from the codecs of Python 3.11.
const GOLDEN: &str = include_str!("golden.txt");

/// Returns what the upper half of a code set stands for.
fn golden(name: &str) -> Vec<Option<char>> {
    let lines = GOLDEN.lines().skip_while(|line| *line != name).skip(1).take(8);
    let cells = lines.flat_map(|line| line.split(' ').skip(1));
    cells
        .map(|cell| match cell.strip_prefix("U+") {
            Some(number) => char::from_u32(u32::from_str_radix(number, 16).unwrap()),
            None => cell.chars().next().filter(|_| cell != "-"),
        })
        .collect()
}

fn encoded(value: impl Encode, char_set: CharSet) -> Result<Vec<u8>, CdrErrorKind> {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::Big).with_char_set(char_set);
    value.encode(&mut encoder).map_err(|error| error.kind)?;
    Ok(octets)
}

/// Decodes a value, which must be all of the message.
fn decoded<T: for<'a> Decode<'a> + Debug>(octets: &[u8], char_set: CharSet) -> Result<T, CdrErrorKind> {
    let mut decoder = Decoder::new(octets, Endian::Big).with_char_set(char_set);
    let value = T::decode(&mut decoder).map_err(|error| error.kind)?;
    assert_eq!(decoder.remaining(), 0);
    Ok(value)
}

/// A string as a message of these octets.
fn string(octets: &[u8]) -> Vec<u8> {
    let length = u32::try_from(octets.len() + 1).unwrap();
    [&length.to_be_bytes(), octets, &[0]].concat()
}

#[test]
fn all_code_sets_are_listed_in_order() {
    for (index, char_set) in CharSet::ALL.into_iter().enumerate() {
        assert_eq!(char_set as usize, index, "{char_set:?}");
    }
    let last = NAMES.map(|(char_set, _)| char_set);
    assert_eq!(CharSet::ALL[3..], last);
}

#[test]
fn each_octet_stands_for_its_character_in_both_directions() {
    for (char_set, name) in NAMES {
        let upper = golden(name);
        assert_eq!(upper.len(), 128, "{name}");
        for octet in 0..=u8::MAX {
            let expected = match octet.checked_sub(128) {
                None => Some(char::from(octet)),
                Some(index) => upper[usize::from(index)],
            };
            assert_eq!(char_set.character(octet), expected, "{name}, {octet:#x}");
            assert_eq!(
                decoded::<char>(&[octet], char_set),
                expected.ok_or(CdrErrorKind::TextInvalid)
            );
            if let Some(character) = expected {
                assert_eq!(
                    encoded(character, char_set),
                    Ok(vec![octet]),
                    "{name}, {octet:#x}"
                );
            }
        }
    }
}

#[test]
fn well_known_characters() {
    for (char_set, octet, character) in [
        (CharSet::Latin1, 0xe9, 'é'),
        (CharSet::Iso8859_2, 0xb1, 'ą'),
        (CharSet::Iso8859_5, 0xd0, 'а'),
        (CharSet::Iso8859_7, 0xe1, 'α'),
        (CharSet::Iso8859_9, 0xfd, 'ı'),
        (CharSet::Iso8859_15, 0xa4, '€'),
        (CharSet::Windows1250, 0x9c, 'ś'),
        (CharSet::Windows1251, 0xe0, 'а'),
        (CharSet::Windows1252, 0x80, '€'),
        (CharSet::Windows1258, 0xfe, '₫'),
    ] {
        assert_eq!(encoded(character, char_set), Ok(vec![octet]), "{char_set:?}");
        assert_eq!(decoded(&[octet], char_set), Ok(character), "{char_set:?}");
    }
}

/// Owned, lent, and as text that is only passed on.
#[test]
fn strings_of_all_characters_are_transcoded() {
    for (char_set, name) in NAMES {
        let text: String = golden(name).into_iter().flatten().collect();
        let octets = encoded(text.as_str(), char_set).unwrap();
        assert_eq!(octets.len(), 4 + text.chars().count() + 1, "{name}");
        assert_eq!(decoded::<String>(&octets, char_set).as_ref(), Ok(&text), "{name}");

        let arena = Arena::new();
        let mut decoder = Decoder::new(&octets, Endian::Big)
            .with_char_set(char_set)
            .with_arena(&arena);
        assert_eq!(<&str>::decode(&mut decoder).as_ref(), Ok(&text.as_str()));
        assert_eq!(
            decoder.decoded(),
            text.len(),
            "{name}: no more memory than its UTF-8"
        );

        let mut decoder = Decoder::new(&octets, Endian::Big).with_char_set(char_set);
        let passed = Text::decode(&mut decoder).unwrap();
        assert_eq!(encoded(passed, char_set).as_ref(), Ok(&octets), "{name}");
        assert_eq!(
            encoded(passed, CharSet::Utf8),
            encoded(text.as_str(), CharSet::Utf8),
            "{name}"
        );
    }
}

#[test]
fn text_passes_from_one_code_set_to_another() {
    let latin2 = string(b"Z\xfcrich \xb9");
    let mut decoder = Decoder::new(&latin2, Endian::Big).with_char_set(CharSet::Iso8859_2);
    let text = Text::decode(&mut decoder).unwrap();
    assert_eq!(encoded(text, CharSet::Windows1250), Ok(string(b"Z\xfcrich \x9a")));
    let refused = Err(CdrErrorKind::TextNotInCodeSet);
    assert_eq!(encoded(text, CharSet::Latin1), refused);
    assert_eq!(encoded(text, CharSet::Iso8859_7), refused);
}

#[test]
fn characters_that_a_code_set_lacks_are_refused() {
    for (char_set, name) in NAMES {
        // Beyond 16 bits; in none of these code sets.
        for character in ['\u{1f600}', '日', '\u{fffd}'] {
            let refused = Err(CdrErrorKind::TextNotInCodeSet);
            assert_eq!(encoded(character, char_set), refused, "{name}");
            assert_eq!(encoded(String::from(character), char_set), refused, "{name}");
        }
    }
    // Refused rather than replaced by similar ones.
    assert_eq!(
        encoded("Łódź €", CharSet::Iso8859_2),
        Err(CdrErrorKind::TextNotInCodeSet)
    );
    assert_eq!(encoded("Łódź", CharSet::Iso8859_2), Ok(string(b"\xa3\xf3d\xbc")));
}

#[test]
fn octets_without_a_meaning_are_refused() {
    for (char_set, octet) in [
        (CharSet::Iso8859_3, 0xa5),
        (CharSet::Windows1252, 0x81),
        (CharSet::Windows1253, 0xaa),
    ] {
        let alone = decoded::<char>(&[octet], char_set);
        assert_eq!(alone, Err(CdrErrorKind::TextInvalid));
        let in_text = decoded::<String>(&string(&[b'a', octet]), char_set);
        assert_eq!(in_text, Err(CdrErrorKind::TextInvalid));
    }
}

/// UTF-8 that is valid as such.
#[test]
fn octets_are_not_mistaken_for_utf8() {
    let text = decoded::<String>(&string("é".as_bytes()), CharSet::Iso8859_15);
    assert_eq!(text.as_deref(), Ok("Ã©"));
}

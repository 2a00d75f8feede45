//! Any text as a URL, a name, and an address with a name: what the fuzz target `names` checks.

use punctual_giop::{Name, ObjectUrl, corbaname_url};

/// Parses the text. What can be parsed is the same again after being formatted, and every error has a text of
/// bounded length.
pub fn check(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    match text.parse::<ObjectUrl>() {
        Ok(url) => assert_eq!(url.to_string().parse().as_ref(), Ok(&url), "{url}"),
        Err(error) => assert!((1..1_000).contains(&error.to_string().len()), "{error}"),
    }
    match text.parse::<Name>() {
        Ok(name) => assert_eq!(name.to_string().parse().as_ref(), Ok(&name), "{name}"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let (address, name) = text.split_once('#').unwrap_or((text, ""));
    if let Ok(url) = corbaname_url(address, name) {
        let Ok(ObjectUrl::Corbaname { name: found, .. }) = url.parse() else {
            panic!("{url} is no `corbaname:`");
        };
        assert_eq!(found, name.parse().ok(), "{url}");
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::corpus::Corpus;

    const CORPUS: &str = include_str!("../../../../fuzz/corpus/names.txt");

    #[test]
    fn the_corpus_of_the_fuzzer_passes() {
        Corpus::of_texts(CORPUS).inputs().for_each(check);
    }

    #[test]
    fn mutations_of_the_corpus_pass() {
        Corpus::of_texts(CORPUS).mutations(20_000, check);
    }
}

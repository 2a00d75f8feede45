//! Any text as IDL: what the fuzz target `idl` checks of the generator.

use punctual_codegen::{Settings, generate};
use punctual_idl::{Limits, Options, Specification, compile_text};

/// Generates code from a text. Accepted IDL is refused with a reason, or its code is Rust without `unsafe`.
pub fn check(input: &[u8]) {
    let Some(specification) = specification(input) else {
        return;
    };
    match generate(&specification, &Settings::default()) {
        Ok(rust) => {
            if let Err(error) = syn::parse_file(&rust) {
                panic!("{error}:\n{rust}");
            }
            assert!(!rust.contains("unsafe {"), "{rust}");
        }
        Err(refused) => assert!(!refused.is_empty()),
    }
}

fn specification(input: &[u8]) -> Option<Specification> {
    let text = String::from_utf8_lossy(input);
    let options = Options {
        limits: Limits {
            include_depth: 5,
            includes: 40,
            tokens: 20_000,
            ..Limits::default()
        },
        ..Options::default()
    };
    compile_text("test.idl", &text, &options).specification
}

#[cfg(test)]
#[path = "../../../fuzz/corpus.rs"]
mod corpus;

#[cfg(test)]
mod tests {
    use crate::corpus::Corpus;

    fn corpus() -> Corpus {
        Corpus::of_texts(include_str!("../../../fuzz/corpus/idl.txt"))
    }

    #[test]
    fn the_corpus_passes() {
        corpus().inputs().for_each(super::check);
        // Code is generated from many of them.
        let accepted = corpus().inputs().filter_map(super::specification).count();
        assert!(accepted >= 15, "{accepted} inputs are accepted");
    }

    #[test]
    fn mutations_of_the_corpus_pass() {
        corpus().mutations(4_000, super::check);
    }
}

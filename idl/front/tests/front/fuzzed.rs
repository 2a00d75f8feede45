//! Any text as IDL: what the fuzz target `idl` checks.

use std::collections::BTreeMap;

use punctual_idl::{Code, Limits, MemoryLoader, Options, Outcome, Severity, compile, format};

/// Compiles and formats a text. It is accepted, or refused with a reason; every place lies in its file; the
/// number of findings is bounded; and a formatted text is the same when formatted again.
pub fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let options = Options {
        limits: Limits {
            include_depth: 5,
            includes: 40,
            tokens: 20_000,
            diagnostics: usize::MAX,
            ..Limits::default()
        },
        ..Options::default()
    };
    let loader = MemoryLoader::new().with("test.idl", &*text);
    let outcome = compile("test.idl", &options, &loader);
    let errors = outcome
        .diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error);
    assert_eq!(outcome.specification.is_some(), errors.count() == 0);
    // Each of three stages has a limit for each of two severities, and says how many it omits.
    let mut few = options.clone();
    few.limits.diagnostics = 2;
    let limited = compile("test.idl", &few, &loader);
    assert!(limited.diagnostics.len() <= 3 * 2 * (few.limits.diagnostics + 1));
    // What is omitted decides too whether the text is accepted.
    assert_eq!(limited.specification.is_some(), outcome.specification.is_some());
    for label in outcome.diagnostics.iter().flat_map(|found| &found.labels) {
        let file = &outcome.files[label.span.file as usize];
        let range = label.span.start as usize..label.span.end as usize;
        assert!(file.text.get(range).is_some(), "{label:?}");
    }
    if let Ok(once) = format(&text) {
        assert_eq!(format(&once).as_ref(), Ok(&once));
        let loader = MemoryLoader::new().with("test.idl", once.as_str());
        assert_eq!(
            declared(&outcome),
            declared(&compile("test.idl", &options, &loader)),
            "{once}"
        );
    }
}

/// The definitions and the codes of findings, in which a formatted text agrees with the first; nothing of one
/// that has lines with numbers, or so many tokens that white space counts.
fn declared(outcome: &Outcome) -> (Vec<String>, BTreeMap<Code, usize>) {
    let mut codes = BTreeMap::new();
    for finding in &outcome.diagnostics {
        *codes.entry(finding.code).or_default() += 1;
    }
    let depends_on_space = codes.contains_key(&Code::LimitExceeded)
        || outcome.files.iter().any(|file| file.text.contains("__LINE__"));
    if depends_on_space {
        return Default::default();
    }
    let definitions = outcome.specification.iter().flat_map(|found| &found.definitions);
    let names = definitions.map(|definition| {
        let kind = std::mem::discriminant(&definition.kind);
        format!("{kind:?} {} {}", definition.scoped_name, definition.repository_id)
    });
    (names.collect(), codes)
}

#[cfg(test)]
mod tests {
    use crate::corpus::Corpus;

    fn corpus() -> Corpus {
        Corpus::of_texts(include_str!("../../../../fuzz/corpus/idl.txt"))
    }

    #[test]
    fn the_corpus_passes() {
        corpus().inputs().for_each(super::check);
    }

    #[test]
    fn mutations_of_the_corpus_pass() {
        corpus().mutations(4_000, super::check);
    }
}

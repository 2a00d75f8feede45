//! `punctual explain`, and the page with the same texts.

use std::fs;

use punctual::Minor;

use crate::command::run;

#[test]
fn a_code_is_explained_in_every_form_in_which_it_is_seen() {
    for form in [
        &["17"][..],
        &["Punctual", "17"],
        &["Punctual17"],
        &["punctual", "17"],
        &["minor Punctual 17"],
        &["0x50554011"],
        &["1347764241"],
        &["CORBA::TRANSIENT (minor Punctual 17, not completed): no server is listening"],
    ] {
        let run = run([&["explain"], form].concat());
        assert_eq!(run.code, 0, "{form:?}: {}", run.complained);
        assert_eq!(run.said.lines().count(), 1, "{form:?}: {}", run.said);
        let expected = "Punctual 17 (0x50554011, CORBA::TRANSIENT): no server is listening at the address";
        assert!(run.said.starts_with(expected), "{}", run.said);
    }
}

#[test]
fn kinds_and_everything_are_listed() {
    let all = Minor::OWN.len() + Minor::OMG.len();
    assert_eq!(run(["explain"]).said.lines().count(), all);
    let transient = run(["explain", "TRANSIENT"]).said;
    assert!(transient.lines().count() > 3 && transient.lines().all(|line| line.contains("CORBA::TRANSIENT")));
}

#[test]
fn a_code_of_the_omg_is_explained_for_each_kind_of_exception() {
    for form in [
        &["OMG", "1"][..],
        &["omg", "1"],
        &["OMG1"],
        &["minor OMG 1, not completed"],
        &["0x4f4d0001"],
    ] {
        let said = run([&["explain"], form].concat()).said;
        let starts = [
            "OMG 1 (0x4f4d0001, CORBA::TRANSIENT): ",
            "OMG 1 (0x4f4d0001, CORBA::INV_OBJREF): ",
        ];
        assert_eq!(said.lines().count(), 2, "{form:?}: {said}");
        assert!(
            said.lines()
                .zip(starts)
                .all(|(line, start)| line.starts_with(start)),
            "{said}"
        );
    }
}

#[test]
fn an_unknown_code_is_an_error() {
    let run = run(["explain", "9999"]);
    assert_eq!(run.code, 2);
    assert!(run.complained.contains("`9999` is none"), "{}", run.complained);
    let complained = run.complained.replace('\n', " ");
    assert!(complained.contains("such as `OMG 4`"), "{complained}");
}

#[test]
fn several_codes_are_explained_in_their_order() {
    let known = run(["explain", "18", "17"]);
    let numbers: Vec<_> = known.said.lines().map(|line| &line[..11]).collect();
    assert_eq!(
        (known.code, &numbers[..]),
        (0, &["Punctual 18", "Punctual 17"][..])
    );
    let vendors = run(["explain", "18", "omg", "10", "Punctual17"]);
    let starts: Vec<_> = vendors.said.lines().map(|line| &line[..6]).collect();
    assert_eq!(
        (vendors.code, &starts[..]),
        (0, &["Punctu", "OMG 10", "Punctu"][..])
    );
    let mixed = run(["explain", "17", "9999", "TIMEOUT"]);
    assert_eq!(mixed.code, 2);
    assert!(
        mixed.complained.contains("`9999` is none"),
        "{}",
        mixed.complained
    );
    assert!(mixed.said.starts_with("Punctual 17") && mixed.said.contains("CORBA::TIMEOUT"));
}

#[test]
fn a_misspelt_word_has_a_suggestion() {
    for (word, expected) in [
        ("TRANSEINT", "did you mean `TRANSIENT`?"),
        ("timeuot", "did you mean `TIMEOUT`?"),
        ("CORBA::COMM_FAILUER", "did you mean `COMM_FAILURE`?"),
        ("tpo", "an exception, such as TRANSIENT"),
    ] {
        let run = run(["explain", word]);
        assert_eq!(run.code, 2);
        assert!(run.complained.contains(expected), "{word}: {}", run.complained);
    }
    assert_eq!(run(["explain", "idl0044"]).said, run(["explain", "IDL0044"]).said);
}

/// `PUNCTUAL_BLESS=1` writes the page.
#[test]
fn the_page_has_every_code() {
    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/minor-codes.md");
    let mut page = String::from(
        "# Minor codes\n\n\
         A system exception is printed with its minor code: `CORBA::TRANSIENT (minor Punctual 17, not\n\
         completed): …`. `punctual explain 17` prints the same text. Calls that were \"not completed\"\n\
         have not run (or their servants say that they had no effect), and can be repeated without harm.\n\
         A text that begins with \"raised by the server\" concerns the server, perhaps in a call of its\n\
         own.\n\n\
         | code | exception | meaning, and what to try |\n|---|---|---|\n",
    );
    for minor in Minor::OWN {
        let kind = minor.kind().expect("it has one").name();
        let text = minor.text().expect("it has one");
        assert!(
            text.contains("; ") || text.contains(" ("),
            "{minor} has no advice: {text}"
        );
        page.push_str(&format!("| {} | {kind} | {text} |\n", minor.0 & 0xfff));
    }
    page.push_str(
        "\n## Codes of the OMG\n\n\
         The same number has a different meaning for each kind of exception: `punctual explain OMG 1`.\n\
         These are the ones that Punctual raises; peers may send others (CORBA 3.3 part 1, annex A.5).\n\n\
         | code | exception | meaning, and what to try |\n|---|---|---|\n",
    );
    for (kind, minor, text) in Minor::OMG {
        assert!(text.contains("; "), "{minor} has no advice: {text}");
        page.push_str(&format!("| {minor} | {} | {text} |\n", kind.name()));
    }
    if std::env::var_os("PUNCTUAL_BLESS").is_some() {
        fs::write(PAGE, &page).unwrap();
    }
    assert!(
        fs::read_to_string(PAGE).unwrap() == page,
        "docs/minor-codes.md differs from crates/types/src/minor.rs; run this test with PUNCTUAL_BLESS=1"
    );
}

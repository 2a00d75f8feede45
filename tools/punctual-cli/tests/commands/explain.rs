//! `punctual explain`, and the page with the same texts.

use std::fs;

use punctual::Minor;

use crate::command::run;

#[test]
fn a_code_is_explained_in_every_form_in_which_it_is_seen() {
    for form in [
        &["17"][..],
        &["Punctual", "17"],
        &["minor Punctual 17"],
        &["0x50554011"],
        &["1347764241"],
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
    assert_eq!(run(["explain"]).said.lines().count(), Minor::OWN.len());
    let transient = run(["explain", "TRANSIENT"]).said;
    assert!(transient.lines().count() > 3 && transient.lines().all(|line| line.contains("CORBA::TRANSIENT")));
}

#[test]
fn an_unknown_code_is_an_error() {
    let run = run(["explain", "9999"]);
    assert_eq!(run.code, 2);
    assert!(run.complained.contains("`9999` is none"), "{}", run.complained);
}

/// `PUNCTUAL_BLESS=1` writes the page.
#[test]
fn the_page_has_every_code() {
    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/minor-codes.md");
    let mut page = String::from(
        "# Minor codes\n\n\
         A system exception is printed with its minor code: `CORBA::TRANSIENT (minor Punctual 17, not\n\
         completed): …`. `punctual explain 17` prints the same text. Calls that were \"not completed\"\n\
         have not run, and can be repeated without harm.\n\n\
         | code | exception | meaning, and what to try |\n|---|---|---|\n",
    );
    for minor in Minor::OWN {
        let kind = minor.kind().expect("it has one").name();
        let text = minor.text().expect("it has one");
        page.push_str(&format!("| {} | {kind} | {text} |\n", minor.0 & 0xfff));
    }
    if std::env::var_os("PUNCTUAL_BLESS").is_some() {
        fs::write(PAGE, &page).unwrap();
    }
    assert!(
        fs::read_to_string(PAGE).unwrap() == page,
        "docs/minor-codes.md differs from crates/types/src/minor.rs; run this test with PUNCTUAL_BLESS=1"
    );
}

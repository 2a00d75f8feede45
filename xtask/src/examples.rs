//! Rule for the pages that rustdoc made of the facade: each has an example that compiles.

use std::{fs, path::Path};

/// Pages that cannot have an example that compiles, and why.
const WITHOUT: &[(&str, &str)] = &[(
    "macro.include_idl.html",
    "it compiles only in a package whose build script has compiled IDL",
)];

/// Kinds of items whose page is checked, as file names begin.
const KINDS: &[&str] = &["constant", "enum", "fn", "macro", "struct", "trait", "type"];

/// Fails with the pages that have no example; `documentation` is the folder of rustdoc.
///
/// An example of a method is one of its type.
pub fn check(documentation: &Path) -> Result<(), String> {
    let facade = documentation.join("punctual");
    let read = |name: &str| {
        let path = facade.join(name);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let list = read("all.html")?;
    let pages: Vec<&str> = pages(&list).collect();
    let mut findings = Vec::new();
    for page in &pages {
        let excepted = WITHOUT.iter().find(|(excepted, _)| excepted == page);
        match (has_example(&read(page)?), excepted) {
            (false, None) => findings.push(format!("{page}: no example that compiles")),
            (true, Some((_, why))) => findings.push(format!(
                "{page}: has an example, although {why}; remove it from `WITHOUT` in xtask/src/examples.rs"
            )),
            _ => {}
        }
    }
    match pages.len() {
        0..300 => Err(format!(
            "only {} pages of the facade found in all.html",
            pages.len()
        )),
        count if findings.is_empty() => {
            println!("{count} pages of the facade checked for examples");
            Ok(())
        }
        count => Err(format!(
            "{} of {count} pages of the facade:\n  {}",
            findings.len(),
            findings.join("\n  ")
        )),
    }
}

/// The pages of items that rustdoc lists. What it wrote for earlier items may lie beside them.
fn pages(list: &str) -> impl Iterator<Item = &str> {
    let links = list
        .split("<a href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next());
    links.filter(|page| {
        let file = page.rsplit('/').next().unwrap_or(page);
        file.ends_with(".html")
            && file
                .split_once('.')
                .is_some_and(|(kind, _)| KINDS.contains(&kind))
    })
}

/// Whether a page shows code that rustdoc compiles: marked neither as another language nor as `ignore` or
/// `compile_fail`.
fn has_example(page: &str) -> bool {
    page.split("<div class=\"example-wrap\">")
        .skip(1)
        .any(|block| block.starts_with("<pre class=\"rust "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_items_are_listed() {
        let list = "<a href=\"#structs\">Structs</a><a href=\"rt/struct.Any.html\">rt::Any</a>\
                    <a href=\"static.MAX.html\">MAX</a><a href=\"fn.run.html\">run</a>\
                    <a href=\"../help.html\">Help</a>";
        assert_eq!(
            pages(list).collect::<Vec<_>>(),
            ["rt/struct.Any.html", "fn.run.html"]
        );
    }

    #[test]
    fn examples_are_code_that_compiles() {
        let code = "<pre class=\"rust rust-example-rendered\"><code>";
        assert!(has_example(&format!(
            "<p>A.</p><div class=\"example-wrap\">{code}"
        )));
        for page in [
            "<pre class=\"rust item-decl\"><code>".to_owned(),
            format!("<div class=\"example-wrap ignore\">{code}"),
            "<div class=\"example-wrap\"><pre class=\"language-text\"><code>".to_owned(),
        ] {
            assert!(!has_example(&page), "{page}");
        }
    }
}

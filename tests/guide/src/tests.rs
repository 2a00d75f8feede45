//! Tests: every snippet of Rust in a page is compiled somewhere, links between pages lead somewhere, and the
//! examples do what their READMEs show.

mod examples;

use std::{
    fs,
    path::{Path, PathBuf},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Pages whose snippets another test holds, and which.
const ELSEWHERE: [(&str, &str); 3] = [
    ("README.md", "examples/01-hello: they are its sources"),
    ("CONTRIBUTING.md", "extracts of sources"),
    (
        "docs/mapping.md",
        "idl/codegen/tests/golden: what the generator writes",
    ),
];

#[test]
fn every_snippet_is_compiled() {
    let (built, compiled) = (include_str!("../build.rs"), include_str!("lib.rs"));
    let mut snippets = 0;
    for page in pages() {
        let name = page.strip_prefix(ROOT).unwrap().display().to_string();
        let text = fs::read_to_string(&page).unwrap();
        let blocks = blocks_of_rust(&text);
        if blocks.is_empty() || ELSEWHERE.iter().any(|(page, _)| *page == name) {
            continue;
        }
        snippets += blocks.len();
        let example = name
            .strip_suffix("README.md")
            .filter(|_| name.starts_with("examples"));
        let template = (name == "docs/guide/service.md").then_some("tools/punctual-cli/templates/new");
        if let Some(package) = example.or(template) {
            let sources = sources(&Path::new(ROOT).join(package).join("src"));
            let lines = blocks.iter().flat_map(|block| block.lines());
            for line in lines {
                let is_there = sources.lines().any(|other| other.trim() == line.trim());
                assert!(is_there, "{name}: no source of the package has the line `{line}`");
            }
        } else {
            let include = format!("/{}\"", name.replace('/', "-"));
            assert!(
                built.contains(&format!("\"{name}\"")) && compiled.contains(&include),
                "{name} has snippets that nothing compiles: add it to build.rs and lib.rs"
            );
        }
    }
    assert!(snippets > 10, "{snippets}");
}

#[test]
fn the_file_of_the_configuration_page_can_be_read() {
    let page = include_str!("../../../docs/configuration.md");
    let [file] = blocks_of(page, "toml")[..] else {
        panic!("expected one file on the page");
    };
    let schedule = punctual_scheduling::Schedule::parse("docs/configuration.md", file).unwrap();
    assert_eq!(
        (schedule.orbs.len(), schedule.pools.len(), schedule.adapters.len()),
        (1, 1, 1)
    );
}

#[test]
fn links_to_files_and_headings_lead_somewhere() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let folder = page.parent().unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") || link.contains(char::is_whitespace) {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                page.clone()
            } else {
                folder.join(file)
            };
            assert!(target.exists(), "{}: {link} leads nowhere", page.display());
            if heading.is_empty() {
                continue;
            }
            let target = if target.is_dir() {
                target.join("README.md")
            } else {
                target
            };
            let there = fs::read_to_string(&target).unwrap();
            let found = there.lines().any(|line| anchor(line).as_deref() == Some(heading));
            assert!(found, "{}: {link}: there is no such heading", page.display());
        }
    }
}

/// The name under which a heading can be linked to; `None`: the line is no heading.
fn anchor(line: &str) -> Option<String> {
    let heading = line.trim_start_matches('#').strip_prefix(' ')?;
    let letters = heading.to_lowercase();
    let kept = letters
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    line.starts_with('#')
        .then(|| kept.collect::<String>().replace(' ', "-"))
}

/// All pages that users read.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(ROOT);
    let mut pages: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"]
        .map(|page| root.join(page))
        .into();
    let mut folders: Vec<PathBuf> = ["docs", "docs/guide"].map(|folder| root.join(folder)).into();
    folders.extend(
        fs::read_dir(root.join("examples"))
            .unwrap()
            .map(|entry| entry.unwrap().path()),
    );
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        pages.extend(files.filter(|path| path.extension().is_some_and(|kind| kind == "md")));
    }
    assert!(pages.len() > 30, "{pages:?}");
    pages
}

fn blocks_of_rust(page: &str) -> Vec<&str> {
    blocks_of(page, "rust")
}

fn blocks_of<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let start = format!("```{language}");
    let blocks = page.split(&start).skip(1);
    blocks
        .filter_map(|rest| rest.split_once('\n')?.1.split("```").next())
        .collect()
}

/// All sources below a folder, one after the other.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| match path.is_dir() {
            true => sources(&path),
            false => fs::read_to_string(&path).unwrap(),
        })
        .collect()
}

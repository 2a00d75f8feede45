//! Rules for the pages that rustdoc made of what users depend on. Each page of the facade has an example that
//! compiles, and examples show paths of the facade, also where an item comes from another crate: they are
//! copied into packages that depend on the facade only.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use syn::UseTree;

use crate::metadata::Metadata;

/// Pages that cannot have an example that compiles, and why.
const WITHOUT: &[(&str, &str)] = &[(
    "macro.include_idl.html",
    "it compiles only in a package whose build script has compiled IDL",
)];

/// Kinds of items whose page is checked, as file names begin.
const KINDS: &[&str] = &["constant", "enum", "fn", "macro", "struct", "trait", "type"];

/// Fails with the pages of the facade that have no example, and with what examples of facade and services
/// name that their readers do not have.
///
/// An example of a method is one of its type.
pub fn check(metadata: &Metadata) -> Result<(), String> {
    let documentation = metadata.target_folder().join("doc");
    let crates_in = |folder: &str| -> Vec<String> {
        let members = metadata.members();
        let inside = members.filter(|member| metadata.folder(member).starts_with(folder));
        inside.map(|member| member.name.replace('-', "_")).collect()
    };
    let facade = Pages::read(documentation.join("punctual"))?;
    let mut layers = crates_in("crates");
    layers.retain(|name| name != "punctual");
    let mut findings = facade.without_example()?;
    findings.extend(facade.foreign_names(&facade, &layers)?);
    for service in crates_in("services") {
        findings.extend(Pages::read(documentation.join(service))?.foreign_names(&facade, &layers)?);
    }
    match facade.items.len() {
        count @ 0..300 => Err(format!("only {count} pages of the facade found in all.html")),
        count if findings.is_empty() => {
            println!("{count} pages of the facade checked for examples");
            Ok(())
        }
        count => Err(format!(
            "{} findings in {count} pages of the facade, and those of the services:\n  {}",
            findings.len(),
            findings.join("\n  ")
        )),
    }
}

/// The pages that rustdoc made of one crate.
struct Pages {
    folder: PathBuf,
    /// The pages of items, from `folder`.
    items: Vec<String>,
    /// Their paths in the crate.
    names: BTreeSet<String>,
}

impl Pages {
    fn read(folder: PathBuf) -> Result<Self, String> {
        let items: Vec<String> = pages(&read(&folder.join("all.html"))?)
            .map(str::to_owned)
            .collect();
        let names = items.iter().filter_map(|page| path_of(page)).collect();
        Ok(Self { folder, items, names })
    }

    fn without_example(&self) -> Result<Vec<String>, String> {
        let mut findings = Vec::new();
        for page in &self.items {
            let excepted = WITHOUT.iter().find(|(excepted, _)| excepted == page);
            match (has_example(&read(&self.folder.join(page))?), excepted) {
                (false, None) => findings.push(format!("{page}: no example that compiles")),
                (true, Some((_, why))) => findings.push(format!(
                    "{page}: has an example, although {why}; remove it from `WITHOUT` in \
                     xtask/src/examples.rs"
                )),
                _ => {}
            }
        }
        Ok(findings)
    }

    /// Crates and paths in examples that a package with the facade alone does not have.
    fn foreign_names(&self, facade: &Self, layers: &[String]) -> Result<BTreeSet<String>, String> {
        let modules = self.items.iter().filter_map(|page| Path::new(page).parent());
        let modules: BTreeSet<PathBuf> = modules.map(|module| module.join("index.html")).collect();
        let mut findings = BTreeSet::new();
        for page in modules.into_iter().chain(self.items.iter().map(PathBuf::from)) {
            let shown = self
                .folder
                .file_name()
                .map(Path::new)
                .unwrap_or(&self.folder)
                .join(&page);
            let shown = shown.display();
            for example in examples(&read(&self.folder.join(page))?) {
                let words: BTreeSet<&str> = example.split(|c| !is_word(c)).collect();
                for layer in layers.iter().filter(|layer| words.contains(layer.as_str())) {
                    findings.insert(format!(
                        "{shown}: an example shows `{layer}`; show the path in the facade, after a hidden line \
                         such as `# use {layer} as punctual;`"
                    ));
                }
                for path in paths(&example).iter().filter(|path| !facade.has(path)) {
                    findings.insert(format!(
                        "{shown}: an example names `punctual::{path}`, which does not exist"
                    ));
                }
            }
        }
        Ok(findings)
    }

    /// Whether the crate has this: an item, something in an item, a module, or all of a module (`any::*`).
    fn has(&self, path: &str) -> bool {
        let starts = path.match_indices("::").map(|(at, _)| &path[..at]);
        let module = path.strip_suffix('*').unwrap_or(path).replace("::", "/");
        starts.chain([path]).any(|start| self.names.contains(start))
            || self.folder.join(module).join("index.html").exists()
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The path in its crate of the item with this page: `any::Any` for `any/struct.Any.html`.
fn path_of(page: &str) -> Option<String> {
    let (folder, file) = page.rsplit_once('/').unwrap_or(("", page));
    let name = file.split('.').nth(1)?;
    let modules = folder.split('/').filter(|module| !module.is_empty());
    Some(modules.chain([name]).collect::<Vec<_>>().join("::"))
}

/// The examples on a page, as text.
fn examples(page: &str) -> impl Iterator<Item = String> {
    let blocks = page.split("<div class=\"example-wrap").skip(1);
    blocks.filter_map(|block| {
        let code = &block[block.find("<pre class=\"rust ")?..block.find("</pre>")?];
        let text: String = code
            .split('<')
            .filter_map(|part| part.split_once('>'))
            .map(|(_, text)| text)
            .collect();
        let entities = [
            ("&lt;", "<"),
            ("&gt;", ">"),
            ("&quot;", "\""),
            ("&#39;", "'"),
            ("&amp;", "&"),
        ];
        Some(
            entities
                .iter()
                .fold(text, |text, (entity, character)| text.replace(entity, character)),
        )
    })
}

/// The paths in the facade that an example names, without `punctual::`.
fn paths(example: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, name) in example.match_indices("punctual::") {
        let (before, rest) = (&example[..at], &example[at + name.len()..]);
        if before.ends_with(|c| is_word(c) || c == ':') {
            continue;
        }
        let statement = rest.split(';').next().unwrap_or(rest);
        match syn::parse_str(statement) {
            Ok(tree) if before.trim_end().ends_with("use") => leaves(&tree, "", &mut found),
            _ => {
                let path = rest.split(|c| !is_word(c) && c != ':').next().unwrap_or(rest);
                found.push(path.trim_end_matches(':').to_owned());
            }
        }
    }
    found
}

fn leaves(tree: &UseTree, prefix: &str, found: &mut Vec<String>) {
    match tree {
        UseTree::Path(path) => leaves(&path.tree, &format!("{prefix}{}::", path.ident), found),
        UseTree::Name(name) if name.ident == "self" => found.push(prefix.trim_end_matches(':').to_owned()),
        UseTree::Name(name) => found.push(format!("{prefix}{}", name.ident)),
        UseTree::Rename(name) => found.push(format!("{prefix}{}", name.ident)),
        UseTree::Glob(_) => found.push(format!("{prefix}*")),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, prefix, found)),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
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

    #[test]
    fn names_in_examples_are_found() {
        let page = "<pre class=\"rust item-decl\"><code>pub struct punctual_orb;</code></pre>\
                    <div class=\"example-wrap ignore\"><a>i</a><pre class=\"rust r\"><code>\
                    <span class=\"kw\">use </span>punctual_any::<span>Any</span>;\n\
                    use punctual::{Orb, any::{self, *}, rt::Any <span>as </span>A};\n\
                    punctual::Orb::builder() &lt; not_punctual::Poa</code></pre></div>";
        let examples: Vec<_> = examples(page).collect();
        assert_eq!(examples.len(), 1);
        assert!(
            examples[0].starts_with("use punctual_any::Any;\n"),
            "{examples:?}"
        );
        assert!(
            examples[0].ends_with("builder() < not_punctual::Poa"),
            "{examples:?}"
        );
        assert_eq!(
            paths(&examples[0]),
            ["Orb", "any", "any::*", "rt::Any", "Orb::builder"]
        );
    }

    #[test]
    fn paths_are_those_of_pages() {
        assert_eq!(path_of("rt/struct.Any.html").as_deref(), Some("rt::Any"));
        assert_eq!(path_of("fn.at_priority.html").as_deref(), Some("at_priority"));
    }
}

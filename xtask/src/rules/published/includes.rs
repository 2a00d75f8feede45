//! Files that a source includes, read from its tokens, so that macros count and comments do not.

use std::path::{Component, Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Returns the paths outside the folder of the package that a source includes, as it writes them.
///
/// A build script opens files itself: there, every text that begins with `..` counts.
pub fn outside(
    text: &str,
    source: &Path,
    folder: &Path,
    is_build_script: bool,
) -> Result<Vec<String>, String> {
    let tokens: TokenStream = text
        .parse()
        .map_err(|error: proc_macro2::LexError| error.to_string())?;
    let mut found = Vec::new();
    if is_build_script {
        let texts = texts(tokens.clone()).into_iter();
        found.extend(
            texts
                .filter(|text| text.starts_with(".."))
                .map(Included::FromPackage),
        );
    }
    collect(tokens, &mut found);
    let beside = source.parent().unwrap_or(folder);
    Ok(found
        .into_iter()
        .filter_map(|included| {
            let (from, path) = match included {
                Included::FromFile(path) => (beside, path),
                Included::FromPackage(path) => (folder, path),
            };
            let is_inside = normal(&from.join(path.trim_start_matches('/'))).starts_with(folder);
            (!is_inside).then_some(path)
        })
        .collect())
}

/// A path, and what it is relative to.
enum Included {
    FromFile(String),
    FromPackage(String),
}

fn collect(tokens: TokenStream, found: &mut Vec<Included>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        match (token, &tokens[index + 1..]) {
            (TokenTree::Ident(name), [TokenTree::Punct(mark), TokenTree::Group(arguments), ..])
                if mark.as_char() == '!' && MACROS.iter().any(|it| name == it) =>
            {
                found.extend(included(texts(arguments.stream())));
            }
            (TokenTree::Punct(mark), [TokenTree::Group(attribute), ..])
                if mark.as_char() == '#'
                    && attribute.delimiter() == Delimiter::Bracket
                    && is_path(attribute.stream()) =>
            {
                found.extend(included(texts(attribute.stream())));
            }
            (TokenTree::Group(group), _) => collect(group.stream(), found),
            _ => {}
        }
    }
}

const MACROS: [&str; 3] = ["include", "include_bytes", "include_str"];

/// Returns whether an attribute is `path = ".."`, of a module.
fn is_path(attribute: TokenStream) -> bool {
    matches!(attribute.into_iter().next(), Some(TokenTree::Ident(name)) if name == "path")
}

/// Puts together what `concat!` would; variables of macros are left out. What a build script wrote is no file
/// of the package.
fn included(texts: Vec<String>) -> Option<Included> {
    match texts.first()?.as_str() {
        "OUT_DIR" => None,
        "CARGO_MANIFEST_DIR" => Some(Included::FromPackage(texts[1..].concat())),
        _ => Some(Included::FromFile(texts.concat())),
    }
}

/// All texts between quotes.
fn texts(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => found.extend(texts(group.stream())),
            TokenTree::Literal(literal) => {
                found.extend(syn::parse_str::<syn::LitStr>(&literal.to_string()).map(|it| it.value()));
            }
            _ => {}
        }
    }
    found
}

/// A path without `.` and `..`; the file may not exist.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

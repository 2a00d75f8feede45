//! Paths and identifiers in the tokens of an item.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The segments of a path such as `crate::lane::Worker`.
pub type Segments = Vec<String>;

/// Names in the code of a module.
#[derive(Debug, Default)]
pub struct Named {
    /// Paths of two or more segments.
    pub paths: BTreeSet<Segments>,
    /// All identifiers.
    pub identifiers: BTreeSet<String>,
}

impl Named {
    /// Adds what some code names, without the parts that are compiled for tests only.
    pub fn add(&mut self, code: TokenStream) {
        let tokens: Vec<TokenTree> = code.into_iter().collect();
        self.add_tokens(&tokens, &[]);
    }

    /// `prefix` is the path before a brace in which each path continues it: `crate::{a, b}`.
    fn add_tokens(&mut self, tokens: &[TokenTree], prefix: &[String]) {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token {
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    at += 1 + attribute(&tokens[at + 1..]);
                }
                TokenTree::Ident(word) if *word == "pub" => {
                    at += 1 + usize::from(tokens.get(at + 1).is_some_and(is_restriction));
                }
                TokenTree::Ident(_) => at += self.add_path(&tokens[at..], prefix),
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    self.add_tokens(&inner, &[]);
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    /// Adds the path that starts here; returns the number of its tokens.
    fn add_path(&mut self, tokens: &[TokenTree], prefix: &[String]) -> usize {
        let mut segments = prefix.to_vec();
        let mut at = 0;
        while let Some(TokenTree::Ident(word)) = tokens.get(at) {
            let word = word.to_string();
            let word = word.strip_prefix("r#").unwrap_or(&word).to_owned();
            self.identifiers.insert(word.clone());
            segments.push(word);
            at += 1;
            if !is_double_colon(&tokens[at..]) {
                break;
            }
            match tokens.get(at + 2) {
                Some(TokenTree::Ident(_)) => at += 2,
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    self.add_tokens(&inner, &segments);
                    return at + 3;
                }
                _ => break,
            }
        }
        if segments.len() > 1 {
            self.paths.insert(segments);
        }
        at
    }
}

/// The length of an attribute after its `#`, together with what it removes from the product.
fn attribute(tokens: &[TokenTree]) -> usize {
    match tokens.first() {
        Some(TokenTree::Group(group)) if is_test_only(&group.stream()) => {
            let removed = tokens.iter().skip(1).position(|token| match token {
                TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                TokenTree::Punct(mark) => [';', ','].contains(&mark.as_char()),
                _ => false,
            });
            removed.map_or(tokens.len(), |index| index + 2)
        }
        // Attributes name macros and lints, which are no imports.
        Some(TokenTree::Group(_)) => 1,
        _ => 0,
    }
}

/// Whether the content of an attribute's brackets is `cfg(test)` or `cfg(all(test, ...))`.
pub fn is_test_only(attribute: &TokenStream) -> bool {
    let text: String = attribute.to_string().split_whitespace().collect();
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

/// `(in path)` or `(crate)` after `pub`.
fn is_restriction(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else {
        return false;
    };
    let first = group.stream().into_iter().next().map(|token| token.to_string());
    group.delimiter() == Delimiter::Parenthesis
        && first.is_some_and(|first| ["in", "crate", "super", "self"].contains(&first.as_str()))
}

fn is_double_colon(tokens: &[TokenTree]) -> bool {
    let is_colon =
        |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
    is_colon(tokens.first()) && is_colon(tokens.get(1))
}

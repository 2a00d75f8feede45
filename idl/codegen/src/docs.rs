//! Documentation of generated items.

use proc_macro2::TokenStream;
use quote::quote;

use crate::model::Documentation;

impl Documentation {
    /// The IDL comment, else one line with the IDL name.
    pub fn tokens(&self) -> TokenStream {
        if self.comment.iter().all(|line| line.trim().is_empty()) {
            let idl = &self.idl;
            return doc(&format!("IDL `{idl}`."));
        }
        let mut in_fence = false;
        let lines = self.comment.iter().map(|line| {
            let line = markdown(line, &mut in_fence);
            doc(&line)
        });
        quote!(#(#lines)*)
    }
}

/// One line of documentation.
pub fn doc(line: &str) -> TokenStream {
    let line = if line.is_empty() {
        String::new()
    } else {
        format!(" {line}")
    };
    quote!(#[doc = #line])
}

/// Escapes a line: rustdoc must not run it as a test nor take `sequence<long>` for HTML.
fn markdown(line: &str, in_fence: &mut bool) -> String {
    let text = line.trim();
    if let Some(language) = text.strip_prefix("```") {
        *in_fence = !*in_fence;
        return if *in_fence && language.is_empty() {
            String::from("```text")
        } else {
            String::from(text)
        };
    }
    if *in_fence {
        return String::from(line.trim_end());
    }
    let mut in_code = false;
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        in_code ^= letter == '`';
        if !in_code && matches!(letter, '<' | '[' | ']') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_stay_text() {
        for (line, rustdoc) in [
            ("a sequence<long>[2]", "a sequence\\<long>\\[2\\]"),
            ("`sequence<long>` in code", "`sequence<long>` in code"),
            ("      deeply indented is no test", "deeply indented is no test"),
            ("```", "```text"),
        ] {
            assert_eq!(markdown(line, &mut false), rustdoc);
        }
    }
}

//! Annotations of IDL 4.2 (clause 7.4.15): kept with the comments of what they precede.

use super::Parser;
use crate::lexer::Kind;

impl Parser<'_> {
    /// Passes over the annotations at the current token, and keeps their text for the next one.
    pub(super) fn skip_annotations(&mut self) {
        let mut kept: Vec<String> = Vec::new();
        while self.at("@") && self.peek(1).kind == Kind::Word {
            kept.extend(self.token().doc.as_deref().map(str::to_owned));
            kept.push(self.annotation());
        }
        if !kept.is_empty() {
            self.annotations.insert(self.at, kept.join("\n"));
        }
    }

    /// The number of an annotation of this name, such as `@bit_bound(16)`, before the current token.
    pub(super) fn annotated_number(&self, name: &str) -> Option<u32> {
        let annotations = self.annotations.get(&self.at)?;
        let number = |line: &str| {
            let arguments = line.strip_prefix("`@")?.strip_prefix(name)?;
            arguments.strip_prefix('(')?.strip_suffix(")`")?.parse().ok()
        };
        annotations.lines().filter_map(number).next_back()
    }

    /// `"@" <scoped_name> [ "(" <annotation_appl_params> ")" ]`, as Markdown.
    fn annotation(&mut self) -> String {
        let first = self.at;
        self.at += 2;
        while self.at("::") && self.peek(1).kind == Kind::Word {
            self.at += 2;
        }
        if self.at("(") {
            let mut open = 0_usize;
            while !self.at_end() {
                open += usize::from(self.at("("));
                open -= usize::from(self.at(")"));
                self.at += 1;
                if open == 0 {
                    break;
                }
            }
        }
        let mut text = String::from("`");
        for token in &self.tokens[first..self.at] {
            text.push_str(&token.text);
            if matches!(&*token.text, "," | "=") {
                text.push(' ');
            }
        }
        text.push('`');
        text
    }
}

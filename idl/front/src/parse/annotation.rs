//! Annotations of IDL 4.2 (clause 7.4.15): kept with the comments of the declarations that they precede.

mod arguments;
mod standard;

use std::rc::Rc;

use super::{Parsed, Parser};
use crate::ast::{Annotation, AnnotationKind};
use crate::lexer::Kind;

impl Parser<'_> {
    /// Passes over the annotations at the current token, and keeps their text for the next one.
    pub(super) fn skip_annotations(&mut self) {
        let mut kept: Vec<String> = Vec::new();
        let mut applied = Vec::new();
        let first = self.at;
        while self.at("@") && (self.peek(1).kind == Kind::Word || self.at_absolute_annotation()) {
            if &*self.peek(1).text == "annotation" && &*self.peek(3).text == "{" {
                self.annotation_declaration();
                continue;
            }
            kept.extend(self.token().doc.as_deref().map(str::to_owned));
            let start = self.at;
            kept.push(self.annotation());
            applied.push(start..self.at);
        }
        if !kept.is_empty() {
            // Parts of a text can be read again after an error.
            if !self.annotated_from.contains_key(&self.at) {
                applied
                    .into_iter()
                    .for_each(|tokens| self.check_annotation(tokens));
                if self.at_end() || self.at("}") {
                    let name = &self.tokens[first + 1];
                    let message = format!("no declaration follows `@{}`", name.text);
                    let help = "write it before the declaration that it describes, or remove it";
                    self.bad_annotation(name.span, message, help);
                }
            }
            self.annotations.insert(self.at, kept.join("\n"));
            self.annotated_from.insert(self.at, first);
        }
    }

    /// Whether the current `@` has an absolute name: `@::scope::name`.
    fn at_absolute_annotation(&self) -> bool {
        &*self.peek(1).text == "::" && self.peek(2).kind == Kind::Word
    }

    /// `"@annotation" <identifier> "{" <annotation_body> "}" ";"`
    fn annotation_declaration(&mut self) {
        let name = Rc::clone(&self.peek(2).text);
        self.at += 3;
        let body = self.at;
        self.skip_group("{", "}", &[]);
        let arguments = self.tokens[body..self.at].windows(2).filter_map(|pair| {
            let ends = pair[0].kind == Kind::Word && matches!(&*pair[1].text, ";" | "default");
            ends.then(|| Rc::clone(&pair[0].text))
        });
        self.declared_annotations
            .entry(name)
            .or_default()
            .extend(arguments);
        self.at += usize::from(self.at(";"));
    }

    /// Passes over what stands between brackets; the current token is the opening one. Without a closing one
    /// before `end`, or the end of the file, only the opening one is passed over.
    fn skip_group(&mut self, opening: &str, closing: &str, end: &[&str]) {
        let first = self.at;
        let mut open = 0_usize;
        while !self.at_end() && !end.contains(&&*self.token().text) {
            open += usize::from(self.at(opening));
            open -= usize::from(self.at(closing));
            self.at += 1;
            if open == 0 {
                return;
            }
        }
        self.at = first + 1;
    }

    /// The values of `@default`, `@min`, `@max` and `@range` before the current token.
    pub(super) fn member_annotations(&mut self) -> Parsed<Vec<Annotation>> {
        let end = self.at;
        let mut found = Vec::new();
        let Some(first) = self.annotated_from.get(&end) else {
            return Ok(found);
        };
        self.at = *first;
        while self.at < end {
            let kind = match &*self.peek(1).text {
                "default" => Some(AnnotationKind::Default),
                "min" | "range" => Some(AnnotationKind::Min),
                "max" => Some(AnnotationKind::Max),
                _ => None,
            };
            match kind.filter(|_| self.at("@") && &*self.peek(2).text == "(") {
                Some(kind) => self.annotation_values(kind, &mut found)?,
                None => self.at += 1,
            }
        }
        self.at = end;
        Ok(found)
    }

    /// `[<identifier> "="] <const_exp>` several times; without names, the second value is the maximum.
    fn annotation_values(&mut self, first: AnnotationKind, found: &mut Vec<Annotation>) -> Parsed<()> {
        self.at += 2;
        if &*self.peek(1).text == ")" {
            // Reported as an annotation without a value.
            return Ok(());
        }
        let mut kind = first;
        while !self.at(")") {
            self.at += 1;
            if &*self.peek(1).text == "=" {
                match &*self.token().text {
                    "min" => kind = AnnotationKind::Min,
                    "max" => kind = AnnotationKind::Max,
                    _ => {}
                }
                self.at += 2;
            }
            let value = self.const_exp()?;
            found.push(Annotation { kind, value });
            kind = AnnotationKind::Max;
            if !self.at(",") && !self.at(")") {
                return self.unexpected("`)`");
            }
        }
        self.at += 1;
        Ok(())
    }

    /// The number of an annotation of this name, such as `@bit_bound(16)`, before the current token.
    pub(super) fn annotated_number(&self, name: &str) -> Option<u32> {
        let annotations = self.annotations.get(&self.at)?;
        let number = |line: &str| {
            let arguments = line.strip_prefix("`@")?.strip_prefix(name)?;
            let argument = arguments.strip_prefix('(')?.strip_suffix(")`")?;
            // A greater one was reported.
            integer(argument.strip_prefix("value=").unwrap_or(argument))
                .filter(|number| *number <= u32::from(u16::MAX))
        };
        annotations.lines().filter_map(number).next_back()
    }

    /// `"@" <scoped_name> [ "(" <annotation_appl_params> ")" ]`, as Markdown.
    fn annotation(&mut self) -> String {
        let first = self.at;
        self.at += if self.at_absolute_annotation() { 3 } else { 2 };
        while self.at("::") && self.peek(1).kind == Kind::Word {
            self.at += 2;
        }
        if self.at("(") {
            self.skip_group("(", ")", &[";", "{", "}"]);
        }
        let mut text = String::from("`");
        for token in &self.tokens[first..self.at] {
            text.push_str(&token.text);
            if &*token.text == "," {
                text.push(' ');
            }
        }
        text.push('`');
        text
    }
}

/// The value of an integer literal, unless it is greater than 32 bits can represent.
fn integer(literal: &str) -> Option<u32> {
    let lower = literal.to_ascii_lowercase();
    match (lower.strip_prefix("0x"), lower.strip_prefix('0')) {
        (Some(digits), _) => u32::from_str_radix(digits, 16).ok(),
        (None, Some(digits)) if !digits.is_empty() => u32::from_str_radix(digits, 8).ok(),
        _ => lower.parse().ok(),
    }
}

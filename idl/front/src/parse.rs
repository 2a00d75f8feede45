//! The parser: recursive descent, one function per production of OMG IDL 3.5 (formal/2014-03-01).
//!
//! It never fails: it returns the definitions that it could parse, and diagnostics. After an error it
//! continues after the next `;` or at the `}` that closes the construct.

mod annotation;
mod bits;
mod component;
mod definition;
mod expression;
mod interface;
mod literal;
mod types;
mod value;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::ast::{Definition, Ident, Name};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::findings::Findings;
use crate::lexer::Kind;
use crate::preprocess::Preprocessed;
use crate::source::Span;
use crate::suggest::{keyword_for, without_meaning};
use crate::token::{TYPE_KEYWORDS, Token, colliding_keyword, is_keyword, is_late_keyword};
use crate::{Limits, Options};

/// Parses the tokens of a specification. The last one is of kind [`Kind::End`].
pub(crate) fn parse(source: &Preprocessed, options: &Options) -> Outcome {
    let mut parser = Parser {
        tokens: &source.tokens,
        source,
        limits: &options.limits,
        at: 0,
        consumed: 0,
        depth: 0,
        templates: 0,
        half_closed: None,
        last_error: None,
        too_deep: false,
        quiet: false,
        annotations: HashMap::new(),
        annotated_from: HashMap::new(),
        declared_annotations: HashMap::new(),
        out: Outcome {
            definitions: Vec::new(),
            findings: Findings::new(options),
            unread: HashSet::new(),
        },
    };
    parser.skip_annotations();
    parser.out.definitions = parser.specification();
    parser.out
}

/// Result of parsing.
pub(crate) struct Outcome {
    pub definitions: Vec<Definition>,
    pub findings: Findings<'static>,
    /// Words in text that could not be parsed.
    pub unread: HashSet<Rc<str>>,
}

/// The production could not be parsed; the diagnostic has been reported.
#[derive(Debug, Clone, Copy)]
struct Failed;

type Parsed<T> = Result<T, Failed>;

struct Parser<'a> {
    tokens: &'a [Token],
    source: &'a Preprocessed,
    limits: &'a Limits,
    at: usize,
    /// Index of the token consumed last.
    consumed: usize,
    /// Number of open recursive productions.
    depth: usize,
    /// Number of open `<` of types, which determine the meaning of `>>`.
    templates: usize,
    /// Index of a `>>` whose first half has been used.
    half_closed: Option<usize>,
    /// The token at which the last error was reported: there is one error per token.
    last_error: Option<usize>,
    too_deep: bool,
    /// Set after a missing `;`: errors up to the next `;` are consequences of it.
    quiet: bool,
    /// Comments and annotations of IDL 4 before a token, by its index; a parsed text does not contain them.
    annotations: HashMap<usize, String>,
    /// Where the annotations before a token begin.
    annotated_from: HashMap<usize, usize>,
    /// Arguments of the annotations that are declared, by their names.
    declared_annotations: HashMap<Rc<str>, Vec<Rc<str>>>,
    out: Outcome,
}

impl<'a> Parser<'a> {
    fn token(&self) -> &'a Token {
        // The last token is the end, which is never passed.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn peek(&self, ahead: usize) -> &'a Token {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// Place of the previous token.
    fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn doc(&self) -> String {
        let comment = self.token().doc.as_deref().unwrap_or_default();
        match self.annotations.get(&self.at) {
            Some(annotations) if comment.is_empty() => annotations.clone(),
            Some(annotations) => format!("{annotations}\n{comment}"),
            None => comment.to_owned(),
        }
    }

    /// Documentation with the comment behind the token consumed last.
    fn with_comment_behind(&self, doc: String) -> String {
        match self.source.behind.get(&self.consumed) {
            Some(behind) if doc.is_empty() => behind.to_string(),
            Some(behind) => format!("{doc}\n{behind}"),
            None => doc,
        }
    }

    fn bump(&mut self) -> &'a Token {
        let token = self.token();
        self.quiet &= !matches!(&*token.text, ";" | "}");
        self.consumed = self.at;
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        self.skip_annotations();
        token
    }

    fn at_end(&self) -> bool {
        self.token().kind == Kind::End
    }

    /// Whether the current token is this keyword or punctuation; never true for an escaped identifier.
    fn at(&self, text: &str) -> bool {
        matches!(self.token().kind, Kind::Word | Kind::Punctuation) && &*self.token().text == text
    }

    fn at_any(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.at(text))
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Parsed<()> {
        if self.eat(text) {
            Ok(())
        } else {
            self.unexpected(&format!("`{text}`"))
        }
    }

    /// Parses the `;` after a definition. If it is missing, this is reported at the end of the definition,
    /// and parsing continues.
    fn semicolon(&mut self, after: &str) {
        if self.eat(";") || self.quiet {
            return;
        }
        self.quiet = true;
        if self.last_error != Some(self.at) {
            let end = self.previous();
            let span = Span {
                start: end.end,
                ..end
            };
            let word = self.token();
            let clause = match word.kind {
                Kind::Word if self.peek(1).text.as_ref() == "(" => {
                    misplaced_clause(after, &word.text).or_else(|| keyword_for(&word.text))
                }
                _ => None,
            };
            let help = clause
                .or_else(|| self.surplus_int())
                .unwrap_or_else(|| "every definition ends with `;`, also after the closing `}`".to_owned());
            self.error(
                Diagnostic::new(Code::Syntax, span, format!("`;` is missing after {after}"))
                    .here("expected `;` here")
                    .with_help(help),
            );
        }
    }

    /// Passes over a `;` that ends no declaration.
    fn empty_declaration(&mut self) -> bool {
        if !self.at(";") {
            return false;
        }
        if !self.quiet {
            self.report(
                Diagnostic::new(
                    Code::EmptyDeclaration,
                    self.span(),
                    "there is no declaration before this `;`",
                )
                .with_help("remove it"),
            );
        }
        self.bump();
        true
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        self.last_error = Some(self.at);
        self.report(diagnostic);
    }

    /// Reports an error after which parsing continues normally.
    fn report(&mut self, diagnostic: Diagnostic) {
        self.out.findings.add(diagnostic);
    }

    /// Reports that something else was expected at the current token.
    fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        if self.last_error == Some(self.at) || self.too_deep || self.quiet {
            return Err(Failed);
        }
        let token = self.token();
        if token.kind == Kind::End && self.ends_in_comment() {
            return Err(Failed);
        }
        if token.kind == Kind::End
            && let Some(brace) = self.unclosed_brace()
        {
            self.error(
                Diagnostic::new(Code::Syntax, brace, "this `{` is not closed")
                    .here("opened here")
                    .with_label(token.span, format!("the file ends here; expected {expected}"))
                    .with_help("add the missing `}`, or remove this `{`"),
            );
            return Err(Failed);
        }
        let found = match token.kind {
            Kind::End => "the end of the file".to_owned(),
            Kind::Word if is_keyword(&token.text) => format!("the keyword `{}`", token.text),
            _ => format!("`{}`", token.text),
        };
        let mut diagnostic = Diagnostic::new(
            Code::Syntax,
            token.span,
            format!("expected {expected}, found {found}"),
        )
        .here(format!("expected {expected}"));
        diagnostic.help = self.syntax_help(token, expected);
        self.error(diagnostic);
        Err(Failed)
    }

    /// Whether the source ends in a comment that is not closed, which has been reported.
    fn ends_in_comment(&self) -> bool {
        let reported = self.source.findings.reported();
        reported
            .iter()
            .any(|finding| finding.code == Code::UnterminatedComment)
    }

    /// Suggested fix if something else was expected.
    fn syntax_help(&self, token: &Token, expected: &str) -> Option<String> {
        let is_keyword_here = token.kind == Kind::Word && is_keyword(&token.text);
        let before = |distance: usize| self.at.checked_sub(distance).map(|at| &self.tokens[at]);
        let previous = before(1).map_or("", |token| &*token.text);
        // The word that begins the item, if it was taken for the name of a type.
        let begins = before(2)
            .is_none_or(|token| matches!(&*token.text, ";" | "{" | "}" | "(" | "," | "in" | "typedef"));
        let first = before(1).filter(|token| begins && token.kind == Kind::Word && !is_keyword(&token.text));
        Some(match &*token.text {
            _ if token.kind == Kind::End => "check that every `{` has its `}`".to_owned(),
            "readonly"
                if previous == "attribute" || before(2).is_some_and(|word| &*word.text == "attribute") =>
            {
                "write it first: `readonly attribute long value;`".to_owned()
            }
            "value" if expected.starts_with("a definition") => "did you mean `valuetype`?".to_owned(),
            _ if expected == "`>`" => {
                "close `sequence<...>`, `map<...>` and `string<...>` with `>`".to_owned()
            }
            "out" if previous == "in" => "write `inout` as one word".to_owned(),
            "void" if expected == "a type" => {
                "`void` stands only for the result of an operation that has none".to_owned()
            }
            "char" if previous == "unsigned" => {
                "an octet is `octet` or `uint8`; a character is `char`".to_owned()
            }
            "const" if expected == "a type" => "declare constants in a module or an interface".to_owned(),
            "*" => "IDL has no pointers: text is `string`, and objects are passed by reference".to_owned(),
            "&" => "IDL has no references: `out` and `inout` parameters return values".to_owned(),
            "[" if expected.contains("identifier") => {
                "the size follows the name, such as `long values[3]`".to_owned()
            }
            "[" if expected.contains("`)`") => {
                "declare the array with `typedef` above, and use that name here".to_owned()
            }
            "(" if first.is_some() && expected.contains("identifier") => {
                format!("an operation begins with the type of its result, such as `void {previous}(...)`")
            }
            word if TYPE_KEYWORDS.contains(&word) && previous == "," && expected.contains("identifier") => {
                "end a member with `;`: after `,` follows another name of the same type".to_owned()
            }
            _ if expected == "`(`" && self.surplus_int().is_some() => return self.surplus_int(),
            ";" if expected == "`(`" => {
                "an operation has parentheses, such as `void stop()`; an attribute begins with `attribute`"
                    .to_owned()
            }
            _ if is_keyword_here && previous == "optional" && expected.contains("identifier") => {
                "there are no optional members: use a `sequence<long, 1>` or a union".to_owned()
            }
            _ if expected.contains("`in`") => {
                "every parameter states its direction, such as `in long value`".to_owned()
            }
            _ if first.is_some_and(|word| without_meaning(&word.text)) => {
                format!("remove `{previous}`: IDL has no such word")
            }
            word if token.kind == Kind::Word && !is_keyword_here && keyword_for(word).is_some() => {
                return keyword_for(word);
            }
            _ if first.is_some_and(|word| keyword_for(&word.text).is_some()) => {
                return keyword_for(&first?.text);
            }
            word @ ("public" | "private") if matches!(previous, ":" | ",") => {
                format!("remove `{word}`: every base is public")
            }
            word if is_keyword_here && previous == "::" => {
                format!("`{word}` is a keyword: write it without a scope")
            }
            word if is_keyword_here && expected.contains("identifier") => {
                format!("to use a keyword as a name, write `_{word}`")
            }
            "module" | "interface" if expected.contains("operation") => {
                "close the interface with `};` first".to_owned()
            }
            _ if expected.starts_with("a definition") => {
                "declare operations and attributes in an interface, and members in a struct".to_owned()
            }
            _ => return None,
        })
    }

    /// Suggested fix if the `int` of `long int` and the like was taken for a name.
    fn surplus_int(&self) -> Option<String> {
        let [.., size, int] = &self.tokens[..self.at] else {
            return None;
        };
        let is_surplus = &*int.text == "int" && matches!(&*size.text, "short" | "long");
        is_surplus.then(|| format!("remove `int`: in IDL the type is `{}`", size.text))
    }

    /// The `{` without a `}`: one that is closed by the `}` of an outer one, as their indentation shows, or
    /// else the innermost one.
    fn unclosed_brace(&self) -> Option<Span> {
        let mut open: Vec<(Span, Option<usize>)> = Vec::new();
        let mut closed_by_another = None;
        for token in self.tokens {
            match &*token.text {
                "{" => open.push((token.span, self.indentation(token.span))),
                "}" => {
                    let Some((brace, own)) = open.pop() else { continue };
                    let indentation = self
                        .indentation(token.span)
                        .filter(|_| brace.file == token.span.file);
                    let Some(outer) = open.last().filter(|(outer, _)| outer.file == brace.file) else {
                        continue;
                    };
                    if indentation.is_some() && indentation != own && indentation == outer.1 {
                        closed_by_another = closed_by_another.or(Some(brace));
                    }
                }
                _ => {}
            }
        }
        let innermost = open.pop()?.0;
        Some(closed_by_another.unwrap_or(innermost))
    }

    /// Number of blanks at the start of the line of a place, unless it is far from there.
    fn indentation(&self, place: Span) -> Option<usize> {
        const NEAR: usize = 200;
        let text = self.source.files.get(place.file as usize)?.text.as_bytes();
        let before = text.get(..place.start as usize)?;
        let before = &before[before.len().saturating_sub(NEAR)..];
        let line = match before.iter().rposition(|byte| *byte == b'\n') {
            Some(newline) => &before[newline + 1..],
            None if before.len() < NEAR => before,
            None => return None,
        };
        Some(
            line.iter()
                .take_while(|byte| matches!(byte, b' ' | b'\t'))
                .count(),
        )
    }

    /// Skips a definition that could not be parsed and began at `first`: to after its `;`, or to the `}` that
    /// closes its container. Braces are counted from the start of the definition.
    fn recover(&mut self, first: usize) {
        self.at = first;
        self.skip();
        let tokens = &self.tokens[first..self.at];
        let words = tokens.iter().filter(|token| token.kind == Kind::Word);
        self.out.unread.extend(words.map(|token| Rc::clone(&token.text)));
    }

    fn skip(&mut self) {
        let mut open = 0usize;
        while !self.at_end() {
            if open == 0 && self.at("}") {
                return;
            }
            if self.at("{") {
                open += 1;
            } else if self.at("}") {
                open -= 1;
            }
            let done = open == 0 && self.at(";");
            self.bump();
            if done {
                return;
            }
        }
    }

    /// Runs a production that may contain itself; an error beyond the nesting limit.
    fn nested<T>(&mut self, production: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= self.limits.nesting {
            if !self.too_deep {
                let message = format!("nested more than {} levels deep", self.limits.nesting);
                self.error(
                    Diagnostic::new(Code::NestingTooDeep, self.span(), message)
                        .with_help("name inner parts with `typedef` or `const`"),
                );
                self.too_deep = true;
            }
            return Err(Failed);
        }
        self.depth += 1;
        let result = production(self);
        self.depth -= 1;
        result
    }

    /// `<identifier>`
    fn identifier(&mut self) -> Parsed<Ident> {
        let token = self.token();
        let at = self.at;
        if token.kind != Kind::Word {
            return self.unexpected("an identifier");
        }
        if let Some(escaped) = token.text.strip_prefix('_') {
            if escaped.starts_with(|first: char| first.is_ascii_alphabetic()) {
                self.bump();
                return Ok(Ident {
                    name: escaped.into(),
                    span: token.span,
                    at,
                });
            }
            self.error(
                Diagnostic::new(
                    Code::Syntax,
                    token.span,
                    format!("`{}` is not an identifier", token.text),
                )
                .with_help("identifiers begin with a letter"),
            );
            self.bump();
            return Ok(Ident {
                name: Rc::clone(&token.text),
                span: token.span,
                at,
            });
        }
        if let Some(keyword) = colliding_keyword(&token.text) {
            if is_late_keyword(keyword) {
                self.report(
                    Diagnostic::new(
                        Code::LateKeyword,
                        token.span,
                        format!("`{keyword}` is a keyword since IDL 3.0"),
                    )
                    .with_help(format!(
                        "write `_{keyword}` so that every compiler accepts it as a name"
                    )),
                );
            } else if is_keyword(&token.text) {
                return self.unexpected("an identifier");
            } else {
                let message = format!(
                    "the identifier `{}` collides with the keyword `{keyword}`",
                    token.text
                );
                self.report(
                    Diagnostic::new(Code::KeywordAsIdentifier, token.span, message).with_help(format!(
                        "write `{keyword}` for the keyword; a name is escaped as `_{}`, or accepted with \
                         `--warn IDL0031`",
                        token.text
                    )),
                );
            }
        }
        self.bump();
        Ok(Ident {
            name: Rc::clone(&token.text),
            span: token.span,
            at,
        })
    }

    /// `<scoped_name>`
    fn scoped_name(&mut self) -> Parsed<Name> {
        let absolute = self.eat("::");
        let mut parts = vec![self.identifier()?];
        while self.eat("::") {
            parts.push(self.identifier()?);
        }
        Ok(Name { absolute, parts })
    }

    /// `<scoped_name> { "," <scoped_name> }*`
    fn scoped_names(&mut self) -> Parsed<Vec<Name>> {
        let mut names = vec![self.scoped_name()?];
        while self.eat(",") {
            names.push(self.scoped_name()?);
        }
        Ok(names)
    }
}

/// Help for a clause that the declaration in front of it cannot have.
fn misplaced_clause(after: &str, keyword: &str) -> Option<String> {
    let help = match (after, keyword) {
        ("this attribute", "raises" | "getraises" | "setraises") => {
            "a `readonly` attribute has `raises (...)`; any other, `getraises (...)`, then `setraises (...)`"
        }
        ("this operation", "getraises" | "setraises") => "an operation has `raises (...)`",
        ("this operation", "raises") => "write `raises (...)` once, in front of `context (...)`",
        (_, "raises" | "getraises" | "setraises") => "only operations and attributes raise exceptions",
        _ => return None,
    };
    Some(help.to_owned())
}

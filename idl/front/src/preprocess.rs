//! The preprocessor: files to one list of tokens (OMG IDL 3.5, clause 7.3).
//!
//! Unlike a separate preprocessor, it keeps the place of every token in its file, the comments above it, and
//! the pragmas with their place among the tokens. `#line` has no effect on those places.

mod comments;
mod condition;
mod directive;
mod expand;
mod include;
mod pragma;
mod substitute;

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::findings::Findings;
use crate::lexer::{Kind, Lexeme, lex};
use crate::source::{SourceFile, SourceLoader, Span};
use crate::token::{Event, EventKind, Token};
use crate::{Limits, Options};
use comments::Comments;
use directive::Conditional;
use expand::{Macro, Piece};

/// Macro that identifies this compiler.
const PREDEFINED: &str = "__PUNCTUAL_IDL__";

/// Maximum of blanks, comments and skipped elements per token.
const BLANKS: usize = 16;

/// Result of preprocessing.
pub(crate) struct Preprocessed {
    /// The first compiled file first.
    pub files: Vec<SourceFile>,
    /// Ends with one token of kind [`Kind::End`].
    pub tokens: Vec<Token>,
    /// The comments behind tokens, by index of the token.
    pub behind: HashMap<usize, Rc<str>>,
    /// Where the tokens of expansions are written; [`Span::expansion`] counts from 1.
    pub expansions: Vec<Span>,
    /// Events in source order.
    pub events: Vec<Event>,
    pub findings: Findings<'static>,
}

/// Preprocesses files one after the other, each with everything it includes.
pub(crate) fn preprocess(paths: &[&Path], options: &Options, loader: &dyn SourceLoader) -> Preprocessed {
    let mut preprocessor = Preprocessor {
        options,
        loader,
        out: Preprocessed {
            files: Vec::new(),
            tokens: Vec::new(),
            behind: HashMap::new(),
            expansions: Vec::new(),
            events: Vec::new(),
            findings: Findings::new(options),
        },
        texts: Vec::new(),
        known: HashMap::new(),
        macros: HashMap::new(),
        place: Span::default(),
        line_ends: HashMap::new(),
        including: Vec::new(),
        includes: 0,
        walked: 0,
        work: options.limits.tokens,
        bytes: 0,
        stopped: false,
    };
    preprocessor
        .macros
        .insert(PREDEFINED.into(), Macro::predefined("1"));
    for (name, value) in &options.defines {
        preprocessor
            .macros
            .insert(name.as_str().into(), Macro::predefined(value));
    }
    for path in paths {
        preprocessor.compiled_file(path);
    }
    let mut out = preprocessor.out;
    let end = out.files.first().map_or(0, |main| main.text.len() as u32);
    let span = Span {
        file: 0,
        start: end,
        end,
        expansion: 0,
    };
    out.tokens.push(Token {
        kind: Kind::End,
        text: "".into(),
        span,
        doc: None,
    });
    out
}

struct Preprocessor<'a> {
    options: &'a Options,
    loader: &'a dyn SourceLoader,
    out: Preprocessed,
    /// The lexical elements of each file, by file number.
    texts: Vec<Rc<[Lexeme]>>,
    known: HashMap<PathBuf, u32>,
    macros: HashMap<Rc<str>, Macro>,
    /// The directive, or the use of a macro outside other macros, that is being processed.
    place: Span,
    /// Line ends of the files in which they were asked for.
    line_ends: HashMap<u32, Vec<u32>>,
    /// The files that are open, the compiled one first.
    including: Vec<u32>,
    includes: usize,
    /// Lexical elements of all files, counted anew with every inclusion.
    walked: usize,
    /// Remaining number of tokens.
    work: usize,
    /// Bytes of all files.
    bytes: usize,
    stopped: bool,
}

impl Preprocessor<'_> {
    /// Processes a file that was given for compilation, unless an earlier one has included it.
    fn compiled_file(&mut self, path: &Path) {
        let included = self.known.get(path).copied();
        let loaded = match included {
            Some(file) => Ok(file),
            None => self
                .loader
                .load(path, self.most_bytes())
                .map(|text| self.add_file(path, text)),
        };
        match loaded {
            Ok(file) => {
                self.out.files[file as usize].is_compiled = true;
                if included.is_none() {
                    self.file(file);
                }
            }
            Err(error) => self.report(Diagnostic {
                labels: Vec::new(),
                help: (error.kind() == ErrorKind::NotFound).then(|| {
                    "check the path; a relative one is relative to the current directory".to_owned()
                }),
                ..Diagnostic::new(
                    Code::UnreadableFile,
                    Span::default(),
                    format!("cannot read `{}`: {error}", path.display()),
                )
            }),
        }
    }

    fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// Returns the longest text that the next file may have. Spans are 32 bits wide.
    fn most_bytes(&self) -> usize {
        let left = self.limits().total_bytes.saturating_sub(self.bytes);
        self.limits().file_bytes.min(left).min(u32::MAX as usize)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.out.findings.add(diagnostic);
    }

    fn add_file(&mut self, path: &Path, text: String) -> u32 {
        if let Some(&file) = self.known.get(path) {
            return file;
        }
        let file = self.out.files.len() as u32;
        let most = self.most_bytes();
        let too_large = text.len() > most;
        let text = if too_large { String::new() } else { text };
        self.bytes += text.len();
        self.texts.push(lex(&text).into());
        self.out.files.push(SourceFile {
            name: path.display().to_string(),
            text: text.into(),
            is_compiled: false,
        });
        self.known.insert(path.to_owned(), file);
        if too_large {
            let message = if most == self.limits().file_bytes {
                format!("`{}` is larger than {most} bytes", path.display())
            } else {
                let total = self.limits().total_bytes;
                format!(
                    "with `{}`, the files are larger than {total} bytes",
                    path.display()
                )
            };
            self.report(
                Diagnostic::new(
                    Code::LimitExceeded,
                    Span {
                        file,
                        start: 0,
                        end: 0,
                        expansion: 0,
                    },
                    message,
                )
                .with_help("split the file, or include fewer others"),
            );
        }
        file
    }

    fn text(&self, span: Span) -> &str {
        &self.out.files[span.file as usize].text[span.start as usize..span.end as usize]
    }

    fn event(&mut self, span: Span, kind: EventKind) {
        self.out.events.push(Event {
            at: self.out.tokens.len(),
            span,
            kind,
        });
    }

    /// Counts down the remaining tokens; reports once when none remain.
    fn spend(&mut self, span: Span) -> bool {
        self.spend_many(span, 1)
    }

    /// Counts down the remaining tokens; the bytes of a text that is made of others count as tokens.
    fn spend_many(&mut self, span: Span, count: usize) -> bool {
        if self.work >= count {
            self.work -= count;
        } else if !self.stopped {
            let message = format!("more than {} tokens after preprocessing", self.limits().tokens);
            self.stop(
                Diagnostic::new(Code::LimitExceeded, span, message)
                    .with_help("look for macros or includes that multiply"),
            );
        }
        !self.stopped
    }

    fn stop(&mut self, diagnostic: Diagnostic) {
        if !self.stopped {
            self.report(diagnostic);
        }
        self.stopped = true;
    }

    /// Processes one file, line by line.
    fn file(&mut self, file: u32) {
        let whole = Span {
            file,
            start: 0,
            end: 0,
            expansion: 0,
        };
        self.event(whole, EventKind::EnterFile);
        self.including.push(file);
        let lexemes = Rc::clone(&self.texts[file as usize]);
        self.count_lexemes(whole, lexemes.len());
        let mut conditionals: Vec<Conditional> = Vec::new();
        let mut comments = Comments::default();
        let mut at = 0;
        let mut line_start = true;
        // First byte of the present line.
        let mut line = 0;
        while let Some(&lexeme) = lexemes.get(at) {
            let span = Span {
                file,
                start: lexeme.start,
                end: lexeme.end,
                expansion: 0,
            };
            at += 1;
            // Branches inside a skipped branch are skipped.
            let active = conditionals.last().is_none_or(|conditional| conditional.active);
            match lexeme.kind {
                Kind::Space => {}
                Kind::Newline => {
                    comments.newline();
                    line_start = true;
                    line = lexeme.end;
                }
                Kind::LineComment | Kind::BlockComment if !active => {}
                Kind::LineComment | Kind::BlockComment => {
                    let column = span.start.saturating_sub(line);
                    comments.comment(self.text(span), line_start, column);
                }
                Kind::Hash if line_start => {
                    let end = lexemes[at..]
                        .iter()
                        .position(|lexeme| lexeme.kind == Kind::Newline)
                        .map_or(lexemes.len(), |length| at + length);
                    let behind = comments.end();
                    self.document_previous(behind);
                    self.directive(span, &lexemes[at..end], &mut conditionals, active);
                    at = end;
                }
                _ if !active => line_start = false,
                _ => {
                    if !self.spend(span) {
                        break;
                    }
                    line_start = false;
                    at = self.token(lexeme.kind, span, &lexemes, at, &mut comments);
                }
            }
            if self.stopped {
                break;
            }
        }
        let behind = comments.end();
        self.document_previous(behind);
        if !self.stopped {
            self.report_unclosed(&conditionals);
        }
        self.including.pop();
        self.event(whole, EventKind::LeaveFile);
    }

    /// Emits a token, or the expansion of a macro, with its documentation. Returns the position after it.
    fn token(
        &mut self,
        kind: Kind,
        span: Span,
        lexemes: &[Lexeme],
        at: usize,
        comments: &mut Comments,
    ) -> usize {
        let documentation = comments.take(self.text(span));
        self.document_previous(documentation.of_previous);
        let first = self.out.tokens.len();
        let mut next = at;
        if kind == Kind::Word && self.is_macro(self.text(span)) {
            next = self.use_macro(span, lexemes, at);
        } else {
            let text = self.text(span).into();
            let spaced = false;
            self.emit(Piece {
                kind,
                text,
                span,
                spaced,
            });
        }
        if let Some(token) = self.out.tokens.get_mut(first) {
            token.doc = documentation.of_next;
        }
        next
    }

    fn document_previous(&mut self, comment: Option<Rc<str>>) {
        if let (Some(comment), Some(previous)) = (comment, self.out.tokens.len().checked_sub(1)) {
            self.out.behind.insert(previous, comment);
        }
    }

    /// Stops if the files have more lexical elements than the limit of tokens can explain.
    fn count_lexemes(&mut self, whole: Span, count: usize) {
        self.walked += count;
        if self.walked > self.limits().tokens.saturating_mul(BLANKS) {
            let message = format!(
                "the included files have more than {} tokens",
                self.limits().tokens
            );
            self.stop(
                Diagnostic::new(Code::LimitExceeded, whole, message)
                    .with_help("protect files against repeated inclusion"),
            );
        }
    }

    fn report_unclosed(&mut self, conditionals: &[Conditional]) {
        for open in conditionals {
            self.report(
                Diagnostic::new(
                    Code::UnbalancedConditional,
                    open.span,
                    "this conditional has no `#endif`",
                )
                .here("opened here")
                .with_help("every file closes its own conditionals: add `#endif`"),
            );
        }
    }

    /// Emits a token, or reports why it is invalid.
    fn emit(&mut self, piece: Piece) {
        let Piece { kind, text, span, .. } = piece;
        let problem = match kind {
            Kind::Unknown if text.starts_with(['"', '\'']) => Diagnostic::new(
                Code::UnterminatedLiteral,
                span,
                "a literal is not closed on the line on which it is opened",
            )
            .with_help("add the closing quote; a long string is written \"in \" \"parts\""),
            Kind::Unknown => Diagnostic::new(
                Code::UnexpectedCharacter,
                span,
                format!("`{}` has no meaning in IDL", text.escape_debug()),
            )
            .with_help("remove it, or move it into a comment or a literal"),
            Kind::UnterminatedComment => {
                let span = Span {
                    end: span.start + 2,
                    ..span
                };
                Diagnostic::new(Code::UnterminatedComment, span, "this comment is not closed")
                    .with_help("add `*/`")
            }
            _ => {
                return self.out.tokens.push(Token {
                    kind,
                    text,
                    span,
                    doc: None,
                });
            }
        };
        self.report(problem);
    }
}

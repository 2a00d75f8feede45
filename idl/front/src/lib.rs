//! Punctual: the IDL front end, from source text to a resolved specification.
//!
//! [`compile`] reads OMG IDL 3.5 (formal/2014-03-01) through a [`SourceLoader`] and yields an [`Outcome`]: the
//! resolved [`Specification`] and [`Diagnostic`]s as plain data. It prints nothing, and no input
//! makes it panic or run without end.
//!
//! The stages, each a module: `preprocess` (files to tokens) → `parse` (tokens to a syntax tree) → `resolve`
//! (names, types, constants and repository ids) → [`hir`].

mod ast;
pub mod codes;
pub mod diagnostic;
pub mod hir;
mod lexer;
mod parse;
mod preprocess;
mod resolve;
pub mod source;
mod suggest;
mod token;

use std::path::{Path, PathBuf};

pub use codes::Code;
pub use diagnostic::{Diagnostic, Label, Severity};
pub use hir::Specification;
pub use source::{FileLoader, MemoryLoader, SourceFile, SourceLoader, Span};

/// How to compile.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where `#include` looks, in this order; `"quoted"` names first beside the including file.
    pub include_dirs: Vec<PathBuf>,
    /// Macros that are defined from the start, as `-DNAME=VALUE`.
    pub defines: Vec<(String, String)>,
    /// What a source may ask for.
    pub limits: Limits,
}

/// Limits that keep a hostile source from using up time, memory or stack.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Files that are open in each other. Default 64.
    pub include_depth: usize,
    /// `#include`s in all. Default 4096.
    pub includes: usize,
    /// Bytes of one file. Default 16 MiB.
    pub file_bytes: usize,
    /// Tokens that preprocessing looks at, expansions included. Default 2 000 000.
    pub tokens: usize,
    /// Levels of types, parentheses and definitions within each other. Default 64.
    pub nesting: usize,
    /// Bases of an interface or value type, the indirect ones included. Default 128.
    pub bases: usize,
    /// Diagnostics of each stage; the rest is left out. Default 100.
    pub diagnostics: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            include_depth: 64,
            includes: 4096,
            file_bytes: 16 << 20,
            tokens: 2_000_000,
            nesting: 64,
            bases: 128,
            diagnostics: 100,
        }
    }
}

/// What compiling yields.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The resolved specification, if there is no error.
    pub specification: Option<Specification>,
    /// Errors and warnings, in source order within each file.
    pub diagnostics: Vec<Diagnostic>,
    /// Every file that was read, the main file first: what [`Span::file`] counts.
    pub files: Vec<SourceFile>,
}

/// Compiles the specification in `path`, which `loader` reads, with everything it includes.
pub fn compile(path: impl AsRef<Path>, options: &Options, loader: &dyn SourceLoader) -> Outcome {
    let preprocessed = preprocess::preprocess(path.as_ref(), options, loader);
    let mut diagnostics = preprocessed.diagnostics;
    let incomplete = diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error);
    let parsed = parse::parse(&preprocessed.tokens, &options.limits);
    diagnostics.extend(parsed.diagnostics);
    let (mut specification, findings) =
        resolve::resolve(&parsed.definitions, &preprocessed.events, &options.limits);
    diagnostics.extend(findings.into_iter().filter(|finding| {
        // What could not be read may have declared the name; that it is unknown then says nothing new.
        let unread = |label: &Label| parsed.unread.contains(text_at(&preprocessed.files, label.span));
        finding.code != Code::UnknownName || !(incomplete || finding.labels.first().is_some_and(unread))
    }));
    diagnostics.sort_by_key(|diagnostic| {
        diagnostic
            .labels
            .first()
            .map(|label| (label.span.file, label.span.start))
    });
    specification.files.clone_from(&preprocessed.files);
    let failed = diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error);
    Outcome {
        specification: (!failed).then_some(specification),
        diagnostics,
        files: preprocessed.files,
    }
}

fn text_at(files: &[SourceFile], span: Span) -> &str {
    let text = files.get(span.file as usize).map_or("", |file| &*file.text);
    text.get(span.start as usize..span.end as usize)
        .unwrap_or_default()
}

/// Compiles a text without files around it; its name is only used in diagnostics.
pub fn compile_text(name: &str, text: &str, options: &Options) -> Outcome {
    compile(name, options, &MemoryLoader::new().with(name, text))
}

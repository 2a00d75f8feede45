//! Punctual: the IDL front end, from source text to a resolved specification.
//!
//! [`compile`] reads OMG IDL 3.5 (formal/2014-03-01) through a [`SourceLoader`] and yields an [`Outcome`]:
//! the resolved [`Specification`] and [`Diagnostic`]s as plain data. It prints nothing, and no input makes it
//! panic or run forever.
//!
//! The stages, each a module: `preprocess` (files to tokens) → `parse` (tokens to a syntax tree) → `resolve`
//! (names, types, constants and repository ids) → [`hir`].

mod ast;
mod binary128;
pub mod codes;
pub mod diagnostic;
mod findings;
mod format;
pub mod hir;
mod lexer;
mod parse;
mod preprocess;
mod resolve;
pub mod source;
mod suggest;
mod token;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

pub use codes::{Code, Severity, UnknownCode};
pub use diagnostic::{Diagnostic, Label};
use findings::Findings;
pub use format::{Unformatted, format};
pub use hir::Specification;
pub use source::{FileLoader, MemoryLoader, SourceFile, SourceLoader, Span};
pub use suggest::did_you_mean;

/// Settings of a compilation.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Folders searched by `#include`, in order; `"quoted"` names first next to the including file.
    pub include_dirs: Vec<PathBuf>,
    /// Predefined macros, like `-DNAME=VALUE`.
    pub defines: Vec<(String, String)>,
    /// Errors that are reported as warnings. Only codes that [can be warnings](Code::can_be_warning) have an
    /// effect.
    pub warn: Vec<Code>,
    /// Warnings that are not reported.
    pub allow: Vec<Code>,
    /// Limits of a source.
    pub limits: Limits,
}

/// Limits on the time, memory and stack that a hostile source can use.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Files that are open in each other. Default 64.
    pub include_depth: usize,
    /// Total number of `#include`s. Default 4096.
    pub includes: usize,
    /// Bytes of one file. Default 16 MiB.
    pub file_bytes: usize,
    /// Bytes of all files together. Default 256 MiB.
    pub total_bytes: usize,
    /// Tokens processed by the preprocessor, including expansions. Default 2 000 000.
    pub tokens: usize,
    /// Nesting depth of types (also through typedefs), parentheses and definitions. Default 64.
    pub nesting: usize,
    /// Bases of an interface or value type, including indirect ones. Default 128.
    pub bases: usize,
    /// Errors of each stage, and as many warnings; further ones are only counted. Default 100.
    pub diagnostics: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            include_depth: 64,
            includes: 4096,
            file_bytes: 16 << 20,
            total_bytes: 256 << 20,
            tokens: 2_000_000,
            nesting: 64,
            bases: 128,
            diagnostics: 100,
        }
    }
}

/// Result of a compilation.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The resolved specification, if there is no error.
    pub specification: Option<Specification>,
    /// Errors and warnings, in source order within each file; the last ones, with [`Code::Omitted`], say how
    /// many are left out.
    pub diagnostics: Vec<Diagnostic>,
    /// Every file that was read, the first compiled one first; [`Span::file`] indexes it.
    pub files: Vec<SourceFile>,
}

/// Compiles the specification in `path`, read by `loader`, with all included files.
pub fn compile(path: impl AsRef<Path>, options: &Options, loader: &dyn SourceLoader) -> Outcome {
    compile_together(&[path], options, loader)
}

/// Compiles several files into one specification, one after the other, as if one file included them all: a
/// file that an earlier one includes is not read again, and macros remain defined.
pub fn compile_together(paths: &[impl AsRef<Path>], options: &Options, loader: &dyn SourceLoader) -> Outcome {
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let preprocessed = preprocess::preprocess(&paths, options, loader);
    let parsed = parse::parse(&preprocessed, options);
    let keywords: HashSet<Span> = parsed
        .findings
        .reported()
        .iter()
        .filter(|diagnostic| {
            diagnostic.code == Code::KeywordAsIdentifier && diagnostic.severity == Severity::Error
        })
        .filter_map(|diagnostic| Some(diagnostic.labels.first()?.span))
        .collect();
    // Text that could not be parsed may have declared the name: reporting it as unknown is misleading. And a
    // misspelt keyword has been reported as such.
    let unread = |label: &Label| {
        parsed.unread.contains(text_at(&preprocessed.files, label.span)) || keywords.contains(&label.span)
    };
    let incomplete = preprocessed.findings.has_errors();
    let findings = Findings::new(options).without(|finding| {
        finding.code == Code::UnknownName && (incomplete || finding.labels.first().is_some_and(unread))
    });
    let (mut specification, resolved) = resolve::resolve(
        &parsed.definitions,
        &preprocessed.events,
        &options.limits,
        findings,
    );
    let stages = vec![preprocessed.findings, parsed.findings, resolved];
    let failed = stages.iter().any(Findings::has_errors);
    let mut diagnostics = findings::join(stages);
    for diagnostic in &mut diagnostics {
        diagnostic.show_expansions(&preprocessed.expansions);
    }
    diagnostics.retain(|diagnostic| {
        diagnostic.severity == Severity::Error || !options.allow.contains(&diagnostic.code)
    });
    specification.files.clone_from(&preprocessed.files);
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

/// Compiles a text without included files; its name is only used in diagnostics.
pub fn compile_text(name: &str, text: &str, options: &Options) -> Outcome {
    compile(name, options, &MemoryLoader::new().with(name, text))
}

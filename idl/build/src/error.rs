//! Errors of compiling IDL.

use std::{fmt, io, io::IsTerminal, path::PathBuf};

use punctual_idl::{Diagnostic, SourceFile};

use crate::{Style, render};

/// Error of compiling IDL. `Debug` equals `Display`, since a failing `build.rs` prints it.
#[derive(thiserror::Error)]
pub enum Error {
    /// Errors in the IDL, or constructs for which no code is generated, for each failed file.
    #[error("{}", rendered(.0))]
    Idl(Vec<Failed>),
    /// A generated file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// No file has an operation, attribute or interface of this name whose servants could answer later.
    #[error(
        "`deferred(\"{name}\")`: no two-way operation, attribute or interface that is not local has this \
         name; write it with its modules, as in `Lab::Analyser::analyse`"
    )]
    NotDeferrable {
        /// The name.
        name: String,
    },
    /// No file has a type that the name of attributes stands for.
    #[error(
        "`attribute(\"{name}\", ..)`: no struct, enum, union, exception or value type has this name or is \
         declared in a module or interface of this name; write it with its modules, as in `Lab::Sample`"
    )]
    NoTypes {
        /// The name.
        name: String,
    },
    /// No file has a value type that the name of circular ones stands for.
    #[error(
        "`circular(\"{name}\")`: no value type with a state has this name or is declared in a module of this \
         name; write it with its modules, as in `Lab::Node`"
    )]
    NoValueTypes {
        /// The name.
        name: String,
    },
    /// A text given as attributes is not a list of attributes.
    #[error(
        "`{attribute}` is not an attribute ({reason}); write it as in Rust: `#[derive(serde::Serialize)]`"
    )]
    NoAttribute {
        /// The text.
        attribute: String,
        /// Why it is none.
        reason: String,
    },
    /// No included file declares anything in the module of an external path.
    #[error(
        "`extern_path(\"{name}\", ..)`: no included file declares anything in a module of this name; \
         declarations of the compiled files themselves are always generated"
    )]
    NotIncluded {
        /// The name.
        name: String,
    },
    /// A text given as a path is not a path.
    #[error("`{path}` is not the path of a Rust module ({reason}); write it as in `::lab_types::lab`")]
    NoPath {
        /// The text.
        path: String,
        /// Why it is none.
        reason: String,
    },
    /// No folder for generated files is set.
    #[error("OUT_DIR is not set: call this from build.rs, or set a folder with `configure().out_dir(..)`")]
    NoOutDir,
}

/// One IDL file that could not be compiled.
#[derive(Clone, Debug)]
pub struct Failed {
    /// Diagnostics, at least one of them an error.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that were read; spans of the diagnostics index them.
    pub files: Vec<SourceFile>,
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // On a new line: Cargo and `unwrap` print a prefix.
        write!(f, "\n{self}")
    }
}

fn rendered(failed: &[Failed]) -> String {
    let style = if io::stderr().is_terminal() {
        Style::Coloured
    } else {
        Style::Plain
    };
    failed
        .iter()
        .map(|failure| render(&failure.diagnostics, &failure.files, style))
        .collect()
}

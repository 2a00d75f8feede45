use std::{fmt, io, io::IsTerminal, path::PathBuf};

use punctual_idl::{Diagnostic, SourceFile};

use crate::{Style, render};

/// Why IDL could not be compiled. `Debug` is as readable as `Display`, since it is what a failing `build.rs` shows.
#[derive(thiserror::Error)]
pub enum Error {
    /// The IDL is wrong, or has constructs that are not generated yet; for each file that failed.
    #[error("{}", rendered(.0))]
    Idl(Vec<Failed>),
    /// A generated file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no folder for the generated files.
    #[error("OUT_DIR is not set: call this from build.rs, or name a folder with `configure().out_dir(..)`")]
    NoOutDir,
}

/// One IDL file that could not be compiled.
#[derive(Clone, Debug)]
pub struct Failed {
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that were read; spans of the diagnostics count them.
    pub files: Vec<SourceFile>,
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A line of its own: Cargo and `unwrap` put theirs before it.
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

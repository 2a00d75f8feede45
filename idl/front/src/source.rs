//! Source files and places in them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::OFlags;

/// A place in a source file: bytes `start..end` of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Span {
    /// Index into the list of files of the outcome.
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// For a token of a macro's expansion, whose place is the use of the macro: number of the place at which
    /// it is written, from 1.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) expansion: u32,
}

impl Span {
    /// Span from the start of `self` to the end of `last`; only `self` if they are in different files or out
    /// of order because of a macro or an include.
    #[must_use]
    pub fn to(self, last: Span) -> Span {
        if last.file == self.file && last.end >= self.end {
            Span {
                end: last.end,
                ..self
            }
        } else {
            self
        }
    }
}

/// A file that was read.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SourceFile {
    /// Given path, or the path found for an `#include`.
    pub name: String,
    /// Its text.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub text: Arc<str>,
    /// Whether it was given for compilation; `false`: only included.
    pub is_compiled: bool,
}

impl SourceFile {
    /// Name of the file that is part of the compiler: `#include <orb.idl>` finds it if no folder has it.
    pub const BUILT_IN: &str = "<built-in>/orb.idl";

    /// Returns the line and column, both from 1, of a byte of the text; columns count characters.
    pub fn line_and_column(&self, offset: u32) -> (usize, usize) {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        )
    }
}

/// Source of the texts of files.
pub trait SourceLoader {
    /// Returns the whole text of `path`, or the start of one that is longer than `limit` bytes and that the
    /// compiler refuses: a loader reads at most one byte more.
    ///
    /// An error of kind [`io::ErrorKind::NotFound`] or [`io::ErrorKind::NotADirectory`] makes the search for
    /// an included file continue in the next directory; any other error is reported.
    fn load(&self, path: &Path, limit: usize) -> io::Result<String>;
}

/// Reads regular files, and refuses devices and pipes, which may have no end. Text that is not UTF-8 is taken
/// as ISO-8859-1, the character set of older IDL; UTF-16 is refused.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileLoader {
    _private: (),
}

impl FileLoader {
    /// Creates a loader without a root folder: relative paths are relative to the current directory.
    pub fn new() -> Self {
        Self::default()
    }
}

impl SourceLoader for FileLoader {
    fn load(&self, path: &Path, limit: usize) -> io::Result<String> {
        // The opened file is examined: the path may name another file by now. The flags are for a pipe, whose
        // writer is not waited for, and for a terminal.
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::options()
            .read(true)
            .custom_flags(flags.bits().cast_signed())
            .open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is not a regular file",
            ));
        }
        let mut bytes = Vec::new();
        file.take((limit as u64).saturating_add(1))
            .read_to_end(&mut bytes)?;
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it is UTF-16 text; save it as UTF-8",
            ));
        }
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|invalid| invalid.as_bytes().iter().copied().map(char::from).collect()))
    }
}

/// Serves files from memory, for tests and editors.
#[derive(Debug, Clone, Default)]
pub struct MemoryLoader {
    files: BTreeMap<PathBuf, String>,
}

impl MemoryLoader {
    /// Creates an empty loader.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a file.
    #[must_use]
    pub fn with(mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        self.files.insert(path.into(), text.into());
        self
    }
}

impl SourceLoader for MemoryLoader {
    fn load(&self, path: &Path, _: usize) -> io::Result<String> {
        self.files
            .get(path)
            .cloned()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_not_utf8_is_latin() {
        let folder = punctual_fixtures::Folder::new("idl-latin");
        let path = folder.join("latin.idl");
        std::fs::write(&path, b"// caf\xe9\n").unwrap();
        let text = FileLoader::new().load(&path, 64);
        assert_eq!(text.unwrap(), "// caf\u{e9}\n");
    }

    #[test]
    fn utf16_is_refused() {
        let folder = punctual_fixtures::Folder::new("idl-utf16");
        let path = folder.join("wide.idl");
        for octets in [b"\xff\xfem\0", b"\xfe\xff\0m"] {
            std::fs::write(&path, octets).unwrap();
            let error = FileLoader::new().load(&path, 64).unwrap_err();
            assert_eq!(error.to_string(), "it is UTF-16 text; save it as UTF-8");
        }
    }

    #[test]
    fn columns_count_characters() {
        let file = SourceFile {
            name: "x".into(),
            text: "\u{e9}a\nb".into(),
            is_compiled: true,
        };
        assert_eq!(
            [0, 2, 3, 4, 99].map(|offset| file.line_and_column(offset)),
            [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)]
        );
    }
}

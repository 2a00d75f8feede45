//! `#include`.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::Preprocessor;
use super::expand::Piece;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::source::{SourceFile, Span};

/// The text of [`SourceFile::BUILT_IN`].
const ORB_IDL: &str = include_str!("../orb.idl");

/// The names by which ORBs include what [`ORB_IDL`] declares, besides those of [`SEQUENCES`]; a file that is
/// found is preferred.
const BUILT_IN: [&str; 8] = [
    "orb.idl",
    "orb.pidl",
    "tao/orb.idl",
    "tao/Policy.pidl",
    "tao/Policy_Current.pidl",
    "tao/Policy_Manager.pidl",
    "tao/TypeCode.pidl",
    "tao/Typecode_types.pidl",
];

/// The sequences `CORBA::...Seq` of [`ORB_IDL`]: TAO has a file `tao/...Seq.pidl` for each.
const SEQUENCES: [&str; 16] = [
    "Any",
    "Boolean",
    "Char",
    "Double",
    "Float",
    "LongDouble",
    "LongLong",
    "Long",
    "Octet",
    "Short",
    "String",
    "ULongLong",
    "ULong",
    "UShort",
    "WChar",
    "WString",
];

/// Whether an included file that is not found is built in.
fn is_built_in(target: &str) -> bool {
    let sequence = target
        .strip_prefix("tao/")
        .and_then(|name| name.strip_suffix("Seq.pidl"));
    BUILT_IN.contains(&target) || sequence.is_some_and(|element| SEQUENCES.contains(&element))
}

impl Preprocessor<'_> {
    pub(super) fn include(&mut self, name: &Piece, operands: &[Piece], whole: Span) {
        let mut expanded = Vec::new();
        let written = self
            .text(Span {
                start: name.span.end,
                ..whole
            })
            .trim()
            .to_owned();
        let written = if written.starts_with(['"', '<']) {
            written
        } else {
            self.expand(operands, &mut Vec::new(), 0, &mut expanded);
            expanded.iter().map(|piece| &*piece.text).collect()
        };
        let target = written
            .strip_prefix('"')
            .and_then(|rest| rest.split_once('"'))
            .map(|(target, _)| (target, true))
            .or_else(|| {
                written
                    .strip_prefix('<')
                    .and_then(|rest| rest.split_once('>'))
                    .map(|(target, _)| (target, false))
            });
        let Some((target, quoted)) = target.filter(|(target, _)| !target.is_empty()) else {
            return self.malformed(
                whole,
                "`#include` needs the name of a file",
                "write `#include \"file.idl\"`",
            );
        };
        if self.including.len() >= self.limits().include_depth || self.includes >= self.limits().includes {
            let chain: Vec<&str> = self
                .including
                .iter()
                .rev()
                .take(4)
                .map(|file| self.out.files[*file as usize].name.as_str())
                .collect();
            let message = format!(
                "files include each other too deeply or too often (from `{}`)",
                chain.join("` ← `")
            );
            return self.stop(
                Diagnostic::new(Code::IncludeDepth, whole, message).with_help(format!(
                    "protect `{target}` with `#ifndef`, `#define` and `#endif` around its contents"
                )),
            );
        }
        self.includes += 1;
        match self.find(target, quoted, whole.file) {
            Ok(Some(file)) => self.file(file),
            Ok(None) if is_built_in(target) => {
                let file = self.add_file(Path::new(SourceFile::BUILT_IN), ORB_IDL.to_owned());
                self.file(file);
            }
            Ok(None) => self.not_found(target, quoted, whole),
            Err((path, error)) => self.report(Diagnostic::new(
                Code::UnreadableFile,
                whole,
                format!("cannot read `{}`: {error}", path.display()),
            )),
        }
    }

    fn not_found(&mut self, target: &str, quoted: bool, whole: Span) {
        let directories: Vec<String> = self
            .options
            .include_dirs
            .iter()
            .map(|dir| format!("`{}`", dir.display()))
            .collect();
        let looked = match (quoted, directories.is_empty()) {
            (true, true) => "beside the including file (no include directory is set)".to_owned(),
            (true, false) => format!("next to the including file and in {}", directories.join(", ")),
            (false, true) => "nowhere: no include directory is set".to_owned(),
            (false, false) => format!("in {}", directories.join(", ")),
        };
        self.report(
            Diagnostic::new(Code::IncludeNotFound, whole, format!("cannot find `{target}`"))
                .here(format!("searched {looked}"))
                .with_help("add the directory that contains it with `-I DIR` (`include_dirs`)"),
        );
    }

    /// Finds an included file: next to the including one if its name is in quotes, then in the include
    /// directories.
    fn find(&mut self, target: &str, quoted: bool, from: u32) -> Result<Option<u32>, (PathBuf, io::Error)> {
        let beside = Path::new(&self.out.files[from as usize].name)
            .parent()
            .map(Path::to_owned);
        let candidates: Vec<PathBuf> = beside
            .into_iter()
            .filter(|_| quoted)
            .chain(self.options.include_dirs.iter().cloned())
            .map(|directory| directory.join(target))
            .collect();
        for path in candidates {
            if let Some(&file) = self.known.get(&path) {
                return Ok(Some(file));
            }
            match self.loader.load(&path, self.most_bytes()) {
                Ok(text) => return Ok(Some(self.add_file(&path, text))),
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(error) => return Err((path, error)),
            }
        }
        Ok(None)
    }
}

//! Records of what passed, from which `cargo xtask interop` writes the table of `docs/interoperability.md`.

use std::{fs, path::Path};

/// A configuration of another ORB, and its part in the run.
pub struct Row {
    orb: &'static str,
    part: &'static str,
    configuration: String,
}

impl Row {
    /// A configuration in words.
    pub fn described(orb: &'static str, part: &'static str, configuration: &str) -> Self {
        Self {
            orb,
            part,
            configuration: configuration.to_owned(),
        }
    }

    /// `giop`: the version, or its last digit.
    pub fn new(orb: &'static str, part: &'static str, giop: &str, code_set: &str) -> Self {
        let minor = giop.chars().last().expect("a version");
        Self::described(orb, part, &format!("GIOP 1.{minor}, {}", name_of(code_set)))
    }

    /// Records that this many checks passed, and why the others were skipped. A row has a file.
    pub fn record(&self, passed: usize, skipped: &[(&str, &str)]) {
        let Self {
            orb,
            part,
            configuration,
        } = self;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("matrix");
        fs::create_dir_all(&folder).expect("a folder in the scratch folder");
        let skips: String = skipped
            .iter()
            .map(|(check, reason)| format!("{check}\t{reason}\n"))
            .collect();
        let name = format!("{orb} {part} {configuration}").replace(['/', ','], "");
        let text = format!("{orb}\t{part}\t{configuration}\t{passed}\n{skips}");
        fs::write(folder.join(name), text).expect("a file in the scratch folder");
    }
}

/// The name of a code set; ORBs differ in how they write it.
fn name_of(code_set: &str) -> &str {
    match code_set {
        "UTF8" | "UTF-8" => "UTF-8",
        "ISO8859_1" | "ISO-8859-1" => "ISO-8859-1",
        other => other,
    }
}

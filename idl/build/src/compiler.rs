use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use punctual_codegen::{Settings, generate};
use punctual_idl::{Diagnostic, FileLoader, Options, SourceFile, SourceLoader};

use crate::{Error, error::Failed};

/// Compiles one IDL file, relative to the package's folder (where Cargo runs `build.rs`), into `$OUT_DIR/NAME.rs`.
///
/// For `build.rs`: tells Cargo to run it again when one of the files that were read changes. Fails with everything that is wrong
/// with the IDL, or where a file cannot be read or written.
pub fn compile(idl: impl AsRef<Path>) -> Result<(), Error> {
    configure().compile(&[idl])
}

/// Settings for compiling IDL, to begin with those of [`compile`].
pub fn configure() -> Builder {
    Builder {
        options: Options::default(),
        settings: Settings::default(),
        out_dir: None,
    }
}

/// How to compile IDL.
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    options: Options,
    settings: Settings,
    out_dir: Option<PathBuf>,
}

/// What one IDL file has become.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Formatted Rust.
    pub rust: String,
    /// Findings that do not prevent it.
    pub warnings: Vec<Diagnostic>,
    /// Every file that was read, the one asked for first.
    pub files: Vec<SourceFile>,
}

impl Builder {
    /// Searches this folder for included files, after those named before; `"quoted"` ones first beside the including file.
    pub fn include_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.include_dirs.push(folder.into());
        self
    }

    /// Defines a macro, as `-DNAME=VALUE`.
    pub fn define(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.defines.push((name.into(), value.into()));
        self
    }

    /// Where generated code finds the runtime; `::punctual::rt` unless set.
    pub fn runtime_path(mut self, path: impl Into<String>) -> Self {
        self.settings.runtime_path = path.into();
        self
    }

    /// Where generated files go; `$OUT_DIR` unless set.
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// Compiles each file into a file of the same name with the extension `rs`.
    ///
    /// For `build.rs`, as [`compile`](fn@compile). Files that are free of errors are written even if others fail.
    pub fn compile(&self, files: &[impl AsRef<Path>]) -> Result<(), Error> {
        let out_dir = match &self.out_dir {
            Some(folder) => folder.clone(),
            None => env::var_os("OUT_DIR").map(PathBuf::from).ok_or(Error::NoOutDir)?,
        };
        let mut failed = Vec::new();
        for file in files {
            let file = file.as_ref();
            // Also where it cannot be read: it may appear.
            println!("cargo:rerun-if-changed={}", file.display());
            match self.generate(file) {
                Ok(compiled) => {
                    rerun_if_changed(&compiled.files);
                    let warnings = crate::render(&compiled.warnings, &compiled.files, crate::Style::Plain);
                    warnings.lines().for_each(|line| println!("cargo:warning={line}"));
                    let name = file.file_stem().unwrap_or_default();
                    write(&out_dir.join(name).with_extension("rs"), &compiled.rust)?;
                }
                Err(Error::Idl(errors)) => {
                    errors.iter().for_each(|failure| rerun_if_changed(&failure.files));
                    failed.extend(errors);
                }
                Err(other) => return Err(other),
            }
        }
        if failed.is_empty() {
            Ok(())
        } else {
            Err(Error::Idl(failed))
        }
    }

    /// Compiles one file, writes nothing.
    pub fn generate(&self, file: impl AsRef<Path>) -> Result<Compiled, Error> {
        self.generate_from(file, &FileLoader::new())
    }

    /// As [`Self::generate`], with files from `loader`.
    pub fn generate_from(
        &self,
        file: impl AsRef<Path>,
        loader: &dyn SourceLoader,
    ) -> Result<Compiled, Error> {
        let outcome = punctual_idl::compile(file, &self.options, loader);
        let files = outcome.files;
        let Some(specification) = outcome.specification else {
            return Err(Error::Idl(vec![Failed {
                diagnostics: outcome.diagnostics,
                files,
            }]));
        };
        match generate(&specification, &self.settings) {
            Ok(rust) => Ok(Compiled {
                rust,
                warnings: outcome.diagnostics,
                files,
            }),
            Err(refused) => {
                let diagnostics = outcome.diagnostics.into_iter().chain(refused).collect();
                Err(Error::Idl(vec![Failed { diagnostics, files }]))
            }
        }
    }
}

/// Files in use are left alone where nothing changes, so that what depends on them is not built again.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source: io::Error| Error::Write {
        path: path.to_path_buf(),
        source,
    };
    if fs::read_to_string(path).is_ok_and(|present| present == text) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)
}

/// For included files; the one asked for has been named before.
fn rerun_if_changed(files: &[SourceFile]) {
    files
        .iter()
        .skip(1)
        .for_each(|file| println!("cargo:rerun-if-changed={}", file.name));
}

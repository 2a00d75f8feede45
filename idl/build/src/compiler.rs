//! Compiles IDL files and writes the generated Rust.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use punctual_codegen::{Settings, attributable, check_attribute, deferrable, generate, is_within};
use punctual_idl::{Diagnostic, FileLoader, Options, SourceFile, SourceLoader};

use crate::{Error, error::Failed};

/// Compiles one IDL file, relative to the package's folder (where Cargo runs `build.rs`), into
/// `$OUT_DIR/NAME.rs`.
///
/// For `build.rs`: tells Cargo to run it again when a file that was read changes. Fails with all errors in
/// the IDL, or if a file cannot be read or written.
pub fn compile(idl: impl AsRef<Path>) -> Result<(), Error> {
    configure().compile(&[idl])
}

/// Default settings, those of [`compile`](fn@compile).
pub fn configure() -> Builder {
    Builder {
        options: Options::default(),
        settings: Settings::default(),
        out_dir: None,
    }
}

/// Settings for compiling IDL.
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    options: Options,
    settings: Settings,
    out_dir: Option<PathBuf>,
}

/// Result of compiling one IDL file.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Generated code, formatted.
    pub rust: String,
    /// Diagnostics that are no errors.
    pub warnings: Vec<Diagnostic>,
    /// Names that [`Builder::deferred`] could have named.
    pub deferrable: Vec<String>,
    /// Types that [`Builder::attribute`] could have named.
    pub attributable: Vec<String>,
    /// Every file that was read, the compiled one first.
    pub files: Vec<SourceFile>,
}

impl Builder {
    /// Searches this folder for included files, after earlier ones; `"quoted"` files first next to the
    /// including file.
    pub fn include_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.include_dirs.push(folder.into());
        self
    }

    /// Defines a macro, like `-DNAME=VALUE`.
    pub fn define(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.defines.push((name.into(), value.into()));
        self
    }

    /// Rust path of the runtime in generated code; default `::punctual::rt`.
    pub fn runtime_path(mut self, path: impl Into<String>) -> Self {
        self.settings.runtime_path = path.into();
        self
    }

    /// Servants answer this operation or attribute later, from any thread (asynchronous method handling):
    /// their method gets a `ResponseHandler` as its last parameter and returns nothing. The name of an
    /// interface stands for all of its operations and attributes that have a reply. Clients do not see the
    /// difference.
    ///
    /// `name` is scoped, like `Lab::Analyser::analyse`. [`Self::compile`] fails if no file has such a name.
    pub fn deferred(mut self, name: impl Into<String>) -> Self {
        let name: String = name.into();
        self.settings
            .deferred
            .push(String::from(name.trim_start_matches("::")));
        self
    }

    /// Adds attributes, such as `#[derive(serde::Serialize)]`, to the Rust type of a struct, enum, union or
    /// exception. The name of a module or interface stands for all types declared in it, and `::` for all.
    /// The forms that borrow from a message do not get them.
    ///
    /// `name` is scoped, like `Lab::Sample`. [`Self::compile`] fails if no file has such a type, or if
    /// `attribute` is not made of outer attributes.
    ///
    /// ```
    /// let idl = std::env::temp_dir().join("punctual-build-attribute.idl");
    /// std::fs::write(&idl, "module lab { struct Sample { long value; }; };")?;
    /// let compiled = punctual_build::configure().attribute("lab", "#[derive(Eq)]").generate(&idl)?;
    /// assert!(compiled.rust.contains("#[derive(Eq)]"));
    /// # std::fs::remove_file(&idl)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attribute(mut self, name: impl Into<String>, attribute: impl Into<String>) -> Self {
        let name: String = name.into();
        let name = String::from(name.trim_start_matches("::"));
        self.settings.attributes.push((name, attribute.into()));
        self
    }

    /// Folder of generated files; default `$OUT_DIR`.
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// Compiles each file into a file of the same name with the extension `rs`.
    ///
    /// For `build.rs`, like [`compile`](fn@compile). Files without errors are written even if others fail.
    pub fn compile(&self, files: &[impl AsRef<Path>]) -> Result<(), Error> {
        let out_dir = match &self.out_dir {
            Some(folder) => folder.clone(),
            None => env::var_os("OUT_DIR").map(PathBuf::from).ok_or(Error::NoOutDir)?,
        };
        let mut failed = Vec::new();
        let mut unknown = self.settings.deferred.clone();
        let named = self.settings.attributes.iter().map(|(name, _)| name);
        let mut without_types: Vec<_> = named.collect();
        for file in files {
            let file = file.as_ref();
            // Also if it cannot be read: it may be created.
            println!("cargo:rerun-if-changed={}", file.display());
            match self.generate(file) {
                Ok(compiled) => {
                    unknown.retain(|name| !compiled.deferrable.contains(name));
                    without_types.retain(|name| !compiled.attributable.iter().any(|of| is_within(of, name)));
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
        if !failed.is_empty() {
            return Err(Error::Idl(failed));
        }
        if let Some(name) = unknown.pop() {
            return Err(Error::NotDeferrable { name });
        }
        match without_types.pop() {
            Some(name) => Err(Error::NoTypes { name: name.clone() }),
            None => Ok(()),
        }
    }

    /// Compiles one file without writing.
    pub fn generate(&self, file: impl AsRef<Path>) -> Result<Compiled, Error> {
        self.generate_from(file, &FileLoader::new())
    }

    /// Like [`Self::generate`], with files from `loader`.
    pub fn generate_from(
        &self,
        file: impl AsRef<Path>,
        loader: &dyn SourceLoader,
    ) -> Result<Compiled, Error> {
        for (_, attribute) in &self.settings.attributes {
            check_attribute(attribute).map_err(|reason| Error::NoAttribute {
                attribute: attribute.clone(),
                reason,
            })?;
        }
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
                deferrable: deferrable(&specification),
                attributable: attributable(&specification),
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

/// Writes a file unless it is unchanged, so that dependent code is not rebuilt.
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

/// Names included files to Cargo; the compiled one has been named before.
fn rerun_if_changed(files: &[SourceFile]) {
    files
        .iter()
        .skip(1)
        .filter(|file| file.name != SourceFile::BUILT_IN)
        .for_each(|file| println!("cargo:rerun-if-changed={}", file.name));
}

//! Compiles IDL files and writes the generated Rust.

use std::{
    collections::BTreeSet,
    env,
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use punctual_codegen::{
    Settings, Sides, attributable, check_attribute, check_path, deferrable, generate, included, is_within,
    value_types,
};
use punctual_idl::{Code, Diagnostic, FileLoader, Options, SourceFile, SourceLoader};

use crate::{Error, error::Failed};

/// Compiles one IDL file, relative to the package's folder (where Cargo runs `build.rs`), into
/// `$OUT_DIR/NAME.rs`.
///
/// For `build.rs`: instructs Cargo to run it again when a file that was read changes. Fails with all errors
/// in the IDL, or if a file cannot be read or written.
pub fn compile(idl: impl AsRef<Path>) -> Result<(), Error> {
    configure().compile(&[idl])
}

/// Returns the default settings, those of [`compile`](fn@compile).
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

/// Result of compiling one IDL file, or several together.
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
    /// Value types that [`Builder::circular`] could have named.
    pub value_types: Vec<String>,
    /// Modules that [`Builder::extern_path`] could have named; an empty name is the global scope.
    pub included: Vec<String>,
    /// Every file that was read, the first compiled one first.
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

    /// Reports an error as a warning, such as a name in another case than its declaration. Only codes that
    /// [can be warnings](Code::can_be_warning) have an effect.
    ///
    /// ```
    /// let builder = punctual_build::configure().warn(punctual_build::Code::WrongCase);
    /// # let _ = builder;
    /// ```
    pub fn warn(mut self, code: Code) -> Self {
        self.options.warn.push(code);
        self
    }

    /// Does not report this warning, such as that an interface is only declared. A code of an error has an
    /// effect if it is also given to [`Self::warn`].
    ///
    /// ```
    /// let builder = punctual_build::configure().allow(punctual_build::Code::OnlyDeclared);
    /// # let _ = builder;
    /// ```
    pub fn allow(mut self, code: Code) -> Self {
        self.options.allow.push(code);
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

    /// Adds attributes, such as `#[derive(serde::Serialize)]`, to the Rust type of a struct, enum, union,
    /// exception, value type with a state, or boxed value, or to a member of a struct, exception or state.
    /// The name of a module or interface stands for all types declared in it, and `::` for all. The forms
    /// that borrow from a message do not get them.
    ///
    /// `name` is scoped, like `Lab::Sample` or `Lab::Sample::value`. [`Self::compile`] fails if no file has
    /// such a type or member, or if `attribute` is not made of outer attributes.
    ///
    /// ```
    /// let idl = std::env::temp_dir().join("punctual-build-attribute.idl");
    /// std::fs::write(&idl, "module lab { struct Sample { long value; }; };")?;
    /// let compiled = punctual_build::configure()
    ///     .attribute("lab", "#[derive(Eq)]")
    ///     .attribute("lab::Sample::value", "#[doc(alias = \"reading\")]")
    ///     .generate(&idl)?;
    /// assert!(compiled.rust.contains("#[derive(Eq)]") && compiled.rust.contains("\"reading\""));
    /// # std::fs::remove_file(&idl)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attribute(mut self, name: impl Into<String>, attribute: impl Into<String>) -> Self {
        let name: String = name.into();
        let name = String::from(name.trim_start_matches("::"));
        self.settings.attributes.push((name, attribute.into()));
        self
    }

    /// Values of this type may be in circles: they may refer to values in which they are contained, such as
    /// nodes that refer to their parents. Their state is read with `Shared::state`, because such a reference
    /// is weak inside of the circle. The setting applies to all types from which the type inherits, or that
    /// inherit from it, too. The name of a module stands for all value types declared in it, and `::` for
    /// all.
    ///
    /// `name` is scoped, like `Lab::Node`. [`Self::compile`] fails if no file has such a value type with a
    /// state.
    ///
    /// ```
    /// let idl = std::env::temp_dir().join("punctual-build-circular.idl");
    /// std::fs::write(&idl, "module lab { valuetype Node { public Node parent; }; };")?;
    /// let compiled = punctual_build::configure().circular("lab::Node").generate(&idl)?;
    /// assert!(compiled.rust.contains("const CIRCULAR: bool = true;"));
    /// # std::fs::remove_file(&idl)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn circular(mut self, name: impl Into<String>) -> Self {
        let name: String = name.into();
        let name = String::from(name.trim_start_matches("::"));
        self.settings.circular.push(name);
        self
    }

    /// Declarations of included files in a module are not generated again: another crate, or another module
    /// of this one, has it already. `module` is scoped, like `Lab` or `Lab::Types`, and `::` stands for the
    /// global scope with all modules; `path` is the Rust module that was generated for it. What the compiled
    /// files themselves declare in the module is generated here.
    ///
    /// [`Self::compile`] fails if no included file declares anything in the module, or if `path` is no Rust
    /// path.
    ///
    /// ```
    /// # let folder = std::env::temp_dir().join(format!("punctual-build-extern-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let (types, station) = (folder.join("types.idl"), folder.join("station.idl"));
    /// std::fs::write(&types, "module lab { struct Sample { long value; }; };")?;
    /// std::fs::write(&station, "#include \"types.idl\"\ninterface Station { lab::Sample read(); };")?;
    /// let compiled = punctual_build::configure()
    ///     .extern_path("lab", "::lab_types::lab")
    ///     .generate(&station)?;
    /// assert!(compiled.rust.contains("::lab_types::lab::Sample"));
    /// assert!(!compiled.rust.contains("struct Sample"));
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn extern_path(mut self, module: impl Into<String>, path: impl Into<String>) -> Self {
        let module: String = module.into();
        let module = String::from(module.trim_start_matches("::"));
        self.settings.external.push((module, path.into()));
        self
    }

    /// Generates only what clients need of interfaces: references with their methods, without traits of
    /// servants. Local interfaces, which are implemented where they are used, keep their traits.
    pub fn client_only(mut self) -> Self {
        self.settings.sides = Sides::Client;
        self
    }

    /// Generates only what servers need of interfaces: traits of servants, and references without methods.
    pub fn server_only(mut self) -> Self {
        self.settings.sides = Sides::Server;
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
        let named = files.iter().map(|file| {
            let file = file.as_ref();
            (file.file_stem().unwrap_or_default().into(), vec![file])
        });
        self.write_all(named.collect())
    }

    /// Compiles several files into one, `NAME.rs`, as if one file included them all: what two of them include
    /// is generated once, and their types are the same. Included files need guards (`#ifndef`).
    ///
    /// For `build.rs`, like [`compile`](fn@compile).
    pub fn compile_together(
        &self,
        name: impl Into<OsString>,
        files: &[impl AsRef<Path>],
    ) -> Result<(), Error> {
        let files = files.iter().map(AsRef::as_ref).collect();
        self.write_all(vec![(name.into(), files)])
    }

    /// Writes an output of this name for each list of files.
    fn write_all(&self, outputs: Vec<(OsString, Vec<&Path>)>) -> Result<(), Error> {
        let out_dir = match &self.out_dir {
            Some(folder) => folder.clone(),
            None => env::var_os("OUT_DIR").map(PathBuf::from).ok_or(Error::NoOutDir)?,
        };
        let mut failed = Vec::new();
        let mut unused = Unused::new(&self.settings);
        for (mut name, files) in outputs {
            // Also if they cannot be read: they may be created.
            for file in &files {
                println!("cargo:rerun-if-changed={}", file.display());
            }
            match self.generate_from(&files, &FileLoader::new()) {
                Ok(compiled) => {
                    unused.retain(&compiled);
                    rerun_if_changed(&compiled.files);
                    let warnings = crate::render(&compiled.warnings, &compiled.files, crate::Style::Plain);
                    warnings.lines().for_each(|line| println!("cargo:warning={line}"));
                    name.push(".rs");
                    let output = out_dir.join(&name);
                    write(&output, &compiled.rust)?;
                    if env::var_os("OUT_DIR").is_some_and(|folder| out_dir == Path::new(&folder)) {
                        name_output(&output);
                    }
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
        unused.check()
    }

    /// Compiles one file without writing.
    pub fn generate(&self, file: impl AsRef<Path>) -> Result<Compiled, Error> {
        self.generate_from(&[file], &FileLoader::new())
    }

    /// Compiles files together, as [`Self::compile_together`] does, from `loader` and without writing.
    pub fn generate_from(
        &self,
        files: &[impl AsRef<Path>],
        loader: &dyn SourceLoader,
    ) -> Result<Compiled, Error> {
        for (_, attribute) in &self.settings.attributes {
            check_attribute(attribute).map_err(|reason| Error::NoAttribute {
                attribute: attribute.clone(),
                reason,
            })?;
        }
        for (_, path) in &self.settings.external {
            check_path(path).map_err(|reason| Error::NoPath {
                path: path.clone(),
                reason,
            })?;
        }
        let outcome = punctual_idl::compile_together(files, &self.options, loader);
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
                value_types: value_types(&specification),
                included: included(&specification),
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

/// Names in settings that no file has had so far.
struct Unused<'s> {
    deferred: Vec<&'s String>,
    attributes: Vec<&'s String>,
    circular: Vec<&'s String>,
    external: Vec<&'s String>,
}

impl<'s> Unused<'s> {
    fn new(settings: &'s Settings) -> Self {
        Self {
            deferred: settings.deferred.iter().collect(),
            attributes: settings.attributes.iter().map(|(name, _)| name).collect(),
            circular: settings.circular.iter().collect(),
            external: settings.external.iter().map(|(name, _)| name).collect(),
        }
    }

    fn retain(&mut self, compiled: &Compiled) {
        let has = |types: &[String], name: &str| types.iter().any(|of| is_within(of, name));
        self.deferred.retain(|name| !compiled.deferrable.contains(name));
        self.attributes.retain(|name| !has(&compiled.attributable, name));
        self.circular.retain(|name| !has(&compiled.value_types, name));
        self.external.retain(|name| !compiled.included.contains(name));
    }

    fn check(&self) -> Result<(), Error> {
        let name = |unused: &[&String]| unused.last().map(|name| String::from(*name));
        let deferred = name(&self.deferred).map(|name| Error::NotDeferrable { name });
        let attributes = name(&self.attributes).map(|name| Error::NoTypes { name });
        let circular = name(&self.circular).map(|name| Error::NoValueTypes { name });
        let external = name(&self.external).map(|name| Error::NotIncluded { name });
        deferred
            .or(attributes)
            .or(circular)
            .or(external)
            .map_or(Ok(()), Err)
    }
}

/// Names an output to `punctual::include_idl!`, and all outputs until now to its error message.
fn name_output(output: &Path) {
    static NAMED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let Some(name) = output.file_stem().and_then(OsStr::to_str) else {
        return;
    };
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    named.insert(name.to_owned());
    let all: Vec<&str> = named.iter().map(String::as_str).collect();
    println!("cargo:rustc-env=PUNCTUAL_IDL_{name}={}", output.display());
    println!("cargo:rustc-env=PUNCTUAL_IDL={}", all.join(", "));
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

/// Names included files to Cargo; the compiled ones have been named before.
fn rerun_if_changed(files: &[SourceFile]) {
    files
        .iter()
        .filter(|file| !file.is_compiled && file.name != SourceFile::BUILT_IN)
        .for_each(|file| println!("cargo:rerun-if-changed={}", file.name));
}

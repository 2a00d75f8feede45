//! `punctual idl`: checks, compiles and formats IDL; diagnostics go to standard error.

mod dump;
mod fmt;
mod printed;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use punctual_build::{Builder, Compiled, Diagnostic, Error, SourceFile, is_within};
use punctual_idl::{FileLoader, Options, Severity};
use punctual_report::terminal::complain;

use crate::{
    cli::{Compile, Format, Idl, Sources},
    diagnostics::rendered,
    explain,
};

/// Runs the command.
pub fn run(command: &Idl) -> ExitCode {
    match command {
        Idl::Check(sources) => check(sources),
        Idl::Compile(settings) => compile(settings),
        Idl::Fmt(settings) => fmt::run(settings),
        Idl::Dump(settings) => dump::run(settings),
        Idl::Explain { codes } => explain::of_idl(codes),
    }
}

/// Settings of the front end.
fn options(sources: &Sources) -> Options {
    Options {
        include_dirs: sources.include_dirs.clone(),
        defines: sources.defines.clone(),
        warn: sources.warn.clone(),
        allow: sources.allow.clone(),
        ..Options::default()
    }
}

fn check(sources: &Sources) -> ExitCode {
    let options = options(sources);
    let mut summary = Summary::new(sources.format);
    for file in &sources.files {
        let outcome = punctual_idl::compile(file, &options, &FileLoader::new());
        summary.show(&outcome.diagnostics, &outcome.files);
    }
    summary.finish("checked", sources.files.len())
}

fn compile(settings: &Compile) -> ExitCode {
    let files = &settings.sources.files;
    let outputs: Vec<(&[PathBuf], PathBuf)> = match &settings.together {
        Some(name) => vec![(files, settings.out_dir.join(format!("{name}.rs")))],
        None => match targets(files, &settings.out_dir) {
            Ok(targets) => files.chunks(1).zip(targets).collect(),
            Err(text) => {
                complain(&text);
                return ExitCode::from(COULD_NOT_RUN);
            }
        },
    };
    let builder = builder(settings);
    let mut summary = Summary::new(settings.sources.format);
    let mut unused: Vec<&String> = settings.extern_path.iter().map(|(module, _)| module).collect();
    let mut not_circular: Vec<&String> = settings.circular.iter().collect();
    for (files, target) in &outputs {
        let Some(compiled) = compile_one(&builder, files, target, &mut summary) else {
            continue;
        };
        unused.retain(|module| {
            !compiled
                .included
                .iter()
                .any(|name| name == module.trim_start_matches("::"))
        });
        not_circular.retain(|name| {
            let name = name.trim_start_matches("::");
            !compiled.value_types.iter().any(|of| is_within(of, name))
        });
    }
    if summary.errors == 0 {
        unused.iter().for_each(|module| {
            summary.cannot(&format!(
                "no included file declares anything in the module `{module}`"
            ));
        });
        not_circular.iter().for_each(|name| {
            summary.cannot(&format!(
                "no value type has the name `{name}` or is declared in it"
            ));
        });
    }
    summary.finish("compiled", files.len())
}

fn builder(settings: &Compile) -> Builder {
    let mut builder = punctual_build::configure().runtime_path(&settings.runtime_path);
    for folder in &settings.sources.include_dirs {
        builder = builder.include_dir(folder);
    }
    for (name, value) in &settings.sources.defines {
        builder = builder.define(name, value);
    }
    for code in &settings.sources.warn {
        builder = builder.warn(*code);
    }
    for code in &settings.sources.allow {
        builder = builder.allow(*code);
    }
    for (module, path) in &settings.extern_path {
        builder = builder.extern_path(module, path);
    }
    for name in &settings.circular {
        builder = builder.circular(name);
    }
    match (settings.client_only, settings.server_only) {
        (true, _) => builder.client_only(),
        (_, true) => builder.server_only(),
        _ => builder,
    }
}

/// Compiles files into one.
fn compile_one(
    builder: &Builder,
    files: &[PathBuf],
    target: &Path,
    summary: &mut Summary,
) -> Option<Compiled> {
    match builder.generate_from(files, &FileLoader::new()) {
        Ok(compiled) => {
            summary.show(&compiled.warnings, &compiled.files);
            let sources: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
            match write(target, &compiled.rust) {
                Ok(()) => println!("{} -> {}", sources.join(", "), target.display()),
                Err(error) => {
                    summary.cannot(&format!("{} cannot be written: {error}", target.display()));
                }
            }
            return Some(compiled);
        }
        Err(Error::Idl(failures)) => failures
            .iter()
            .for_each(|failure| summary.show(&failure.diagnostics, &failure.files)),
        Err(other) => summary.cannot(&other.to_string()),
    }
    None
}

/// Output file of each input file; an error if two input files have the same output file.
fn targets(files: &[PathBuf], out_dir: &Path) -> Result<Vec<PathBuf>, String> {
    let mut taken: BTreeMap<PathBuf, &Path> = BTreeMap::new();
    files
        .iter()
        .map(|file| {
            let name = file
                .file_stem()
                .ok_or_else(|| format!("{} is not a file name", file.display()))?;
            let mut name = name.to_owned();
            name.push(".rs");
            let target = out_dir.join(name);
            match taken.insert(target.clone(), file) {
                None => Ok(target),
                Some(other) => Err(format!(
                    "{} and {} have the same output file, {}; use different folders (--out-dir)",
                    other.display(),
                    file.display(),
                    target.display()
                )),
            }
        })
        .collect()
}

fn write(target: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(target, text)
}

const COULD_NOT_RUN: u8 = 2;

/// Number of errors and warnings in all files.
struct Summary {
    format: Format,
    errors: usize,
    warnings: usize,
    could_not_run: bool,
}

impl Summary {
    fn new(format: Format) -> Self {
        Self {
            format,
            errors: 0,
            warnings: 0,
            could_not_run: false,
        }
    }

    fn show(&mut self, diagnostics: &[Diagnostic], files: &[SourceFile]) {
        let text = match self.format {
            Format::Full => rendered(diagnostics, files),
            Format::Line => printed::lines(diagnostics, files),
            Format::Json => printed::json(diagnostics, files),
        };
        eprint!("{text}");
        let errors = diagnostics
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .count();
        self.errors += errors;
        self.warnings += diagnostics.len() - errors;
        // The file itself could not be read.
        self.could_not_run |= files.is_empty();
    }

    fn cannot(&mut self, text: &str) {
        match self.format {
            Format::Json => eprint!("{}", printed::json_failure(text)),
            Format::Full | Format::Line => complain(&text),
        }
        self.errors += 1;
        self.could_not_run = true;
    }

    fn finish(&self, done: &str, files: usize) -> ExitCode {
        // Tools read nothing but objects, and can count them.
        if !matches!(self.format, Format::Json) {
            eprintln!(
                "{done} {}: {}, {}",
                count(files, "file"),
                count(self.errors, "error"),
                count(self.warnings, "warning")
            );
        }
        if self.could_not_run {
            ExitCode::from(COULD_NOT_RUN)
        } else {
            ExitCode::from(u8::from(self.errors > 0))
        }
    }
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

//! `punctual idl dump`: the resolved specification, for people and for other tools.

use std::process::ExitCode;

use punctual_idl::{
    FileLoader, Specification,
    hir::{Definition, DefinitionKind, InterfaceFlavour},
};

use super::{Summary, options};
use crate::cli::Dump;

/// Runs the command.
pub(super) fn run(settings: &Dump) -> ExitCode {
    let sources = &settings.sources;
    let options = options(sources);
    let mut summary = Summary::new(sources.format);
    for file in &sources.files {
        let outcome = punctual_idl::compile(file, &options, &FileLoader::new());
        summary.show(&outcome.diagnostics, &outcome.files);
        let Some(specification) = outcome.specification else {
            continue;
        };
        if !settings.json {
            print!("{}", list(&specification));
            continue;
        }
        match serde_json::to_string(&specification) {
            Ok(json) => println!("{json}"),
            Err(error) => summary.cannot(&format!("{}: {error}", file.display())),
        }
    }
    summary.finish("read", sources.files.len())
}

/// A line for each definition of the compiled files.
fn list(specification: &Specification) -> String {
    let definitions = specification.definitions.iter();
    let own = definitions.filter(|definition| !specification.is_included(definition));
    own.map(|definition| {
        let file = specification.files.get(definition.span.file as usize);
        let place = file.map_or_else(String::new, |file| {
            let (line, column) = file.line_and_column(definition.span.start);
            format!("{}:{line}:{column}", file.name)
        });
        let (kind, name) = (kind(definition), &definition.scoped_name);
        format!("{kind} {name} {} {place}\n", definition.repository_id)
    })
    .collect()
}

/// The keyword of a definition; two words are joined, so that it is one column.
fn kind(definition: &Definition) -> &str {
    match &definition.kind {
        DefinitionKind::Module(_) => "module",
        DefinitionKind::Interface(interface) => match interface.flavour {
            InterfaceFlavour::Plain => "interface",
            InterfaceFlavour::Abstract => "abstract-interface",
            InterfaceFlavour::Local => "local-interface",
        },
        DefinitionKind::Struct(_) => "struct",
        DefinitionKind::Union(_) => "union",
        DefinitionKind::Enum(_) => "enum",
        DefinitionKind::Bitmask(_) => "bitmask",
        DefinitionKind::Bitset(_) => "bitset",
        DefinitionKind::Typedef(_) => "typedef",
        DefinitionKind::Constant(_) => "const",
        DefinitionKind::Exception(_) => "exception",
        DefinitionKind::Native(_) => "native",
        DefinitionKind::ValueType(value) if value.is_event => "eventtype",
        DefinitionKind::ValueType(_) | DefinitionKind::ValueBox(_) => "valuetype",
        DefinitionKind::Accepted(accepted) => accepted.construct,
    }
}

//! The interfaces whose traffic is captured are accepted, with the repository ids that another compiler gives
//! them.

use std::collections::BTreeSet;
use std::path::Path;

use punctual_idl::hir::{DefinitionId, DefinitionKind};
use punctual_idl::{FileLoader, Options, Specification, compile};

#[test]
fn ids_are_those_of_another_compiler() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/idl");
    let mut seen = 0;
    for entry in std::fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "idl") {
            continue;
        }
        let outcome = compile(&path, &Options::default(), &FileLoader::new());
        assert!(
            outcome.diagnostics.is_empty(),
            "{}: {:?}",
            path.display(),
            outcome.diagnostics
        );
        let mut found = BTreeSet::new();
        let specification = outcome.specification.unwrap();
        for root in &specification.roots {
            collect(&specification, *root, &mut found);
        }
        let expected = std::fs::read_to_string(path.with_extension("ids")).unwrap();
        let expected: BTreeSet<String> = expected.lines().map(str::to_owned).collect();
        assert_eq!(found, expected, "{}", path.display());
        seen += 1;
    }
    assert_eq!(seen, 13);
}

fn collect(specification: &Specification, id: DefinitionId, found: &mut BTreeSet<String>) {
    let definition = &specification[id];
    found.insert(format!("{} {}", definition.name, definition.repository_id));
    if let DefinitionKind::Interface(interface) = &definition.kind {
        let operations = interface
            .operations
            .iter()
            .map(|operation| (&operation.name, &operation.repository_id));
        let attributes = interface
            .attributes
            .iter()
            .map(|attribute| (&attribute.name, &attribute.repository_id));
        found.extend(
            operations
                .chain(attributes)
                .map(|(name, id)| format!("{name} {id}")),
        );
    }
    for child in specification.children(id) {
        collect(specification, *child, found);
    }
}

//! Resolves paths to the files that define what they name, through imports and re-exports.

use std::collections::BTreeSet;

use super::crate_files::CrateFiles;

/// Target of a path of this crate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Target {
    /// A module.
    Module(usize),
    /// An item in this file.
    Item(usize),
}

impl CrateFiles {
    /// Resolves a path in the code of a module; `None` if it leads to another crate or a local name.
    pub fn resolve(&self, module: usize, path: &[String]) -> Option<Target> {
        self.resolve_from(module, path, &mut BTreeSet::new())
    }

    /// Resolves an identifier in a module to an item that a glob import of that module brings in.
    pub fn resolve_glob(&self, module: usize, name: &str) -> Option<Target> {
        let is_own = self.modules[module].items.contains(name)
            || self.modules[module]
                .imports
                .iter()
                .any(|import| import.name == name);
        if is_own {
            return None;
        }
        self.through_globs(module, &[name.to_owned()], &mut BTreeSet::new())
    }

    /// `seen` ends the search where imports lead in a circle.
    fn resolve_from(&self, module: usize, path: &[String], seen: &mut Seen) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => 0,
            "self" => module,
            "super" => self.modules[module].parent?,
            _ => return self.member(module, path, seen),
        };
        self.within(start, rest, seen)
    }

    /// Continues a path at a module; `super` may occur again.
    fn within(&self, module: usize, path: &[String], seen: &mut Seen) -> Option<Target> {
        match path.first().map(String::as_str) {
            None => Some(Target::Module(module)),
            Some("super") => self.within(self.modules[module].parent?, &path[1..], seen),
            // A name without an item was made by a macro of this module.
            Some(_) => self
                .member(module, path, seen)
                .or(Some(Target::Item(self.modules[module].file))),
        }
    }

    /// A path that starts with a name of the module: an item, a submodule or an import.
    fn member(&self, module: usize, path: &[String], seen: &mut Seen) -> Option<Target> {
        if !seen.insert((module, path.to_vec())) {
            return None;
        }
        let (name, rest) = path.split_first()?;
        let own = &self.modules[module];
        let child = own.children.get(name);
        if let (Some(child), [_, ..]) = (child, rest) {
            return self.within(*child, rest, seen);
        }
        if own.items.contains(name) {
            return Some(Target::Item(own.file));
        }
        // An import such as `use time::time` starts in another crate.
        if let Some(import) = own.imports.iter().find(|import| import.name == *name) {
            if import.path.first() == Some(name) {
                return None;
            }
            return self.resolve_from(module, &[&import.path[..], rest].concat(), seen);
        }
        match child {
            Some(child) => Some(Target::Module(*child)),
            None => self.through_globs(module, path, seen),
        }
    }

    fn through_globs(&self, module: usize, path: &[String], seen: &mut Seen) -> Option<Target> {
        let globs = self.modules[module]
            .imports
            .iter()
            .filter(|import| import.name == "*");
        for glob in globs {
            let key = [&glob.path[..], &["*".to_owned()], path].concat();
            if !seen.insert((module, key)) {
                continue;
            }
            let found = match self.resolve_from(module, &glob.path, seen) {
                Some(Target::Module(of)) => self.member(of, path, seen),
                // Variants of an enum: the import itself leads there.
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

type Seen = BTreeSet<(usize, Vec<String>)>;

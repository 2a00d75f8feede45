//! Imports between the files of a crate, and their cycles.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    crate_files::{CrateFiles, Module},
    names::Target,
};

/// Imports between the files of one crate.
pub struct Graph<'c> {
    files: &'c CrateFiles,
    /// Edges from file to file, with the path of one such import.
    edges: BTreeMap<(usize, usize), String>,
}

impl<'c> Graph<'c> {
    /// Reads the imports of all modules.
    pub fn of(files: &'c CrateFiles) -> Self {
        let edges = BTreeMap::new();
        let mut graph = Self { files, edges };
        for (index, module) in files.modules.iter().enumerate() {
            graph.add_imports(index, module);
            for path in &module.named.paths {
                match files.resolve(index, path) {
                    Some(Target::Item(file)) => graph.add(module, file, &path.join("::")),
                    Some(Target::Module(to)) => {
                        graph.add(module, files.modules[to].file, &path.join("::"));
                    }
                    None => {}
                }
            }
            if module.imports.iter().any(|import| import.name == "*") {
                for name in &module.named.identifiers {
                    if let Some(Target::Item(file)) = files.resolve_glob(index, name) {
                        graph.add(module, file, &format!("*::{name}"));
                    }
                }
            }
        }
        graph
    }

    /// A re-export is an import only if the module itself uses the name. An import of a whole module is none:
    /// the paths that start with its name are.
    fn add_imports(&mut self, index: usize, module: &Module) {
        for import in &module.imports {
            if import.is_public && !module.named.identifiers.contains(&import.name) {
                continue;
            }
            if let Some(Target::Item(file)) = self.files.resolve(index, &import.path) {
                self.add(module, file, &import.path.join("::"));
            }
        }
    }

    fn add(&mut self, from: &Module, to: usize, path: &str) {
        if from.file != to {
            self.edges
                .entry((from.file, to))
                .or_insert_with(|| path.to_owned());
        }
    }

    /// The imports between these files.
    pub fn edges_within<'g>(
        &'g self,
        files: &'g BTreeSet<usize>,
    ) -> impl Iterator<Item = (usize, usize, &'g str)> {
        self.edges
            .iter()
            .filter(|((from, to), _)| files.contains(from) && files.contains(to))
            .map(|((from, to), path)| (*from, *to, path.as_str()))
    }

    /// The cycles that extend beyond a file and its own submodules.
    pub fn cycles(&self) -> Vec<BTreeSet<usize>> {
        let mut wrong = Vec::new();
        let mut open = self.components(&(0..self.files.paths.len()).collect());
        while let Some(component) = open.pop() {
            let ancestor = component.iter().copied().find(|file| {
                let mut others = component.iter().filter(|other| *other != file);
                others.all(|other| self.files.is_ancestor(*file, *other))
            });
            match ancestor {
                // A file and its own submodules: what remains without that file may still be a cycle.
                Some(ancestor) => {
                    let rest = component.into_iter().filter(|file| *file != ancestor).collect();
                    open.extend(self.components(&rest));
                }
                None => wrong.push(component),
            }
        }
        wrong.sort_by_key(|cycle| std::cmp::Reverse(cycle.len()));
        wrong
    }

    /// Strongly connected components of two or more of these files.
    fn components(&self, files: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
        let reach: BTreeMap<usize, BTreeSet<usize>> = files
            .iter()
            .map(|file| (*file, self.reachable(*file, files)))
            .collect();
        let mut left = files.clone();
        let mut components = Vec::new();
        while let Some(first) = left.pop_first() {
            let mut component = BTreeSet::from([first]);
            component.extend(
                reach[&first]
                    .iter()
                    .filter(|other| reach[*other].contains(&first)),
            );
            left.retain(|file| !component.contains(file));
            if component.len() > 1 {
                components.push(component);
            }
        }
        components
    }

    fn reachable(&self, start: usize, within: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = vec![start];
        while let Some(file) = open.pop() {
            for ((_, to), _) in self.edges.range((file, 0)..(file + 1, 0)) {
                if within.contains(to) && reached.insert(*to) {
                    open.push(*to);
                }
            }
        }
        reached
    }
}

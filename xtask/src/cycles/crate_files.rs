//! The modules of one crate: their files, items, imports, and what their code names.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use quote::ToTokens;
use syn::{Item, UseTree, Visibility};

use super::tokens::{Named, Segments, is_test_only};

/// The files and modules of one crate.
#[derive(Debug, Default)]
pub struct CrateFiles {
    /// Its files.
    pub paths: Vec<PathBuf>,
    /// Its modules; the first is its root.
    pub modules: Vec<Module>,
}

/// One module, in a file of its own or inside another module's.
#[derive(Debug, Default)]
pub struct Module {
    /// The index of the module around it.
    pub parent: Option<usize>,
    /// The index of its file.
    pub file: usize,
    /// Indices of its submodules by name.
    pub children: BTreeMap<String, usize>,
    /// Names of the items that it defines.
    pub items: BTreeSet<String>,
    /// Its `use` declarations, one for each name.
    pub imports: Vec<Import>,
    /// Paths and identifiers in its other items.
    pub named: Named,
}

/// One name that a `use` declaration brings in.
#[derive(Debug)]
pub struct Import {
    /// The name; `*` for all names of a module.
    pub name: String,
    /// The path.
    pub path: Segments,
    /// Whether others can use the name, too.
    pub is_public: bool,
}

impl CrateFiles {
    /// Reads the crate that starts at this file, without the parts that are compiled for tests only.
    pub fn read(root_file: &Path) -> Result<Self, String> {
        let mut files = Self::default();
        let folder = root_file.parent().unwrap_or(Path::new(""));
        files.read_file(root_file, folder, None)?;
        Ok(files)
    }

    /// `folder` contains the files of the submodules.
    fn read_file(&mut self, path: &Path, folder: &Path, parent: Option<usize>) -> Result<usize, String> {
        let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
        let parsed = syn::parse_file(&text).map_err(|error| failed(&error))?;
        self.paths.push(path.to_owned());
        self.add_module(parsed.items, self.paths.len() - 1, folder, parent)
    }

    fn add_module(
        &mut self,
        items: Vec<Item>,
        file: usize,
        folder: &Path,
        parent: Option<usize>,
    ) -> Result<usize, String> {
        let own = self.modules.len();
        self.modules.push(Module {
            parent,
            file,
            ..Module::default()
        });
        for item in items {
            if attributes(&item).iter().any(is_test_attribute) {
                continue;
            }
            let module = &mut self.modules[own];
            match item {
                Item::Use(item) => {
                    // A path that starts with `::` leads to another crate.
                    if item.leading_colon.is_none() {
                        let is_public = !matches!(item.vis, Visibility::Inherited);
                        module.add_imports(&item.tree, &mut Vec::new(), is_public);
                    }
                }
                Item::Mod(item) => {
                    let name = item.ident.to_string();
                    let inner = folder.join(&name);
                    let child = match item.content {
                        Some((_, items)) => self.add_module(items, file, &inner, Some(own))?,
                        None => {
                            let flat = folder.join(format!("{name}.rs"));
                            let path = if flat.is_file() {
                                flat
                            } else {
                                inner.join("mod.rs")
                            };
                            self.read_file(&path, &inner, Some(own))?
                        }
                    };
                    self.modules[own].children.insert(name, child);
                }
                item => {
                    module.items.extend(name_of(&item));
                    module.named.add(item.into_token_stream());
                }
            }
        }
        Ok(own)
    }

    /// Whether a file contains a module around the modules of another file.
    pub fn is_ancestor(&self, file: usize, of: usize) -> bool {
        let mut module = self.modules.iter().find(|module| module.file == of);
        while let Some(inner) = module {
            module = inner.parent.map(|parent| &self.modules[parent]);
            if module.is_some_and(|outer| outer.file == file) {
                return true;
            }
        }
        false
    }
}

impl Module {
    fn add_imports(&mut self, tree: &UseTree, path: &mut Segments, is_public: bool) {
        match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.add_imports(&tree.tree, path, is_public);
                path.pop();
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_imports(tree, path, is_public);
                }
            }
            UseTree::Name(name) => self.add_import(path, &name.ident.to_string(), None, is_public),
            UseTree::Rename(tree) => {
                let alias = tree.rename.to_string();
                self.add_import(path, &tree.ident.to_string(), Some(alias), is_public);
            }
            UseTree::Glob(_) => self.imports.push(Import {
                name: "*".into(),
                path: path.clone(),
                is_public,
            }),
        }
    }

    fn add_import(&mut self, path: &Segments, last: &str, alias: Option<String>, is_public: bool) {
        let mut path = path.clone();
        if last != "self" {
            path.push(last.to_owned());
        }
        let name = alias.or_else(|| path.last().cloned()).unwrap_or_default();
        self.imports.push(Import {
            name,
            path,
            is_public,
        });
    }
}

fn is_test_attribute(attribute: &syn::Attribute) -> bool {
    is_test_only(&attribute.meta.to_token_stream())
}

fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

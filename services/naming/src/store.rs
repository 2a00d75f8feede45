//! Contexts and bindings in a file: an embedded key-value store with transactions.

use std::{path::Path, sync::Arc};

use punctual::{Ior, ior_from_string, ior_to_string, naming::NameComponent};
use punctual_os::random;
use redb::{Builder, Database, Error, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};

use crate::tree::{Bound, Change, ContextNumber, ROOT, Tree};

/// Numbers by name: [`FORMAT`], [`INCARNATION`], [`NEXT`].
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");
const CONTEXTS: TableDefinition<'_, ContextNumber, ()> = TableDefinition::new("contexts");
/// Context, id and kind; what they are bound to ([`OBJECT`], [`OWN`], [`FOREIGN`]), and its reference as
/// text, or for an own context its number.
const BINDINGS: TableDefinition<'_, (ContextNumber, &str, &str), (u8, &str)> =
    TableDefinition::new("bindings");

const FORMAT: &str = "format";
const INCARNATION: &str = "incarnation";
/// Number of the next new context.
const NEXT: &str = "next";

const PRESENT_FORMAT: u64 = 1;

const OBJECT: u8 = 0;
const OWN: u8 = 1;
const FOREIGN: u8 = 2;

/// Octets of the file that are kept in memory; all bindings are in the tree.
const CACHE: usize = 4 << 20;

/// An open file.
pub(crate) struct Store(Database);

impl Store {
    /// Opens or creates a file. Returns it with the number in the ids of its contexts, and what it contains.
    pub(crate) fn open(path: &Path) -> Result<(Self, u64, Tree), String> {
        let database = Builder::new().set_cache_size(CACHE).create(path);
        let store = Self(database.map_err(|error| error.to_string())?);
        let incarnation = store.prepare().map_err(|error| error.to_string())?;
        let tree = store.read().map_err(|error| error.to_string())?;
        Ok((store, incarnation, tree?))
    }

    /// Writes changes, all or none. They are on the disk when it returns.
    pub(crate) fn commit(&mut self, changes: &[Change]) -> Result<(), String> {
        self.write(|transaction| changes.iter().try_for_each(|change| write(transaction, change)))
            .map_err(|error| error.to_string())
    }

    fn write(&self, changes: impl FnOnce(&WriteTransaction) -> Result<(), Error>) -> Result<(), Error> {
        let transaction = self.0.begin_write()?;
        changes(&transaction)?;
        Ok(transaction.commit()?)
    }

    /// Makes a new file a store, and returns the incarnation.
    fn prepare(&self) -> Result<u64, Error> {
        let mut found = None;
        self.write(|transaction| {
            let mut numbers = transaction.open_table(NUMBERS)?;
            let format = numbers.get(FORMAT)?.map(|format| format.value());
            match format {
                Some(PRESENT_FORMAT) => {}
                Some(_) => return Err(Error::UpgradeRequired(0)),
                None => {
                    let mut octets = [0; 8];
                    random::fill(&mut octets).map_err(Error::Io)?;
                    numbers.insert(FORMAT, PRESENT_FORMAT)?;
                    numbers.insert(INCARNATION, u64::from_be_bytes(octets))?;
                }
            }
            found = numbers.get(INCARNATION)?.map(|incarnation| incarnation.value());
            drop(numbers);
            write(transaction, &Change::Create(ROOT))?;
            transaction.open_table(BINDINGS)?;
            Ok(())
        })?;
        found.ok_or_else(|| Error::Corrupted("it has no incarnation".to_owned()))
    }

    /// Reads everything. The inner error is that of the content.
    fn read(&self) -> Result<Result<Tree, String>, Error> {
        let transaction = self.0.begin_read()?;
        let mut tree = Tree::new();
        for context in transaction.open_table(CONTEXTS)?.iter()? {
            tree.apply(&Change::Create(context?.0.value()));
        }
        let next = transaction
            .open_table(NUMBERS)?
            .get(NEXT)?
            .map_or(0, |next| next.value());
        tree.reserve_contexts(next);
        for binding in transaction.open_table(BINDINGS)?.iter()? {
            let (key, value) = binding?;
            let ((context, id, kind), (of, text)) = (key.value(), value.value());
            let component = NameComponent::new(id, kind);
            let bound = match bound(of, text) {
                Ok(bound) if tree.has(context) => bound,
                Ok(_) => {
                    return Ok(Err(format!(
                        "`{component}` is bound in a context that does not exist"
                    )));
                }
                Err(problem) => return Ok(Err(format!("the binding of `{component}`: {problem}"))),
            };
            tree.apply(&Change::Bind(context, component, Arc::new(bound)));
        }
        Ok(Ok(tree))
    }
}

fn write(transaction: &WriteTransaction, change: &Change) -> Result<(), Error> {
    match change {
        Change::Create(number) => {
            transaction.open_table(CONTEXTS)?.insert(number, ())?;
            let mut numbers = transaction.open_table(NUMBERS)?;
            let next = numbers.get(NEXT)?.map_or(0, |next| next.value());
            numbers.insert(NEXT, next.max(number + 1))?;
        }
        Change::Destroy(number) => {
            transaction.open_table(CONTEXTS)?.remove(number)?;
        }
        Change::Bind(context, component, bound) => {
            let (of, text) = match &**bound {
                Bound::Object(ior) => (OBJECT, ior_to_string(ior)),
                Bound::Own(number) => (OWN, number.to_string()),
                Bound::Foreign(ior) => (FOREIGN, ior_to_string(ior)),
            };
            let key = (*context, &*component.id, &*component.kind);
            transaction.open_table(BINDINGS)?.insert(key, (of, &*text))?;
        }
        Change::Unbind(context, component) => {
            let key = (*context, &*component.id, &*component.kind);
            transaction.open_table(BINDINGS)?.remove(key)?;
        }
    }
    Ok(())
}

fn bound(of: u8, text: &str) -> Result<Bound, String> {
    let ior = || -> Result<Ior, String> { ior_from_string(text).map_err(|error| error.to_string()) };
    match of {
        OBJECT => Ok(Bound::Object(ior()?)),
        FOREIGN => Ok(Bound::Foreign(ior()?)),
        OWN => text
            .parse()
            .map(Bound::Own)
            .map_err(|_| format!("`{text}` is no number of a context")),
        other => Err(format!("{other} is no kind of binding")),
    }
}

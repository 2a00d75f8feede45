//! Contexts and bindings in a file: an embedded key-value store with transactions.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use punctual::{Completion, Ior, ior_from_string, ior_to_string, naming::NameComponent};
use punctual_os::random;
use redb::{
    Builder, Database, DatabaseError, Error, ReadableDatabase, ReadableTable, TableDefinition,
    WriteTransaction,
};

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

/// Shortest time between two attempts to open the file again after an error. Each one reads all of it.
const PAUSE: Duration = Duration::from_secs(1);

/// A file, and what is needed to open it again.
pub(crate) struct Store {
    path: PathBuf,
    incarnation: u64,
    database: Result<Database, NotStored>,
    /// When the file was opened after an error, the last time.
    reopened: Option<Instant>,
}

/// Why a change has not been stored.
#[derive(Clone, Debug)]
pub(crate) struct NotStored {
    pub(crate) problem: String,
    /// `Maybe`: the file may contain the change, and shows when it is opened again.
    pub(crate) completion: Completion,
}

impl NotStored {
    fn no(problem: String) -> Self {
        let completion = Completion::No;
        Self { problem, completion }
    }
}

impl Store {
    /// Opens or creates a file. Returns it with the number in the ids of its contexts, and what it contains.
    pub(crate) fn open(path: &Path) -> Result<(Self, u64, Tree), String> {
        let (database, incarnation, tree) = opened(|| builder().create(path))?;
        let store = Self {
            path: path.to_owned(),
            incarnation,
            database: Ok(database),
            reopened: None,
        };
        Ok((store, incarnation, tree))
    }

    /// Opens the file again after an error, and returns what it contains; `None`: it is open.
    pub(crate) fn reopen(&mut self) -> Result<Option<Tree>, NotStored> {
        let Err(failed) = &self.database else {
            return Ok(None);
        };
        if self.reopened.is_some_and(|before| before.elapsed() < PAUSE) {
            return Err(NotStored::no(failed.problem.clone()));
        }
        self.reopened = Some(Instant::now());
        let tree = match opened(|| builder().open(&self.path)) {
            Ok((_, other, _)) if other != self.incarnation => {
                Err("another store has taken the place of its file".to_owned())
            }
            Ok((database, _, tree)) => {
                self.database = Ok(database);
                Ok(Some(tree))
            }
            Err(problem) => Err(problem),
        };
        tree.map_err(NotStored::no)
    }

    /// Writes changes, all or none. They are on the disk when it returns.
    ///
    /// After an error, the file is closed: the database accepts no further change until it is opened again.
    pub(crate) fn commit(&mut self, changes: &[Change]) -> Result<(), NotStored> {
        let database = self.database.as_ref().map_err(Clone::clone)?;
        let written = transact(database, |transaction| {
            changes.iter().try_for_each(|change| write(transaction, change))
        });
        if let Err(failed) = &written {
            self.database = Err(failed.clone());
        }
        written
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    // Without it, a damaged file can cause a panic much later.
    builder.set_cache_size(CACHE).set_check_integrity_on_open(true);
    builder
}

/// Opens a file, and reads it. The database panics at some damaged files.
fn opened(open: impl FnOnce() -> Result<Database, DatabaseError>) -> Result<(Database, u64, Tree), String> {
    let read = || {
        let database = open().map_err(|error| error.to_string())?;
        let incarnation = prepare(&database)?;
        let tree = read(&database).map_err(|error| error.to_string())??;
        Ok((database, incarnation, tree))
    };
    let read = catch_unwind(AssertUnwindSafe(read));
    read.unwrap_or_else(|_| Err("it is damaged (standard error says where)".to_owned()))
}

fn transact(
    database: &Database,
    changes: impl FnOnce(&WriteTransaction) -> Result<(), Error>,
) -> Result<(), NotStored> {
    let no = |error: Error| NotStored::no(error.to_string());
    let transaction = database.begin_write().map_err(|error| no(error.into()))?;
    changes(&transaction).map_err(no)?;
    transaction.commit().map_err(|error| NotStored {
        problem: error.to_string(),
        completion: Completion::Maybe,
    })
}

/// Makes a new file a store, and returns the incarnation. The file of another program remains as it is.
fn prepare(database: &Database) -> Result<u64, String> {
    let mut found = Err("it has no incarnation".to_owned());
    let prepared = transact(database, |transaction| {
        let is_new = transaction.list_tables()?.next().is_none();
        let mut numbers = transaction.open_table(NUMBERS)?;
        let format = numbers.get(FORMAT)?.map(|format| format.value());
        match format {
            Some(PRESENT_FORMAT) => {}
            None if is_new => {
                let mut octets = [0; 8];
                random::fill(&mut octets).map_err(Error::Io)?;
                numbers.insert(FORMAT, PRESENT_FORMAT)?;
                numbers.insert(INCARNATION, u64::from_be_bytes(octets))?;
            }
            other => {
                let format = other.map_or("no format".to_owned(), |format| format!("format {format}"));
                let problem = format!("it has {format}; this program knows format {PRESENT_FORMAT}");
                found = Err(problem.clone());
                return Err(Error::Corrupted(problem));
            }
        }
        if let Some(incarnation) = numbers.get(INCARNATION)? {
            found = Ok(incarnation.value());
        }
        drop(numbers);
        write(transaction, &Change::Create(ROOT))?;
        transaction.open_table(BINDINGS)?;
        Ok(())
    });
    match (prepared, found) {
        (Err(failed), Ok(_)) => Err(failed.problem),
        (_, found) => found,
    }
}

/// Reads everything. The inner error is that of the content.
fn read(database: &Database) -> Result<Result<Tree, String>, Error> {
    let transaction = database.begin_read()?;
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

#[cfg(test)]
mod tests {
    use std::fs;

    use punctual_fixtures::Folder;

    use super::*;

    fn named(id: &str) -> Change {
        let bound = Arc::new(Bound::Object(Ior::default()));
        Change::Bind(ROOT, NameComponent::new(id, ""), bound)
    }

    fn closed(store: &mut Store) {
        store.database = Err(NotStored::no("the disk is full".to_owned()));
    }

    #[test]
    fn after_an_error_the_file_decides_what_has_been_stored() {
        let folder = Folder::new("naming-reopened");
        let path = folder.join("names.redb");
        let (mut store, ..) = Store::open(&path).unwrap();
        assert!(store.reopen().unwrap().is_none(), "it is open");
        store.commit(&[named("a")]).unwrap();
        closed(&mut store);
        let refused = store.commit(&[named("b")]).unwrap_err();
        assert_eq!(
            (&*refused.problem, refused.completion),
            ("the disk is full", Completion::No)
        );
        let tree = store.reopen().unwrap().expect("it was closed");
        assert_eq!(tree.binding_count(), 1);
        store.commit(&[named("b")]).unwrap();

        closed(&mut store);
        let soon = store.reopen().expect_err("once a second");
        assert_eq!(soon.problem, "the disk is full");
        store.reopened = None;
        assert_eq!(store.reopen().unwrap().unwrap().binding_count(), 2);

        // Another file in its place, and none.
        closed(&mut store);
        fs::rename(&path, folder.join("other")).unwrap();
        store.reopened = None;
        assert!(store.reopen().is_err() && !path.exists(), "it makes no new one");
        drop(Store::open(&path).unwrap());
        store.reopened = None;
        let other = store.reopen().expect_err("an empty store");
        assert!(other.problem.contains("another store"), "{}", other.problem);
        fs::rename(folder.join("other"), &path).unwrap();
        store.reopened = None;
        assert_eq!(store.reopen().unwrap().unwrap().binding_count(), 2);
    }

    #[test]
    fn files_of_other_formats_are_refused_with_theirs() {
        let folder = Folder::new("naming-formats");
        let path = folder.join("names.redb");
        let change = |format: Option<u64>| {
            let database = Database::create(&path).unwrap();
            let transaction = database.begin_write().unwrap();
            let mut numbers = transaction.open_table(NUMBERS).unwrap();
            match format {
                Some(format) => drop(numbers.insert(FORMAT, format).unwrap()),
                None => drop(numbers.remove(FORMAT).unwrap()),
            }
            drop(numbers);
            transaction.commit().unwrap();
        };
        change(Some(2));
        for (format, text) in [
            (Some(2), "it has format 2; this program knows format 1"),
            (None, "it has no format; this program knows format 1"),
        ] {
            change(format);
            assert_eq!(Store::open(&path).err().unwrap(), text);
        }
        change(Some(PRESENT_FORMAT));
        let none = Store::open(&path).err().unwrap();
        assert!(none.contains("no incarnation"), "{none}");
    }

    /// The database panics at some of them.
    #[test]
    fn a_damaged_file_is_an_error_or_has_everything() {
        let folder = Folder::new("naming-damaged");
        let path = folder.join("names.redb");
        let (mut store, ..) = Store::open(&path).unwrap();
        let changes: Vec<_> = (0..40).map(|number| named(&format!("n{number}"))).collect();
        store.commit(&changes).unwrap();
        drop(store);
        let whole = fs::read(&path).unwrap();
        let used: Vec<_> = (0..whole.len()).filter(|at| whole[*at] != 0).collect();
        let mut errors = 0;
        let step = used.len() / 150;
        for (number, at) in used.iter().step_by(step.max(1)).enumerate() {
            let mut damaged = whole.clone();
            damaged[*at] ^= [1, 0x80, 0xff][number % 3];
            fs::write(&path, &damaged).unwrap();
            match Store::open(&path) {
                Ok((.., tree)) => assert_eq!(tree.binding_count(), 40, "octet {at}"),
                Err(problem) => {
                    assert!(!problem.is_empty());
                    errors += 1;
                }
            }
        }
        assert!(errors > 20, "{errors}");
        for length in [0, whole.len() / 2, whole.len() - 4_096] {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(Store::open(&path).is_ok(), length == 0, "{length} octets");
        }
        fs::write(&path, &whole).unwrap();
        assert!(Store::open(&path).is_ok());
    }
}

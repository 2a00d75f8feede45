//! Recording: settings, and the ring of each thread.

use std::cell::OnceCell;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

use punctual_os::shared_words::SharedWords;
use punctual_os::{TaskId, clock};

use crate::file::{EXTENSION, FRONT_WORDS, HEADER_WORDS, MAGIC, name_words, word};
use crate::{Record, enabled, is_on, operations};

/// Environment variable with the folder of the records: turns the recorder on.
pub const ENVIRONMENT: &str = "PUNCTUAL_FLIGHT_RECORDER";
/// Environment variable with the capacity of each thread in records.
pub const ENVIRONMENT_RECORDS: &str = "PUNCTUAL_FLIGHT_RECORDS";

/// Settings of the recorder.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folder of the files: an existing folder in main memory (tmpfs) that only this user can write.
    pub folder: PathBuf,
    /// Capacity of each thread in records of 32 octets, at least 2. Default: 16384.
    pub records_per_thread: usize,
    /// Maximal number of recorded threads, including ended ones. Default: 256.
    pub max_threads: usize,
}

impl Settings {
    /// Creates default settings for files in this folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            records_per_thread: 16_384,
            max_threads: 256,
        }
    }
}

/// Turns the recorder on for the lifetime of the process. The first settings count; later ones are ignored.
///
/// # Errors
/// If the folder does not exist, is not in main memory, or files cannot be created in it; the text names it.
pub fn start(settings: &Settings) -> io::Result<()> {
    let failed = |error: io::Error| {
        let text = format!("cannot record to {}: {error}", settings.folder.display());
        io::Error::new(error.kind(), text)
    };
    if settings.records_per_thread < 2 {
        let text = "the capacity must be at least two records";
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, text)));
    }
    // An error of every thread is better reported once, here.
    let trial = settings
        .folder
        .join(format!("trial-{}", TaskId::current_thread()));
    SharedWords::create(&trial, 1).map_err(failed)?;
    std::fs::remove_file(&trial).map_err(failed)?;
    let _ = SETTINGS.set(settings.clone());
    enabled::turn_on();
    Ok(())
}

/// Calls [`start`] if `PUNCTUAL_FLIGHT_RECORDER` names a folder; `PUNCTUAL_FLIGHT_RECORDS` is the capacity of
/// each thread.
///
/// # Errors
/// Those of [`start`], and an invalid capacity.
pub fn start_from_environment() -> io::Result<()> {
    let Some(folder) = std::env::var_os(ENVIRONMENT).filter(|folder| !folder.is_empty()) else {
        return Ok(());
    };
    if is_on() {
        return Ok(());
    }
    let mut settings = Settings::new(folder);
    if let Some(records) = std::env::var_os(ENVIRONMENT_RECORDS) {
        settings.records_per_thread = number(&records)?;
    }
    start(&settings)
}

fn number(text: &OsString) -> io::Result<usize> {
    let number = text.to_str().and_then(|text| text.trim().parse().ok());
    number.ok_or_else(|| {
        let text = format!("{ENVIRONMENT_RECORDS} is {text:?}; use a number of records, such as 16384");
        io::Error::new(io::ErrorKind::InvalidInput, text)
    })
}

/// Stores a record with the current time in the ring of the calling thread. `make` is not called while the
/// recorder is off.
///
/// The first record of a thread creates its ring, with a few system calls and heap allocations, unless
/// [`prepare_thread`] has done so.
#[inline]
pub fn record(make: impl FnOnce() -> Record) {
    if is_on() {
        store(make);
    }
}

/// Like [`record()`], of a record whose detail is the [hash](crate::operation_id) of an operation; the name
/// is kept in the file, too.
#[inline]
pub fn record_operation(name: &str, make: impl FnOnce() -> Record) {
    if is_on() {
        store_operation(name, make);
    }
}

/// Creates the ring of the calling thread if the recorder is on, so that its first record costs no more than
/// the others.
pub fn prepare_thread() {
    if is_on() {
        let _ = RING.try_with(|ring| {
            ring.get_or_init(Ring::of_this_thread);
        });
    }
}

/// Stores a record; out of line to keep the path of a call small.
#[cold]
#[inline(never)]
fn store(make: impl FnOnce() -> Record) {
    // A thread that is ending and no longer has a ring records nothing.
    let _ = RING.try_with(|ring| {
        if let Some(ring) = ring.get_or_init(Ring::of_this_thread) {
            let time_ns = u64::try_from(clock::monotonic().as_nanos()).unwrap_or(u64::MAX);
            ring.push(Record { time_ns, ..make() });
        }
    });
}

#[cold]
#[inline(never)]
fn store_operation(name: &str, make: impl FnOnce() -> Record) {
    let kept = RING.try_with(|ring| {
        let ring = ring.get_or_init(Ring::of_this_thread).as_ref()?;
        Some(operations::keep(ring.operations(), name))
    });
    store(|| make().detail(kept.ok().flatten().unwrap_or_default()));
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();
static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The ring of the thread; `None` if the limit on threads was reached.
    static RING: OnceCell<Option<Ring>> = const { OnceCell::new() };
}

/// The records of one thread, their only writer.
struct Ring {
    words: SharedWords,
    capacity: u64,
}

impl Ring {
    fn of_this_thread() -> Option<Self> {
        let settings = SETTINGS.get()?;
        if THREADS.fetch_add(1, Ordering::Relaxed) >= settings.max_threads {
            return None;
        }
        let (process, thread) = (TaskId::current_process(), TaskId::current_thread());
        let names = [process, thread].map(|task| task.name().unwrap_or_default());
        let path = settings.folder.join(format!("{process}-{thread}.{EXTENSION}"));
        // Replace the file of an earlier thread with the same id.
        let _ = std::fs::remove_file(&path);
        Self::create(
            &path,
            settings.records_per_thread,
            [process.get(), thread.get()],
            &names,
        )
        .ok()
    }

    fn create(path: &Path, capacity: usize, tasks: [i32; 2], names: &[String; 2]) -> io::Result<Self> {
        let words = SharedWords::create(path, FRONT_WORDS + capacity * Record::WORDS)?;
        let ring = Self {
            words,
            capacity: capacity as u64,
        };
        let set = |at: usize, value: u64| ring.words.as_slice()[at].store(value, Ordering::Relaxed);
        let [process, thread] = tasks;
        set(
            word::TASK,
            u64::from(process as u32) << 32 | u64::from(thread as u32),
        );
        set(word::CAPACITY, capacity as u64);
        for (first, name) in [word::PROCESS_NAME, word::NAME].into_iter().zip(names) {
            for (at, value) in name_words(name).into_iter().enumerate() {
                set(first + at, value);
            }
        }
        set(word::MAGIC, MAGIC);
        Ok(ring)
    }

    fn operations(&self) -> &[AtomicU64] {
        &self.words.as_slice()[HEADER_WORDS..FRONT_WORDS]
    }

    fn push(&self, record: Record) {
        let words = self.words.as_slice();
        let written: &AtomicU64 = &words[word::WRITTEN];
        let number = written.load(Ordering::Relaxed);
        let at = FRONT_WORDS + (number % self.capacity) as usize * Record::WORDS;
        // A reader that sees any of the new words also sees the count of the previous record, and thus knows
        // which record is being overwritten.
        fence(Ordering::Release);
        for (word, value) in words[at..at + Record::WORDS].iter().zip(record.to_words()) {
            word.store(value, Ordering::Relaxed);
        }
        written.store(number + 1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::{Event, Link, file};

    fn path(name: &str) -> PathBuf {
        Path::new("/dev/shm").join(format!("punctual-ring-{name}-{}.flight", std::process::id()))
    }

    #[test]
    fn a_ring_keeps_the_newest_records() {
        let path = path("newest");
        let ring = match Ring::create(
            &path,
            8,
            [3, 4],
            &["process", "a-name-of-more-than-16"].map(str::to_owned),
        ) {
            Ok(ring) => ring,
            Err(error) => return punctual_fixtures::skip_error(&error),
        };
        for number in 0..21 {
            ring.push(Record::new(Event::Sent).detail(number));
        }
        let read = file::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            read.records
                .iter()
                .map(|record| record.detail)
                .collect::<Vec<_>>(),
            [14, 15, 16, 17, 18, 19, 20]
        );
        assert_eq!((read.process, read.thread, read.overwritten), (3, 4, 14));
        assert_eq!(
            (read.process_name.as_str(), read.name.as_str()),
            ("process", "a-name-of-more-t")
        );
    }

    #[test]
    fn a_concurrent_reader_sees_whole_records_in_order() {
        let path = path("beside");
        let ring = match Ring::create(&path, 64, [3, 4], &["process", "writer"].map(str::to_owned)) {
            Ok(ring) => ring,
            Err(error) => return punctual_fixtures::skip_error(&error),
        };
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..200_000_u32 {
                    // Every word identifies the record.
                    let mut record = Record::new(Event::Read).request(number).detail(number.into());
                    record.link = Link::from_word(number.into());
                    record.time_ns = number.into();
                    ring.push(record);
                }
                done.store(true, Ordering::Release);
            });
            let mut seen = 0;
            while !done.load(Ordering::Acquire) || seen == 0 {
                let read = file::read(&path).unwrap();
                for (place, record) in read.records.iter().enumerate() {
                    let number = read.overwritten + place as u64;
                    let words = [
                        record.time_ns,
                        record.request.into(),
                        record.link.to_word(),
                        record.detail,
                    ];
                    assert_eq!(words, [number; 4], "a torn or misplaced record");
                    seen += 1;
                }
            }
        });
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn an_invalid_number_of_records_is_refused() {
        assert_eq!(number(&" 100 ".into()).unwrap(), 100);
        let error = number(&"many".into()).unwrap_err().to_string();
        assert!(
            error.contains("PUNCTUAL_FLIGHT_RECORDS") && error.contains("16384"),
            "{error}"
        );
    }

    #[test]
    fn the_error_names_a_missing_folder() {
        let error = start(&Settings::new("/dev/shm/no/such/folder"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("/dev/shm/no/such/folder"), "{error}");
        assert!(!is_on() || SETTINGS.get().is_some());
    }
}

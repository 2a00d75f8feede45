//! All keys of the process.

use std::{
    panic::RefUnwindSafe,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use punctual_os::{PiMutex, lock};

use super::{
    constants::{MAX_KEYS, UNSET},
    error::StorageError,
};

/// What is called with a value whose thread has ended.
pub(super) type Destructor = Arc<dyn Fn(u64) + Send + Sync>;

/// What there is to know about a key; used again when that one has been deleted.
pub(super) struct KeyEntry {
    /// Odd while there is a key.
    pub(super) generation: AtomicU32,
    /// The number of keys that were made before it.
    pub(super) serial: AtomicU64,
    destructor: PiMutex<Option<Destructor>>,
    /// Of the entries without a key; one more than its index, 0 at the end.
    next_free: AtomicU32,
}

/// What it protects is never left half done.
impl RefUnwindSafe for KeyEntry {}

impl KeyEntry {
    const fn new() -> Self {
        Self {
            generation: AtomicU32::new(UNSET),
            serial: AtomicU64::new(0),
            destructor: lock::mutex(None),
            next_free: AtomicU32::new(0),
        }
    }

    pub(super) fn destructor(&self) -> Option<Destructor> {
        self.destructor.lock().clone()
    }

    pub(super) fn has_destructor(&self) -> bool {
        self.destructor.lock().is_some()
    }
}

/// Makes a key: its index, its entry, and its generation.
pub(super) fn create(destructor: Option<Destructor>) -> Result<(u16, &'static KeyEntry, u32), StorageError> {
    let mut state = TABLE.state.lock();
    let index = match state.first_free {
        0 if state.fresh == MAX_KEYS => return Err(StorageError::TooManyKeys),
        0 => {
            state.fresh += 1;
            state.fresh - 1
        }
        free => {
            let index = free as usize - 1;
            state.first_free = TABLE.entry(index).next_free.load(Ordering::Relaxed);
            index
        }
    };
    let entry = TABLE.entry(index);
    entry.serial.store(state.made, Ordering::Relaxed);
    state.made += 1;
    *entry.destructor.lock() = destructor;
    let generation = entry.generation.load(Ordering::Relaxed) + 1;
    entry.generation.store(generation, Ordering::Release);
    Ok((index as u16, entry, generation))
}

/// Deletes a key, and gives what it would have called. Values stored under it are nobody's from then on.
pub(super) fn delete(
    index: u16,
    entry: &KeyEntry,
    generation: u32,
) -> Result<Option<Destructor>, StorageError> {
    let mut state = TABLE.state.lock();
    if entry.generation.load(Ordering::Relaxed) != generation {
        return Err(StorageError::StaleKey);
    }
    entry.generation.store(generation + 1, Ordering::Release);
    let destructor = entry.destructor.lock().take();
    // An entry that has had all generations is not used again.
    if generation < LAST_GENERATION {
        entry.next_free.store(state.first_free, Ordering::Relaxed);
        state.first_free = u32::from(index) + 1;
    }
    Ok(destructor)
}

/// The entry that a value was written under, if it has that key still.
pub(super) fn entry_of(index: u16, generation: u32) -> Option<&'static KeyEntry> {
    let entry = TABLE.entry(usize::from(index));
    (entry.generation.load(Ordering::Acquire) == generation).then_some(entry)
}

const LAST_GENERATION: u32 = u32::MAX - 2;

/// Entries come in chunks that are made when they are needed and never move, so that no creation has to wait for all others to be
/// copied.
struct KeyTable {
    chunks: [OnceLock<&'static Chunk>; CHUNKS],
    state: PiMutex<State>,
}

struct State {
    /// Entries before it have had a key.
    fresh: usize,
    first_free: u32,
    made: u64,
}

type Chunk = [KeyEntry; CHUNK];

const CHUNK: usize = 64;
const CHUNKS: usize = MAX_KEYS / CHUNK;

static TABLE: KeyTable = KeyTable {
    chunks: [const { OnceLock::new() }; CHUNKS],
    state: lock::mutex(State {
        fresh: 0,
        first_free: 0,
        made: 0,
    }),
};

impl KeyTable {
    fn entry(&self, index: usize) -> &'static KeyEntry {
        let chunk = self.chunks[index / CHUNK]
            .get_or_init(|| Box::leak(Box::new([const { KeyEntry::new() }; CHUNK])));
        &chunk[index % CHUNK]
    }
}

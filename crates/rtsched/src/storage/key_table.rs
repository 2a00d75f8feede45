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

/// Destructor of the values of a key.
pub(super) type Destructor = Arc<dyn Fn(u64) + Send + Sync>;

/// Data of a key; reused after the key has been deleted.
pub(super) struct KeyEntry {
    /// Odd while the key exists.
    pub(super) generation: AtomicU32,
    /// Number of keys created before it.
    pub(super) serial: AtomicU64,
    destructor: PiMutex<Option<Destructor>>,
    /// Index of the next free entry plus one, in free entries; 0 at the end.
    next_free: AtomicU32,
}

/// Its fields are consistent at every point where code can panic.
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

/// Creates a key: its index, its entry, and its generation.
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

/// Deletes a key, and returns its destructor. Values stored under it become unreachable.
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
    // An entry whose generations are exhausted is not reused.
    if generation < LAST_GENERATION {
        entry.next_free.store(state.first_free, Ordering::Relaxed);
        state.first_free = u32::from(index) + 1;
    }
    Ok(destructor)
}

/// Returns the entry under which a value was written, if its key still exists.
pub(super) fn entry_of(index: u16, generation: u32) -> Option<&'static KeyEntry> {
    let entry = TABLE.entry(usize::from(index));
    (entry.generation.load(Ordering::Acquire) == generation).then_some(entry)
}

const LAST_GENERATION: u32 = u32::MAX - 2;

/// Entries are in chunks that are created on demand and never move, so that creating a key copies no others.
struct KeyTable {
    chunks: [OnceLock<&'static Chunk>; CHUNKS],
    state: PiMutex<State>,
}

struct State {
    /// Number of entries that have had a key.
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

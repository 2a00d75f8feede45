//! Slots for the values of one distributable thread.

use std::{
    panic::RefUnwindSafe,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

use punctual_os::{PiMutex, lock};

use super::{
    constants::{MAX_KEYS, UNSET},
    key_table::entry_of,
};

/// A slot for each key, in chunks that are allocated on the first write and never freed.
///
/// All fields are atomic: a caller whose call has timed out and the upcall that it has abandoned may run
/// concurrently for one distributable thread. Memory is reused and never freed, so that threads can refer to
/// it without a reference count.
#[derive(Debug)]
pub(super) struct Slots {
    chunks: [OnceLock<Box<Chunk>>; CHUNKS],
    /// Whether a slot has been written since the last `clear`.
    pub(super) used: AtomicBool,
    /// Number of [`super::ThreadStorage`] values that refer to this.
    pub(super) references: AtomicU32,
    /// Buffer for destruction.
    pub(super) scratch: PiMutex<Vec<Pending>>,
}

/// A value to destroy, and its place in the order.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) serial: u64,
    pub(super) index: u16,
    pub(super) generation: u32,
}

/// Its fields are consistent at every point where code can panic.
impl RefUnwindSafe for Slots {}

/// A value and the generation of its key, next to each other in one cache line.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// Generation of the key under which the word was written; [`UNSET`] without a word.
    pub(super) generation: AtomicU32,
    pub(super) word: AtomicU64,
}

type Chunk = [Slot; CHUNK];

/// Powers of two, so that masks replace bounds checks.
pub(super) const CHUNK: usize = 128;
pub(super) const CHUNKS: usize = MAX_KEYS / CHUNK;

impl Slots {
    /// Returns unused slots with one reference; allocates only if none have been put back.
    pub(super) fn obtain() -> &'static Self {
        let slots = UNUSED
            .lock()
            .pop()
            .unwrap_or_else(|| Box::leak(Box::new(Self::new())));
        slots.references.store(1, Ordering::Relaxed);
        slots
    }

    /// Makes the slots available to another distributable thread.
    pub(super) fn put_back(&'static self) {
        self.clear();
        UNUSED.lock().push(self);
    }

    fn new() -> Self {
        Self {
            chunks: [const { OnceLock::new() }; CHUNKS],
            used: AtomicBool::new(false),
            references: AtomicU32::new(0),
            scratch: PiMutex::new(Vec::new()),
        }
    }

    /// Returns the slot of a key; `None`: its chunk has never been written.
    #[inline]
    pub(super) fn slot(&self, index: u16) -> Option<&Slot> {
        let index = usize::from(index);
        let chunk = self.chunks[(index / CHUNK) % CHUNKS].get()?;
        Some(&chunk[index % CHUNK])
    }

    /// Returns the slot of a key; allocates its chunk if necessary.
    pub(super) fn slot_to_write(&self, index: u16) -> &Slot {
        let index = usize::from(index);
        let chunk = self.chunks[(index / CHUNK) % CHUNKS].get_or_init(|| {
            Box::new(
                [const {
                    Slot {
                        generation: AtomicU32::new(UNSET),
                        word: AtomicU64::new(0),
                    }
                }; CHUNK],
            )
        });
        &chunk[index % CHUNK]
    }

    /// Slots with a value, with their indices.
    pub(super) fn written(&self) -> impl Iterator<Item = (u16, &Slot)> {
        let chunks = self.chunks.iter().enumerate();
        let slots = chunks.filter_map(|(number, chunk)| Some((number * CHUNK, chunk.get()?)));
        let slots = slots.flat_map(|(first, chunk)| (first..).zip(chunk.iter()));
        slots
            .filter(|(_, slot)| slot.generation.load(Ordering::Relaxed) != UNSET)
            .map(|(index, slot)| (index as u16, slot))
    }

    pub(super) fn clear(&self) {
        if self.used.swap(false, Ordering::Relaxed) {
            for (_, slot) in self.written() {
                slot.generation.store(UNSET, Ordering::Relaxed);
            }
        }
    }
}

impl Pending {
    /// `None`: the key has no destructor, or has been deleted.
    pub(super) fn of(index: u16, generation: u32) -> Option<Self> {
        let entry = entry_of(index, generation)?;
        entry.has_destructor().then(|| Self {
            serial: entry.serial.load(Ordering::Relaxed),
            index,
            generation,
        })
    }
}

static UNUSED: PiMutex<Vec<&'static Slots>> = lock::mutex(Vec::new());

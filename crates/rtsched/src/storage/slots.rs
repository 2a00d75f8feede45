//! Where the values of one distributable thread are.

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

/// A value for each key, in chunks that are made when a key in them is written first and stay for good.
///
/// All of it is atomic: a caller whose call has timed out and the upcall that this has left behind may both be at work for one
/// distributable thread. None of it is ever freed, only used again, so that threads can refer to it without counting.
#[derive(Debug)]
pub(super) struct Slots {
    chunks: [OnceLock<Box<Chunk>>; CHUNKS],
    /// Whether anything has been written since it was cleared.
    pub(super) used: AtomicBool,
    /// How many [`super::ThreadStorage`]s there are of it.
    pub(super) references: AtomicU32,
    /// Memory for those that destroy.
    pub(super) scratch: PiMutex<Vec<Pending>>,
}

/// A value that is to be destroyed, and its turn.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) serial: u64,
    pub(super) index: u16,
    pub(super) generation: u32,
}

/// What it protects is never left half done.
impl RefUnwindSafe for Slots {}

/// In one cache line with its neighbours: whose value it is, and the value.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// Of the key that the word was written under; [`UNSET`] where there is none.
    pub(super) generation: AtomicU32,
    pub(super) word: AtomicU64,
}

type Chunk = [Slot; CHUNK];

/// Both are powers of two, so that masks take the place of bounds checks.
pub(super) const CHUNK: usize = 128;
pub(super) const CHUNKS: usize = MAX_KEYS / CHUNK;

impl Slots {
    /// Unused ones, with one reference: those that were used longest before where there are any, which allocates nothing.
    pub(super) fn obtain() -> &'static Self {
        let slots = UNUSED
            .lock()
            .pop()
            .unwrap_or_else(|| Box::leak(Box::new(Self::new())));
        slots.references.store(1, Ordering::Relaxed);
        slots
    }

    /// For another distributable thread.
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

    /// `None` where nothing near it has ever been written.
    #[inline]
    pub(super) fn slot(&self, index: u16) -> Option<&Slot> {
        let index = usize::from(index);
        let chunk = self.chunks[(index / CHUNK) % CHUNKS].get()?;
        Some(&chunk[index % CHUNK])
    }

    /// Allocates where nothing near it has ever been written.
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

    /// All that have a value, with their indices.
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
    /// `None` where the key has no destructor, or is not there any more.
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

//! Stacks of threads: the part that is resident from the start, and how much has been used.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use rustix::param::page_size;

use crate::memory;

/// Stack of a thread that [`ThreadSpec`](crate::ThreadSpec) has prefaulted, and its high-water mark.
///
/// ```
/// # use punctual_os as punctual;
/// use punctual::ThreadSpec;
///
/// let thread = ThreadSpec::new("shallow").prefault_bytes(64 * 1024).spawn(|| ())?;
/// let stack = thread.stack().expect("it is prefaulted").clone();
/// thread.join().unwrap();
/// assert!(stack.used_bytes().is_some_and(|used| 0 < used && used < stack.size_bytes()));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stack(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Lowest address, above the guard page.
    lowest: usize,
    /// Lowest address that was painted. What is below was not resident when the thread started.
    painted: usize,
    /// Whether memory was locked then. If it is locked later, all of the stack becomes resident.
    locked: bool,
    /// Address after the last octet.
    end: usize,
    /// Most octets seen in use.
    most: AtomicUsize,
    ended: AtomicBool,
}

impl Stack {
    /// Makes `bytes` of the calling thread's stack resident, counted from its base, and releases the rest
    /// until it is touched. `None` if the extent of the stack is unknown.
    pub(super) fn prefault(bytes: usize) -> Option<Self> {
        let (lowest, end) = extent()?;
        let (page, frame) = (page_size(), 0u8);
        // Below the frames of the calls that follow.
        let here = ((&raw const frame).addr() - page) & !(page - 1);
        let painted = (end.saturating_sub(bytes) & !(page - 1)).clamp(lowest, here.max(lowest));
        release(lowest, painted);
        paint(painted, here);
        Some(Self(Arc::new(Shared {
            lowest,
            painted,
            locked: memory::is_locked(),
            end,
            most: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        })))
    }

    /// Returns the size in octets.
    pub fn size_bytes(&self) -> usize {
        self.0.end - self.0.lowest
    }

    /// Returns the most octets that have been in use so far: exact in the prefaulted part, in pages below it.
    /// Includes the thread's variables, which are above its frames. `None` if the system does not permit to
    /// measure.
    ///
    /// Takes some ten microseconds and does not disturb the thread.
    pub fn used_bytes(&self) -> Option<usize> {
        let stack = &*self.0;
        if !stack.ended.load(Ordering::Acquire) {
            let deepest = self.deepest_page();
            let deepest = deepest.or_else(|| deepest_word(stack.painted, stack.end))?;
            // A thread that has ended meanwhile has released its stack, and measured it before.
            if !stack.ended.load(Ordering::Acquire) {
                stack.most.fetch_max(stack.end - deepest, Ordering::Relaxed);
            }
        }
        Some(stack.most.load(Ordering::Relaxed))
    }

    /// Measures for the last time, on the thread itself.
    pub(super) fn end(&self) {
        let stack = &*self.0;
        let deepest = self.deepest_page();
        let deepest = deepest.unwrap_or_else(|| own_deepest_word(stack.painted, stack.end));
        stack.most.fetch_max(stack.end - deepest, Ordering::Relaxed);
        stack.ended.store(true, Ordering::Release);
    }

    /// Returns the address of the lowest page in use below the prefaulted part.
    fn deepest_page(&self) -> Option<usize> {
        let stack = &*self.0;
        let is_known = stack.locked == memory::is_locked();
        is_known
            .then(|| lowest_resident(stack.lowest, stack.painted))
            .flatten()
    }
}

/// Content of memory that no frame has used.
const PAINT: u8 = 0xa5;

/// Returns the lowest address of the calling thread's stack, without its guard page, and its end.
fn extent() -> Option<(usize, usize)> {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    let mut lowest = std::ptr::null_mut();
    let mut bytes = 0;
    // SAFETY: the first call initialises `attributes` if it returns 0, and only then is it read and
    // destroyed; the other pointers are to live variables of the right types.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let known = libc::pthread_attr_getstack(attributes.as_ptr(), &mut lowest, &mut bytes) == 0;
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        known.then(|| (lowest.expose_provenance(), lowest.addr() + bytes))
    }
}

/// Makes the unused stack between two addresses resident only when it is touched, regardless of what an
/// earlier thread has left there, and even if memory is locked.
fn release(lowest: usize, painted: usize) {
    let (start, bytes) = (std::ptr::with_exposed_provenance_mut(lowest), painted - lowest);
    if bytes == 0 {
        return;
    }
    // SAFETY: the range belongs to the calling thread's stack, below all of its frames, so nothing in it is
    // in use. The calls change when it is resident, and discard its content. Failures leave it resident.
    unsafe {
        // A huge page would be resident as a whole.
        libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE);
        if memory::is_locked() {
            libc::munlock(start, bytes);
        }
        libc::madvise(start, bytes, libc::MADV_DONTNEED);
        if memory::is_locked() {
            libc::mlock2(start, bytes, libc::MLOCK_ONFAULT as libc::c_uint);
        }
    }
}

/// Fills the unused stack between two addresses.
fn paint(from: usize, to: usize) {
    let start: *mut u8 = std::ptr::with_exposed_provenance_mut(from);
    // SAFETY: the range belongs to the calling thread's stack, at least a page below the caller's frame, so
    // nothing in it is in use; this call's own frame is above it.
    unsafe { start.write_bytes(PAINT, to.saturating_sub(from)) };
}

/// Returns the address of the lowest resident page in a range.
fn lowest_resident(from: usize, to: usize) -> Option<usize> {
    let (page, mut resident) = (page_size(), [0u8; 64]);
    let step = page * resident.len();
    (from..to).step_by(step).find_map(|start| {
        let bytes = (to - start).min(step);
        let address = std::ptr::with_exposed_provenance_mut(start);
        // SAFETY: `resident` has an element for each page. The call does not access the range itself, which
        // may no longer exist.
        let known = unsafe { libc::mincore(address, bytes, resident.as_mut_ptr()) == 0 };
        let pages = &resident[..bytes.div_ceil(page)];
        let first = pages.iter().position(|page| page & 1 != 0).filter(|_| known)?;
        Some(start + first * page)
    })
}

const PAINTED: u64 = u64::from_ne_bytes([PAINT; 8]);

/// Returns the address of the lowest word in a range that is no longer painted.
fn deepest_word(from: usize, to: usize) -> Option<usize> {
    let mut copy = [0u64; 2048];
    for start in (from..to).step_by(size_of_val(&copy)) {
        let words = ((to - start) / 8).min(copy.len());
        read_own_memory(start, &mut copy[..words])?;
        if let Some(first) = copy[..words].iter().position(|word| *word != PAINTED) {
            return Some(start + first * 8);
        }
    }
    Some(to)
}

/// [`deepest_word`] of the calling thread's own stack, which needs no room for a copy.
fn own_deepest_word(from: usize, to: usize) -> usize {
    let is_used = |address: &usize| {
        // SAFETY: the address is aligned and in the calling thread's own stack, which no other thread writes.
        let word = unsafe { std::ptr::with_exposed_provenance::<u64>(*address).read_volatile() };
        word != PAINTED
    };
    (from..to).step_by(8).find(is_used).unwrap_or(to)
}

/// Copies memory of this process that another thread may change or release meanwhile: the kernel copies, and
/// refuses what does not exist.
fn read_own_memory(from: usize, words: &mut [u64]) -> Option<()> {
    let bytes = size_of_val(words);
    let local = libc::iovec {
        iov_base: words.as_mut_ptr().cast(),
        iov_len: bytes,
    };
    let remote = libc::iovec {
        iov_base: std::ptr::with_exposed_provenance_mut(from),
        iov_len: bytes,
    };
    // SAFETY: `local` describes `words`, to which the kernel writes. It only reads the other range, and
    // checks whether it exists.
    let copied = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    (usize::try_from(copied) == Ok(bytes)).then_some(())
}

//! Prefaulting of stacks.

use std::hint::black_box;

/// Touches every page of the calling thread's stack, from the current frame down to a margin above its end.
///
/// Does nothing if the extent of the stack is unknown.
pub(super) fn prefault() {
    // Enough for the deepest call below and a signal handler.
    const MARGIN: usize = 32 * 1024;
    if let Some(lowest) = lowest_address() {
        touch_down_to(lowest.saturating_add(MARGIN));
    }
}

/// Uses one frame of at least a page per call, so that the pages are touched in order, as the guard page and
/// the compiler's stack probes require.
#[inline(never)]
fn touch_down_to(limit: usize) {
    let page = [0u8; 4096];
    // `black_box` keeps the page in the frame until the deeper calls have returned.
    if (&raw const *black_box(&page)).addr() > limit {
        touch_down_to(limit);
    }
    black_box(&page);
}

/// Returns the lowest address of the calling thread's stack, without its guard page.
fn lowest_address() -> Option<usize> {
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
        known.then(|| lowest.addr())
    }
}

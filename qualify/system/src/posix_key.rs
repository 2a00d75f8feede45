//! The thread-specific storage of POSIX threads.
//!
//! To measure what the system offers programs. Rust's `thread_local!` is the better choice for threads of the system, and the
//! storage of `punctual-rtsched` for distributable threads.

use std::io;
use std::ptr;

/// A key to a word of each thread (`pthread_key_t`), without a destructor. The GNU C library has 1,024 of them; dropping gives it
/// back.
///
/// ```
/// use punctual_system::PosixKey;
/// let key = PosixKey::new()?;
/// assert_eq!(key.get(), 0);
/// key.set(7)?;
/// assert_eq!(key.get(), 7);
/// assert_eq!(std::thread::scope(|scope| scope.spawn(|| key.get()).join().unwrap()), 0);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct PosixKey(libc::pthread_key_t);

impl PosixKey {
    /// A key under which all threads have 0.
    ///
    /// # Errors
    /// `WouldBlock` (EAGAIN): all keys are in use; `OutOfMemory`.
    pub fn new() -> io::Result<Self> {
        let mut key = 0;
        // SAFETY: `key` is a valid place, and there is no destructor.
        checked(unsafe { libc::pthread_key_create(&mut key, None) })?;
        Ok(Self(key))
    }

    /// The calling thread's word; 0 where it has none.
    #[inline]
    pub fn get(&self) -> usize {
        // SAFETY: the key was created in `new` and is deleted when dropped only.
        unsafe { libc::pthread_getspecific(self.0) }.addr()
    }

    /// Gives the calling thread a word.
    ///
    /// # Errors
    /// `OutOfMemory`: there was none for a key that this thread writes first.
    #[inline]
    pub fn set(&self, word: usize) -> io::Result<()> {
        // SAFETY: as in `get`. The word is given back as it is and never followed as a pointer: there is no destructor.
        checked(unsafe { libc::pthread_setspecific(self.0, ptr::without_provenance(word)) })
    }
}

impl Drop for PosixKey {
    fn drop(&mut self) {
        // SAFETY: nobody borrows the key, so nobody uses it any more.
        let result = unsafe { libc::pthread_key_delete(self.0) };
        debug_assert_eq!(result, 0, "the key exists");
    }
}

/// These functions return the error.
#[inline]
fn checked(error: libc::c_int) -> io::Result<()> {
    match error {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_a_word_of_its_own() {
        let key = PosixKey::new().unwrap();
        key.set(usize::MAX).unwrap();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                assert_eq!(key.get(), 0);
                key.set(2).unwrap();
                key.get()
            });
            assert_eq!(other.join().unwrap(), 2);
        });
        assert_eq!(key.get(), usize::MAX);
    }

    #[test]
    fn a_new_key_has_nothing_of_the_one_before() {
        let before = PosixKey::new().unwrap();
        before.set(1).unwrap();
        drop(before);
        assert_eq!(PosixKey::new().unwrap().get(), 0);
    }
}

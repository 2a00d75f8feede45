//! Thread-specific storage of POSIX threads, to be measured.
//!
//! Programs use `thread_local!`, or the storage of `punctual-rtsched` for distributable threads.

use std::io;
use std::ptr;

/// Key to one word per thread (`pthread_key_t`), without a destructor. The GNU C library has 1,024 keys;
/// dropping this releases its key.
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
    /// Creates a key whose value is 0 in all threads.
    ///
    /// # Errors
    /// `WouldBlock` (EAGAIN): all keys are in use; `OutOfMemory`.
    pub fn new() -> io::Result<Self> {
        let mut key = 0;
        // SAFETY: the pointer is valid, and there is no destructor.
        checked(unsafe { libc::pthread_key_create(&mut key, None) })?;
        Ok(Self(key))
    }

    /// Returns the calling thread's word; 0 if it has not been set.
    #[inline]
    pub fn get(&self) -> usize {
        // SAFETY: the key was created in `new` and is deleted only when dropped.
        unsafe { libc::pthread_getspecific(self.0) }.addr()
    }

    /// Sets the calling thread's word.
    ///
    /// # Errors
    /// `OutOfMemory`: the first use of a key by a thread may allocate.
    #[inline]
    pub fn set(&self, word: usize) -> io::Result<()> {
        // SAFETY: as in `get`. The word is returned unchanged and never dereferenced: there is no destructor.
        checked(unsafe { libc::pthread_setspecific(self.0, ptr::without_provenance(word)) })
    }
}

impl Drop for PosixKey {
    fn drop(&mut self) {
        // SAFETY: nothing borrows the key at this point.
        let result = unsafe { libc::pthread_key_delete(self.0) };
        debug_assert_eq!(result, 0, "the key exists");
    }
}

/// Converts the result of these functions, which return the error number.
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
    fn each_thread_has_its_own_word() {
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
    fn a_new_key_starts_at_zero() {
        let before = PosixKey::new().unwrap();
        before.set(1).unwrap();
        drop(before);
        assert_eq!(PosixKey::new().unwrap().get(), 0);
    }
}

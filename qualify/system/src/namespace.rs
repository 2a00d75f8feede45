//! Network namespaces: a network that belongs to one process.

use std::io;

use rustix::thread::UnshareFlags;

/// Moves the calling thread, and what it starts later, into a new network namespace that contains only a
/// loopback device, which is down. Other threads are not affected: call it before starting any. The namespace
/// ends with the last process in it.
///
/// # Errors
/// `PermissionDenied`: no CAP_SYS_ADMIN. Others: the kernel does not support network namespaces or has no
/// more.
pub fn unshare_network() -> io::Result<()> {
    // SAFETY: only the network is unshared. The function's hazard is unshared file descriptor tables
    // (CLONE_FILES), which are not requested.
    Ok(unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_fixtures::skip_error;
    use punctual_os::ThreadSpec;

    #[test]
    fn only_the_calling_thread_gets_the_new_network() {
        let network = || std::fs::read_link("/proc/thread-self/ns/net").unwrap();
        let before = network();
        let inside = ThreadSpec::new("apart").spawn(move || unshare_network().map(|()| network()));
        match inside.unwrap().join().unwrap() {
            Ok(inside) => assert_ne!(inside, before),
            Err(error) => skip_error(&error),
        }
        assert_eq!(network(), before);
    }
}

//! Namespaces: a network that belongs to one process.

use std::io;

use rustix::thread::UnshareFlags;

/// Puts the calling thread, and what it starts from then on, into a new network namespace with nothing in it but a loopback
/// device that is down. Other threads stay where they are: call it before there are any. The namespace goes with the last
/// process in it.
///
/// # Errors
/// `PermissionDenied` without CAP_SYS_ADMIN; others where the kernel has no network namespaces or no more of them.
pub fn unshare_network() -> io::Result<()> {
    // SAFETY: only the network is unshared. What the function warns of are tables of file descriptors that threads no longer
    // have in common (CLONE_FILES), which is not asked for.
    Ok(unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_fixtures::skip_error;
    use punctual_os::ThreadSpec;

    #[test]
    fn a_new_network_is_another_one_and_only_this_threads() {
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

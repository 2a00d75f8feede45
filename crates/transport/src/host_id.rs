//! Identification of the local host.

use std::{fs, os::unix::ffi::OsStrExt, sync::OnceLock};

/// Identifies the environment of this process: the host since its last boot, and the namespaces of files and
/// networks, which differ in each container. `None` if the system does not provide them.
///
/// A path, an abstract name or a memory segment is valid in one such environment only; references to it state
/// the environment.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::host_id;
///
/// // A path is published with the id, and a client compares it with its own.
/// let published: Option<Vec<u8>> = host_id().map(<[u8]>::to_vec);
/// assert_eq!(published.as_deref(), host_id(), "the path is valid here");
/// ```
pub fn host_id() -> Option<&'static [u8]> {
    static HOST_ID: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    HOST_ID.get_or_init(read).as_deref()
}

fn read() -> Option<Vec<u8>> {
    let mut id = punctual_os::boot_id().ok()?.into_bytes();
    if id.is_empty() {
        return None;
    }
    for namespace in ["mnt", "net"] {
        let name = fs::read_link(format!("/proc/self/ns/{namespace}")).ok()?;
        id.push(b' ');
        id.extend_from_slice(name.as_os_str().as_bytes());
    }
    Some(id)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn the_id_is_the_same_within_one_environment() {
        let own = host_id().expect("proc is mounted");
        let thread = std::thread::scope(|scope| scope.spawn(read).join().unwrap());
        assert_eq!(thread.as_deref(), Some(own));
        let text = std::str::from_utf8(own).unwrap();
        let namespace = fs::metadata("/proc/self/ns/mnt").unwrap().ino();
        assert!(text.contains(&format!("mnt:[{namespace}]")), "{text}");
    }
}

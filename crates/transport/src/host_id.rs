use std::{fs, os::unix::ffi::OsStrExt, sync::OnceLock};

/// What distinguishes the place where this process runs from all others: the host until it is started again, and on it
/// the namespaces of files and networks, of which each container has its own. `None` where the system does not say.
///
/// A path, an abstract name or a segment of memory means something in one such place only: references that name one say
/// which.
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
    fn it_is_the_same_for_all_who_share_files_and_network() {
        let own = host_id().expect("proc is mounted");
        let thread = std::thread::scope(|scope| scope.spawn(read).join().unwrap());
        assert_eq!(thread.as_deref(), Some(own));
        let text = std::str::from_utf8(own).unwrap();
        let namespace = fs::metadata("/proc/self/ns/mnt").unwrap().ino();
        assert!(text.contains(&format!("mnt:[{namespace}]")), "{text}");
    }
}

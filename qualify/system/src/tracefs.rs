//! The kernel's tracing file system, mounted or not.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

/// Location of the kernel's tracing files, which are the same for every process.
#[derive(Debug)]
pub struct Tracefs {
    root: PathBuf,
    /// Private unattached mount, which leaves the machine's mounts unchanged.
    _unattached: Option<OwnedFd>,
}

impl Tracefs {
    /// Locates the files; mounts the file system privately if necessary.
    ///
    /// # Errors
    /// It can be neither found nor mounted; the text states the remedy.
    pub fn open() -> io::Result<Self> {
        let usual = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
        let mut refused = None;
        for root in usual {
            match File::open(Path::new(root).join("trace_clock")) {
                Ok(_) => {
                    return Ok(Self {
                        root: root.into(),
                        _unattached: None,
                    });
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => refused = Some(error),
                Err(_) => {}
            }
        }
        unattached().map_err(|error| {
            let error = refused.unwrap_or(error);
            let text = format!(
                "the kernel's tracing files cannot be used ({error}): run as root, and if tracefs is not mounted, run \
                 `sudo mount -t tracefs nodev /sys/kernel/tracing`"
            );
            io::Error::new(error.kind(), text)
        })
    }

    /// Returns the folder that contains `events`, `instances` and so on. Valid in this process while `self`
    /// lives.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

fn unattached() -> io::Result<Tracefs> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?;
    Ok(Tracefs {
        root: format!("/proc/self/fd/{}", mount.as_raw_fd()).into(),
        _unattached: Some(mount),
    })
}

/// Returns the id of the tracepoint of all system calls, which is constant until the machine restarts.
pub(crate) fn sys_enter_id() -> io::Result<u64> {
    static ID: AtomicU64 = AtomicU64::new(0);
    match ID.load(Ordering::Relaxed) {
        0 => {
            let id = read_id(&Tracefs::open()?, "events/raw_syscalls/sys_enter/id")?;
            ID.store(id, Ordering::Relaxed);
            Ok(id)
        }
        id => Ok(id),
    }
}

fn read_id(tracefs: &Tracefs, path: &str) -> io::Result<u64> {
    let text = std::fs::read_to_string(tracefs.root().join(path))?;
    text.trim().parse().map_err(|_| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{path} contains `{}`, which is not a number", text.trim()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_include_scheduler_events() {
        match Tracefs::open() {
            Ok(tracefs) => assert!(tracefs.root().join("events/sched/sched_switch/format").exists()),
            Err(error) => {
                assert!(error.to_string().contains("as root"), "{error}");
                punctual_fixtures::skip_error(&error);
            }
        }
    }
}

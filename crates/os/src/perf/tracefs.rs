//! The kernel's number of a tracepoint.

use std::io;
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Mode, OFlags, openat};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use super::PerfError;

const SYS_ENTER: &str = "events/raw_syscalls/sys_enter/id";

/// The number of the tracepoint that every system call passes. It stays the same until the machine restarts.
pub(super) fn sys_enter_id() -> Result<u64, PerfError> {
    static ID: AtomicU64 = AtomicU64::new(0);
    match ID.load(Ordering::Relaxed) {
        0 => {
            let id = read_id(SYS_ENTER).map_err(|source| PerfError::NoTracepoint {
                name: "raw_syscalls:sys_enter",
                source,
            })?;
            ID.store(id, Ordering::Relaxed);
            Ok(id)
        }
        id => Ok(id),
    }
}

fn read_id(path: &str) -> io::Result<u64> {
    let text = std::fs::read_to_string(format!("/sys/kernel/tracing/{path}"))
        .or_else(|_| std::fs::read_to_string(format!("/sys/kernel/debug/tracing/{path}")))
        .or_else(|_| read_unmounted(path))?;
    text.trim().parse().map_err(|_| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{path} holds `{}`, no number", text.trim()),
        )
    })
}

/// Reads a file of a tracefs that is attached nowhere, so that the machine's mounts stay as they are.
fn read_unmounted(path: &str) -> io::Result<String> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let root = fsmount(
        &context,
        FsMountFlags::FSMOUNT_CLOEXEC,
        MountAttrFlags::MOUNT_ATTR_RDONLY,
    )?;
    let file = openat(root, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut text = String::new();
    std::fs::File::from(file).read_to_string(&mut text)?;
    Ok(text)
}

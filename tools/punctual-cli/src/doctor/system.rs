//! The files and rights that the checks read.

use std::{fs, io, path::PathBuf};

use punctual_os::rights;
use rustix::process::geteuid;

/// The machine that is checked: this one, or a folder that imitates one in tests.
pub struct System {
    root: PathBuf,
    pub rights: Rights,
}

/// Rights of the process, determined by trying: no file states them.
#[derive(Clone, Debug)]
pub struct Rights {
    /// Highest permitted real-time priority.
    pub priority: Option<i16>,
    pub memory_lock: bool,
    /// Whether it runs as root.
    pub is_root: bool,
    /// Reasons for missing rights, as sentences.
    pub reasons: Vec<String>,
}

/// Why a file could not be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unread {
    /// It does not exist: not supported by the kernel, or not mounted.
    Absent,
    /// This user may not read it.
    Denied,
}

impl System {
    /// This machine.
    pub fn this() -> Self {
        let rights = rights::probe();
        Self {
            root: PathBuf::from("/"),
            rights: Rights {
                priority: rights.highest_realtime_priority.map(|priority| priority.0),
                memory_lock: rights.memory_lock,
                is_root: geteuid().is_root(),
                reasons: rights.reasons,
            },
        }
    }

    /// The machine imitated in a folder.
    #[cfg(test)]
    pub fn at(root: &std::path::Path, rights: Rights) -> Self {
        Self {
            root: root.to_owned(),
            rights,
        }
    }

    /// Reads a file, without surrounding blanks.
    pub fn read(&self, path: &str) -> Result<String, Unread> {
        let text = fs::read_to_string(self.path(path)).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => Unread::Denied,
            // Some kernel files exist and cannot be read now: treated as absent.
            _ => Unread::Absent,
        })?;
        Ok(text.trim().to_owned())
    }

    /// Reads a file that contains a number.
    pub fn number(&self, path: &str) -> Result<i64, Unread> {
        self.read(path)?.parse().map_err(|_| Unread::Absent)
    }

    /// Names of a folder's entries, sorted.
    pub fn list(&self, path: &str) -> Result<Vec<String>, Unread> {
        let entries = fs::read_dir(self.path(path)).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => Unread::Denied,
            _ => Unread::Absent,
        })?;
        let mut names: Vec<_> = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        Ok(names)
    }

    /// The name of a symbolic link's target.
    pub fn link_target(&self, path: &str) -> Option<String> {
        let target = fs::read_link(self.path(path)).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }

    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Release and version of the kernel, as printed by `uname -r` and `uname -v`.
    pub fn kernel(&self) -> (String, String) {
        let read = |path| self.read(path).unwrap_or_default();
        (
            read("/proc/sys/kernel/osrelease"),
            read("/proc/sys/kernel/version"),
        )
    }

    /// Major and minor number of the kernel's version.
    pub fn kernel_version(&self) -> Option<(u32, u32)> {
        let (release, _) = self.kernel();
        let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }

    /// Whether this is probably a container: most settings are then changed on the host.
    pub fn is_container(&self) -> bool {
        // Kernel threads are invisible in containers, even if the files come from a container image.
        if self.read("/proc/2/comm").as_deref() == Ok("kthreadd") {
            return false;
        }
        let marks = ["/.dockerenv", "/run/.containerenv", "/run/systemd/container"];
        let groups = self.read("/proc/1/cgroup").unwrap_or_default();
        marks.iter().any(|mark| self.exists(mark))
            || ["docker", "kubepods", "containerd", "libpod", "/lxc"]
                .iter()
                .any(|name| groups.contains(name))
    }

    /// Numbers of the online CPUs.
    pub fn online_cpus(&self) -> Vec<u32> {
        let list = self.read("/sys/devices/system/cpu/online").unwrap_or_default();
        cpus_in(&list)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

/// Numbers in a list like `0-3,7`; empty for any other text.
pub fn cpus_in(list: &str) -> Vec<u32> {
    let mut cpus = Vec::new();
    for range in list.split(',').map(str::trim).filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            cpus.extend((first..=last).take(4096));
        }
    }
    cpus
}

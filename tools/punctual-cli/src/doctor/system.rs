use std::{fs, io, path::PathBuf};

use punctual_os::rights;

/// The endsystem as it is read: this one, or a made-up tree of files.
pub struct System {
    root: PathBuf,
    pub rights: Rights,
}

/// What the process may do; found out by trying, which no file can tell.
#[derive(Clone, Debug)]
pub struct Rights {
    /// The highest real-time priority.
    pub priority: Option<i16>,
    pub memory_lock: bool,
    /// What is missing, in sentences.
    pub reasons: Vec<String>,
}

/// Why a file says nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unread {
    /// It is not there: the kernel has no such thing, or it is not mounted.
    Absent,
    /// It is there, or may be, and this user may not look.
    Denied,
}

impl System {
    /// This one.
    pub fn this() -> Self {
        let rights = rights::probe();
        Self {
            root: PathBuf::from("/"),
            rights: Rights {
                priority: rights.highest_realtime_priority.map(|priority| priority.0),
                memory_lock: rights.memory_lock,
                reasons: rights.reasons,
            },
        }
    }

    /// One that lies below a folder.
    #[cfg(test)]
    pub fn at(root: &std::path::Path, rights: Rights) -> Self {
        Self {
            root: root.to_owned(),
            rights,
        }
    }

    /// What a file says, without blanks around it.
    pub fn read(&self, path: &str) -> Result<String, Unread> {
        let text = fs::read_to_string(self.path(path)).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => Unread::Denied,
            // Some files of the kernel exist and cannot be read now: as good as not there.
            _ => Unread::Absent,
        })?;
        Ok(text.trim().to_owned())
    }

    /// A number in a file.
    pub fn number(&self, path: &str) -> Result<i64, Unread> {
        self.read(path)?.parse().map_err(|_| Unread::Absent)
    }

    /// The names of a folder's entries, sorted.
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

    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// As `uname -r` and `uname -v` say.
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

    /// Whether this looks like the inside of a container: then most of what lacks is granted, or changed, outside.
    pub fn is_container(&self) -> bool {
        // Whoever sees the kernel's own threads is not inside, though its files may have come from an image for containers.
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

    /// Numbers of the CPUs in a list like `0-3,7`.
    pub fn online_cpus(&self) -> Vec<u32> {
        let list = self.read("/sys/devices/system/cpu/online").unwrap_or_default();
        cpus_in(&list)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

/// The numbers in a list like `0-3,7`; what is no such list has none.
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

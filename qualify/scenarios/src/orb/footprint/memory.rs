//! Memory of a process.

use punctual_harness::Row;
use punctual_os::TaskId;

use crate::error::Error;

/// Memory of a process, as the kernel accounts for it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Memory {
    /// Resident memory.
    pub(crate) resident_kib: u64,
    /// Resident memory without files: heap and stacks.
    pub(super) own_kib: u64,
    /// Locked address space.
    pub(super) locked_kib: u64,
    pub(super) threads: u64,
}

impl Memory {
    pub(crate) fn of(process: TaskId) -> Result<Self, Error> {
        let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        Ok(Self::parse(&status).ok_or_else(|| {
            format!("/proc/{process}/status has no lines about memory: the process has ended")
        })?)
    }

    fn parse(status: &str) -> Option<Self> {
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        Some(Self {
            resident_kib: field("VmRSS:")?,
            own_kib: field("RssAnon:")?,
            locked_kib: field("VmLck:")?,
            threads: field("Threads:")?,
        })
    }

    pub(super) fn row(self, server: &str, lanes: usize) -> Row {
        Row::new()
            .with("kind", "server")
            .with("server", server)
            .with("lanes", lanes)
            .with("threads", self.threads)
            .with("resident_kib", self.resident_kib)
            .with("own_kib", self.own_kib)
            .with("locked_kib", self.locked_kib)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_kernel_are_parsed() {
        let status =
            "Name:\tpunctual\nVmLck:\t     128 kB\nVmRSS:\t    5120 kB\nRssAnon:\t    1024 kB\nThreads:\t3\n";
        let expected = Memory {
            resident_kib: 5120,
            own_kib: 1024,
            locked_kib: 128,
            threads: 3,
        };
        assert_eq!(Memory::parse(status), Some(expected));
        assert_eq!(Memory::parse("VmRSS:\t1 kB\n"), None);
        assert!(Memory::of(TaskId::current_process()).unwrap().resident_kib > 0);
    }
}

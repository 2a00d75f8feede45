//! Fields of `/proc/N/stat`.

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TaskStat {
    /// Parent process; 0 for none.
    pub(crate) parent: i32,
    /// Start time in clock ticks since boot.
    pub(crate) started: u64,
    pub(crate) is_kernel_thread: bool,
}

impl TaskStat {
    /// Reads the fields; `None` if the thread no longer exists.
    pub(crate) fn of(thread: i32) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(format!("/proc/{thread}/stat")).ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        const KERNEL_THREAD: u64 = 0x0020_0000;
        // The name, in parentheses, may contain anything.
        let (_, rest) = stat.rsplit_once(')')?;
        // Numbered from 1, as in proc(5); the first one here, the state, is number 3.
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3);
        Some(Self {
            parent: field(4)?.parse().ok()?,
            started: field(22)?.parse().ok()?,
            is_kernel_thread: field(9)?.parse::<u64>().ok()? & KERNEL_THREAD != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_contain_parentheses() {
        let line = "42 (a) b ) S 7 42 42 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
        let expected = TaskStat {
            parent: 7,
            started: 4711,
            is_kernel_thread: true,
        };
        assert_eq!(TaskStat::parse(line), Some(expected));
        assert_eq!(TaskStat::parse("42 (a) S 7"), None);
    }

    #[test]
    fn own_threads_are_not_kernel_threads() {
        let me = i32::try_from(std::process::id()).unwrap();
        let stat = TaskStat::of(me).unwrap();
        assert_eq!(
            u32::try_from(stat.parent).unwrap(),
            std::os::unix::process::parent_id()
        );
        assert!(!stat.is_kernel_thread && stat.started > 0);
    }
}

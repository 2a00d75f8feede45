//! The kernel's real-time throttling: the share of each period that real-time threads may use, machine-wide.
//!
//! Plain access; the caller is responsible for restoring the setting.

use std::io;
use std::time::Duration;

const RUNTIME: &str = "/proc/sys/kernel/sched_rt_runtime_us";
const PERIOD: &str = "/proc/sys/kernel/sched_rt_period_us";

/// Time that real-time threads may use of each [`period`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RealtimeRuntime {
    /// No throttling, -1 in the file. A real-time thread that never blocks then starves everything below it
    /// on its CPU.
    Unlimited,
    /// Microseconds of each period (by default 950000 of 1000000), after which no real-time thread runs.
    Microseconds(u32),
}

/// Reads the present setting.
///
/// # Errors
/// `/proc/sys/kernel/sched_rt_runtime_us` cannot be read.
pub fn runtime() -> io::Result<RealtimeRuntime> {
    let text = std::fs::read_to_string(RUNTIME).map_err(|error| naming(RUNTIME, error))?;
    RealtimeRuntime::parse(text.trim()).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!(
                "{RUNTIME} contains `{}`, which is not a valid runtime",
                text.trim()
            ),
        )
    })
}

/// Changes the setting of the whole machine permanently.
///
/// # Errors
/// `PermissionDenied`: not root. `InvalidInput`: longer than the [`period`].
pub fn set_runtime(runtime: RealtimeRuntime) -> io::Result<()> {
    std::fs::write(RUNTIME, runtime.to_string()).map_err(|error| naming(RUNTIME, error))
}

/// Reads the period of which the runtime is a part.
///
/// # Errors
/// `/proc/sys/kernel/sched_rt_period_us` cannot be read.
pub fn period() -> io::Result<Duration> {
    let text = std::fs::read_to_string(PERIOD).map_err(|error| naming(PERIOD, error))?;
    let microseconds = text.trim().parse().map_err(io::Error::other)?;
    Ok(Duration::from_micros(microseconds))
}

impl RealtimeRuntime {
    /// Parses the number in the kernel's file; the inverse of [`Display`](std::fmt::Display).
    pub fn parse(text: &str) -> Option<Self> {
        match text.parse::<i64>().ok()? {
            -1 => Some(Self::Unlimited),
            microseconds => u32::try_from(microseconds).ok().map(Self::Microseconds),
        }
    }
}

impl std::fmt::Display for RealtimeRuntime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unlimited => f.write_str("-1"),
            Self::Microseconds(microseconds) => microseconds.fmt(f),
        }
    }
}

fn naming(file: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{file}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_numbers_are_parsed_and_written() {
        for (text, runtime) in [
            ("-1", RealtimeRuntime::Unlimited),
            ("0", RealtimeRuntime::Microseconds(0)),
            ("950000", RealtimeRuntime::Microseconds(950_000)),
        ] {
            assert_eq!(RealtimeRuntime::parse(text), Some(runtime));
            assert_eq!(runtime.to_string(), text);
        }
        assert_eq!(RealtimeRuntime::parse("-2"), None);
        assert_eq!(RealtimeRuntime::parse(""), None);
    }

    /// Does not change the machine: other tests and programs depend on its setting.
    #[test]
    fn the_runtime_is_within_the_period() {
        match runtime().unwrap() {
            RealtimeRuntime::Unlimited => {}
            RealtimeRuntime::Microseconds(runtime) => {
                assert!(u128::from(runtime) <= period().unwrap().as_micros());
            }
        }
    }

    #[test]
    fn a_runtime_longer_than_the_period_is_refused() {
        let error = set_runtime(RealtimeRuntime::Microseconds(u32::MAX)).unwrap_err();
        assert!(
            matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied
            ),
            "{error:?}"
        );
        assert!(error.to_string().starts_with(RUNTIME));
    }
}

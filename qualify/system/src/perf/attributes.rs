//! The kernel's interface to counters.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::{CounterKind, PerfError};
use crate::tracefs;
use punctual_os::TaskId;

/// `perf_event_attr` in its first published size, which every kernel accepts (linux/perf_event.h).
#[repr(C)]
pub(super) struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

const FIRST_PUBLISHED_SIZE: u32 = 64;
const _: () = assert!(size_of::<Attributes>() == FIRST_PUBLISHED_SIZE as usize);

const TYPE_HARDWARE: u32 = 0;
const TYPE_SOFTWARE: u32 = 1;
const TYPE_TRACEPOINT: u32 = 2;
const HARDWARE_CPU_CYCLES: u64 = 0;
const HARDWARE_INSTRUCTIONS: u64 = 1;
const SOFTWARE_CONTEXT_SWITCHES: u64 = 3;
const READ_TOTAL_TIME_ENABLED: u64 = 1;
const READ_TOTAL_TIME_RUNNING: u64 = 2;
const FLAG_DISABLED: u64 = 1;
const FLAG_INHERIT: u64 = 1 << 1;
const FLAG_EXCLUDE_KERNEL: u64 = 1 << 5;
const FLAG_EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const FLAGS_OF_USER_MODE: u64 = FLAG_EXCLUDE_KERNEL | FLAG_EXCLUDE_HYPERVISOR;
const OPEN_CLOEXEC: libc::c_ulong = 8;

/// Requests of [`control`].
pub(super) const ENABLE: libc::c_ulong = 0x2400;
pub(super) const DISABLE: libc::c_ulong = 0x2401;
pub(super) const RESET: libc::c_ulong = 0x2403;

fn sys_enter_id() -> Result<u64, PerfError> {
    tracefs::sys_enter_id().map_err(|source| PerfError::NoTracepoint {
        name: "raw_syscalls:sys_enter",
        source,
    })
}

impl Attributes {
    pub(super) fn new(kind: CounterKind, inherit: bool) -> Result<Self, PerfError> {
        let (kind, config, flags) = match kind {
            CounterKind::Syscalls => (TYPE_TRACEPOINT, sys_enter_id()?, 0),
            CounterKind::UserCycles => (TYPE_HARDWARE, HARDWARE_CPU_CYCLES, FLAGS_OF_USER_MODE),
            CounterKind::UserInstructions => (TYPE_HARDWARE, HARDWARE_INSTRUCTIONS, FLAGS_OF_USER_MODE),
            CounterKind::ContextSwitches => (TYPE_SOFTWARE, SOFTWARE_CONTEXT_SWITCHES, 0),
        };
        Ok(Self {
            kind,
            size: FIRST_PUBLISHED_SIZE,
            config,
            sample_period: 0,
            sample_type: 0,
            read_format: READ_TOTAL_TIME_ENABLED | READ_TOTAL_TIME_RUNNING,
            flags: flags | FLAG_DISABLED | if inherit { FLAG_INHERIT } else { 0 },
            wakeup_events: 0,
            breakpoint_type: 0,
            config1: 0,
        })
    }

    /// Opens a counter of one thread on any CPU, in no group.
    pub(super) fn open(&self, thread: TaskId) -> io::Result<OwnedFd> {
        let (any_cpu, no_group): (libc::c_int, libc::c_int) = (-1, -1);
        // SAFETY: the kernel reads `size` bytes from the pointer, which is the size of `self`.
        let result = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                std::ptr::from_ref(self),
                thread.get(),
                any_cpu,
                no_group,
                OPEN_CLOEXEC,
            )
        };
        match libc::c_int::try_from(result) {
            // SAFETY: the kernel has just opened the descriptor, and nothing else uses it.
            Ok(descriptor) if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Sends a request that has no argument.
pub(super) fn control(event: &OwnedFd, request: libc::c_ulong) -> io::Result<()> {
    // SAFETY: the three requests take a number, here 0 (this counter alone), and access no memory of the
    // process.
    match unsafe { libc::ioctl(event.as_raw_fd(), request, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

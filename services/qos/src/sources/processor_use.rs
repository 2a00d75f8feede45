//! Use of processors by the process and by the whole host.

use std::{
    fs::File,
    io::{self, ErrorKind},
    os::unix::fs::FileExt,
    time::{Duration, Instant},
};

use punctual_os::{TaskId, clock};

use crate::Condition;

/// Source of a condition that is the use of processors since the last sample.
///
/// ```
/// use punctual_qos::{Condition, ProcessorUse};
///
/// let (own, all) = (Condition::new("process_cpus"), Condition::new("host_cpu_share"));
/// let mut sources = [ProcessorUse::of_process(&own)?, ProcessorUse::of_host(&all)?];
/// # while all.value().is_none() {
/// for source in &mut sources {
///     source.sample()?;
/// }
/// # }
/// assert!(own.value().is_some_and(|processors| processors >= 0.0));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ProcessorUse {
    condition: Condition,
    clocks: Clocks,
    before: Reading,
}

#[derive(Debug)]
enum Clocks {
    /// Clock of the process, read since this time.
    Process(Instant),
    /// `/proc/stat`.
    Host(File),
}

/// Busy time and available time until now, in one unit.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Reading {
    busy: u64,
    available: u64,
}

impl ProcessorUse {
    /// Use by all threads of this process, in processors: 1 is one processor all the time.
    ///
    /// # Errors
    /// As for [`Self::sample`].
    pub fn of_process(condition: &Condition) -> io::Result<Self> {
        Self::of(condition, Clocks::Process(Instant::now()))
    }

    /// Use of all processors of the host by all processes, 0 to 1, from `/proc/stat`. The kernel counts it in
    /// steps of 10 ms for each processor: sample less often than that.
    ///
    /// # Errors
    /// As for [`Self::sample`], and if `/proc` is not mounted.
    pub fn of_host(condition: &Condition) -> io::Result<Self> {
        Self::of(condition, Clocks::Host(File::open("/proc/stat")?))
    }

    fn of(condition: &Condition, clocks: Clocks) -> io::Result<Self> {
        Ok(Self {
            condition: condition.clone(),
            before: clocks.read()?,
            clocks,
        })
    }

    /// Sets the condition to the use since the last sample; if no time was counted since then, it stays. One
    /// or two system calls; no memory is allocated.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn sample(&mut self) -> io::Result<()> {
        let now = self.clocks.read()?;
        if let Some(share) = now.share_since(&self.before) {
            self.condition.set(share);
            self.before = now;
        }
        Ok(())
    }
}

impl Clocks {
    fn read(&self) -> io::Result<Reading> {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        match self {
            Self::Process(start) => Ok(Reading {
                busy: nanoseconds(clock::process_cpu_time(TaskId::current_process())?),
                available: nanoseconds(start.elapsed()),
            }),
            Self::Host(file) => {
                // The first line, which has at most ten numbers.
                let mut text = [0; 256];
                let length = file.read_at(&mut text, 0)?;
                parse(&text[..length]).ok_or_else(|| {
                    io::Error::new(
                        ErrorKind::InvalidData,
                        "/proc/stat does not begin with `cpu` and its times",
                    )
                })
            }
        }
    }
}

impl Reading {
    fn share_since(&self, before: &Self) -> Option<f64> {
        let available = self
            .available
            .checked_sub(before.available)
            .filter(|time| *time > 0)?;
        // The kernel corrects its idle time, also downwards.
        let busy = self.busy.saturating_sub(before.busy);
        Some(busy as f64 / available as f64)
    }
}

/// Reads `cpu user nice system idle iowait irq softirq steal …`; later numbers are part of the first two.
fn parse(text: &[u8]) -> Option<Reading> {
    let text = std::str::from_utf8(text).ok()?;
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let mut times = [0; 8];
    let mut words = line.split_whitespace();
    for time in &mut times {
        *time = words.next()?.parse().ok()?;
    }
    let [
        user,
        nice,
        system,
        idle,
        waiting,
        interrupts,
        soft_interrupts,
        stolen,
    ] = times;
    let busy: u64 = [user, nice, system, interrupts, soft_interrupts, stolen]
        .iter()
        .sum();
    Some(Reading {
        busy,
        available: busy + idle + waiting,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_the_kernel_counts_without_idle_time() {
        let text = b"cpu  10 20 30 400 500 1 2 3 99 98\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        let busy = 10 + 20 + 30 + 1 + 2 + 3;
        let expected = Reading {
            busy,
            available: busy + 400 + 500,
        };
        assert_eq!(parse(text), Some(expected));
        for wrong in [
            &b""[..],
            b"cpu0 1 2 3 4 5 6 7 8",
            b"cpu 1 2 3",
            b"cpu 1 2 3 x 5 6 7 8",
            b"cpu \xff",
        ] {
            assert_eq!(parse(wrong), None);
        }
        let before = Reading {
            busy: 16,
            available: 766,
        };
        assert_eq!(expected.share_since(&before), Some(0.25));
        assert_eq!(expected.share_since(&expected), None);
    }

    #[test]
    fn a_busy_thread_is_seen_and_a_sleeping_process_is_not() {
        let condition = Condition::new("process_cpus");
        let mut source = ProcessorUse::of_process(&condition).unwrap();
        let (Clocks::Process(start), used) = (&mut source.clocks, Duration::from_millis(20)) else {
            unreachable!("it is of the process");
        };
        // As if much time had passed.
        *start = start.checked_sub(Duration::from_secs(3_600)).unwrap();
        let end = clock::thread_cpu_time() + used;
        while clock::thread_cpu_time() < end {}
        let began = Instant::now();
        source.sample().unwrap();
        let idle = condition.value().unwrap();
        assert!((5e-6..0.1).contains(&idle), "20 ms of an hour: {idle}");
        let end = clock::thread_cpu_time() + used;
        while clock::thread_cpu_time() < end {}
        source.sample().unwrap();
        // Others may have had the processor, too.
        let least = used.as_secs_f64() / began.elapsed().as_secs_f64();
        let busy = condition.value().unwrap();
        assert!(busy > least * 0.99, "{busy}, at least {least}");
    }
}

//! Writing a notice on a thread that must not block.

use std::{io, os::fd::AsFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Writes to standard error if that is possible without blocking; returns whether it was. Two system calls;
/// no lock, no allocation.
///
/// For at most 4,096 octets (PIPE_BUF), which a ready pipe accepts as a whole. If another writer fills the
/// pipe first, the write blocks.
///
/// ```
/// use punctual_os::standard_error;
///
/// if !standard_error::write_at_once("this lane has a problem\n") {
///     // The pipe is full because nothing reads it: try again later.
/// }
/// ```
pub fn write_at_once(text: &str) -> bool {
    write_to(io::stderr(), text)
}

fn write_to(target: impl AsFd, text: &str) -> bool {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut descriptors = [PollFd::new(&target, PollFlags::OUT)];
    let polled = poll(&mut descriptors, Some(&now)).is_ok();
    let ready = polled && descriptors[0].revents().contains(PollFlags::OUT);
    ready && rustix::io::write(&target, text.as_bytes()) == Ok(text.len())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_full_pipe_does_not_block() {
        let (mut reader, writer) = io::pipe().unwrap();
        let line = "x".repeat(4096);
        let written = (0..1000).take_while(|_| write_to(&writer, &line)).count();
        assert!((1..1000).contains(&written), "{written}");
        assert!(!write_to(&writer, "more"));
        reader.read_exact(&mut vec![0; 4096]).unwrap();
        assert!(write_to(&writer, "more"));
    }
}

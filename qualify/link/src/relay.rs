//! One direction of a link.

use std::{
    io,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use punctual::transport::Stream;

/// Octets that are read at once.
const PART: usize = 4096;
/// Parts under way: 1 MiB. Beyond that, the sender waits.
const PARTS: usize = 256;

/// Passes octets on, each after the delay, until one of the streams ends.
pub(super) fn start(
    name: &str,
    from: &Arc<dyn Stream>,
    to: &Arc<dyn Stream>,
    delay: Duration,
) -> io::Result<()> {
    let (sender, parts) = sync_channel(PARTS);
    let (from, to) = (Arc::clone(from), Arc::clone(to));
    let spawn = |name: String| thread::Builder::new().name(name);
    spawn(format!("{name}-r")).spawn(move || receive(&*from, &sender, delay))?;
    spawn(format!("{name}-w")).spawn(move || {
        send(&parts, &*to);
        to.shutdown();
    })?;
    Ok(())
}

/// Octets, and when they are due.
type Part = (Instant, Vec<u8>);

fn receive(from: &dyn Stream, parts: &SyncSender<Part>, delay: Duration) {
    let mut buffer = [0; PART];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let part = (Instant::now() + delay, buffer[..count].to_vec());
        if parts.send(part).is_err() {
            return;
        }
    }
}

fn send(parts: &Receiver<Part>, to: &dyn Stream) {
    for (due, octets) in parts {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let mut rest = &octets[..];
        while !rest.is_empty() {
            match to.write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(_) => return,
            }
        }
    }
}

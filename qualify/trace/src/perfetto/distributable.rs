//! Tracks of distributable threads across processes.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::{DISTRIBUTABLE, Events};
use crate::distributable::{DistributableThread, Doing, Hop, Location, Span};
use crate::report::Names;

/// Maximum number of tracks; more cannot be displayed.
const MOST_TRACKS: usize = 1000;

/// Writes the tracks, and the activities of distributable threads in the rows of their OS threads, with
/// arrows between them: from a call to the OS thread that executes it and back, and from the spawning to the
/// spawned thread.
///
/// Of very many threads only the longest are drawn.
pub(super) fn tracks(
    threads: &[DistributableThread],
    names: &Names,
    events: &mut Events<'_, impl Write>,
) -> io::Result<()> {
    let drawn = drawn(threads);
    let track_of = |location: usize| location as i64 + 1;
    let tracks: HashMap<u64, i64> = drawn
        .iter()
        .enumerate()
        .map(|(location, thread)| (thread.id, track_of(location)))
        .collect();
    for (location, thread) in drawn.into_iter().enumerate() {
        let (track, called) = (track_of(location), called(thread));
        events.metadata("thread_name", DISTRIBUTABLE, track, &called)?;
        for span in &thread.spans {
            slice(track, span, &called, names, events)?;
        }
        for hop in &thread.hops {
            arrows(track, hop, events)?;
        }
        if let Some(by) = thread.spawned
            && let Some(parent) = tracks.get(&by.by)
        {
            let from = (DISTRIBUTABLE, *parent, by.at_ns);
            events.arrow("spawn", [from, (DISTRIBUTABLE, track, thread.begin_ns())])?;
        }
    }
    Ok(())
}

/// Returns the drawn threads in the order of their start.
fn drawn(threads: &[DistributableThread]) -> Vec<&DistributableThread> {
    let mut drawn: Vec<_> = threads.iter().collect();
    if drawn.len() > MOST_TRACKS {
        drawn.sort_by_key(|thread| Reverse(thread.end_ns() - thread.begin_ns()));
        drawn.truncate(MOST_TRACKS);
        drawn.sort_by_key(|thread| (thread.begin_ns(), thread.id));
    }
    drawn
}

fn called(thread: &DistributableThread) -> String {
    format!("{} …{:016x}", thread.name, thread.id)
}

fn slice(
    track: i64,
    span: &Span,
    called: &str,
    names: &Names,
    events: &mut Events<'_, impl Write>,
) -> io::Result<()> {
    let Location { process, thread } = span.location;
    let (host, carrier) = (names.process(process), names.thread(thread));
    let (kind, name) = match &span.what {
        Doing::Segment { name, .. } => ("segment", name.clone()),
        Doing::Call => ("call", "calls".to_owned()),
        Doing::Running => ("running", format!("runs at {host}: {carrier}")),
        Doing::Suspended => ("suspended", format!("waits at {host}")),
        Doing::Present => ("present", format!("at {host}: {carrier}")),
    };
    let detail = json!({ "kind": kind, "process": process, "thread": thread, "carrier": carrier });
    events.slice(DISTRIBUTABLE, track, &name, span.from_ns, span.until_ns, detail)?;
    if let Doing::Segment {
        arrives, updated_ns, ..
    } = &span.what
    {
        for time_ns in updated_ns {
            events.instant(DISTRIBUTABLE, track, &format!("update {name}"), *time_ns)?;
        }
        if *arrives {
            let row = (process.into(), thread.into());
            events.slice(row.0, row.1, called, span.from_ns, span.until_ns, Value::Null)?;
        }
    }
    Ok(())
}

/// Returns the end of an arrow: at the caller the track, elsewhere the row of the OS thread.
fn arrows(track: i64, hop: &Hop, events: &mut Events<'_, impl Write>) -> io::Result<()> {
    let row =
        |(location, time_ns): (Location, u64)| (location.process.into(), location.thread.into(), time_ns);
    let (from, to) = if hop.returns {
        // The last moment of the slice from which it starts.
        (
            row((hop.from.0, hop.from.1.saturating_sub(1))),
            (DISTRIBUTABLE, track, hop.to.1),
        )
    } else {
        ((DISTRIBUTABLE, track, hop.from.1), row(hop.to))
    };
    events.arrow("distributable thread", [from, to])
}

#[cfg(test)]
mod tests;

//! The dispatch graph, in the form of [Gill 2004] figure 6: which thread runs where and when.

use punctual_report::Figure;
use punctual_sched::{
    dynamic::Time,
    simulator::{self, Arrival, Event, Model, Run, ThreadId},
};

use super::trace::thread_name;

/// Maximum of rows.
const MOST_ROWS: usize = 28;
/// Number of distinct colours and patterns.
const MOST_HOSTS: usize = 8;
/// Maximum of distinguishable spans.
const MOST_SPANS: usize = 1_500;

/// Dispatch graph of the beginning of the run: one row per thread, or per stream of recurring threads, and
/// one colour and pattern per host. `None` if no thread ran.
pub(super) fn dispatch_graph(model: &Model, events: &[Event], until: Time) -> Option<Figure> {
    let last = events.last()?.time;
    let runs = simulator::dispatch_graph(events, until.min(last.max(Time(1))), false);
    let (mut rows, mut hosts): (Vec<ThreadId>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut shown: Vec<(ThreadId, Run)> = Vec::new();
    let mut left_out = false;
    for run in runs {
        let row = row_of(model, run.thread);
        let fits = fits(&mut rows, row, MOST_ROWS) && fits(&mut hosts, run.host, MOST_HOSTS);
        if fits && shown.len() < MOST_SPANS {
            shown.push((row, run));
        } else {
            left_out = true;
        }
    }
    rows.sort_unstable();
    hosts.sort_unstable();
    let end = shown.iter().map(|(_, run)| run.to).max()?;
    let (unit, scale) = match end.0 {
        2_000_000_000.. => ("s", 1e9),
        2_000_000.. => ("ms", 1e6),
        _ => ("µs", 1e3),
    };
    let caption = format!(
        "Each row is a distributable thread{}; colour and pattern show the host on which it runs.{} After \
         [Gill 2004] figure 6.",
        if rows.iter().any(|row| recurs(model, *row)) {
            ", or the consecutive threads of a task"
        } else {
            ""
        },
        if left_out {
            " Not all of the run is drawn; --trace writes all of it."
        } else {
            ""
        }
    );
    let names = rows.iter().map(|row| name_of(model, *row));
    let figure = Figure::new("Dispatch graph")
        .caption(caption)
        .x(format!("time ({unit})"))
        .rows(names);
    let figure = hosts.iter().fold(figure, |figure, host| {
        let own = shown.iter().filter(|(_, run)| run.host == *host);
        let spans = own.filter_map(|(row, run)| {
            let place = rows.binary_search(row).ok()?;
            Some((place, run.from.0 as f64 / scale, run.to.0 as f64 / scale))
        });
        figure.spans(&model.hosts[*host as usize].name, spans)
    });
    Some(figure)
}

fn recurs(model: &Model, thread: ThreadId) -> bool {
    !matches!(model.tasks[thread.task as usize].arrival, Arrival::Once { .. })
}

/// Consecutive threads share a row; so do all threads that are started on demand.
fn row_of(model: &Model, thread: ThreadId) -> ThreadId {
    let on_demand = model.tasks[thread.task as usize].arrival == Arrival::OnDemand;
    let stream = if on_demand { 0 } else { thread.stream };
    ThreadId {
        stream,
        job: 0,
        ..thread
    }
}

fn name_of(model: &Model, row: ThreadId) -> String {
    if model.tasks[row.task as usize].arrival == Arrival::OnDemand {
        return model.tasks[row.task as usize].name.clone();
    }
    let name = thread_name(model, row);
    match name.strip_suffix(".1") {
        Some(stream) if recurs(model, row) => stream.to_owned(),
        _ => name,
    }
}

/// Adds an item that is new, if it fits; returns whether the item is in the list.
fn fits<T: PartialEq>(list: &mut Vec<T>, item: T, most: usize) -> bool {
    if list.contains(&item) {
        return true;
    }
    if list.len() == most {
        return false;
    }
    list.push(item);
    true
}

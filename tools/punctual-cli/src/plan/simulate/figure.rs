//! The dispatch graph, as [Gill 2004] figure 6 draws it: who runs where from when to when.

use punctual_report::Figure;
use punctual_sched::{
    dynamic::Time,
    simulator::{self, Arrival, Event, Model, Run, ThreadId},
};

use super::trace::thread_name;

/// Rows that fit.
const MOST_ROWS: usize = 28;
/// Colours that differ.
const MOST_HOSTS: usize = 8;
/// Spans that can be told apart.
const MOST_SPANS: usize = 1_500;

/// Of the beginning, if threads ran in it: a row for each thread, or for each stream of threads where they come again, and a
/// colour for each host.
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
        "Each row is a distributable thread{}; the colour says on which host it runs.{} After [Gill 2004] figure 6.",
        if rows.iter().any(|row| comes_again(model, *row)) {
            ", or the threads of a task that come one after the other"
        } else {
            ""
        },
        if left_out {
            " Not all of it is drawn; --trace writes all."
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

fn comes_again(model: &Model, thread: ThreadId) -> bool {
    !matches!(model.tasks[thread.task as usize].arrival, Arrival::Once { .. })
}

/// Threads that come one after the other share a row; so do all that others start.
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
        Some(stream) if comes_again(model, row) => stream.to_owned(),
        _ => name,
    }
}

/// Whether there is room for one more, if it is one.
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

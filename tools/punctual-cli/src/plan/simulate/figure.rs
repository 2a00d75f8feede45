//! The dispatch graph, as [S4] figure 6 draws it: who runs where from when to when.

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
    let mut shown: Vec<(usize, Run)> = Vec::new();
    let mut left_out = false;
    for run in runs {
        // Threads that come one after the other share a row.
        let id = ThreadId { job: 0, ..run.thread };
        let row = place(&mut rows, id, MOST_ROWS);
        let host = place(&mut hosts, run.host, MOST_HOSTS);
        match (row, host) {
            (Some(row), Some(_)) if shown.len() < MOST_SPANS => shown.push((row, run)),
            _ => left_out = true,
        }
    }
    let end = shown.iter().map(|(_, run)| run.to).max()?;
    let (unit, scale) = match end.0 {
        2_000_000_000.. => ("s", 1e9),
        2_000_000.. => ("ms", 1e6),
        _ => ("µs", 1e3),
    };
    let caption = format!(
        "Each row is a distributable thread{}; the colour says on which host it runs.{} After [S4] figure 6.",
        if rows.iter().any(|id| comes_again(model, *id)) {
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
    let names = rows.iter().map(|id| {
        let name = thread_name(model, *id);
        match name.strip_suffix(".1") {
            Some(stream) if comes_again(model, *id) => stream.to_owned(),
            _ => name,
        }
    });
    let figure = Figure::new("Dispatch graph")
        .caption(caption)
        .x(format!("time ({unit})"))
        .rows(names);
    let figure = hosts.iter().fold(figure, |figure, host| {
        let own = shown.iter().filter(|(_, run)| run.host == *host);
        let spans = own.map(|(row, run)| (*row, run.from.0 as f64 / scale, run.to.0 as f64 / scale));
        figure.spans(&model.hosts[*host as usize].name, spans)
    });
    Some(figure)
}

fn comes_again(model: &Model, thread: ThreadId) -> bool {
    !matches!(model.tasks[thread.task as usize].arrival, Arrival::Once { .. })
}


fn place<T: PartialEq>(list: &mut Vec<T>, item: T, most: usize) -> Option<usize> {
    if let Some(found) = list.iter().position(|other| *other == item) {
        return Some(found);
    }
    if list.len() == most {
        return None;
    }
    list.push(item);
    Some(list.len() - 1)
}

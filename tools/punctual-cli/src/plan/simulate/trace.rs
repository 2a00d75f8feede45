//! Records events of a simulation: all in a file, the first ones for the figure.

use std::io::{self, Write};

use punctual_harness::output_file::OutputFile;
use punctual_sched::simulator::{Arrival, Event, EventKind, Model, Observer, ThreadId};
use serde_json::json;

use crate::plan::Options;

/// Observer that records events.
pub(super) struct Watcher<'m> {
    model: &'m Model,
    file: Option<OutputFile>,
    failed: Option<io::Error>,
    /// First events, for the figure.
    first: Vec<Event>,
    most: usize,
}

/// Maximum of events kept for the figure.
const MOST_EVENTS: usize = 20_000;

impl<'m> Watcher<'m> {
    pub(super) fn new(model: &'m Model, options: &Options) -> Result<Self, String> {
        let file = options.trace.as_deref().map(OutputFile::create).transpose();
        Ok(Self {
            model,
            file: file.map_err(|error| error.to_string())?,
            failed: None,
            first: Vec::new(),
            most: if options.html.is_some() { MOST_EVENTS } else { 0 },
        })
    }

    pub(super) fn events(&self) -> &[Event] {
        &self.first
    }

    /// Writes the rest of the file; an error if not all events could be written.
    pub(super) fn finish(&mut self) -> Result<(), String> {
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        let written = self.failed.take().map_or_else(|| file.finish(), Err);
        written.map_err(|error| format!("the trace is not complete: {error}"))
    }
}

impl Observer for Watcher<'_> {
    fn event(&mut self, event: Event) {
        if self.first.len() < self.most {
            self.first.push(event);
        }
        if let Some(file) = &mut self.file
            && self.failed.is_none()
        {
            self.failed = writeln!(file, "{}", line(self.model, &event)).err();
        }
    }
}

/// One event as a line of JSON.
fn line(model: &Model, event: &Event) -> serde_json::Value {
    let mut line = json!({
        "time_ns": event.time.0,
        "host": model.hosts[event.host as usize].name,
        "thread": thread_name(model, event.thread),
        "event": event.kind.name(),
    });
    let host = |to: u32| json!(model.hosts[to as usize].name);
    let resource = |resource: u32| json!(model.resources[resource as usize].name);
    let more = match event.kind {
        EventKind::Started { processor } | EventKind::Resumed { processor } => {
            Some(("processor", json!(processor)))
        }
        EventKind::Sent { to } | EventKind::Replied { to } => Some(("to", host(to))),
        EventKind::Posted { task, to } => {
            line["task"] = json!(model.tasks[task as usize].name);
            Some(("to", host(to)))
        }
        EventKind::Spawned { thread } => Some(("spawned", json!(thread_name(model, thread)))),
        EventKind::Waiting { resource: r }
        | EventKind::Refused { resource: r }
        | EventKind::Locked { resource: r }
        | EventKind::Unlocked { resource: r } => Some(("resource", resource(r))),
        _ => None,
    };
    if let Some((name, value)) = more {
        line[name] = value;
    }
    line
}

/// Name of the task, with the numbers of stream and thread if there are several.
pub(super) fn thread_name(model: &Model, thread: ThreadId) -> String {
    let task = &model.tasks[thread.task as usize];
    let mut name = task.name.clone();
    if task.hosts.len() > 1 {
        name += &format!("/{}", thread.stream + 1);
    }
    if !matches!(task.arrival, Arrival::Once { .. }) {
        name += &format!(".{}", thread.job + 1);
    }
    name
}

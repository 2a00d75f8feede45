//! `punctual events`: serves an event channel, and takes part in a running one.

mod client;
mod gateway;
mod payload;
mod record;
mod schedule;
mod send;
mod serve;
mod tail;
mod top;

use std::{fmt, io, process::ExitCode, time::Duration};

use clap::Subcommand;
use punctual::{OrbError, SystemException};
use punctual_events::{EventError, EventType, Filter, SourceId};
use punctual_report::terminal::complain;
use punctual_tls::TlsError;

use crate::tls;

/// Address of the channel of `serve`, unless that or its clients state another.
const DEFAULT_CHANNEL: &str = "corbaloc::localhost:2830/Events";

#[derive(Debug, Subcommand)]
pub enum Events {
    /// Serve an event channel until Ctrl-C or SIGTERM
    ///
    /// Suppliers push events to the channel, and it delivers each to the consumers whose filters accept it,
    /// those of high priority first. The first line of its output is the channel's address; clients are
    /// `punctual events tail` and `send`, programs with `punctual_events::RemoteChannel`, and clients of TAO
    /// (RtecEventChannelAdmin).
    #[command(after_help = serve::HELP)]
    Serve(serve::Options),
    /// Show the events of a channel as they arrive
    ///
    /// Subscribes like any other consumer, with a queue of its own in the channel: a slow terminal loses
    /// events by the channel's overflow rule, and delays no consumer of another lane.
    #[command(after_help = tail::HELP)]
    Tail(tail::Options),
    /// Push events to a channel
    ///
    /// Ends when the channel has received the events. `punctual events top` shows which consumers get them.
    #[command(after_help = send::HELP)]
    Send(send::Options),
    /// Watch a channel: its consumers, queues, rates and losses
    #[command(after_help = top::HELP)]
    Top(top::Options),
    /// Pass the events of a channel on to another channel, or send them as datagrams
    ///
    /// A channel then spans processes and hosts: consumers of TO get the events that suppliers push to FROM.
    /// It runs until Ctrl-C or SIGTERM.
    #[command(after_help = gateway::HELP)]
    Gateway(gateway::Options),
}

/// Runs a command.
pub fn run(command: &Events) -> ExitCode {
    let done = match command {
        Events::Serve(options) => serve::run(options),
        Events::Tail(options) => tail::run(options),
        Events::Send(options) => send::run(options),
        Events::Top(options) => top::run(options),
        Events::Gateway(options) => gateway::run(options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            complain(&failed);
            ExitCode::from(match failed {
                Failed::Ended(_) => 1,
                Failed::Refused(_) => 2,
                Failed::Unreachable(_) => 3,
            })
        }
    }
}

/// Why a command ended.
#[derive(Debug)]
enum Failed {
    /// It could not begin.
    Refused(String),
    /// The channel cannot be reached, or has refused this client.
    Unreachable(String),
    /// The channel answered before, but no longer does; or the requested events did not arrive.
    Ended(String),
}

impl Failed {
    fn terminal(error: io::Error) -> Self {
        Self::Refused(format!(
            "the terminal cannot be used ({error}); try `punctual events top --once`"
        ))
    }

    /// The ORB that should listen at this endpoint cannot be built.
    fn not_built(endpoint: &str, error: OrbError) -> Self {
        tls::missing_to_listen(endpoint, &error).map_or_else(|| error.into(), Self::Refused)
    }

    /// The channel no longer answers.
    fn gone(address: &str, problem: impl fmt::Display) -> Self {
        Self::Ended(format!("the channel {address} is gone: {problem}"))
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Refused(text) | Self::Unreachable(text) | Self::Ended(text)) = self;
        f.write_str(text)
    }
}

impl From<OrbError> for Failed {
    fn from(error: OrbError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<TlsError> for Failed {
    fn from(error: TlsError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<EventError> for Failed {
    fn from(error: EventError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<SystemException> for Failed {
    fn from(error: SystemException) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

/// Events of one of the types, from one of the sources.
fn filter(types: &[i32], sources: &[i32]) -> Filter {
    let by_type = types.iter().map(|kind| Filter::event(EventType(*kind)));
    let by_source = sources
        .iter()
        .map(|source| Filter::every_event().from(SourceId(*source)));
    match (types.is_empty(), sources.is_empty()) {
        (true, true) => Filter::every_event(),
        (false, true) => Filter::any_of(by_type),
        (true, false) => Filter::any_of(by_source),
        (false, false) => Filter::each_of([Filter::any_of(by_type), Filter::any_of(by_source)]),
    }
}

/// A number with its noun: `1 event`, `2 events`.
fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Longest delay until a signal is noticed.
const SLICE: Duration = Duration::from_millis(100);

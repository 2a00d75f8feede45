//! `punctual events tail`.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    time::{Duration, Instant},
};

use clap::Args;
use punctual::Priority;
use punctual_events::RemoteSubscription;
use punctual_report::terminal;
use punctual_system::signals::Termination;

use super::{
    DEFAULT_CHANNEL, Failed, SLICE, client, filter,
    payload::{PayloadType, PayloadTypes},
    record::Record,
};
use crate::{
    arguments::{priority, seconds},
    call::from_idl::IdlFile,
    tls::TlsFile,
};

pub const HELP: &str = "\
Examples:
  punctual events tail                                 every event, until Ctrl-C
  punctual events tail --type 17 --type 18 --source 7
  punctual events tail --json --count 10 --for 5 | jq .text
  punctual events tail corbaloc::radar:2830/Events --priority 20000
  punctual events tail corbaloc:ssliop:1.2@radar:2830/Events --listen ssliop://display --tls tls.toml
  punctual events tail --name display                  with the priority that the channel's schedule gives it
  punctual events tail --idl FILE.idl --payload Track             values of typed topics
  punctual events tail --idl FILE.idl --payload 16=Track --payload 17=Alarm

A line has the time of receipt at the channel (UTC), type, source, and the payload: as a value where its \
type is known, as text where it is printable, else the first 32 octets. An `any` instead of a payload is \
shown as a value, too. On a terminal, lines are cut at its width. With --json: type, source, ttl, \
created_us, received_us and sent_us (since 1970), payload in hexadecimal digits, text or null, value or \
null, and the kind of the `any` or null.

Exit code: 0 --count events arrived, --for without --count ended, or Ctrl-C; 1 the channel ended, \
disconnected this consumer, or fewer than --count events arrived within --for; 2 the \
command line is wrong: the address, which is no channel's, or the payload; 3 the channel cannot be reached, \
or refuses this consumer.";

/// Settings of `events tail`.
#[derive(Args, Debug)]
pub struct Options {
    /// Address of the channel
    #[arg(default_value = DEFAULT_CHANNEL)]
    channel: String,
    /// Accept only events of this type, or of one of several
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<i32>,
    /// Accept only events of this source, or of one of several
    #[arg(long = "source", value_name = "SOURCE")]
    sources: Vec<i32>,
    #[command(flatten)]
    idl: IdlFile,
    /// Type of the payload in the IDL file, of all events or of those of one type
    #[arg(long = "payload", value_name = "[TYPE=]NAME", requires = "file")]
    payloads: Vec<PayloadType>,
    /// Priority at which the channel delivers, that of one of its lanes; default: the priority that its
    /// adapter gives to requests without one
    #[arg(long, value_parser = priority)]
    priority: Option<Priority>,
    /// Name of this consumer, which `top` shows, and to which a schedule of the channel may give a priority
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    /// End after this number of events
    #[arg(long, value_name = "EVENTS", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// End after this time
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    duration: Option<Duration>,
    /// Address of this host for the channel [default: its address on the network towards the channel]
    #[arg(long, value_name = "ENDPOINT")]
    listen: Option<String>,
    #[command(flatten)]
    tls: TlsFile,
}

/// Number of events that wait for the terminal, besides those that wait in the channel.
const BACKLOG: usize = 4_096;

pub fn run(options: &Options) -> Result<(), Failed> {
    let termination = Termination::watch()?;
    let idl = options.idl.read().map_err(Failed::Refused)?;
    if idl.is_some() && options.payloads.is_empty() {
        let message = "--idl has no effect without --payload: name the payload's type (--payload Track), or \
                       one for each type of event (--payload 16=Track)";
        return Err(Failed::Refused(message.to_owned()));
    }
    let types = PayloadTypes::find(idl.as_ref(), &options.payloads).map_err(Failed::Refused)?;
    let endpoint = options
        .listen
        .clone()
        .unwrap_or_else(|| client::endpoint_towards(&options.channel));
    let orb = client::orb(Some(&endpoint), &options.tls)?;
    let channel = client::channel(&orb, &options.channel, options.priority)?;
    let pool = orb.threadpool().threads(1).build()?;
    let poa = orb.root_poa().child("tail").threadpool(&pool).build()?;
    let (sender, events) = sync_channel(BACKLOG);
    let subscription = channel
        .subscribe(&poa, &filter(&options.types, &options.sources), move |received| {
            for event in received {
                // While the terminal is slow, this waits: events then queue up in the channel.
                let _ = sender.send(Record::new(event, &types));
            }
        })
        .map_err(|error| client::unreachable(&options.channel, &error))?;
    if let Some(name) = &options.name {
        subscription
            .set_name(name)
            .map_err(|error| client::unreachable(&options.channel, &error))?;
    }
    eprintln!("Subscribed at {}; Ctrl-C ends it.", options.channel);
    let shown = show(options, &events, &subscription, termination);
    // A callback that waits ends before the ORB does.
    drop(events);
    shown
}

/// Interval at which the channel is queried whether it still delivers, while no event arrives.
const ASKED_EVERY: Duration = Duration::from_secs(1);

fn show(
    options: &Options,
    events: &Receiver<Record>,
    subscription: &RemoteSubscription,
    termination: Termination,
) -> Result<(), Failed> {
    let end = options.duration.map(|duration| Instant::now() + duration);
    let mut seen = 0;
    let mut asked = Instant::now();
    loop {
        let left = end.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
        if termination.requested().is_some() {
            return Ok(());
        }
        if left.is_zero() {
            return match options.count {
                None => Ok(()),
                Some(count) => Err(Failed::Ended(format!("only {seen} of {count} events came"))),
            };
        }
        match events.recv_timeout(left.min(SLICE)) {
            Ok(record) if options.json => println!("{}", record.json()),
            Ok(record) => println!("{}", cut(record.line())),
            Err(RecvTimeoutError::Timeout) if asked.elapsed() < ASKED_EVERY => continue,
            Err(_) => {
                asked = Instant::now();
                match subscription.is_connected() {
                    Ok(true) => continue,
                    Ok(false) => {
                        let why = "it was destroyed, or disconnected this consumer because of a limit";
                        return Err(Failed::gone(&options.channel, why));
                    }
                    Err(error) => return Err(Failed::gone(&options.channel, error)),
                }
            }
        }
        seen += 1;
        if options.count == Some(seen) {
            return Ok(());
        }
    }
}

/// Cuts a line at the width of the terminal, if standard output is one.
fn cut(line: String) -> String {
    match terminal::width() {
        Some(width) if line.chars().count() > width => {
            let kept = line.chars().take(width.saturating_sub(1));
            kept.chain(['…']).collect()
        }
        _ => line,
    }
}

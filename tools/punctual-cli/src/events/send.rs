//! `punctual events send`.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use clap::{
    Args,
    builder::{RangedI64ValueParser, RangedU64ValueParser},
};
use punctual::{Orb, Priority};
use punctual_events::{RESERVED_TYPES, RemoteSupplier, rtec::rtec_event_comm::Event, time};
use punctual_system::signals::Termination;

use super::{DEFAULT_CHANNEL, Failed, SLICE, client, counted};
use crate::{arguments::priority, tls::TlsFile};

pub const HELP: &str = "\
Examples:
  punctual events send --type 17 --text hot
  punctual events send --type 16 --source 7 --hex 00ff17 --count 1000 --rate 100
  punctual events send --type 16 --count 1000000 --batch 64          as fast as the channel takes them
  punctual events send corbaloc::radar:2830/Events --type 16 --file track.bin

Types below 16 are reserved. Without --text, --hex or --file the payload is empty. A payload above \
the channel's limit (1 MiB unless it states another) is refused there; `punctual events top` counts it.

Exit code: 0 the channel received everything, or Ctrl-C; 1 the channel refused events, or ended meanwhile; 2 \
the command line is wrong: the address, which is no channel's, or the payload; 3 the channel cannot be \
reached, or refuses this supplier.";

/// Settings of `events send`.
#[derive(Args, Debug)]
pub struct Options {
    /// Address of the channel
    #[arg(default_value = DEFAULT_CHANNEL)]
    channel: String,
    /// Type of the events
    #[arg(long = "type", value_name = "TYPE", value_parser = user_type())]
    event_type: i32,
    /// Source of the events
    #[arg(long, default_value_t = 0)]
    source: i32,
    /// Number of gateways that may pass the events on
    #[arg(long, default_value_t = 1)]
    ttl: i32,
    #[command(flatten)]
    payload: Payload,
    /// Number of events; 0: until Ctrl-C
    #[arg(long, value_name = "EVENTS", default_value_t = 1)]
    count: u64,
    /// Events per second [default: without a pause]
    #[arg(long, value_name = "HZ", value_parser = rate)]
    rate: Option<f64>,
    /// Number of events in a message, from 1 to 1024
    #[arg(long, value_name = "EVENTS", default_value_t = 1, value_parser = messages())]
    batch: u64,
    /// Priority at which the channel receives the events, that of one of its lanes; default: the priority
    /// that its adapter gives to requests without one
    #[arg(long, value_parser = priority)]
    priority: Option<Priority>,
    /// Name of the supplier in `punctual events top`
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    tls: TlsFile,
}

/// Payload of the events.
#[derive(Args, Debug)]
#[group(multiple = false)]
struct Payload {
    /// Text as the payload
    #[arg(long)]
    text: Option<String>,
    /// Octets as the payload, in hexadecimal digits
    #[arg(long, value_name = "DIGITS", value_parser = octets)]
    hex: Option<Octets>,
    /// Content of a file as the payload; `-`: standard input
    #[arg(long)]
    file: Option<PathBuf>,
}

/// The argument of `--hex`.
#[derive(Clone, Debug, PartialEq)]
struct Octets(Vec<u8>);

pub fn run(options: &Options) -> Result<(), Failed> {
    let termination = Termination::watch()?;
    let payload = options.payload.read()?;
    let orb = client::orb(None, &options.tls)?;
    let channel = client::channel(&orb, &options.channel, options.priority)?;
    let supplier = channel
        .supplier(&[punctual_events::EventType(options.event_type)])
        .map_err(|error| client::unreachable(&options.channel, &error))?;
    if let Some(name) = &options.name {
        supplier
            .set_name(name)
            .map_err(|error| client::unreachable(&options.channel, &error))?;
    }
    let refused = refusals(&orb, &options.channel);
    let before = refused();
    let begun = Instant::now();
    let sent = send(options, &payload, &supplier, termination)?;
    supplier
        .flush()
        .map_err(|error| Failed::gone(&options.channel, error))?;
    let took = begun.elapsed().as_secs_f64();
    let octets = payload.len();
    // Pushing has no reply: the channel's counter shows refusals.
    if let (Some(before), Some(after)) = (before, refused())
        && after > before
    {
        let refused = after - before;
        return Err(Failed::Ended(format!(
            "the channel {} refused {refused} of {}: a payload of {} is above its limit, or a full queue \
             refused them",
            options.channel,
            counted(sent, "event"),
            counted(octets as u64, "octet")
        )));
    }
    println!(
        "Sent {} of {} in {took:.3} s.",
        counted(sent, "event"),
        counted(octets as u64, "octet")
    );
    Ok(())
}

/// Returns a function that queries how many events the channel has refused, if `serve` runs it.
fn refusals(orb: &Orb, address: &str) -> impl Fn() -> Option<u64> + use<> {
    let inspection = client::inspection(orb, address).ok();
    move || Some(inspection.as_ref()?.state().ok()?.refused)
}

/// Messages between two waits for the channel, when there is no rate: the number of messages under way stays
/// bounded.
const UNANSWERED: u64 = 256;

/// Returns the number of sent events.
fn send(
    options: &Options,
    payload: &[u8],
    supplier: &RemoteSupplier,
    termination: Termination,
) -> Result<u64, Failed> {
    let total = if options.count == 0 {
        u64::MAX
    } else {
        options.count
    };
    let mut batch = vec![event(options, payload); usize::try_from(options.batch.min(total)).unwrap_or(1)];
    let begun = Instant::now();
    let (mut sent, mut messages) = (0, 0);
    while sent < total {
        if let Some(rate) = options.rate {
            let due = begun + Duration::from_secs_f64(sent as f64 / rate);
            wait_until(due, termination);
        }
        if termination.requested().is_some() {
            break;
        }
        let number = options.batch.min(total - sent);
        let now = time::now();
        let next = &mut batch[..usize::try_from(number).unwrap_or(1)];
        next.iter_mut().for_each(|event| event.header.creation_time = now);
        supplier
            .push(next)
            .and_then(|()| {
                messages += 1;
                let waits = options.rate.is_none() && messages % UNANSWERED == 0;
                if waits { supplier.flush() } else { Ok(()) }
            })
            .map_err(|error| Failed::gone(&options.channel, format!("{error}, after {sent} events")))?;
        sent += number;
    }
    Ok(sent)
}

fn event(options: &Options, payload: &[u8]) -> Event {
    let mut event = Event::default();
    event.header.r#type = options.event_type;
    event.header.source = options.source;
    event.header.ttl = options.ttl;
    event.data.payload = payload.to_vec();
    event
}

fn wait_until(due: Instant, termination: Termination) {
    while termination.requested().is_none() {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(SLICE));
    }
}

/// Longest payload that is read: a message has no room for a longer one.
const MAX_PAYLOAD: u64 = 16 << 20;

impl Payload {
    fn read(&self) -> Result<Vec<u8>, Failed> {
        match (&self.text, &self.hex, &self.file) {
            (Some(text), ..) => Ok(text.clone().into_bytes()),
            (_, Some(Octets(octets)), _) => Ok(octets.clone()),
            (.., Some(file)) => {
                read(file).map_err(|error| Failed::Refused(format!("{}: {error}", file.display())))
            }
            _ => Ok(Vec::new()),
        }
    }
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    let source: Box<dyn Read> = match file == Path::new("-") {
        true => Box::new(std::io::stdin().lock()),
        false => Box::new(fs::File::open(file).map_err(|error| error.to_string())?),
    };
    let mut octets = Vec::new();
    let read = source.take(MAX_PAYLOAD + 1).read_to_end(&mut octets);
    read.map_err(|error| error.to_string())?;
    if octets.len() as u64 > MAX_PAYLOAD {
        return Err(format!("longer than {MAX_PAYLOAD} octets, the longest payload"));
    }
    Ok(octets)
}

fn octets(text: &str) -> Result<Octets, String> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => Ok(Octets(
            digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect(),
        )),
        _ => Err("expected an even number of hexadecimal digits, such as 00ff17".to_owned()),
    }
}

fn messages() -> RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=1024)
}

fn user_type() -> RangedI64ValueParser<i32> {
    clap::value_parser!(i32).range(i64::from(RESERVED_TYPES)..)
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.001..=1e7).contains(&rate) => Ok(rate),
        _ => Err("expected 0.001 to 10000000 events per second".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_have_two_digits_each() {
        assert_eq!(octets("00fF17"), Ok(Octets(vec![0, 0xff, 0x17])));
        assert_eq!(octets(""), Ok(Octets(Vec::new())));
        for wrong in ["0", "0g", "é0"] {
            assert!(octets(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn files_that_cannot_be_sent_are_errors() {
        assert!(read(Path::new("/nowhere")).is_err());
        assert!(
            read(Path::new("/dev/zero"))
                .unwrap_err()
                .contains("longest payload")
        );
    }
}

//! `punctual events serve`.

use std::{path::PathBuf, thread, time::Duration};

use clap::{Args, ValueEnum};
use punctual::{Inspection, Orb, Poa, Priority, PriorityModel};
use punctual_events::{ChannelBuilder, ChannelLimits, Dispatching, EventChannel, Lane, Overflow};
use punctual_system::signals::Termination;

use super::{
    Failed, SLICE,
    schedule::{self, Failures, Scheduled},
};
use crate::{arguments::priority, tls::TlsFile};

pub const HELP: &str = "\
Examples:
  punctual events serve
  punctual events serve --lane 0 --lane 32767 --queue 1024 --overflow block:100
  punctual events serve --listen iiop://192.0.2.1:2830 --name Plant --dispatching thread-per-consumer
  punctual events serve --schedule FILE.toml           and `kill -HUP PID` when the file has changed
  punctual events serve --scheduler corbaloc::localhost:2811/Scheduler
  punctual events serve --listen ssliop://radar:2830 --tls tls.toml

In another terminal:
  punctual events tail
  punctual events send --type 17 --text hot
  punctual events top

Clients connect and push with the priority of one of the lanes (`tail --priority`); without one, they use \
the lowest. Real-time priorities need a right; without it, all threads are ordinary ones (`punctual \
doctor`). docs/events.md describes the treatment of slow, dead and hostile clients.

Exit code: 0 ended by Ctrl-C or SIGTERM (background processes of a script ignore SIGINT: use \
SIGTERM); 2 it could not be started, for example because the port is in use.";

/// Suffix of a channel's name in the address of its counters.
pub const INSPECTION: &str = ".inspection";

/// Settings of `events serve`.
#[derive(Args, Debug)]
pub struct Options {
    /// Address to listen at
    #[arg(long, value_name = "ENDPOINT", default_value = "iiop://localhost:2830")]
    listen: String,
    /// Name of the channel in its address
    #[arg(long, default_value = "Events", value_parser = name)]
    name: String,
    /// Priority of threads that receive and deliver events, once for each lane [default: 0:1]
    #[arg(long = "lane", value_name = "PRIORITY[:THREADS]", value_parser = lane)]
    lanes: Vec<Lane>,
    /// Deliver with the lanes and priorities of this schedule, whose operations consumers name; SIGHUP reads
    /// it again. The first level has the highest priority of --lane [default: 32767], or a higher one if all
    /// levels need it, and each further level the next lower one; lanes below these serve all other consumers
    #[arg(long, value_name = "FILE", conflicts_with = "dispatching")]
    schedule: Option<PathBuf>,
    /// Like --schedule, with the schedule of a served scheduler (of `punctual scheduler serve` or of another
    /// vendor), and with each new one that it computes
    #[arg(long, value_name = "URL", conflicts_with_all = ["dispatching", "schedule"])]
    scheduler: Option<String>,
    /// Threads that deliver events
    #[arg(long, value_enum, default_value = "lanes")]
    dispatching: Who,
    /// Length of the queue of each consumer, in events
    #[arg(long, value_name = "EVENTS", default_value_t = ChannelBuilder::DEFAULT_QUEUE)]
    queue: usize,
    /// Rule for events that find a full queue: drop-oldest, drop-newest, disconnect, or block:MS (the
    /// supplier waits at most this long)
    #[arg(long, value_name = "RULE", default_value = "drop-oldest", value_parser = overflow)]
    overflow: Overflow,
    /// Maximum number of consumers
    #[arg(long, value_name = "NUMBER", default_value_t = ChannelLimits::default().consumers)]
    consumers: usize,
    /// Maximum number of octets of an event's payload
    #[arg(long, value_name = "OCTETS", default_value_t = ChannelLimits::default().payload)]
    payload: usize,
    /// Refuse clients that destroy the channel
    #[arg(long)]
    no_remote_destroy: bool,
    /// Let `punctual top` watch the ORB at this socket
    #[arg(long, value_name = "SOCKET")]
    inspection: Option<PathBuf>,
    #[command(flatten)]
    tls: TlsFile,
}

/// Threads that deliver events.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Who {
    /// The threads of lanes
    Lanes,
    /// The thread that received the event
    Reactive,
    /// A thread for each consumer
    ThreadPerConsumer,
}

pub fn run(options: &Options) -> Result<(), Failed> {
    let termination = Termination::watch()?;
    let lanes = match &options.lanes[..] {
        [] => vec![Lane::new(Priority::MIN, 1)],
        lanes => lanes.to_vec(),
    };
    let builder = options.tls.applied_to(Orb::builder())?;
    let mut builder = builder.listen(&*options.listen);
    if let Some(socket) = &options.inspection {
        builder = builder.inspection(Inspection::at(socket));
    }
    let orb = builder.build();
    let orb = orb.map_err(|error| Failed::not_built(&options.listen, error))?;
    let channel = channel(options, &orb, lanes.clone())?;
    let served = channel.serve(&orb, &receiving(&orb, &lanes)?)?;
    let address = orb.publish(&options.name, served.reference())?;
    let inspection = channel.serve_inspection(&inspecting(&orb)?)?;
    orb.publish(&format!("{}{INSPECTION}", options.name), &inspection)?;
    let highest = options.lanes.iter().map(|lane| lane.priority).max();
    let highest = highest.unwrap_or(Priority::MAX);
    let scheduled = options
        .schedule
        .as_deref()
        .map(|file| Scheduled::start(file, &options.name, &orb, &channel, highest));
    let scheduled = scheduled.transpose()?;
    let followed = options.scheduler.as_deref();
    let followed = followed.map(|url| schedule::follow(url, &options.name, &orb, &channel, highest));
    let followed = followed.transpose()?;
    println!("{address}");
    println!("{}", described(options, &lanes));
    if let Some((_, said)) = &scheduled {
        println!("{said}");
    }
    let mut failures = Failures::default();
    thread::scope(|scope| {
        scope.spawn(|| orb.run());
        while termination.requested().is_none() {
            if let Some((scheduled, _)) = &scheduled {
                scheduled.reload_if_requested();
            }
            if let Some(follower) = &followed {
                failures.report(follower);
            }
            thread::sleep(SLICE);
        }
        let all = channel.statistics();
        // Notifies the consumers, and receives no further event.
        channel.destroy();
        orb.shutdown();
        println!(
            "Ended. Received {} events: {} without a consumer, {} refused. Disconnected {} consumers.",
            all.received, all.unmatched, all.refused, all.disconnected
        );
    });
    Ok(())
}

fn channel(options: &Options, orb: &Orb, lanes: Vec<Lane>) -> Result<EventChannel, Failed> {
    let limits = ChannelLimits {
        consumers: options.consumers,
        payload: options.payload,
        remote_destroy: !options.no_remote_destroy,
        ..ChannelLimits::default()
    };
    let dispatching = match options.dispatching {
        Who::Lanes => Dispatching::Lanes(lanes),
        Who::Reactive => Dispatching::Reactive,
        Who::ThreadPerConsumer => Dispatching::ThreadPerConsumer,
    };
    let builder = EventChannel::builder()
        .name(&options.name)
        .orb(orb)
        .dispatching(dispatching)
        .limits(limits)
        .queue(options.queue, options.overflow);
    Ok(builder.build()?)
}

/// The adapter at which clients connect and suppliers push, with a lane of its own for each of the channel's.
fn receiving(orb: &Orb, lanes: &[Lane]) -> Result<Poa, Failed> {
    let pool = lanes.iter().fold(orb.threadpool(), |pool, lane| {
        pool.lane(lane.priority, lane.threads)
    });
    let lowest = lanes.iter().map(|lane| lane.priority).min();
    let model = PriorityModel::ClientPropagated {
        default: lowest.unwrap_or(Priority::MIN),
    };
    let poa = orb.root_poa().child("channel").threadpool(&pool.build()?);
    Ok(poa.priority_model(model).build()?)
}

/// The adapter of the counters, whose thread no supplier can occupy.
fn inspecting(orb: &Orb) -> Result<Poa, Failed> {
    let pool = orb.threadpool().threads(1).build()?;
    Ok(orb.root_poa().child("inspection").threadpool(&pool).build()?)
}

fn described(options: &Options, lanes: &[Lane]) -> String {
    let who = match options.dispatching {
        Who::Lanes => "lanes",
        Who::Reactive => "the receiving thread",
        Who::ThreadPerConsumer => "a thread per consumer",
    };
    let lanes: Vec<_> = lanes
        .iter()
        .map(|lane| format!("{}:{}", lane.priority, lane.threads))
        .collect();
    format!(
        "Lanes {} (priority:threads), delivery by {who}, queues of {} events, {}. Ctrl-C or SIGTERM ends it.",
        lanes.join(", "),
        options.queue,
        shown(options.overflow)
    )
}

fn shown(rule: Overflow) -> String {
    match rule {
        Overflow::DropOldest => "drop-oldest".to_owned(),
        Overflow::DropNewest => "drop-newest".to_owned(),
        Overflow::Disconnect => "disconnect".to_owned(),
        Overflow::Block(timeout) => format!("block:{}", timeout.as_millis()),
    }
}

fn overflow(text: &str) -> Result<Overflow, String> {
    match text {
        "drop-oldest" => Ok(Overflow::DropOldest),
        "drop-newest" => Ok(Overflow::DropNewest),
        "disconnect" => Ok(Overflow::Disconnect),
        _ => {
            let timeout = text.strip_prefix("block:").and_then(|ms| ms.parse::<u32>().ok());
            let timeout = timeout.map(|ms| Overflow::Block(Duration::from_millis(ms.into())));
            timeout.ok_or_else(|| "expected drop-oldest, drop-newest, disconnect, or block:MS".to_owned())
        }
    }
}

fn lane(text: &str) -> Result<Lane, String> {
    let (number, threads) = text.split_once(':').unwrap_or((text, "1"));
    let threads = threads.parse().ok().filter(|threads| (1..=256).contains(threads));
    let threads = threads.ok_or("expected 1 to 256 threads, such as 20000:2")?;
    Ok(Lane::new(priority(number)?, threads))
}

fn name(text: &str) -> Result<String, String> {
    match text {
        "" => Err("expected a name".to_owned()),
        _ if text.contains(['\0', '/']) => Err("expected a name without `/`".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_and_lanes_are_written_as_they_are_shown() {
        for text in ["drop-oldest", "drop-newest", "disconnect", "block:100"] {
            assert_eq!(overflow(text).map(shown), Ok(text.to_owned()));
        }
        assert!(overflow("block").is_err() && overflow("block:-1").is_err());
        assert_eq!(lane("32767:2"), Ok(Lane::new(Priority::MAX, 2)));
        for wrong in ["", "-1", "0:0", "0:1000", "32768", "0:x"] {
            assert!(lane(wrong).is_err(), "{wrong}");
        }
    }
}

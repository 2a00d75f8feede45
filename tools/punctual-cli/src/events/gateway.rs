//! `punctual events gateway`.

use std::{
    fmt,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use clap::{ArgGroup, Args};
use punctual::{Inspection, Orb, Poa, Priority, SchedulingClass};
use punctual_events::{Acknowledged, DatagramLimits, Datagrams, EventError, Gateway, GatewayStatistics};
use punctual_system::signals::Termination;

use super::{Failed, SLICE, client, filter};
use crate::{
    arguments::{priority, seconds},
    tls::TlsFile,
};

pub const HELP: &str = "\
Examples:
  punctual events gateway corbaloc::radar:2830/Events corbaloc::localhost:2830/Events
  punctual events gateway FROM TO --type 17 --source 7
  punctual events gateway FROM TO --both                     and from TO to FROM
  punctual events gateway FROM TO --acknowledged radar       loses nothing when it is restarted
  punctual events gateway FROM --udp 192.0.2.7:4000          as datagrams, to another host
  punctual events gateway TO --udp 0.0.0.0:4000 --receive    and there
  punctual events gateway CHANNEL --multicast 239.1.2.3:4000 --interface 192.0.2.1
                                                             in both directions, with all members

A channel is named by its `corbaloc:` address, which `punctual events serve` prints, or by an `IOR:`. \
Channels of TAO are supported; they do not acknowledge, and do not recognise repeated events.

An event passes through at most as many gateways as its ttl states (`punctual events send --ttl`, default \
1). A Punctual channel gets each event once, regardless of the loops and paths that the gateways form. When \
it ends, and with --every also while it runs, the gateway prints counts of events: forwarded; repeated, \
which the channel had received over another path; looped, which came back to the channel of their supplier; \
expired, whose ttl was exhausted; lost. `punctual events top` shows the same at the channel to which the \
gateway leads, `punctual top` its threads (--inspection).

Without --acknowledged, events in transit are lost when a channel or the gateway ends; the gateway connects \
again every second. With it, FROM keeps up to 4096 events for the gateway of this name, for 10 minutes after \
its last connection; beyond that, the overflow rule of FROM applies: `--overflow block:MS` loses nothing for \
that long.

Datagrams have the header of TAO's gateways. Lost datagrams are not repeated, and every host that can send \
datagrams to the address can push events: use trusted networks only.

Exit code: 0 ended by Ctrl-C, SIGTERM or --for; 2 the command line is wrong, or an address is no channel's; \
3 a channel could not be reached at the beginning, or refused the gateway.";

/// Settings of `events gateway`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("other").required(true))]
#[command(override_usage = "punctual events gateway FROM TO [OPTIONS]
       punctual events gateway CHANNEL --udp ADDRESS:PORT [--receive] [OPTIONS]
       punctual events gateway CHANNEL --multicast GROUP:PORT [OPTIONS]")]
pub struct Options {
    /// Address of the channel whose events are passed on (with --receive, of the channel that receives them)
    #[arg(value_name = "FROM")]
    from: String,
    /// Address of the channel that receives them
    #[arg(value_name = "TO", group = "other")]
    to: Option<String>,
    #[command(flatten)]
    datagrams: Network,
    /// Pass the events of TO on to FROM, too
    #[arg(long, conflicts_with_all = ["udp", "multicast"])]
    both: bool,
    /// Accept only events of this type, or of one of several
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<i32>,
    /// Accept only events of this source, or of one of several
    #[arg(long = "source", value_name = "SOURCE")]
    sources: Vec<i32>,
    /// Keep events in FROM until TO has them, under this name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["udp", "multicast"])]
    acknowledged: Option<String>,
    /// Priority at which FROM delivers and TO receives, that of a lane of each; default: the priority that
    /// the adapter of TO or, if FROM has no lane of it, of FROM gives to requests without one
    #[arg(long, value_parser = priority)]
    priority: Option<Priority>,
    /// Print the counters at this interval
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    every: Option<Duration>,
    /// End after this time
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    duration: Option<Duration>,
    /// Address of this host for the channels [default: its address on the network towards the first]
    #[arg(long, value_name = "ENDPOINT")]
    listen: Option<String>,
    /// Let `punctual top` watch the ORB at this socket
    #[arg(long, value_name = "SOCKET")]
    inspection: Option<PathBuf>,
    #[command(flatten)]
    tls: TlsFile,
}

/// Datagrams instead of a second channel.
#[derive(Args, Debug)]
struct Network {
    /// Send events to this address as datagrams, or receive them there (--receive)
    #[arg(long, value_name = "ADDRESS:PORT", group = "other")]
    udp: Option<SocketAddr>,
    /// Receive datagrams, and pass their events on to the channel
    #[arg(long, requires = "udp")]
    receive: bool,
    /// Exchange events with all gateways of this multicast group
    #[arg(long, value_name = "GROUP:PORT", group = "other")]
    multicast: Option<SocketAddrV4>,
    /// Address of this host on the network of the multicast group
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1",
        requires = "multicast"
    )]
    interface: Ipv4Addr,
    /// Number of routers plus one that datagrams to the group may pass
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "multicast")]
    hops: u8,
    /// Maximum number of octets of a datagram, from 40 to 65507
    #[arg(long, value_name = "OCTETS", default_value_t = DatagramLimits::default().datagram)]
    datagram: usize,
    /// Accept events of another vendor, without times: repeated ones are not recognised
    #[arg(long)]
    foreign: bool,
}

pub fn run(options: &Options) -> Result<(), Failed> {
    let termination = Termination::watch()?;
    let host = Host::new(options)?;
    let mut ways = Vec::new();
    for ends in ends(options)? {
        let gateway = Some(host.connect(&ends)?);
        let before = GatewayStatistics::default();
        ways.push(Way {
            ends,
            gateway,
            before,
        });
    }
    for way in &ways {
        println!("{}", way.ends);
    }
    println!("Ctrl-C or SIGTERM ends it.");
    host.watch(&mut ways, termination);
    for way in &ways {
        println!("Ended. {}", way.shown());
    }
    Ok(())
}

/// The two sides that a gateway connects.
enum Ends {
    Channels {
        from: String,
        to: String,
    },
    Sends {
        from: String,
        datagrams: Datagrams,
        to: SocketAddr,
    },
    Receives {
        datagrams: Datagrams,
        at: SocketAddr,
        to: String,
    },
}

fn ends(options: &Options) -> Result<Vec<Ends>, Failed> {
    let network = &options.datagrams;
    let channel = options.from.clone();
    if let Some(other) = &options.to {
        let there = Ends::Channels {
            from: channel.clone(),
            to: other.clone(),
        };
        let back = options.both.then(|| Ends::Channels {
            from: other.clone(),
            to: channel,
        });
        return Ok([there].into_iter().chain(back).collect());
    }
    let limits = DatagramLimits {
        datagram: network.datagram,
        ..DatagramLimits::default()
    };
    let settled = |datagrams: Datagrams| -> Result<Datagrams, EventError> {
        let datagrams = datagrams.limits(limits.clone())?;
        Ok(if network.foreign {
            datagrams.foreign()
        } else {
            datagrams
        })
    };
    let sends = |datagrams, to| Ends::Sends {
        from: channel.clone(),
        datagrams,
        to,
    };
    let receives = |datagrams: Datagrams| -> Result<Ends, EventError> {
        Ok(Ends::Receives {
            at: datagrams.local_address()?,
            datagrams,
            to: channel.clone(),
        })
    };
    Ok(match (network.udp, network.multicast) {
        (Some(address), _) if network.receive => vec![receives(settled(Datagrams::at(address)?)?)?],
        (Some(address), _) => vec![sends(settled(Datagrams::to(address)?)?, address)],
        (None, Some(group)) => {
            let datagrams = Datagrams::multicast(group, network.interface, network.hops.into())?;
            let datagrams = settled(datagrams)?;
            vec![sends(datagrams.clone(), group.into()), receives(datagrams)?]
        }
        (None, None) => Vec::new(),
    })
}

impl fmt::Display for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channels { from, to } => write!(f, "{from} -> {to}"),
            Self::Sends { from, to, .. } => write!(f, "{from} -> udp {to}"),
            Self::Receives { at, to, .. } => write!(f, "udp {at} -> {to}"),
        }
    }
}

/// The ORB of the gateways, and their settings.
struct Host<'a> {
    options: &'a Options,
    orb: Orb,
    poa: Poa,
}

/// Interval at which a channel is queried whether it still delivers.
const ASKED_EVERY: Duration = Duration::from_secs(1);

impl<'a> Host<'a> {
    fn new(options: &'a Options) -> Result<Self, Failed> {
        let endpoint = options
            .listen
            .clone()
            .unwrap_or_else(|| client::endpoint_towards(&options.from));
        let mut builder = options
            .tls
            .applied_to(Orb::builder())?
            .scheduling_class(SchedulingClass::Other)
            .lock_memory(false)
            .call_timeout(client::TIMEOUT)
            .listen(&*endpoint);
        if let Some(socket) = &options.inspection {
            builder = builder.inspection(Inspection::at(socket));
        }
        let orb = builder.build();
        let orb = orb.map_err(|error| Failed::not_built(&endpoint, error))?;
        let pool = orb.threadpool().threads(1).build()?;
        let poa = orb.root_poa().child("gateway").threadpool(&pool).build()?;
        Ok(Self { options, orb, poa })
    }

    fn connect(&self, ends: &Ends) -> Result<Gateway, Failed> {
        let priority = self.options.priority;
        let channel = |address: &str| client::channel(&self.orb, address, priority);
        let filter = filter(&self.options.types, &self.options.sources);
        let connected = match ends {
            Ends::Channels { from, to } => {
                let [source, target] = client::channels(&self.orb, from, to, priority)?;
                match &self.options.acknowledged {
                    Some(name) => source.forward_acknowledged(&target, &filter, Acknowledged::new(name)),
                    None => source.forward(&target, &self.poa, &filter, from),
                }
            }
            Ends::Sends { from, datagrams, .. } => {
                channel(from)?.send_datagrams(&self.poa, &filter, datagrams)
            }
            Ends::Receives { datagrams, at, to } => {
                channel(to)?.receive_datagrams(datagrams, &format!("udp {at}"))
            }
        };
        connected.map_err(|error| client::unreachable(&ends.to_string(), &error))
    }

    fn watch(&self, ways: &mut [Way], termination: Termination) {
        let begun = Instant::now();
        let (mut asked, mut shown) = (begun, begun);
        let is_over = || self.options.duration.is_some_and(|time| begun.elapsed() >= time);
        while termination.requested().is_none() && !is_over() {
            thread::sleep(SLICE);
            if asked.elapsed() >= ASKED_EVERY {
                asked = Instant::now();
                ways.iter_mut().for_each(|way| way.restore(self));
            }
            if self
                .options
                .every
                .is_some_and(|interval| shown.elapsed() >= interval)
            {
                shown = Instant::now();
                ways.iter().for_each(|way| println!("{}", way.shown()));
            }
        }
    }
}

/// A gateway, connected again when its channel comes back.
struct Way {
    ends: Ends,
    gateway: Option<Gateway>,
    /// Counters of the gateways before it.
    before: GatewayStatistics,
}

impl Way {
    fn restore(&mut self, host: &Host<'_>) {
        // One that acknowledges connects again by itself.
        let ended = |gateway: &mut Gateway| {
            host.options.acknowledged.is_none() && !gateway.is_connected().unwrap_or_default()
        };
        if let Some(gone) = self.gateway.take_if(ended) {
            self.before = sum(&self.before, &gone.statistics());
            eprintln!("{}: the first is gone; it is tried again every second", self.ends);
        }
        if self.gateway.is_none() {
            self.gateway = host.connect(&self.ends).ok();
            if self.gateway.is_some() {
                eprintln!("{}: connected again", self.ends);
            }
        }
    }

    fn shown(&self) -> String {
        let now = self.gateway.as_ref().map(Gateway::statistics).unwrap_or_default();
        let all = sum(&self.before, &now);
        format!("{}: {}", self.ends, super::top::counted(&all))
    }
}

fn sum(one: &GatewayStatistics, other: &GatewayStatistics) -> GatewayStatistics {
    GatewayStatistics {
        name: one.name.clone(),
        forwarded: one.forwarded + other.forwarded,
        repeated: one.repeated + other.repeated,
        returned: one.returned + other.returned,
        expired: one.expired + other.expired,
        lost: one.lost + other.lost,
        malformed: one.malformed + other.malformed,
        implausible: one.implausible + other.implausible,
        interrupted: one.interrupted + other.interrupted,
        reconnected: one.reconnected + other.reconnected,
    }
}

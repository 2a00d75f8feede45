//! `punctual events top`.

use std::{
    io::{self, IsTerminal},
    thread,
    time::Duration,
};

use clap::Args;
use punctual::{SchedulerState, SystemException};
use punctual_events::{ChannelStatistics, ConsumerStatistics, GatewayStatistics, SupplierStatistics};
use punctual_report::terminal::fitted;
use punctual_system::signals::Termination;
use ratatui::{
    Frame,
    layout::{Constraint, Layout},
    style::{Color, Modifier, Style},
    text::Line,
};
use serde_json::{Value, json};

use super::{DEFAULT_CHANNEL, Failed, client};
use crate::{
    columns::{self, Column, column},
    live::{self, Watch},
    tls::TlsFile,
    top::interval,
};

pub const HELP: &str = "\
Examples:
  punctual events top
  punctual events top corbaloc::radar:2830/Events --interval 0.5
  punctual events top --once
  punctual events top --json > channel.json

Each row shows a consumer, highest priority first, by its name or the address of its object: its queue \
(waiting/length), the most events that waited, events delivered per second, and, since it subscribed, events \
delivered, lost because the queue was full, lost-own (lost in a queue of the consumer's process, queried \
every 5 s), failed, late (delivered after their deadline), cancelled (dropped because they could no longer \
meet it). Yellow: the consumer has lost events in the last interval; red: its queue is full. Unmatched \
events have no consumer; refused ones were too long. Events lost and failed are those of all consumers, \
former ones included; refused subscriptions had filters that were too deep, too long or no filters, or met \
another limit of the channel. A consumer fails if its last delivery did, or if it does not answer queries. \
Below the table are the suppliers of other processes that push most, by name or address, with the events \
that consumers lost because a queue was full (--json has all of them), the scheduler of `serve --schedule` \
with what it has refused, the reasons, and the gateways that lead to the channel (`punctual events \
gateway`) or export its events.

Keys: q, Esc or Ctrl-C quits, + and - change the interval.

Exit code: 0 shown; 1 the channel ended meanwhile; 2 the \
address is no channel's, or its program does not publish its counters; 3 the channel cannot be reached.";

/// Settings of `events top`.
#[derive(Args, Debug)]
pub struct Options {
    /// Address of the channel, as `punctual events serve` prints it
    #[arg(default_value = DEFAULT_CHANNEL)]
    channel: String,
    /// Refresh interval in seconds
    #[arg(long, value_name = "S", default_value = "1", value_parser = interval)]
    interval: Duration,
    /// Print one table and exit, as without a terminal
    #[arg(long)]
    once: bool,
    /// Print one JSON object with all counters, including rates of the interval, and exit
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tls: TlsFile,
}

pub fn run(options: &Options) -> Result<(), Failed> {
    let orb = client::orb(None, &options.tls)?;
    let inspection = client::inspection(&orb, &options.channel)?;
    let ask = || {
        Ok::<_, SystemException>(Answer {
            channel: ChannelStatistics::of(&inspection).map(printable)?,
            schedulers: ChannelStatistics::schedulers(&inspection)?,
        })
    };
    let ask_again = || ask().map_err(|error| Failed::gone(&options.channel, error));
    let first = ask().map_err(|error| client::unreachable(&options.channel, &error.into()))?;
    if !options.once && !options.json && io::stdout().is_terminal() && io::stdin().is_terminal() {
        let watch = Watch {
            interval: options.interval,
            termination: Termination::watch()?,
            ask: &|_: &Answer| ask_again(),
            draw: &draw,
            terminal_error: Failed::terminal,
        };
        return watch.run(first);
    }
    thread::sleep(options.interval);
    let now = ask_again()?;
    if options.json {
        println!("{}", as_json(&first, &now));
    } else {
        print!("{}", table(&first, &now));
    }
    Ok(())
}

/// State of a channel.
#[derive(Clone)]
struct Answer {
    channel: ChannelStatistics,
    schedulers: Vec<SchedulerState>,
}

/// Replaces control characters in texts of clients, which a terminal would interpret.
fn printable(mut all: ChannelStatistics) -> ChannelStatistics {
    let clean = |text: &mut String| {
        if text.chars().any(char::is_control) {
            *text = text.escape_debug().to_string();
        }
    };
    clean(&mut all.name);
    for one in all.consumers.iter_mut().chain(&mut all.last_disconnected) {
        clean(&mut one.name);
        one.error.as_mut().map(clean);
    }
    all.gateways.iter_mut().for_each(|one| clean(&mut one.name));
    for one in &mut all.suppliers {
        clean(&mut one.name);
        clean(&mut one.address);
    }
    all
}

const COLUMNS: [Column<ConsumerStatistics, Rates>; 12] = [
    column("consumer", 16, 0, |one, _| format!("{} {}", one.id, one.name)),
    column("priority", 8, 3, |one, _| one.priority.to_string()),
    column("queue", 11, 1, |one, _| {
        format!("{}/{}", one.waiting, one.capacity)
    }),
    column("most", 6, 5, |one, _| one.high_water.to_string()),
    column("events/s", 9, 0, |_, rates| format!("{:.0}", rates.delivered)),
    column("delivered", 10, 6, |one, _| one.delivered.to_string()),
    column("lost", 8, 0, |one, _| one.undelivered.lost.to_string()),
    column("lost-own", 8, 4, |one, _| {
        one.undelivered.lost_at_consumer.to_string()
    }),
    column("failed", 7, 2, |one, _| one.undelivered.failed.to_string()),
    column("late", 7, 7, |one, _| one.late.to_string()),
    column("cancelled", 9, 7, |one, _| one.undelivered.cancelled.to_string()),
    column("state", 9, 4, |one, _| state(one).to_owned()),
];

fn state(one: &ConsumerStatistics) -> &'static str {
    match (one.is_suspended, &one.error, one.is_gateway) {
        (true, ..) => "suspended",
        (false, Some(_), _) => "failing",
        (false, None, true) => "gateway",
        (false, None, false) => "",
    }
}

/// Changes of a consumer's counters, per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Rates {
    delivered: f64,
    lost: f64,
}

impl Rates {
    /// Returns the rates of a consumer between two answers; of a new one, since the first of them.
    fn of(one: &ConsumerStatistics, before: &ChannelStatistics, span: f64) -> Self {
        let earlier = before.consumers.iter().find(|earlier| earlier.id == one.id);
        let (delivered, lost) =
            earlier.map_or((0, 0), |earlier| (earlier.delivered, earlier.undelivered.lost));
        Self {
            delivered: per_second(delivered, one.delivered, span),
            lost: per_second(lost, one.undelivered.lost, span),
        }
    }
}

/// Rates of all consumers, in their order.
fn rates(before: &ChannelStatistics, now: &ChannelStatistics) -> Vec<Rates> {
    let span = span(before, now);
    let consumers = now.consumers.iter();
    consumers.map(|one| Rates::of(one, before, span)).collect()
}

fn per_second(before: u64, now: u64, span: f64) -> f64 {
    if span > 0.0 {
        now.saturating_sub(before) as f64 / span
    } else {
        0.0
    }
}

/// Seconds between two answers, by the channel's clock.
fn span(before: &ChannelStatistics, now: &ChannelStatistics) -> f64 {
    now.age.saturating_sub(before.age).as_secs_f64()
}

fn title(now: &ChannelStatistics) -> String {
    let up = now.age.as_secs();
    let (hours, minutes, seconds) = (up / 3600, up / 60 % 60, up % 60);
    format!("Channel {}, up {hours}:{minutes:02}:{seconds:02}", now.name)
}

fn totals(before: &ChannelStatistics, now: &ChannelStatistics) -> String {
    let rate = per_second(before.received, now.received, span(before, now));
    format!(
        "Received {} ({rate:.0} per second): {} unmatched, {} refused, {} deferred, {} lost, \
         {} failed, {} cancelled, {} lost at consumers. {}. {}, {}, {}; \
         {} disconnected; subscriptions refused: {} too deep, {} too long, {} malformed, {} beyond other \
         limits.",
        super::counted(now.received, "event"),
        now.unmatched,
        now.refused,
        now.deferred,
        now.undelivered.lost,
        now.undelivered.failed,
        now.undelivered.cancelled,
        now.undelivered.lost_at_consumer,
        super::counted(now.timeouts, "timeout"),
        super::counted(now.consumers.len() as u64, "consumer"),
        super::counted(
            now.suppliers.iter().filter(|one| one.is_connected).count() as u64,
            "supplier"
        ),
        super::counted(now.observers, "observer"),
        super::counted(now.disconnected, "consumer"),
        now.refusals.depth,
        now.refusals.length,
        now.refusals.malformed,
        now.refusals.limit
    )
}

/// Counters of a gateway as a sentence.
pub fn counted(one: &GatewayStatistics) -> String {
    let malformed = match one.malformed {
        0 => String::new(),
        number => format!(", {number} malformed"),
    };
    let implausible = match one.implausible {
        0 => String::new(),
        number => format!(", {number} implausible"),
    };
    let interrupted = match one.interrupted {
        0 => String::new(),
        number => format!(", interrupted {number} times, reconnected {}", one.reconnected),
    };
    format!(
        "{} forwarded, {} repeated, {} looped, {} expired, {} lost{malformed}{implausible}{interrupted}.",
        one.forwarded, one.repeated, one.returned, one.expired, one.lost
    )
}

/// The schedule in force and what was refused, as a sentence.
fn scheduled(one: &SchedulerState) -> String {
    let own = &one.statistics;
    let findings = [
        (own.cycles, "cyclic"),
        (own.contradictions, "contradicting"),
        (own.not_admitted, "without room"),
        (own.unresolved, "unresolved"),
        (own.lower_rates, "at lower rates"),
    ];
    let found = findings.iter().filter(|(number, _)| *number > 0);
    let found: String = found.map(|(number, what)| format!(", {number} {what}")).collect();
    format!(
        "Scheduler {} ({}): {} of {} operations run, {:.1}% of the processor; {}, {} refused{found}.",
        one.scheduler,
        one.strategy,
        own.running,
        own.operations,
        own.utilization * 100.0,
        super::counted(own.computations, "computation"),
        own.refused
    )
}

/// Events that a supplier has pushed per second between two answers; a new one, since the first of them.
fn pushed_per_second(one: &SupplierStatistics, before: &ChannelStatistics, span: f64) -> f64 {
    let earlier = before.suppliers.iter().find(|earlier| earlier.id == one.id);
    per_second(earlier.map_or(0, |earlier| earlier.pushed), one.pushed, span)
}

/// The suppliers that push most, as sentences, and the number of the others.
fn suppliers(before: &ChannelStatistics, now: &ChannelStatistics) -> Vec<String> {
    let span = span(before, now);
    let rated = now
        .suppliers
        .iter()
        .map(|one| (pushed_per_second(one, before, span), one));
    let mut rated: Vec<_> = rated.collect();
    rated.sort_by(|(one_rate, one), (rate, other)| {
        rate.total_cmp(one_rate).then(other.pushed.cmp(&one.pushed))
    });
    let sentence = |(rate, one): &(f64, &SupplierStatistics)| {
        let address = match one.name == one.address {
            true => String::new(),
            false => format!(" at {}", one.address),
        };
        let has_gone = if one.is_connected { "" } else { ", gone" };
        format!(
            "Supplier {} {}{address}{has_gone}: {} pushed ({rate:.0} per second), {} unmatched, {} refused, \
             {} lost by consumers.",
            one.id, one.name, one.pushed, one.unmatched, one.refused, one.lost
        )
    };
    let mut sentences: Vec<String> = rated.iter().take(SUPPLIERS).map(sentence).collect();
    let others = rated.len().saturating_sub(SUPPLIERS) as u64;
    if others > 0 {
        sentences.push(format!("{} push less.", super::counted(others, "more supplier")));
    }
    sentences
}

/// Number of suppliers that are shown.
const SUPPLIERS: usize = 5;

/// The lines below the table: suppliers, schedulers, failures of consumers, and the gateways to the channel
/// and from it.
fn remarks(before: &ChannelStatistics, now: &Answer) -> Vec<String> {
    let schedulers = now.schedulers.iter().map(scheduled);
    let now = &now.channel;
    let suppliers = suppliers(before, now).into_iter();
    let named =
        |one: &ConsumerStatistics| format!("{} {} (priority {})", one.id, one.name, one.priority.value());
    let failing = now.consumers.iter().filter_map(|one| {
        let error = one.error.as_ref()?;
        Some(format!("Consumer {} fails: {error}.", named(one)))
    });
    let last = now.last_disconnected.iter().map(|one| match &one.error {
        Some(error) => format!("Consumer {} was the last one disconnected: {error}.", named(one)),
        None => format!(
            "Consumer {} was the last one disconnected: it exceeded a limit.",
            named(one)
        ),
    });
    let more = now.consumers.iter().filter(|one| one.error.is_some()).count();
    let more = more.checked_sub(FAILING).filter(|more| *more > 0);
    let more = more.map(|more| format!("{} more fail.", super::counted(more as u64, "consumer")));
    let gateways = now.gateways.iter();
    let gateways = gateways.map(|one| format!("Gateway {}: {}", one.name, counted(one)));
    suppliers
        .chain(schedulers)
        .chain(failing.take(FAILING))
        .chain(more)
        .chain(last)
        .chain(gateways)
        .collect()
}

/// Number of failing consumers whose reason is shown.
const FAILING: usize = 5;

fn table(before: &Answer, answer: &Answer) -> String {
    let (before, now) = (&before.channel, &answer.channel);
    let rates = rates(before, now);
    let consumers = columns::to_text(&COLUMNS, now.consumers.iter().zip(&rates));
    let mut text = format!(
        "{}\n{}\n\n{consumers}\n",
        title(now),
        fitted(&totals(before, now))
    );
    for remark in remarks(before, answer) {
        text += &format!("{}\n", fitted(&remark));
    }
    text
}

fn as_json(before: &Answer, answer: &Answer) -> Value {
    let (before, now) = (&before.channel, &answer.channel);
    let span = span(before, now);
    let consumer = |one: &ConsumerStatistics| {
        let rates = Rates::of(one, before, span);
        json!({
            "id": one.id, "name": one.name, "priority": one.priority.value(), "waiting": one.waiting,
            "waiting_octets": one.octets, "capacity": one.capacity, "high_water": one.high_water, "is_suspended": one.is_suspended,
            "is_gateway": one.is_gateway, "queued": one.queued, "delivered": one.delivered,
            "sets": one.sets, "lost": one.undelivered.lost, "failed": one.undelivered.failed, "cancelled": one.undelivered.cancelled,
            "lost_at_consumer": one.undelivered.lost_at_consumer, "late": one.late, "error": one.error,
            "delivered_per_s": rates.delivered, "lost_per_s": rates.lost,
        })
    };
    let gateway = |one: &GatewayStatistics| {
        json!({
            "name": one.name, "forwarded": one.forwarded, "repeated": one.repeated, "looped": one.returned,
            "expired": one.expired, "lost": one.lost, "malformed": one.malformed,
            "implausible": one.implausible,
            "interrupted": one.interrupted, "reconnected": one.reconnected,
        })
    };
    let supplier = |one: &SupplierStatistics| {
        json!({
            "id": one.id, "name": one.name, "address": one.address, "is_connected": one.is_connected,
            "pushed": one.pushed, "unmatched": one.unmatched, "refused": one.refused, "lost": one.lost,
            "pushed_per_s": pushed_per_second(one, before, span),
        })
    };
    json!({
        "channel": now.name, "age_s": now.age.as_secs_f64(), "span_s": span, "received": now.received,
        "received_per_s": per_second(before.received, now.received, span), "unmatched": now.unmatched,
        "refused": now.refused, "deferred": now.deferred, "timeouts": now.timeouts, "disconnected": now.disconnected,
        "last_disconnected": now.last_disconnected.iter().map(|one| json!({
            "id": one.id, "name": one.name, "priority": one.priority.value(), "error": one.error,
        })).next(),
        "lost": now.undelivered.lost, "failed": now.undelivered.failed, "cancelled": now.undelivered.cancelled,
        "lost_at_consumer": now.undelivered.lost_at_consumer,
        "refused_subscriptions": {
            "depth": now.refusals.depth, "length": now.refusals.length,
            "malformed": now.refusals.malformed, "limit": now.refusals.limit,
        },
        "suppliers": now.suppliers.iter().map(supplier).collect::<Vec<_>>(), "observers": now.observers,
        "consumers": now.consumers.iter().map(consumer).collect::<Vec<_>>(),
        "gateways": now.gateways.iter().map(gateway).collect::<Vec<_>>(),
        "schedulers": answer.schedulers.iter().map(scheduler).collect::<Vec<_>>(),
    })
}

/// As `punctual top --json` shows it.
fn scheduler(one: &SchedulerState) -> Value {
    let own = &one.statistics;
    json!({
        "scheduler": one.scheduler, "strategy": one.strategy, "utilization": own.utilization,
        "last_duration_ns": u64::try_from(own.last_duration.as_nanos()).unwrap_or(u64::MAX),
        "operations": own.operations, "running": own.running, "levels": own.levels,
        "computations": own.computations, "refused": own.refused, "cycles": own.cycles,
        "unresolved": own.unresolved, "contradictions": own.contradictions,
        "not_admitted": own.not_admitted, "lower_rates": own.lower_rates,
    })
}

fn draw(frame: &mut Frame<'_>, before: &Answer, now: &Answer, interval: Duration) {
    let remarks = remarks(&before.channel, now);
    let (before, now) = (&before.channel, &now.channel);
    let width = frame.area().width;
    let (sums, sums_height) = live::wrapped(&totals(before, now), width);
    let (remarks, remarks_height) = live::wrapped(&remarks.join("\n"), width);
    let span = Duration::from_secs_f64(span(before, now));
    let (keys, keys_height) = live::keys("rates", span, interval, width);
    let [head, middle, consumers, below, last] = Layout::vertical([
        Constraint::Length(1),
        sums_height,
        Constraint::Min(2),
        remarks_height,
        keys_height,
    ])
    .areas(frame.area());
    let bold = Style::new().add_modifier(Modifier::BOLD);
    frame.render_widget(Line::styled(title(now), bold), head);
    frame.render_widget(sums, middle);
    let rates = rates(before, now);
    let rows = now.consumers.iter().zip(&rates);
    let rows = rows.map(|(one, rates)| (one, rates, style(one, rates)));
    frame.render_widget(columns::widget(&COLUMNS, consumers.width, rows), consumers);
    frame.render_widget(remarks, below);
    frame.render_widget(keys, last);
}

/// Colour of a row; the numbers show the same.
fn style(one: &ConsumerStatistics, rates: &Rates) -> Style {
    if one.waiting >= one.capacity {
        Style::new().fg(Color::Red)
    } else if rates.lost > 0.0 {
        Style::new().fg(Color::Yellow)
    } else {
        Style::new()
    }
}

#[cfg(test)]
mod tests {
    use punctual::Priority;
    use punctual_events::{Refusals, Undelivered};
    use ratatui::{Terminal, backend::TestBackend};

    use super::*;

    fn channel(seconds: u64, delivered: u64, lost: u64) -> Answer {
        Answer {
            channel: statistics(seconds, delivered, lost),
            schedulers: Vec::new(),
        }
    }

    fn statistics(seconds: u64, delivered: u64, lost: u64) -> ChannelStatistics {
        let consumer = ConsumerStatistics {
            id: 3,
            name: "log".to_owned(),
            priority: Priority::MAX,
            waiting: 5,
            octets: 500,
            capacity: 16,
            high_water: 16,
            is_suspended: false,
            is_gateway: true,
            queued: delivered,
            delivered,
            sets: 1,
            undelivered: Undelivered {
                lost,
                failed: 2,
                cancelled: 1,
                lost_at_consumer: 6,
            },
            late: 1,
            error: Some("CORBA::TIMEOUT".to_owned()),
        };
        ChannelStatistics {
            name: "plant".to_owned(),
            age: Duration::from_secs(seconds),
            received: 10 * delivered,
            deferred: 8,
            undelivered: Undelivered {
                lost: lost + 1,
                failed: 3,
                cancelled: 0,
                lost_at_consumer: 9,
            },
            refusals: Refusals {
                depth: 4,
                length: 5,
                malformed: 6,
                limit: 7,
            },
            consumers: vec![consumer],
            suppliers: vec![SupplierStatistics {
                id: 7,
                name: "sensor".to_owned(),
                address: "192.0.2.7".to_owned(),
                is_connected: true,
                pushed: 10 * delivered,
                unmatched: 1,
                refused: 2,
                lost,
            }],
            gateways: vec![GatewayStatistics {
                name: "radar".to_owned(),
                forwarded: 4,
                returned: 1,
                implausible: 3,
                interrupted: 2,
                reconnected: 1,
                ..GatewayStatistics::default()
            }],
            ..ChannelStatistics::default()
        }
    }

    #[test]
    fn rates_are_those_of_the_interval_and_of_new_consumers_since_its_beginning() {
        let (before, now) = (channel(10, 100, 7), channel(12, 300, 9));
        let object = as_json(&before, &now);
        assert_eq!(object["received_per_s"], 1000.0);
        let consumer = &object["consumers"][0];
        assert_eq!(
            (&consumer["delivered_per_s"], &consumer["lost_per_s"]),
            (&json!(100.0), &json!(1.0))
        );
        let mut without = before;
        without.channel.consumers.clear();
        assert_eq!(as_json(&without, &now)["consumers"][0]["delivered_per_s"], 150.0);
        let object = as_json(&now, &now);
        assert_eq!(object["received_per_s"], 0.0);
        assert_eq!((&object["lost"], &object["failed"]), (&json!(10), &json!(3)));
        assert_eq!(
            (&object["deferred"], &object["lost_at_consumer"]),
            (&json!(8), &json!(9))
        );
        assert_eq!(object["consumers"][0]["lost_at_consumer"], 6);
        assert_eq!(object["gateways"][0]["implausible"], 3);
        assert_eq!(object["gateways"][0]["interrupted"], 2);
        let refused = json!({"depth": 4, "length": 5, "malformed": 6, "limit": 7});
        assert_eq!(object["refused_subscriptions"], refused);
        assert_eq!(object["consumers"][0]["waiting_octets"], 500);
        let supplier = json!({
            "id": 7, "name": "sensor", "address": "192.0.2.7", "is_connected": true, "pushed": 3_000,
            "unmatched": 1, "refused": 2, "lost": 9, "pushed_per_s": 0.0,
        });
        assert_eq!(object["suppliers"], json!([supplier]));
    }

    #[test]
    fn the_table_has_each_consumer() {
        let text = table(&channel(10, 100, 7), &channel(3_612, 300, 9));
        assert!(
            text.starts_with("Channel plant, up 1:00:12\nReceived 3000 events"),
            "{text}"
        );
        let totals = text.lines().nth(1).unwrap();
        assert!(
            totals.contains("0 refused, 8 deferred, 10 lost, 3 failed, 0 cancelled, 9 lost at consumers"),
            "{totals}"
        );
        assert!(
            totals.ends_with(
                "subscriptions refused: 4 too deep, 5 too long, 6 malformed, 7 beyond other limits."
            ),
            "{totals}"
        );
        let row = text.lines().find(|line| line.contains("log")).unwrap();
        assert!(
            row.contains("32767") && row.contains("5/16") && row.contains("failing"),
            "{text}"
        );
        assert!(
            text.contains("\nConsumer 3 log (priority 32767) fails: CORBA::TIMEOUT.\n"),
            "{text}"
        );
        assert!(totals.contains(" 1 supplier, "), "{totals}");
        let supplier = "Supplier 7 sensor at 192.0.2.7: 3000 pushed (1 per second), 1 unmatched, 2 refused, \
                        9 lost by consumers.";
        assert!(text.lines().any(|line| line == supplier), "{text}");
        let gateway = "Gateway radar: 4 forwarded, 0 repeated, 1 looped, 0 expired, 0 lost, 3 implausible, \
                       interrupted 2 times, reconnected 1.";
        assert!(text.lines().any(|line| line == gateway), "{text}");
    }

    #[test]
    fn texts_of_clients_do_not_reach_the_terminal_as_commands_nor_displace_the_table() {
        let mut now = channel(10, 100, 7);
        let consumers = &mut now.channel.consumers;
        consumers[0].name = "\u{1b}[2Jlog\n".to_owned();
        *consumers = vec![consumers[0].clone(); 8];
        now.channel = printable(now.channel);
        let text = table(&now, &now);
        assert!(
            !text.contains('\u{1b}') && text.contains(r"\u{1b}[2Jlog\n"),
            "{text}"
        );
        assert_eq!(text.matches("fails: ").count(), FAILING, "{text}");
        assert!(text.contains("\n3 consumers more fail.\n"), "{text}");
    }

    #[test]
    fn suppliers_that_push_most_are_shown() {
        let mut before = statistics(10, 0, 0);
        before.suppliers = (0..8)
            .map(|id| SupplierStatistics {
                id,
                name: format!("sensor {id}"),
                address: "localhost".to_owned(),
                is_connected: id != 3,
                pushed: 1_000 - id,
                unmatched: 0,
                refused: 0,
                lost: 0,
            })
            .collect();
        let mut now = before.clone();
        now.age = Duration::from_secs(11);
        now.suppliers[3].pushed += 500;
        let shown = suppliers(&before, &now);
        assert!(
            shown[0].starts_with("Supplier 3 sensor 3 at localhost, gone: 1497 pushed (500 per second)"),
            "{shown:?}"
        );
        assert!(shown[1].starts_with("Supplier 0 sensor 0"), "{shown:?}");
        assert_eq!(
            (shown.len(), &*shown[SUPPLIERS]),
            (SUPPLIERS + 1, "3 more suppliers push less.")
        );
    }

    #[test]
    fn the_screen_shows_consumers_whatever_its_size() {
        let (before, now) = (channel(10, 100, 7), channel(12, 300, 9));
        for (width, height) in [(120, 20), (80, 24), (40, 32), (40, 6), (1, 1), (300, 100)] {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            let interval = Duration::from_secs(1);
            terminal
                .draw(|frame| draw(frame, &before, &now, interval))
                .unwrap();
            let shown = terminal.backend().to_string();
            assert!(
                width < 120
                    || shown.contains("3 log") && shown.contains("5/16") && shown.contains("radar: 4"),
                "{shown}"
            );
            // Text is wrapped, and takes as many lines as it needs.
            let words: Vec<_> = shown
                .split(['"', '\n', ' '])
                .filter(|word| !word.is_empty())
                .collect();
            let words = words.join(" ");
            for text in [
                "7 beyond other limits.",
                "interrupted 2 times, reconnected 1.",
                "q quits",
            ] {
                assert!(height < 20 || words.contains(text), "{text}: {shown}");
            }
            let header = shown.lines().find(|line| line.contains("events/s"));
            let heading = |word: &str| COLUMNS.iter().any(|column| column.heading == word);
            assert!(width < 40 || header.is_some(), "{shown}");
            for word in header.unwrap_or_default().trim_matches('"').split_whitespace() {
                assert!(heading(word), "{word} is no heading at width {width}:\n{shown}");
            }
        }
    }
}

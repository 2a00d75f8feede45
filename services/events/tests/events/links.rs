//! Links that pass nothing for a while, between a channel and a consumer, or a gateway that acknowledges.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::Duration,
};

use punctual::{Endpoint, Orb, Priority};
use punctual_events::{Acknowledged, ChannelLimits, ConsumerTolerance, EventChannel, Filter, Overflow};
use punctual_fixtures::{Finally, LONG, eventually, free_port};

use crate::{
    ALARM, TRACK,
    federation::{push, received},
    remote::{Client, Host, client, host, host_with, remote},
};

/// A relay on the loopback interface, whose threads end with their connections.
struct Link {
    port: u16,
    gate: Arc<Gate>,
    ends: Arc<AtomicBool>,
}

/// Whether octets pass.
#[derive(Default)]
struct Gate {
    is_closed: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn wait(&self) {
        let is_closed = self.is_closed.lock().unwrap();
        drop(self.opened.wait_while(is_closed, |is_closed| *is_closed).unwrap());
    }

    fn close(&self, closes: bool) {
        *self.is_closed.lock().unwrap() = closes;
        self.opened.notify_all();
    }
}

impl Link {
    fn to(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let link = Self {
            port: listener.local_addr().unwrap().port(),
            gate: Arc::default(),
            ends: Arc::default(),
        };
        let (gate, ends) = (Arc::clone(&link.gate), Arc::clone(&link.ends));
        thread::spawn(move || {
            while let Ok((near, _)) = listener.accept() {
                if ends.load(SeqCst) {
                    return;
                }
                let Ok(far) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else {
                    continue;
                };
                let copies = [near.try_clone().unwrap(), far.try_clone().unwrap()];
                for (mut from, mut to) in copies.into_iter().zip([far, near]) {
                    let gate = Arc::clone(&gate);
                    thread::spawn(move || {
                        let mut part = [0; 4_096];
                        while let Ok(count @ 1..) = from.read(&mut part) {
                            gate.wait();
                            if to.write_all(&part[..count]).is_err() {
                                break;
                            }
                        }
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
            }
        });
        link
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.gate.close(false);
        self.ends.store(true, SeqCst);
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

fn channel() -> EventChannel {
    let builder = EventChannel::builder().queue(4_096, Overflow::Block(LONG));
    builder.lane(Priority::MIN, 1).build().unwrap()
}

/// An ORB that is reached over a link.
fn behind_link() -> (Orb, Link) {
    let port = free_port();
    let link = Link::to(port);
    let endpoint = Endpoint::new(format!("iiop://127.0.0.1:{port}"));
    let endpoint = endpoint.published_as(format!("iiop://127.0.0.1:{}", link.port));
    (Orb::builder().listen(endpoint).build().unwrap(), link)
}

/// A channel that is reached over a link, and its ORB.
fn distant() -> (Host, Link, Orb) {
    let (orb, link) = behind_link();
    let (poa, served) = (orb.root_poa(), orb.clone());
    let host = host_with(channel(), Client { orb, poa });
    let runs = served.clone();
    thread::spawn(move || runs.run());
    (host, link, served)
}

/// Its events fill the buffers of the sockets; then a delivery fails.
#[test]
fn a_link_that_stops_costs_a_consumer_with_events_its_connection_and_nobody_else_anything() {
    const LENGTH: usize = 64 << 10;
    // The relay still accepts connections, each of which takes some octets before it fails.
    let limits = ChannelLimits {
        tolerance: ConsumerTolerance {
            failures: 1,
            silence: LONG,
            ..ConsumerTolerance::default()
        },
        ..ChannelLimits::default()
    };
    let most = limits.octets.queue;
    let lanes = EventChannel::builder().limits(limits).lane(Priority::MIN, 1);
    let near = host(lanes.lane(Priority::MAX, 1).build().unwrap());
    let (orb, link) = behind_link();
    let _opens = Finally(|| link.gate.close(false));
    let (poa, runs) = (orb.root_poa(), orb.clone());
    thread::spawn(move || runs.run());
    let _ends = Finally(|| orb.shutdown());
    let far = Client {
        orb: orb.clone(),
        poa,
    };
    let (sender, alarms) = mpsc::channel();
    let quiet = remote(&far, &near).subscribe(&far.poa, &Filter::event(ALARM), move |events| {
        sender.send(events.len()).unwrap();
    });
    let quiet = quiet.unwrap();
    let busy = remote(&far, &near).subscribe(&far.poa, &Filter::event(TRACK), |_| {});
    let busy = busy.unwrap();
    let (critical, delivered) = (
        Arc::new(AtomicUsize::new(0)),
        near.channel.subscribe_to(Filter::event(TRACK)),
    );
    let counted = Arc::clone(&critical);
    let _critical = delivered
        .priority(Priority::MAX)
        .queue(4_096, Overflow::Block(LONG))
        .each(move |_| {
            counted.fetch_add(1, SeqCst);
        });
    link.gate.close(true);
    let mut pushed = 0;
    eventually("the consumer behind the link is disconnected", || {
        near.channel.push_octets(TRACK, &[7; LENGTH]).unwrap();
        pushed += 1;
        eventually("the critical one has each event", || {
            critical.load(SeqCst) == pushed
        });
        let now = near.channel.statistics();
        assert!(now.consumers.iter().all(|one| one.octets <= most), "{now:?}");
        now.disconnected == 1
    });
    let counted = near.channel.statistics();
    // Whether events wait in the queue when the delivery fails, and are lost, depends on the speed of both.
    assert!(counted.undelivered.failed > 0, "{counted:?}");
    link.gate.close(false);
    assert!(!busy.is_connected().unwrap() && quiet.is_connected().unwrap());
    near.channel.push_octets(ALARM, b"").unwrap();
    assert_eq!(alarms.recv_timeout(LONG), Ok(1));
}

#[test]
fn a_gateway_that_acknowledges_loses_and_repeats_nothing_when_a_link_stops() {
    for stops_at_source in [true, false] {
        let ((far, link, orb), near) = (distant(), host(channel()));
        let _ends = Finally(|| orb.shutdown());
        let (source, target) = match stops_at_source {
            true => (&far, &near),
            false => (&near, &far),
        };
        let sink = target.channel.subscribe_to(Filter::event(TRACK));
        let sink = sink.receiver().unwrap();
        let builder = Orb::builder().call_timeout(Duration::from_secs(1));
        let orb = builder.build().unwrap();
        let client = Client { orb, ..client() };
        let settings = Acknowledged {
            batch: 7,
            interval: Duration::from_millis(1),
            retry: Duration::from_millis(10),
            ..Acknowledged::new("gateway")
        };
        let (from, to) = (remote(&client, source), remote(&client, target));
        let gateway = from
            .forward_acknowledged(&to, &Filter::event(TRACK), settings)
            .unwrap();
        let _opens = Finally(|| link.gate.close(false));
        for round in 0..2 {
            push(&source.channel, round * 200..round * 200 + 100);
            eventually("some pass", || {
                sink.subscription().statistics().queued > u64::from(round) * 200
            });
            link.gate.close(true);
            push(&source.channel, round * 200 + 100..(round + 1) * 200);
            eventually("the gateway notices", || !gateway.is_connected().unwrap());
            link.gate.close(false);
            eventually("the gateway goes on", || gateway.is_connected().unwrap());
        }
        assert_eq!(received(&sink, 400), (0..400).collect::<Vec<_>>());
        assert!(sink.try_recv().is_none());
        assert_eq!(target.channel.statistics().received, 400, "{stops_at_source}");
        assert_eq!(gateway.statistics().lost, 0);
    }
}

/// The defaults of channel and gateway. Ten seconds are what the documentation promises, and more than the
/// interval of questions to consumers: the test waits for them.
#[test]
fn a_link_that_stops_for_ten_seconds_costs_no_consumer_its_connection_and_a_gateway_what_exceeds_its_queue() {
    const PUSHED: u32 = 5_000;
    let near = host(EventChannel::builder().lane(Priority::MIN, 1).build().unwrap());
    let kept = ChannelLimits::default().gateways.kept;
    let (orb, link) = behind_link();
    let _opens = Finally(|| link.gate.close(false));
    let (poa, runs) = (orb.root_poa(), orb.clone());
    thread::spawn(move || runs.run());
    let _ends = Finally(|| orb.shutdown());
    let far = Client {
        orb: orb.clone(),
        poa,
    };
    let (sender, alarms) = mpsc::channel();
    let few = remote(&far, &near).subscribe(&far.poa, &Filter::event(ALARM), move |events| {
        for event in events {
            sender.send(event.data.payload[0]).unwrap();
        }
    });
    let few = few.unwrap();
    let (target, target_link, target_orb) = distant();
    let _target_ends = Finally(|| target_orb.shutdown());
    let sink = target.channel.subscribe_to(Filter::event(TRACK));
    let sink = sink
        .queue(PUSHED as usize, Overflow::DropNewest)
        .receiver()
        .unwrap();
    let builder = Orb::builder().call_timeout(Duration::from_secs(1));
    let between = Client {
        orb: builder.build().unwrap(),
        ..client()
    };
    let (from, to) = (remote(&between, &near), remote(&between, &target));
    let gateway = from.forward_acknowledged(&to, &Filter::event(TRACK), Acknowledged::new("gateway"));
    let gateway = gateway.unwrap();
    let _target_opens = Finally(|| target_link.gate.close(false));

    link.gate.close(true);
    target_link.gate.close(true);
    push(&near.channel, 0..PUSHED);
    for number in 0..3 {
        near.channel.push_octets(ALARM, &[number]).unwrap();
    }
    thread::sleep(Duration::from_secs(10));
    assert!(!gateway.is_connected().unwrap());
    let stopped = near.channel.statistics();
    let outbox = stopped.consumers.iter().find(|one| one.name == "outbox gateway");
    let outbox = outbox.expect("its events are kept");
    let lost = outbox.undelivered.lost;
    assert_eq!(stopped.disconnected, 0, "{stopped:?}");
    // A batch that the gateway has fetched is not in the queue, which is full unless that was after the last
    // event.
    let batch = Acknowledged::new("gateway").batch as usize;
    assert!((kept - batch..=kept).contains(&outbox.waiting), "{stopped:?}");
    assert!((1..=u64::from(PUSHED) - kept as u64).contains(&lost), "{lost}");
    assert!(alarms.try_recv().is_err());

    link.gate.close(false);
    target_link.gate.close(false);
    near.channel.push_octets(ALARM, &[3]).unwrap();
    let delivered = [(); 4].map(|()| alarms.recv_timeout(LONG).unwrap());
    assert_eq!((delivered, few.is_connected().unwrap()), ([0, 1, 2, 3], true));
    let arrived = received(&sink, PUSHED as usize - lost as usize);
    assert!(
        arrived.is_sorted_by(|one, next| one < next),
        "in order, and none twice"
    );
    assert_eq!(arrived.last(), Some(&(PUSHED - 1)));
    eventually("counted", || gateway.statistics().lost == lost);
    assert_eq!(sink.subscription().statistics().undelivered.lost, 0);
}

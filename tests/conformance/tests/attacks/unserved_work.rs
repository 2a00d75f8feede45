//! Work for which no request is served gets a share of the processor's time; requests that are served pay for
//! their parts.

use std::{
    io::{self, Write},
    net::{Shutdown, TcpStream},
    thread,
    time::{Duration, Instant},
};

use punctual::{LaneWait, Limits, ThreadPoolBuilder};
use punctual_fixtures::{
    Finally, eventually,
    peer::Peer,
    server::{Server, Setup, client},
    wire::{CANCEL_REQUEST, COMMON, FRAGMENT},
};
use punctual_os::{TaskId, clock};

const PERCENT: u32 = 5;
/// Time for which a share is measured.
const WINDOW: Duration = Duration::from_secs(1);
/// A step during which the machine takes the processor away exceeds the share, and only in its own window.
const WINDOWS: usize = 4;

fn server(pool: fn(ThreadPoolBuilder) -> ThreadPoolBuilder) -> Server {
    let limits = Limits::default()
        .unserved_percent(PERCENT)
        .max_unserved_messages(u32::MAX)
        .max_refused_requests(u32::MAX);
    let setup = Setup {
        pool,
        limits,
        ..Setup::default()
    };
    setup.start()
}

/// An opening, and messages for which no request is served.
fn floods(server: &Server) -> [(&'static str, Vec<u8>, Vec<u8>); 4] {
    let request = COMMON.request(1, &server.key(), "twice", |body| body.i32(21));
    let begun = COMMON.fragmented(&request, &[request.len() - 12]).remove(0);
    let part = COMMON.header(FRAGMENT, true, 5).u32(1).u8(0).finish();
    let unknown = COMMON.request(1, b"no such object", "twice", |body| body.i32(21));
    let cancel = COMMON.message(CANCEL_REQUEST, |message| message.u32(9));
    let locate = COMMON.locate_request(1, &server.key());
    [
        ("parts", begun, part.repeat(1000)),
        ("refused", Vec::new(), unknown.repeat(100)),
        ("cancels", Vec::new(), cancel.repeat(1000)),
        ("locates", Vec::new(), locate.repeat(100)),
    ]
}

/// Sends a burst again and again, and reads and ignores the replies, until the connection is shut down.
fn flood(stream: &TcpStream, burst: &[u8]) {
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut from, mut to) = (stream, io::sink());
            let _ = io::copy(&mut from, &mut to);
        });
        let mut to = stream;
        while to.write_all(burst).is_ok() {}
    });
}

/// The thread that serves this connection, of a lane with one thread.
pub fn serving_thread(peer: &mut Peer, server: &Server) -> TaskId {
    peer.send(&COMMON.request(1, &server.key(), "thread", |body| body));
    let thread = peer.receive().unwrap().reply().body.clone().i32();
    TaskId::new(thread).unwrap()
}

/// Whether a lane has worked for no more than a fifth of the time, in which it also served others. A thread
/// that woke for each message and put its connection off again would work for 40 % of it.
fn is_limited(&(spent, elapsed): &(Duration, Duration)) -> bool {
    spent < elapsed / 5
}

#[test]
fn a_flood_takes_its_share_and_others_are_served() {
    let pools: [fn(ThreadPoolBuilder) -> ThreadPoolBuilder; 2] = [
        |pool| pool.threads(1),
        |pool| pool.threads(1).wait(LaneWait::Blocking),
    ];
    for pool in pools {
        for number in 0..4 {
            let server = server(pool);
            let (name, opening, burst) = floods(&server).into_iter().nth(number).unwrap();
            let mut peer = Peer::connect(server.port());
            let lane = serving_thread(&mut peer, &server);
            peer.send(&opening);
            let stream = peer.into_stream();
            let client = client();
            let probe = server.reference_for(&client);
            thread::scope(|scope| {
                let attacker = scope.spawn(|| flood(&stream, &burst));
                let end = Finally(|| stream.shutdown(Shutdown::Both).unwrap());
                eventually("it is put off", || server.seen(0).connections.put_off > 0);
                let time = || clock::thread_cpu_time_of(lane).unwrap();
                let (mut calls, mut served) = (0, 0);
                let mut worked = Vec::new();
                while worked.len() < WINDOWS && !worked.last().is_some_and(is_limited) {
                    let (before, begun) = (time(), Instant::now());
                    while begun.elapsed() < WINDOW {
                        served += u32::from(probe.twice(21) == Ok(42));
                        calls += 1;
                        thread::sleep(Duration::from_millis(20));
                    }
                    worked.push((time() - before, begun.elapsed()));
                }
                let connected = !attacker.is_finished();
                drop(end);
                assert_eq!((served, connected), (calls, true), "{name}");
                assert!(
                    worked.last().is_some_and(is_limited),
                    "{name}: times for which the lane has worked, and of how much: {worked:?}"
                );
            });
        }
    }
}

#[test]
fn requests_that_are_served_pay_for_their_parts() {
    let server = server(|pool| pool.threads(1));
    let mut peer = Peer::connect(server.port());
    let lane = serving_thread(&mut peer, &server);
    let large = COMMON.request(1, &server.key(), "twice", |body| body.i32(21).raw(&[0; 400_000]));
    // Far more than the share in this time.
    let (before, begun) = (clock::thread_cpu_time_of(lane).unwrap(), Instant::now());
    let spent = || clock::thread_cpu_time_of(lane).unwrap() - before;
    let mut served = 0;
    while spent() < Duration::from_secs(3) + begun.elapsed() * PERCENT / 100 {
        peer.send(&large);
        assert_eq!(peer.receive().unwrap().reply().body.clone().i32(), 42);
        served += 1;
    }
    // A part may cost more than the whole share if the machine takes the processor away meanwhile.
    let put_off = server.seen(0).connections.put_off;
    println!("{put_off} of {served} were put off");
    assert!(put_off < served / 20, "{put_off} of {served}");
}

#[test]
fn a_request_that_waits_for_its_turn_is_served() {
    let server = server(|pool| pool.threads(1));
    let mut peer = Peer::connect(server.port());
    serving_thread(&mut peer, &server);
    // Many at once: with a round trip for each, the lane works for less than its share on a busy machine.
    const BURST: usize = 200;
    let locates = COMMON.locate_request(1, &server.key()).repeat(BURST);
    let begun = Instant::now();
    while server.seen(0).connections.put_off == 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no message is put off");
        peer.send(&locates);
        (0..BURST).for_each(|_| drop(peer.receive().unwrap()));
    }
    peer.send(&COMMON.request(1, &server.key(), "twice", |body| body.i32(21)));
    assert_eq!(peer.receive().unwrap().reply().body.clone().i32(), 42);
    // It has paid, and the next one does not wait.
    let before = server.seen(0).connections.put_off;
    for _ in 0..10 {
        peer.send(&COMMON.request(1, &server.key(), "twice", |body| body.i32(21)));
        assert_eq!(peer.receive().unwrap().reply().body.clone().i32(), 42);
    }
    assert_eq!(server.seen(0).connections.put_off, before);
}

//! The protocol itself: `corbaloc:`, unknown keys, LocateRequest, many callers, deadlines, connections that
//! are closed.

use std::{
    thread,
    time::{Duration, Instant},
};

use punctual::{Interface, ObjectRef, SystemExceptionKind};
use punctual_giop::IiopProfile;

use punctual_fixtures::waiting::holds_within;

use super::{Context, Failure, Outcome, checks, ensure, expect_eq, expect_raises};
use crate::interop::{CounterRef, PeerRef};

checks![
    corbaloc,
    unknown_key,
    locate_request,
    string_to_object_round_trip,
    concurrent_calls,
    call_timeout,
    call_after_idle_close,
];

fn corbaloc_of(x: &Context, minor: u8, key: &str) -> String {
    let IiopProfile { host, port, .. } = &x.profile;
    format!("corbaloc:iiop:1.{minor}@{host}:{port}/{key}")
}

fn versions(x: &Context) -> impl Iterator<Item = u8> {
    0..=x.profile.version.minor
}

fn corbaloc(x: &Context) -> Outcome {
    for minor in versions(x) {
        let peer: PeerRef = x.orb.resolve(&corbaloc_of(x, minor, "Interop"))?;
        expect_eq!(peer.add(minor.into(), 40)?, i32::from(minor) + 40);
        let much = peer.make_octets(100_000)?;
        ensure!(
            much.iter()
                .enumerate()
                .all(|(i, octet)| usize::from(*octet) == i % 251)
        );
        expect_eq!(much.len(), 100_000);
    }
    Ok(())
}

/// A reference with another object key, as a client may hold that outlives a server.
fn with_unknown_key(x: &Context, minor: u8) -> Result<ObjectRef, Failure> {
    let mut profile = x.profile.clone();
    profile.version.minor = minor;
    profile.object_key = b"NoSuchObject".to_vec();
    if minor == 0 {
        profile.components.clear();
    }
    let mut ior = x.peer.ior().clone();
    ior.profiles = vec![profile.encode()?];
    Ok(x.orb.resolve_object(&punctual::ior_to_string(&ior))?)
}

fn unknown_key(x: &Context) -> Outcome {
    for minor in versions(x) {
        let object = with_unknown_key(x, minor)?;
        ensure!(object.non_existent()?);
        expect_raises!(ObjectNotExist, object.unchecked::<PeerRef>().ping());
        let refused = x.orb.resolve::<PeerRef>(&corbaloc_of(x, minor, "NoSuchObject"));
        let Err(punctual::ResolveError::Call { exception, .. }) = refused else {
            return Err(Failure("an unknown corbaloc key was resolved".to_owned()));
        };
        expect_eq!(exception.kind, SystemExceptionKind::ObjectNotExist);
    }
    Ok(())
}

fn locate_request(x: &Context) -> Outcome {
    x.peer.validate_connection()?;
    let plain: PeerRef = x
        .orb
        .resolve(&corbaloc_of(x, x.profile.version.minor, "Interop"))?;
    plain.validate_connection()?;
    for minor in versions(x) {
        expect_raises!(ObjectNotExist, with_unknown_key(x, minor)?.validate_connection());
    }
    Ok(())
}

fn string_to_object_round_trip(x: &Context) -> Outcome {
    let counter = x.peer.make_counter(77)?.ok_or("nil")?;
    let again: CounterRef = x.orb.resolve(&counter.to_ior())?;
    expect_eq!(again.value()?, 77);
    ensure!(again.is_equivalent(counter.as_object()));
    Ok(())
}

fn concurrent_calls(x: &Context) -> Outcome {
    let counter = x.peer.make_counter(0)?.ok_or("nil")?;
    let caller = |thread: i32| -> Outcome {
        for i in 0..50 {
            expect_eq!(x.peer.add(thread * 1000, i)?, thread * 1000 + i);
            counter.increase(1)?;
            if i % 10 == thread {
                x.peer.pause(thread as u32 * 2)?;
            }
            if i % 25 == 0 {
                let count = 30_000 + thread as u32;
                expect_eq!(x.peer.make_octets(count)?.len(), count as usize);
            }
        }
        Ok(())
    };
    let caller = &caller;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || caller(thread))).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().expect("callers do not panic"))
    })?;
    expect_eq!(counter.value()?, 400);
    Ok(())
}

/// The client gives up on a call. The late reply must not disturb the calls that follow.
///
/// A reply that has arrived when the client looks wins over a timeout that has expired. On a busy machine the
/// client may not run between the two, so it calls until it has given up once.
fn call_timeout(x: &Context) -> Outcome {
    const PAUSE: Duration = Duration::from_millis(600);
    let hasty: PeerRef = x.peer.with_timeout(PAUSE / 3).unchecked();
    loop {
        let start = Instant::now();
        let outcome = hasty.pause(PAUSE.as_millis() as u32);
        if outcome.is_err() {
            expect_raises!(Timeout, outcome);
            break;
        }
        ensure!(start.elapsed() >= PAUSE);
    }
    expect_eq!(x.peer.add(1, 2)?, 3);
    thread::sleep(Duration::from_millis(600));
    expect_eq!(x.peer.add(3, 4)?, 7);
    Ok(())
}

/// No call may fail, or be lost, because the server closed the connection while it was idle.
fn call_after_idle_close(x: &Context) -> Outcome {
    let idle = x
        .idle_close
        .ok_or("nothing: the server closes no idle connection, so skip this")?;
    x.peer.reset_notes()?;
    thread::sleep(idle);
    expect_eq!(x.peer.add(20, 22)?, 42);
    thread::sleep(idle);
    x.peer.note(5)?;
    let noted = || x.peer.noted().is_ok_and(|noted| noted == (5, 1));
    ensure!(holds_within(Duration::from_secs(2), noted));
    Ok(())
}

//! The radar: a distributable thread begins here, calls the tracker with its deadline, and returns.

use std::{
    error::Error,
    sync::mpsc,
    thread::{self, ThreadId},
    time::Duration,
};

use punctual::rtscheduling::{
    AcceptedClaims, EarliestDeadlineFirst, RtScheduling, SchedulingParameters, SpawnSpec, storage::WordKey,
};
use punctual::{Peers, prelude::*};

punctual::include_idl!("radar");
use radar::{ConsoleRef, Sighting, TrackerRef};

/// Maximum duration of a call.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The object that the tracker calls back.
struct Console {
    plots: WordKey<u32>,
    main: ThreadId,
}

impl radar::Console for Console {
    fn noted(&self) -> Result<u32, SystemException> {
        // `sweep` has returned, and finds its stored value.
        let plots = self.plots.get().ok().flatten().unwrap_or(0);
        let moved = thread::current().id() != self.main;
        println!("radar:   called back; another OS thread: {moved}; plots noted: {plots}");
        Ok(plots)
    }
}

fn main() {
    if let Err(error) = run() {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let scheduling = RtScheduling::builder()
        .scheduler(EarliestDeadlineFirst::new())
        // The tracker, which calls back, is on this host.
        .accept_claims(Peers::SameHost, AcceptedClaims::all())
        .build()?;
    let orb = Orb::builder()
        .listen("iiop://localhost")
        .call_timeout(TIMEOUT)
        .initializer(&scheduling)
        .build()?;
    let tracker: TrackerRef = orb.resolve("corbaloc::localhost:2840/Tracker")?;
    // A variable of each distributable thread, as a thread-local variable is of each OS thread.
    let plots = WordKey::new()?;
    let pool = orb.threadpool().threads(1).build()?;
    let poa = orb.root_poa().child("radar").threadpool(&pool).build()?;
    let console: ConsoleRef = poa.activate(Console {
        plots,
        main: thread::current().id(),
    })?;
    sweep(&scheduling, &tracker, &console, plots)?;
    watch(&scheduling, &tracker)
}

/// Runs one distributable thread at two hosts.
fn sweep(
    scheduling: &RtScheduling,
    tracker: &TrackerRef,
    console: &ConsoleRef,
    plots: WordKey<u32>,
) -> Result<(), Box<dyn Error>> {
    let current = scheduling.current();
    // A thread begins with its first segment. Threads that it spawns have an earlier deadline.
    let of_spawned = due_in(scheduling, 40);
    current.segment_with_implicit("sweep", due_in(scheduling, 60), of_spawned, |_| {
        let id = current.id()?.to_string();
        let print = |seen: &Sighting| {
            let thread = if seen.thread == id {
                "the same thread"
            } else {
                "a new thread"
            };
            println!(
                "tracker: {}, {thread}, due in {}",
                seen.segment,
                rounded(seen.due_in_s)
            );
        };
        println!("radar:   sweep, due in 60 s");
        print(&tracker.plot()?);
        plots.set(1)?;

        // A nested segment with other parameters. However it ends, the parameters of `sweep` apply again.
        current.segment("correlate", due_in(scheduling, 30), |correlate| {
            println!(
                "radar:   {}, due in 30 s",
                current.current_scheduling_segment_names()?.join(" in ")
            );
            correlate.update(due_in(scheduling, 20))?;
            println!("radar:   correlate is updated, due in 20 s");
            print(&tracker.plot()?);
            plots.set(2)?;
            Ok::<_, Box<dyn Error>>(())
        })?;
        print(&tracker.plot()?);

        // To the tracker, and from there back to this host, while `main` waits.
        let noted = tracker.confirm(Some(console))?;
        println!("tracker: confirm, {noted} plots");

        // No caller waits for a oneway: a new thread with the implicit parameters executes it.
        tracker.alert()?;
        let mut alert = tracker.take_alert()?;
        while alert.thread.is_empty() {
            current.sleep_until(current.now() + Duration::from_millis(1))?;
            alert = tracker.take_alert()?;
        }
        print(&alert);
        Ok(())
    })
}

/// Cancels a distributable thread while it is at the other host.
fn watch(scheduling: &RtScheduling, tracker: &TrackerRef) -> Result<(), Box<dyn Error>> {
    let current = scheduling.current();
    let (sender, result) = mpsc::channel();
    let at_tracker = tracker.clone();
    let watch = current.segment("search", due_in(scheduling, 60), |_| {
        let watches = move || {
            let _ = sender.send(at_tracker.watch());
        };
        current.spawn("watch", None, None, SpawnSpec::default(), watches)
    })?;
    while tracker.watching()? == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    println!("radar:   watch is at the tracker; cancelled from here");
    watch.cancel_everywhere(TIMEOUT)?;
    match result.recv_timeout(2 * TIMEOUT)? {
        Err(exception) => println!("radar:   watch ends: {:?}", exception.kind),
        Ok(()) => println!("radar:   watch was not cancelled"),
    }
    Ok(())
}

fn due_in(scheduling: &RtScheduling, seconds: u64) -> SchedulingParameters {
    SchedulingParameters::Deadline {
        deadline: scheduling.now() + Duration::from_secs(seconds),
        period: Duration::ZERO,
        execution_time: Duration::ZERO,
        importance: 0,
    }
}

/// Rounds to ten seconds, so that each run prints the same.
fn rounded(seconds: f64) -> String {
    format!("{:.0} s", (seconds / 10.0).round() * 10.0)
}

//! Schedulers as a viewer of an inspected ORB sees them.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

use punctual::{Inspection, Orb};
use punctual_dispatch::Command;
use punctual_scheduling::{
    ScheduledDispatcher,
    reconfigurable::*,
    rtec::{SchedulerServant, idl::rtec_scheduler::Scheduler},
};

/// Schedulers of a snapshot, each with name, strategy and numbers from `operations` on.
fn schedulers(socket: &Path) -> Vec<String> {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(b"snapshot\n").unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    let (_, shown) = line.split_once(r#""schedulers":["#).unwrap();
    let (shown, _) = shown.split_once(']').unwrap();
    let each = shown.split(r#"{"scheduler":"#).skip(1);
    let short = each.map(|own| {
        let (name, rest) = own.split_once(r#","utilization""#).unwrap();
        let (_, numbers) = rest.split_once(r#""operations":"#).unwrap();
        format!("{name} {}", numbers.trim_end_matches(['}', ',']))
    });
    short.collect()
}

#[test]
fn schedulers_are_shown_with_their_counters_as_long_as_they_exist() {
    let name = format!("punctual-scheduling-{}.inspect", std::process::id());
    let socket = std::env::temp_dir().join(name);
    let settings = Orb::builder()
        .inspection(Inspection::at(&socket))
        .lock_memory(false);
    let orb = settings.build().unwrap();
    assert_eq!(schedulers(&socket), [""; 0]);

    let ms = Duration::from_millis;
    let mut scheduler = ReconfigurableScheduler::new(Strategy::MufFair);
    for (name, criticality, wcet) in [("radar", Criticality::High, 6), ("map", Criticality::Low, 6)] {
        let operation = Operation::new(name, criticality).tuple(ms(10), ms(wcet));
        scheduler.add(operation).unwrap();
    }
    let dispatcher = ScheduledDispatcher::<Box<dyn Command>>::start(scheduler, |_, level| level).unwrap();
    dispatcher.show(&orb, "flight");
    let refused = dispatcher.reconfigure(|changed| {
        let one = changed.add(Operation::new("one", Criticality::Low).passive(ms(1)));
        let one = one.unwrap();
        changed.depend(one, one, 1).unwrap();
    });
    assert!(refused.is_err());
    let servant = SchedulerServant::new(Strategy::Rms);
    servant.show(&orb, "Scheduler");
    servant.create("nothing runs it").unwrap();
    assert!(servant.recompute_scheduling(1, 9).is_err());
    let numbers = |running: &str, rest: &str| format!(r#"{running},"levels":{rest}"#);
    let flight = numbers(
        r#""flight","strategy":"MUF_FAIR" 2,"running":1"#,
        r#"1,"computations":2,"refused":1,"cycles":1,"unresolved":0,"contradictions":0,"not_admitted":2,"lower_rates":0"#,
    );
    let served = numbers(
        r#""Scheduler","strategy":"RMS" 0,"running":0"#,
        r#"0,"computations":1,"refused":1,"cycles":0,"unresolved":1,"contradictions":0,"not_admitted":0,"lower_rates":0"#,
    );
    assert_eq!(schedulers(&socket), [flight.clone(), served]);
    drop(servant);
    assert_eq!(schedulers(&socket), [flight]);
    drop(dispatcher);
    assert_eq!(schedulers(&socket), [""; 0]);
}

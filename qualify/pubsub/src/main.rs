//! Latency of publish/subscribe over other engines, beside which `punctual bench events` shows its own.
//!
//! Publisher, subscriber and, if the engine has one, router are processes on one CPU at SCHED_FIFO
//! priorities. An answer on standard output follows each line on standard input: the number of events to
//! publish, the latencies in nanoseconds as a JSON array.

mod engine;
mod iceoryx;
mod publisher;
mod subscriber;
mod zenoh_session;

use std::{
    env,
    error::Error,
    io,
    process::{ExitCode, exit},
    thread,
};

use punctual_os::{CpuSet, Scheduling, affinity, scheduling};
use punctual_types::NativePriority;

use engine::Engine;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Priority of the subscriber and the router.
const HIGH: i16 = 50;
/// Priority of the publisher: each event has arrived before it continues.
const LOW: i16 = 45;

const HELP: &str = "\
Usage: punctual-pubsub ENGINE CPU

ENGINE  zenoh         Zenoh, from peer to peer over TCP
        zenoh-router  Zenoh, through a router over TCP
        iceoryx2      iceoryx2: shared memory, and its event service to wake the subscriber
CPU     number of the CPU that all processes run on, at SCHED_FIFO 45 and 50

Reads numbers of events from standard input, a line each, and answers with a JSON array of the
latencies in nanoseconds. Events have 64 octets and are 500 microseconds apart.";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if matches!(words[..], [] | ["--help" | "-h"]) {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("punctual-pubsub: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    match *words {
        ["__subscriber", engine, address] => {
            begin_child()?;
            subscriber::run(engine.parse()?, address)
        }
        ["__router", address] => {
            begin_child()?;
            zenoh_session::route(address)
        }
        [engine, cpu] => {
            let engine: Engine = engine.parse()?;
            let cpu = cpu
                .parse()
                .map_err(|_| format!("`{cpu}` is not the number of a CPU"))?;
            affinity::set_current(&CpuSet::single(cpu))?;
            scheduling::set_current(Scheduling::fifo(NativePriority(LOW)))
                .map_err(|error| format!("SCHED_FIFO {LOW}: {error}; run it as root"))?;
            publisher::run(engine)
        }
        _ => Err(format!("unknown command line\n\n{HELP}").into()),
    }
}

/// A process that the publisher has started, and that ends with it.
fn begin_child() -> Result<()> {
    thread::spawn(|| {
        // Nothing comes but the end.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        exit(0);
    });
    scheduling::set_current(Scheduling::fifo(NativePriority(HIGH)))?;
    Ok(())
}

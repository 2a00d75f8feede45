//! `punctual trace`: shows what ran while something more important waited, for a command or the whole
//! machine.

mod command;

use std::{
    collections::HashSet,
    io::IsTerminal,
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use punctual_harness::{
    Claim, MachineFacts, Outcome, Row, output_file,
    supervisor::{Preparation, Supervisor},
};
use punctual_os::{CpuSet, TaskId, affinity};
use punctual_report::terminal::{complain, fitted};
use punctual_system::{process, signals::Termination};
use punctual_trace::{
    Analysis, Names, Recorded, Session, SessionSettings, kernel::KernelSettings, report, request::Request,
};

use crate::{
    error::Error,
    explain,
    report::{could_not_run, interrupted, print_skipped},
    waits,
};

/// Options of `punctual trace`.
#[derive(Clone, Debug)]
pub struct Options {
    /// End after this time, and the command with all processes that it has started; required without a
    /// command.
    pub seconds: Option<u32>,
    /// Report only waits for this CPU.
    pub cpu: Option<usize>,
    /// Report only waits of threads of these processes. If empty: of the command and the processes that it
    /// starts, or of the whole machine without a command.
    pub processes: Vec<TaskId>,
    /// Report waits of the whole machine, also with a command.
    pub machine: bool,
    /// The longest acceptable wait, in microseconds.
    pub over_us: f64,
    /// Explain calls slower than this number of microseconds.
    pub explain_over: Option<f64>,
    /// The kernel's trace buffer per CPU, in KiB.
    pub buffer_kib: usize,
    /// The number of flight records kept per thread.
    pub records_per_thread: usize,
    /// Also write everything found, as JSON, to this file.
    pub json: Option<PathBuf>,
    /// Write the timeline to this file (JSON trace format), for ui.perfetto.dev.
    pub perfetto: Option<PathBuf>,
    /// The command to run; if empty, the whole machine is traced.
    pub command: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seconds: None,
            cpu: None,
            processes: Vec::new(),
            machine: false,
            over_us: 200.0,
            explain_over: None,
            buffer_kib: KernelSettings::default().buffer_kib,
            records_per_thread: SessionSettings::default().records_per_thread,
            json: None,
            perfetto: None,
            command: Vec::new(),
        }
    }
}

/// The number of intervals in the JSON.
const MOST_INTERVALS: usize = 1000;

/// Traces, evaluates, prints, and writes the requested files. Returns the exit code of the JSON contract.
pub fn run(options: &Options) -> ExitCode {
    let files = [&options.json, &options.perfetto].into_iter().flatten();
    let checked = output_file::check_all(&[], files.map(PathBuf::as_path)).map_err(Error::from);
    match checked
        .and_then(|()| check_selection(options))
        .and_then(|()| trace(options))
    {
        Ok(outcome) => finish(options, &outcome),
        Err(error) => could_not_run("trace", &error),
    }
}

/// Checks that the selected CPU and processes exist: nothing would be found, and nothing be wrong.
fn check_selection(options: &Options) -> Result<(), Error> {
    let cpus = CpuSet::all();
    if let Some(cpu) = options.cpu.filter(|cpu| !cpus.contains(*cpu)) {
        return Err(format!("--cpu {cpu}: this machine has no such CPU; it has {cpus}").into());
    }
    let is_absent = |process: &&TaskId| !std::path::Path::new(&format!("/proc/{process}")).exists();
    match options.processes.iter().find(is_absent) {
        Some(process) => Err(format!("--pid {process}: there is no process {process}").into()),
        None => Ok(()),
    }
}

fn finish(options: &Options, outcome: &Outcome) -> ExitCode {
    for (title, table) in waits::tables(outcome, |_| true) {
        println!("{}\n{}\n", fitted(title), table.to_text());
    }
    let budgets = explain::tables(outcome, |_| true);
    if !budgets.is_empty() {
        println!("{}\n", fitted(explain::COST));
    }
    for (title, table) in budgets {
        println!("{}\n{}\n", fitted(&title), table.to_text());
    }
    if let Some(file) = &options.json {
        if let Err(error) = output_file::write_or_keep(file, outcome.to_json().as_bytes()) {
            complain(&error);
            return ExitCode::from(2);
        }
        println!("JSON: {}", file.display());
    }
    print_skipped(outcome);
    println!("{}", fitted(&outcome.verdict().to_string()));
    interrupted().unwrap_or_else(|| outcome.verdict().into())
}

fn trace(options: &Options) -> Result<Outcome, Error> {
    let timeout = options.seconds.map(|seconds| Duration::from_secs(seconds.into()));
    if options.command.is_empty() && timeout.is_none() {
        return Err(
            "give a command to run (`punctual trace -- COMMAND`) or a time to trace the machine (`--seconds \
             5`)"
            .into(),
        );
    }
    let watched = options.cpu.map_or_else(CpuSet::all, CpuSet::single);
    let mut outcome = Outcome::new("trace", MachineFacts::read(&watched));
    let supervisor = Preparation::watching().start()?;
    for notice in &supervisor.prepared().notices {
        eprintln!("punctual: {notice}");
    }
    let settings = SessionSettings {
        kernel: Some(KernelSettings {
            reader: reader(options.cpu),
            buffer_kib: options.buffer_kib,
            ..KernelSettings::default()
        }),
        records_per_thread: options.records_per_thread,
    };
    let termination = Termination::watch()?;
    let session = Session::start(&settings)?;
    if let Some(reason) = session.without_kernel() {
        eprintln!("punctual: only the flight recorder is used: {reason}");
    }
    let ended = match &options.command[..] {
        [] => {
            watch_machine(timeout, termination)?;
            None
        }
        words => {
            let ended = command::run(words, &session, supervisor.process(), timeout, termination)?;
            Some(ended)
        }
    };
    if let Some(signal) = termination.requested() {
        outcome.interrupted(format!("by {signal}"));
    } else if let Some(failure) = ended.as_ref().and_then(|ended| ended.failure.as_ref()) {
        outcome.failed(failure);
    }
    let (ended, started) = ended.map(|ended| (ended.how, ended.threads)).unzip();
    // Read while these threads still exist.
    let tracers = tracers(&supervisor);
    let recorded = session.stop()?;
    supervisor.finish()?;
    outcome.parameter("command", options.command.join(" "));
    if let Some(ended) = ended {
        outcome.parameter("ended", ended);
    }
    evaluate(
        options,
        &recorded,
        &tracers,
        started.unwrap_or_default(),
        &mut outcome,
    )?;
    Ok(outcome)
}

/// Returns the CPU of the trace's reader: the first one other than the traced CPU, or none.
fn reader(cpu: Option<usize>) -> CpuSet {
    let allowed = affinity::current();
    let mut others = allowed.iter().filter(|other| Some(*other) != cpu);
    others.next().map_or_else(CpuSet::empty, CpuSet::single)
}

/// Returns the threads that trace. They wait and run, too, but are not part of the measured system.
fn tracers(supervisor: &Supervisor) -> HashSet<i32> {
    let mut processes = vec![TaskId::current_process()];
    processes.extend(supervisor.process());
    let threads = processes
        .into_iter()
        .flat_map(|process| process::threads_of(process).unwrap_or_default());
    threads.map(TaskId::get).collect()
}

/// Waits until `done` returns a value, the time has elapsed, or this process receives a termination signal.
fn wait<T>(
    timeout: Option<Duration>,
    termination: Termination,
    mut done: impl FnMut() -> std::io::Result<Option<T>>,
) -> std::io::Result<Option<T>> {
    let deadline = timeout.map(|timeout| Instant::now() + timeout);
    loop {
        if let Some(done) = done()? {
            return Ok(Some(done));
        }
        if termination.requested().is_some() || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits while the machine is traced, and shows the remaining time in a terminal.
fn watch_machine(timeout: Option<Duration>, termination: Termination) -> std::io::Result<()> {
    let begun = Instant::now();
    let mut shown = None;
    let shows = std::io::stderr().is_terminal();
    let nothing = wait(timeout, termination, || {
        // The second that has begun is counted: something is left until the end.
        let left = timeout.map(|timeout| timeout.saturating_sub(begun.elapsed()).as_secs() + 1);
        if shows && left != shown {
            shown = left;
            eprint!("\r\x1b[Ktracing: {} s left", left.unwrap_or_default());
        }
        Ok(None::<()>)
    });
    if shows {
        eprint!("\r\x1b[K");
    }
    nothing.map(drop)
}

/// Adds what was recorded to the outcome: rows, the claim about the longest wait, and what is missing.
fn evaluate(
    options: &Options,
    recorded: &Recorded,
    tracers: &HashSet<i32>,
    started: HashSet<i32>,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let begin = match &recorded.kernel {
        Ok(kernel) => kernel.begin_ns,
        Err(_) => recorded.begin_ns(),
    };
    let names = Names::new(recorded.names(), begin)
        .processes(recorded.processes())
        .operations(recorded.operations());
    let selected = selected_threads(options, recorded, started);
    let analysis = analyse(options, recorded, tracers, selected.as_ref());
    outcome.row(totals(recorded, &analysis));
    let limit_ns = (options.over_us * 1e3) as u64;
    let requests = &recorded.requests;
    let threads = &recorded.distributable;
    let rows = report::summary(&analysis, &names, limit_ns)
        .into_iter()
        .chain(report::intervals(
            &analysis,
            requests,
            &names,
            limit_ns,
            MOST_INTERVALS,
        ))
        .chain(report::holes(&analysis, &names))
        .chain(report::distributable_threads(threads, &names, MOST_INTERVALS));
    rows.for_each(|row| outcome.row(row));
    if let Some(over_us) = options.explain_over {
        let wanted = |request: &Request| {
            let server = request.service.as_ref().map(|service| service.thread);
            let mut threads = [Some(request.client), server].into_iter().flatten();
            let is_selected = |selected: &HashSet<i32>| threads.any(|thread| selected.contains(&thread));
            selected.as_ref().is_none_or(is_selected)
        };
        let rows = explain::rows(recorded, &names, over_us, wanted);
        rows.into_iter().for_each(|row| outcome.row(row));
    }
    let longest = analysis
        .inversions
        .iter()
        .map(|found| found.length_ns)
        .max()
        .unwrap_or(0);
    let text = "longest time that a thread or request waited while something less important ran (µs)";
    let records_kernel = recorded
        .kernel
        .as_ref()
        .is_ok_and(|kernel| !kernel.events.is_empty());
    if records_kernel || !requests.is_empty() {
        let claim = Claim::at_most("longest", text, "--over", longest as f64 / 1e3, options.over_us);
        outcome.claim(claim.in_unit("µs"));
    }
    report_gaps(recorded, outcome);
    if let Some(file) = &options.perfetto {
        waits::write_timeline(file, recorded, &analysis, &names)?;
    }
    Ok(())
}

/// Analyses the recording; keeps the waits and holes of the selected CPU and threads.
fn analyse(
    options: &Options,
    recorded: &Recorded,
    tracers: &HashSet<i32>,
    selected: Option<&HashSet<i32>>,
) -> Analysis {
    let mut analysis = recorded.analyse();
    let on_cpu = |cpu: u32| recorded.kernel.is_err() || options.cpu.is_none_or(|only| only == cpu as usize);
    analysis.inversions.retain(|found| {
        let thread = found.waiter.thread;
        on_cpu(found.cpu)
            && !tracers.contains(&thread)
            && selected.is_none_or(|selected| selected.contains(&thread))
    });
    analysis.holes.retain(|hole| on_cpu(hole.cpu));
    analysis
}

/// Returns a row with the numbers of events, threads, calls, waits and holes.
fn totals(recorded: &Recorded, analysis: &Analysis) -> Row {
    let kernel_events = recorded.kernel.as_ref().map_or(0, |kernel| kernel.events.len());
    let joined = recorded
        .requests
        .iter()
        .filter(|request| request.service.is_some())
        .count();
    Row::new()
        .with("kind", "recorded")
        .with("kernel_events", kernel_events)
        .with("threads_of_orbs", recorded.threads.len())
        .with("calls", recorded.requests.len())
        .with("calls_with_both_sides", joined)
        .with("distributable_threads", recorded.distributable.len())
        .with("waits", analysis.inversions.len())
        .with("holes", analysis.holes.len())
}

/// Reports events and records that were lost or could not be recorded.
fn report_gaps(recorded: &Recorded, outcome: &mut Outcome) {
    match &recorded.kernel {
        Ok(kernel) if !kernel.lost.is_nothing() => {
            let lost = kernel.lost;
            outcome.unfit(format!(
                "kernel events were lost, so waits may be missing or wrong ({lost:?}): increase --buffer, or \
                 reduce the load"
            ));
        }
        Ok(_) => {}
        Err(reason) => outcome.skip(
            None,
            "waits of threads, and which thread had which CPU",
            reason.as_str(),
        ),
    }
    let calls = recorded.requests.len();
    let alone = recorded
        .requests
        .iter()
        .filter(|request| request.service.is_none())
        .count();
    if alone > 0 {
        let reason = format!(
            "{alone} of {calls} calls have no record of their server: it runs elsewhere, or was not recorded; \
             start client and server by one traced command, such as `punctual trace -- sh -c 'SERVER & \
             CLIENT'`"
        );
        outcome.skip(None, "servers' sides of calls", reason);
    }
    if recorded.overwritten() > 0 {
        let reason = format!(
            "{} flight records were overwritten by later ones: increase --records",
            recorded.overwritten()
        );
        outcome.skip(None, "the first requests", reason);
    }
}

/// Returns the threads of the selected processes that still run or left records; `None`: all threads.
/// `started`: those of the command.
fn selected_threads(options: &Options, recorded: &Recorded, started: HashSet<i32>) -> Option<HashSet<i32>> {
    if options.processes.is_empty() {
        let of_command = !options.machine && !options.command.is_empty();
        let left_records = recorded.threads.iter().map(|thread| thread.thread);
        return of_command.then(|| started.into_iter().chain(left_records).collect());
    }
    let running = options
        .processes
        .iter()
        .flat_map(|process| process::threads_of(*process).unwrap_or_default());
    let left_records = recorded.threads.iter().filter(|thread| {
        let is_its_process = |process: &TaskId| process.get() == thread.process;
        options.processes.iter().any(is_its_process)
    });
    Some(
        running
            .map(TaskId::get)
            .chain(left_records.map(|thread| thread.thread))
            .collect(),
    )
}

//! `punctual trace`: who ran while something more important waited, for any command or the whole machine.

use std::{
    collections::HashSet,
    fs::File,
    io::{BufWriter, Write},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, ExitStatus},
    time::{Duration, Instant},
};

use punctual_harness::{
    Claim, MachineFacts, Outcome, Row,
    supervisor::{Preparation, Supervisor},
};
use punctual_os::{CpuSet, TaskId, affinity, process, signals::Termination};
use punctual_report::Table;
use punctual_trace::{
    Analysis, Names, Recorded, Session, SessionSettings, kernel::KernelSettings, perfetto, report,
    request::Request,
};
use rustix::process::{Pid, Signal, kill_process};

use crate::{Error, explain, report::could_not_run};

/// What `punctual trace` can be told.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// End after this time, and the command with it; needed without a command
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: Option<u32>,
    /// Only waits for this CPU
    #[arg(long, value_name = "CPU")]
    cpu: Option<usize>,
    /// Only waits of threads of these processes
    #[arg(long, value_name = "PID")]
    pid: Vec<TaskId>,
    /// The longest wait that is in order, in microseconds
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 200.0)]
    over: f64,
    /// Say where the time of calls went that took longer than this: for each span of the call who had the CPU, and why
    #[arg(long, value_name = "MICROSECONDS", value_parser = explain::microseconds)]
    explain_over: Option<f64>,
    /// The kernel's buffer for each CPU, in KiB
    #[arg(long, value_name = "KIB", default_value_t = KernelSettings::default().buffer_kib)]
    buffer: usize,
    /// How many flight records of each thread are kept, of 32 octets each; a call leaves 5 on one side and 7 on the other
    #[arg(long, value_name = "RECORDS", default_value_t = SessionSettings::default().records_per_thread)]
    records: usize,
    /// Also write everything found, as JSON, to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the timeline to this file (JSON trace format), for ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// What to run; without it the whole machine is watched
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// How many intervals go into the JSON, and on the screen.
const MOST_INTERVALS: usize = 1000;
const SHOWN: usize = 12;

/// Records, judges, prints, writes the files asked for. Exit code as the contract for machine reading says.
pub fn run(options: &Options) -> ExitCode {
    match trace(options) {
        Ok(outcome) => finish(options, &outcome),
        Err(error) => could_not_run("trace", &error),
    }
}

fn finish(options: &Options, outcome: &Outcome) -> ExitCode {
    for (title, table) in tables(outcome, |_| true) {
        println!("{title}\n{}\n", table.to_text());
    }
    let budgets = explain::tables(outcome, |_| true);
    if !budgets.is_empty() {
        println!("{}\n", explain::COST);
    }
    for (title, table) in budgets {
        println!("{title}\n{}\n", table.to_text());
    }
    if let Some(file) = &options.json {
        if let Err(error) = outcome.write(file) {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
        println!("JSON: {}", file.display());
    }
    println!("{}", outcome.verdict());
    outcome.verdict().into()
}

fn trace(options: &Options) -> Result<Outcome, Error> {
    let limit = options.seconds.map(|seconds| Duration::from_secs(seconds.into()));
    if options.command.is_empty() && limit.is_none() {
        return Err(
            "say what to run (`punctual trace -- COMMAND`), or how long to watch the machine (`--seconds 5`)"
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
            buffer_kib: options.buffer,
            ..KernelSettings::default()
        }),
        records_per_thread: options.records,
    };
    let termination = Termination::watch()?;
    let session = Session::start(&settings)?;
    if let Some(reason) = session.without_kernel() {
        eprintln!("punctual: only the flight recorder is used: {reason}");
    }
    let ended = match options.command.split_first() {
        None => {
            wait(limit, termination, || Ok(None::<()>))?;
            None
        }
        Some((program, arguments)) => Some(run_command(program, arguments, &session, limit, termination)?),
    };
    // While their threads are known still.
    let aside = watchers(&supervisor);
    let recorded = session.stop()?;
    supervisor.finish()?;
    outcome.parameter("command", options.command.join(" "));
    if let Some(ended) = ended {
        outcome.parameter("ended", ended);
    }
    judge(options, &recorded, &aside, &mut outcome)?;
    Ok(outcome)
}

/// Any CPU but the watched one; all but the first where all are watched and there are several.
fn reader(cpu: Option<usize>) -> CpuSet {
    let allowed = affinity::current();
    let mut others = allowed.iter().filter(|other| Some(*other) != cpu);
    others.next().map_or_else(CpuSet::empty, CpuSet::single)
}

/// The threads that trace: they wait and run, too, and are not what is asked about.
fn watchers(supervisor: &Supervisor) -> HashSet<i32> {
    let mut processes = vec![TaskId::current_process()];
    processes.extend(supervisor.process());
    let threads = processes
        .into_iter()
        .flat_map(|process| process::threads_of(process).unwrap_or_default());
    threads.map(TaskId::get).collect()
}

/// Waits until `done` has something, the time is over, or this process is asked to end.
fn wait<T>(
    limit: Option<Duration>,
    termination: Termination,
    mut done: impl FnMut() -> std::io::Result<Option<T>>,
) -> std::io::Result<Option<T>> {
    let until = limit.map(|limit| Instant::now() + limit);
    loop {
        if let Some(done) = done()? {
            return Ok(Some(done));
        }
        if termination.requested().is_some() || until.is_some_and(|until| Instant::now() >= until) {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Gives how it ended.
fn run_command(
    program: &str,
    arguments: &[String],
    session: &Session,
    limit: Option<Duration>,
    termination: Termination,
) -> Result<String, Error> {
    let mut command = Command::new(program);
    command.args(arguments).envs(session.environment());
    let mut child = process::kill_with_starter(&mut command)
        .spawn()
        .map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    if let Some(status) = wait(limit, termination, || child.try_wait())? {
        if !status.success() {
            eprintln!(
                "punctual: `{program}` has failed ({status}), so this may not be what was to be traced"
            );
        }
        return Ok(status.to_string());
    }
    let status = end(&mut child)?;
    Ok(match status.signal() {
        Some(_) => "by us, when the time was over".to_owned(),
        None => format!("when the time was over: {status}"),
    })
}

/// Asks it to end, and insists after a while.
fn end(child: &mut Child) -> std::io::Result<ExitStatus> {
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
    let until = Instant::now() + Duration::from_secs(3);
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill()?;
    child.wait()
}

fn judge(
    options: &Options,
    recorded: &Recorded,
    aside: &HashSet<i32>,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let begin = match &recorded.kernel {
        Ok(kernel) => kernel.begin_ns,
        Err(_) => recorded.begin_ns(),
    };
    let names = Names::new(recorded.names(), begin)
        .processes(recorded.processes())
        .operations(recorded.segments());
    let mut analysis = recorded.analyse();
    let asked = asked(options, recorded);
    let on_cpu = |cpu: u32| recorded.kernel.is_err() || options.cpu.is_none_or(|asked| asked == cpu as usize);
    analysis.inversions.retain(|found| {
        let thread = found.waiter.thread;
        on_cpu(found.cpu)
            && !aside.contains(&thread)
            && asked.as_ref().is_none_or(|asked| asked.contains(&thread))
    });
    analysis.holes.retain(|hole| on_cpu(hole.cpu));
    let limit_ns = (options.over * 1e3) as u64;
    let joined = recorded
        .requests
        .iter()
        .filter(|request| request.service.is_some())
        .count();
    outcome.row(
        Row::new()
            .with("kind", "recorded")
            .with(
                "kernel_events",
                recorded.kernel.as_ref().map_or(0, |kernel| kernel.events.len()),
            )
            .with("threads_of_orbs", recorded.threads.len())
            .with("calls", recorded.requests.len())
            .with("calls_with_both_sides", joined)
            .with("distributable_threads", recorded.distributable.len())
            .with("waits", analysis.inversions.len())
            .with("holes", analysis.holes.len()),
    );
    let rows = report::summary(&analysis, &names, limit_ns)
        .into_iter()
        .chain(report::intervals(
            &analysis,
            &recorded.requests,
            &names,
            limit_ns,
            MOST_INTERVALS,
        ))
        .chain(report::holes(&analysis, &names))
        .chain(report::distributable_threads(
            &recorded.distributable,
            &names,
            MOST_INTERVALS,
        ));
    rows.for_each(|row| outcome.row(row));
    if let Some(over_us) = options.explain_over {
        let wanted = |request: &Request| {
            let server = request.service.as_ref().map(|service| service.thread);
            let threads = [Some(request.client), server];
            let is_asked = |asked: &HashSet<i32>| {
                threads
                    .into_iter()
                    .flatten()
                    .any(|thread| asked.contains(&thread))
            };
            asked.as_ref().is_none_or(is_asked)
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
    let claim = Claim::at_most("longest", text, "--over", longest as f64 / 1e3, options.over);
    outcome.claim(claim);
    match &recorded.kernel {
        Ok(kernel) if !kernel.lost.is_nothing() => {
            let lost = kernel.lost;
            outcome.unfit(format!(
                "events of the kernel were lost, so waits may be missing or wrong ({lost:?}): a larger --buffer helps, or less to do"
            ));
        }
        Ok(_) => {}
        Err(reason) => outcome.skip(None, "waits of threads, and who had which CPU", reason.as_str()),
    }
    if recorded.overwritten() > 0 {
        let reason = format!(
            "{} flight records were overwritten by later ones: more --records help",
            recorded.overwritten()
        );
        outcome.skip(None, "the first requests", reason);
    }
    if let Some(file) = &options.perfetto {
        write_timeline(file, recorded, &analysis, &names)?;
    }
    Ok(())
}

/// The threads of the processes that were asked about, as far as they live or left records; `None`: all.
fn asked(options: &Options, recorded: &Recorded) -> Option<HashSet<i32>> {
    if options.pid.is_empty() {
        return None;
    }
    let living = options
        .pid
        .iter()
        .flat_map(|pid| process::threads_of(*pid).unwrap_or_default());
    let left = recorded.threads.iter().filter(|thread| {
        let of = |pid: &TaskId| pid.get() == thread.process;
        options.pid.iter().any(of)
    });
    Some(
        living
            .map(TaskId::get)
            .chain(left.map(|thread| thread.thread))
            .collect(),
    )
}

/// Writes a timeline, and says so.
pub(crate) fn write_timeline(
    file: &Path,
    recorded: &Recorded,
    analysis: &Analysis,
    names: &Names,
) -> Result<(), Error> {
    let write = || {
        let mut to = BufWriter::new(File::create(file)?);
        perfetto::write_timeline(recorded, analysis, names, &mut to)?;
        to.flush()
    };
    write().map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
    println!(
        "Timeline: {} (open it at https://ui.perfetto.dev)",
        file.display()
    );
    Ok(())
}

const SUMMARY_COLUMNS: &[(&str, &str)] = &[
    ("waited", "waited"),
    ("level", "level"),
    ("as", "as"),
    ("for", "mostly for"),
    ("for_level", "level"),
    ("count", "count"),
    ("over_limit", "over limit"),
    ("longest_us", "longest (µs)"),
    ("total_ms", "total (ms)"),
];

const INTERVAL_COLUMNS: &[(&str, &str)] = &[
    ("start_s", "at (s)"),
    ("length_us", "length (µs)"),
    ("cpu", "CPU"),
    ("waited", "waited"),
    ("level", "level"),
    ("as", "as"),
    ("request", "request"),
    ("for", "for"),
];

const HOLE_COLUMNS: &[(&str, &str)] = &[
    ("start_s", "at (s)"),
    ("length_us", "length (µs)"),
    ("cpu", "CPU"),
    ("source", "what the CPU did"),
];

const DISTRIBUTABLE_COLUMNS: &[(&str, &str)] = &[
    ("id", "id (lower half)"),
    ("name", "first segment"),
    ("start_s", "at (s)"),
    ("length_ms", "length (ms)"),
    ("processes", "processes"),
    ("segments", "segments"),
    ("calls", "calls"),
    ("running_ms", "running (ms)"),
    ("suspended_ms", "suspended (ms)"),
];

/// The tables of what a trace found, of the rows that are wanted.
pub(crate) fn tables(outcome: &Outcome, wanted: impl Fn(&Row) -> bool) -> Vec<(&'static str, Table)> {
    let kinds = [
        (
            "Distributable threads",
            "distributable thread",
            DISTRIBUTABLE_COLUMNS,
        ),
        ("Waited for something less important", "summary", SUMMARY_COLUMNS),
        ("The longest waits", "interval", INTERVAL_COLUMNS),
        (
            "The longest holes: kept from running by kernel or host",
            "hole",
            HOLE_COLUMNS,
        ),
    ];
    let of_kind = |(title, kind, columns): (&'static str, &str, &[(&str, &str)])| {
        let rows = outcome
            .rows()
            .iter()
            .filter(|row| is_kind(row, kind) && wanted(row));
        let rows: Vec<_> = rows.map(Row::as_map).take(SHOWN).collect();
        (!rows.is_empty()).then(|| (title, Table::of(rows).columns(columns)))
    };
    kinds.into_iter().filter_map(of_kind).collect()
}

pub(crate) fn is_kind(row: &Row, kind: &str) -> bool {
    row.get("kind").is_some_and(|value| value == kind)
}

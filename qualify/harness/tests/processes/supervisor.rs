//! Preparation and restoration of the machine. These tests change its settings for a fraction of a second.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use punctual_fixtures::{Missing, skip, skip_part};
use punctual_harness::supervisor::{Preparation, Prepared, Throttling};
use punctual_os::{CpuSet, TaskId, affinity};
use punctual_system::throttling::{self, RealtimeRuntime};

const TIMEOUT: Duration = punctual_fixtures::LONG;

/// Runs a run: prepares the machine, prints what it changed, and obeys commands on its standard input.
pub fn main(arguments: &[String]) -> ExitCode {
    let unchanged = arguments
        .iter()
        .any(|argument| argument == "--leave-system-alone");
    let preparation = Preparation::new(last_cpu())
        .leave_system_alone(unchanged)
        .state_directory(arguments[0].as_str());
    let mut supervisor = match preparation.start() {
        Ok(supervisor) => supervisor,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    println!("{}", serde_json::to_string(supervisor.prepared()).unwrap());
    std::io::stdout().flush().unwrap();
    for line in std::io::stdin().lines() {
        match line.unwrap().as_str() {
            "sweep" => println!("{}", supervisor.sweep().unwrap()),
            "panic" => panic!("in the middle of a run"),
            "share" => println!("{:?}", supervisor.share()),
            word => match word.strip_prefix("isolate ") {
                Some(process) => println!("{:?}", supervisor.isolate(process.parse().unwrap())),
                None => break,
            },
        }
    }
    supervisor.finish().unwrap();
    ExitCode::SUCCESS
}

/// Run in another process, and a foreign task that may run on all CPUs.
struct Scene {
    directory: PathBuf,
    throttling: RealtimeRuntime,
    foreign: Child,
}

impl Scene {
    fn new(name: &str) -> Self {
        let directory =
            std::env::temp_dir().join(format!("punctual-supervisor-{name}-{}", std::process::id()));
        Self {
            directory,
            throttling: throttling::runtime().unwrap(),
            foreign: sleeper(),
        }
    }

    fn run(&self, arguments: &[&str]) -> (Run, Prepared) {
        let mut process = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut run = Run {
            output: BufReader::new(process.stdout.take().unwrap()),
            process,
        };
        let prepared = serde_json::from_str(&run.line()).unwrap();
        (run, prepared)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = punctual_fixtures::programs::interruptible(std::env::current_exe().unwrap());
        command
            .arg("__run")
            .arg(&self.directory)
            .args(arguments)
            .stderr(Stdio::null());
        command
    }

    /// Waits for the restoration: the supervisor outlives a killed run briefly.
    fn wait_until_restored(&self) {
        let deadline = Instant::now() + TIMEOUT;
        while throttling::runtime().unwrap() != self.throttling
            || place(&self.foreign) != CpuSet::all()
            || self.journal().exists()
        {
            assert!(
                Instant::now() < deadline,
                "{:?} {:?}",
                throttling::runtime(),
                place(&self.foreign)
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn assert_changed(&self, prepared: &Prepared) {
        match &prepared.throttling {
            Throttling::Lifted(before) => {
                assert_eq!(*before, self.throttling.to_string());
                assert_eq!(throttling::runtime().unwrap(), RealtimeRuntime::Unlimited);
            }
            Throttling::WasOff => assert_eq!(self.throttling, RealtimeRuntime::Unlimited),
            Throttling::LeftAlone => skip_part(Missing::Right, format!("{:?}", prepared.notices)),
        }
        if CpuSet::all().len() > 1 {
            assert!(!place(&self.foreign).contains(last_cpu().iter().next().unwrap()));
            assert!(prepared.moved >= 1, "{prepared:?}");
        }
    }

    fn journal(&self) -> PathBuf {
        self.directory.join("changes.json")
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.foreign.kill();
        let _ = self.foreign.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

struct Run {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Run {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    fn send(&mut self, word: &str) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{word}").unwrap();
    }

    fn supervisor(&self) -> TaskId {
        let children = format!("/proc/{0}/task/{0}/children", self.process.id());
        std::fs::read_to_string(children).unwrap().parse().unwrap()
    }
}

fn sleeper() -> Child {
    let child = Command::new("sleep").arg("30").spawn().unwrap();
    affinity::set_of(TaskId::of_child(&child), &CpuSet::all()).unwrap();
    child
}

fn place(task: &Child) -> CpuSet {
    affinity::of(TaskId::of_child(task)).unwrap()
}

fn last_cpu() -> CpuSet {
    CpuSet::single(CpuSet::all().iter().last().unwrap())
}

fn signal(name: &str, process: impl std::fmt::Display) {
    let sent = Command::new("kill")
        .args([&format!("-{name}"), &process.to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

pub fn restores_when_it_is_finished() {
    let scene = Scene::new("finish");
    let (mut run, prepared) = scene.run(&[]);
    scene.assert_changed(&prepared);
    // The sweep finds a latecomer that was placed explicitly. This one inherits its affinity from this test,
    // which was moved, and is moved back with all others.
    let mut heir = Command::new("sleep").arg("30").spawn().unwrap();
    assert_eq!(place(&heir), place(&scene.foreign));
    let mut latecomer = sleeper();
    if CpuSet::all().len() > 1 {
        run.send("sweep");
        assert!(run.line().trim().parse::<usize>().unwrap() >= 1);
        assert_eq!(place(&latecomer), place(&scene.foreign));
    }
    run.send("finish");
    assert!(run.process.wait().unwrap().success());
    scene.wait_until_restored();
    for task in [&mut heir, &mut latecomer] {
        assert_eq!(place(task), CpuSet::all());
        task.kill().unwrap();
        task.wait().unwrap();
    }
}

pub fn restores_on_every_other_exit() {
    let scene = Scene::new("ways");
    for way in ["panic", "TERM", "INT", "KILL"] {
        let (mut run, prepared) = scene.run(&[]);
        scene.assert_changed(&prepared);
        match way {
            "panic" => run.send(way),
            name => signal(name, run.process.id()),
        }
        assert!(!run.process.wait().unwrap().success(), "{way}");
        scene.wait_until_restored();
    }
}

pub fn the_next_run_repairs_after_a_killed_supervisor() {
    let scene = Scene::new("repair");
    let (mut run, prepared) = scene.run(&[]);
    if prepared.throttling == Throttling::LeftAlone && prepared.moved == 0 {
        return skip(
            Missing::Right,
            format!("the system may not be changed: {:?}", prepared.notices),
        );
    }
    let supervisor = run.supervisor();
    // First the supervisor, which would restore, before it can notice the end of the run.
    signal("KILL", supervisor);
    run.process.kill().unwrap();
    run.process.wait().unwrap();
    assert!(scene.journal().exists());
    scene.assert_changed(&prepared);

    let (mut alone, found) = scene.run(&["--leave-system-alone"]);
    assert!(
        found.notices[0].starts_with("an earlier run was killed"),
        "{found:?}"
    );
    alone.send("finish");
    assert!(alone.process.wait().unwrap().success());
    assert!(scene.journal().exists());

    let (mut next, repaired) = scene.run(&[]);
    assert!(
        repaired.notices[0].starts_with("repaired after a killed run"),
        "{repaired:?}"
    );
    scene.assert_changed(&repaired);
    next.send("finish");
    assert!(next.process.wait().unwrap().success());
    scene.wait_until_restored();
}

pub fn isolation_is_undone_on_every_exit() {
    let scene = Scene::new("isolated");
    let balance = || std::fs::read_to_string("/sys/fs/cgroup/cpuset/cpuset.sched_load_balance");
    let before = balance().unwrap_or_default();
    for way in ["share", "KILL", "KILL both"] {
        let (mut run, _) = scene.run(&[]);
        let mut process = sleeper();
        let folder = PathBuf::from(format!("/sys/fs/cgroup/cpuset/punctual-{}", run.process.id()));
        let is_inside = || {
            let inside = std::fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
            inside.trim() == process.id().to_string()
        };
        run.send(&format!("isolate {}", process.id()));
        let said = run.line();
        let isolated = said.starts_with("Ok");
        if isolated {
            assert!(is_inside() && balance().unwrap().trim() == "0");
            assert_eq!(place(&process), last_cpu());
            assert_eq!(throttling::runtime().unwrap(), scene.throttling);
        } else {
            // Without permission, root can help; otherwise this kernel has no such control groups.
            let missing = if said.contains("ermission") {
                Missing::Right
            } else {
                Missing::Machine
            };
            skip_part(missing, &said);
            assert!(!folder.exists() && balance().unwrap_or_default() == before);
        }
        match way {
            "share" => {
                run.send(way);
                assert!(run.line().starts_with("Ok"));
                assert!(!folder.exists() && balance().unwrap_or_default() == before);
                run.send("finish");
            }
            "KILL both" => {
                signal("KILL", run.supervisor());
                run.process.kill().unwrap();
            }
            _ => run.process.kill().unwrap(),
        }
        run.process.wait().unwrap();
        if way == "KILL both" {
            assert_eq!(is_inside(), isolated);
            let (mut next, _) = scene.run(&[]);
            next.send("finish");
            assert!(next.process.wait().unwrap().success());
        }
        scene.wait_until_restored();
        assert!(
            !folder.exists() && balance().unwrap_or_default() == before,
            "{way}"
        );
        assert_eq!(process.try_wait().unwrap(), None, "the process is still running");
        process.kill().unwrap();
        process.wait().unwrap();
    }
}

pub fn leaves_the_system_alone() {
    let scene = Scene::new("alone");
    let (mut run, prepared) = scene.run(&["--leave-system-alone"]);
    assert_eq!((prepared.throttling, prepared.moved), (Throttling::LeftAlone, 0));
    assert_eq!(throttling::runtime().unwrap(), scene.throttling);
    assert_eq!(place(&scene.foreign), CpuSet::all());
    assert!(!Path::new(&scene.journal()).exists());
    run.send("finish");
    assert!(run.process.wait().unwrap().success());
}

pub fn prevents_concurrent_runs() {
    let scene = Scene::new("lock");
    let (mut first, _) = scene.run(&["--leave-system-alone"]);
    let second = scene
        .command(&["--leave-system-alone"])
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(2));
    let text = String::from_utf8_lossy(&second.stderr);
    assert!(
        text.contains(&format!("another measurement (process {})", first.process.id())),
        "{text}"
    );
    first.send("finish");
    assert!(first.process.wait().unwrap().success());
    let (mut third, _) = scene.run(&["--leave-system-alone"]);
    third.send("finish");
    assert!(third.process.wait().unwrap().success());
}

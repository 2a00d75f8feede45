//! Child processes: answers, refusals, failures, pinning and their end.

use std::io::{Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use punctual_harness::child::{ChildError, ChildSpec, Control, Failure};
use punctual_os::{CpuSet, TaskId, affinity};

const TIMEOUT: Duration = punctual_fixtures::LONG;

/// Runs the child: acts on the command line, and then on requests.
pub fn main(arguments: &[String]) -> ExitCode {
    match arguments.first().map(String::as_str) {
        Some("silent") => std::thread::sleep(TIMEOUT),
        Some("nonsense") => println!("hello"),
        Some("parent") => return parent(),
        _ => {
            let control = Control::ready(&std::process::id()).unwrap();
            control.serve(answer).unwrap();
        }
    }
    ExitCode::SUCCESS
}

fn answer(question: String) -> Result<String, String> {
    match question.as_str() {
        "cpus" => Ok(affinity::current().to_string()),
        "sleep" => {
            std::thread::sleep(TIMEOUT);
            Ok("slept".to_owned())
        }
        "panic" => panic!("first line\nlast line"),
        "refuse" => Err("not today\nnor tomorrow".to_owned()),
        other => Ok(other.to_uppercase()),
    }
}

/// Runs a parent between test and child: prints the id of its child, and waits to be killed.
fn parent() -> ExitCode {
    let (_child, id) = spec().spawn::<u32>(TIMEOUT).unwrap();
    println!("{id}");
    std::io::stdout().flush().unwrap();
    std::thread::sleep(TIMEOUT);
    ExitCode::SUCCESS
}

fn spec() -> ChildSpec {
    ChildSpec::new("echo", "__child")
}

fn failure(result: Result<String, ChildError>, expected: fn(&Failure) -> bool) -> String {
    let error = result.unwrap_err();
    assert!(expected(error.failure()), "{error:?}");
    error.to_string()
}

pub fn answers_until_it_is_stopped() {
    let (mut child, id) = spec().spawn::<u32>(TIMEOUT).unwrap();
    assert_eq!(i64::from(id), i64::from(child.id().get()));
    for word in ["one", "two"] {
        let answer: String = child.request(&word, TIMEOUT).unwrap();
        assert_eq!(answer, word.to_uppercase());
    }
    child.stop(TIMEOUT).unwrap();
    assert!(!alive(id));
}

pub fn refuses_and_continues() {
    let (mut child, _) = spec().spawn::<u32>(TIMEOUT).unwrap();
    let text = failure(child.request(&"refuse", TIMEOUT), |failure| {
        matches!(failure, Failure::Refused(_))
    });
    assert_eq!(text, "the echo process reports: not today; nor tomorrow");
    assert_eq!(child.request::<_, String>(&"still", TIMEOUT).unwrap(), "STILL");
}

pub fn that_panics_is_reported_with_its_message() {
    let (mut child, _) = spec().spawn::<u32>(TIMEOUT).unwrap();
    let text = failure(child.request(&"panic", TIMEOUT), |failure| {
        matches!(failure, Failure::Gone(Some(_)))
    });
    assert!(text.contains("ended unexpectedly (exit status: 101)"), "{text}");
    assert!(text.contains("\nlast line"), "{text}");
    failure(child.request(&"again", TIMEOUT), |failure| {
        matches!(failure, Failure::Gone(_))
    });
}

pub fn that_is_late_is_killed() {
    let (mut child, id) = spec().spawn::<u32>(TIMEOUT).unwrap();
    let began = Instant::now();
    let text = failure(child.request(&"sleep", Duration::from_millis(50)), |failure| {
        matches!(failure, Failure::Late(..))
    });
    assert!(text.contains("within 50ms"), "{text}");
    assert!(began.elapsed() < TIMEOUT && !alive(id));
}

pub fn that_is_not_ready_is_killed() {
    let result = spec()
        .argument("silent")
        .spawn::<String>(Duration::from_millis(50));
    failure(result.map(|(_, ready)| ready), |failure| {
        matches!(failure, Failure::Late("its start", _))
    });
}

pub fn that_violates_the_protocol_is_killed() {
    let result = spec().argument("nonsense").spawn::<String>(TIMEOUT);
    let text = failure(result.map(|(_, ready)| ready), |failure| {
        matches!(failure, Failure::Protocol(_))
    });
    assert!(text.contains("`hello` instead of READY"), "{text}");
}

pub fn is_pinned() {
    let cpu = CpuSet::single(CpuSet::all().iter().last().unwrap());
    let (mut child, _) = spec().affinity(cpu.clone()).spawn::<u32>(TIMEOUT).unwrap();
    assert_eq!(
        child.request::<_, String>(&"cpus", TIMEOUT).unwrap(),
        cpu.to_string()
    );
    let error = spec()
        .affinity(CpuSet::empty())
        .spawn::<u32>(TIMEOUT)
        .unwrap_err();
    assert!(matches!(error.failure(), Failure::Pin(_)), "{error}");
}

pub fn dies_with_its_parent() {
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["__child", "parent"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut grandchild = String::new();
    let mut byte = [0];
    while parent.stdout.as_mut().unwrap().read(&mut byte).unwrap() == 1 && byte != [b'\n'] {
        grandchild.push(byte[0].into());
    }
    let grandchild = grandchild.parse().unwrap();
    assert!(alive(grandchild));
    parent.kill().unwrap();
    parent.wait().unwrap();
    let deadline = Instant::now() + TIMEOUT;
    while alive(grandchild) {
        assert!(Instant::now() < deadline, "the child outlives its parent");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns whether the process is running; a zombie is not.
pub fn alive(process: u32) -> bool {
    let id = TaskId::new(i32::try_from(process).unwrap()).unwrap();
    std::fs::read_to_string(format!("/proc/{id}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.trim_start().starts_with('Z'))
}

//! `punctual top` with ORBs of this process.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read, Write},
    os::{
        fd::OwnedFd,
        unix::net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use punctual::{Inspection, Orb, Priority};
use punctual_fixtures::{Folder, programs::interruptible, real_time::ordinary};
use rustix::{
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, tcgetattr},
};
use serde_json::Value;

pub fn a_single_snapshot_is_a_table_or_json() {
    let folder = Folder::new("once");
    let socket = folder.join("radar.inspect");
    let orb = orb(Inspection::at(&socket));
    let pool = orb.threadpool().lane(Priority::MAX, 2).build().unwrap();
    assert_eq!(pool.statistics().len(), 1);
    let socket = socket.to_str().unwrap();
    let output = top(&folder, &[socket, "--interval", "0.1"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let lane = text.lines().find(|line| line.contains("-32767")).unwrap();
    assert!(lane.contains("32767") && lane.contains("0/2"), "{text}");
    let output = top(&folder, &[socket, "--interval", "0.1", "--json"]);
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["pid"], std::process::id());
    assert_eq!(
        (&object["lanes"][1]["threads"], &object["lanes"][1]["p50_us"]),
        (&2.into(), &Value::Null)
    );
}

pub fn a_single_orb_is_found_and_several_are_an_error() {
    let folder = Folder::new("found");
    let named = |number: u32| {
        folder
            .join("punctual")
            .join(format!("{}.{number}.inspect", std::process::id()))
    };
    let pid = std::process::id().to_string();
    let none = top(&folder, &["--once", &pid]);
    assert_eq!(none.status.code(), Some(2));
    assert!(
        complaint(&none).contains("Orb::builder().inspection(Inspection::new())"),
        "{}",
        complaint(&none)
    );
    let gone = complaint(&top(&folder, &["--once", "4194305"]));
    assert!(gone.contains("there is no process 4194305"), "{gone}");
    fs::create_dir(folder.join("punctual")).unwrap();
    // Sockets of a dead process: no process has this id.
    let stale = ["punctual", "."].map(|place| folder.join(place).join("4194305.7.inspect"));
    for socket in &stale {
        drop(UnixListener::bind(socket).unwrap());
    }
    let first = orb(Inspection::at(named(0)));
    let found = top(&folder, &["--once", &pid, "--interval", "0.1"]);
    assert_eq!(found.status.code(), Some(0), "{}", complaint(&found));
    assert!(!stale.iter().any(|socket| socket.exists()) && named(0).exists());
    assert_eq!(top(&folder, &["--once", "1"]).status.code(), Some(2));
    // In a folder that nothing names.
    let elsewhere = Folder::new("elsewhere");
    let second = orb(Inspection::at(elsewhere.join(format!("{pid}.1.inspect"))));
    let several = top(&folder, &["--once", &pid]);
    assert_eq!(several.status.code(), Some(2));
    assert!(complaint(&several).contains("0.inspect") && complaint(&several).contains("1.inspect"));
    drop((first, second));
}

/// A killed process leaves its socket, and the next ORB of the folder removes it.
pub fn services_remove_their_sockets_when_they_are_told_to_end() {
    let folder = Folder::new("ends");
    let mut stale = None;
    for signal in [Signal::KILL, Signal::INT, Signal::TERM] {
        let mut service = interruptible(env!("CARGO_BIN_EXE_punctual"))
            .args(["naming", "serve", "--listen", "iiop://localhost:0"])
            .env(Inspection::ENVIRONMENT, &*folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(service.stdout.take().unwrap());
        output.read_line(&mut String::new()).unwrap();
        let pid = service.id().to_string();
        let found = top(&folder, &["--once", &pid, "--interval", "0.1"]);
        assert_eq!(found.status.code(), Some(0), "{}", complaint(&found));
        let socket = folder.join(format!("{pid}.0.inspect"));
        assert!(socket.exists());
        assert!(!stale.is_some_and(|socket: PathBuf| socket.exists()));
        kill_process(Pid::from_child(&service), signal).unwrap();
        service.wait().unwrap();
        assert_eq!(socket.exists(), signal == Signal::KILL, "{signal:?}");
        stale = socket.exists().then_some(socket);
    }
}

/// A hung process is what people look for: they must not hear that its inspection is off.
pub fn an_orb_that_does_not_answer_is_not_missing() {
    let folder = Folder::new("silent");
    fs::create_dir(folder.join("punctual")).unwrap();
    let mut process = Command::new("sleep").arg("60").spawn().unwrap();
    kill_process(Pid::from_child(&process), Signal::STOP).unwrap();
    let pid = process.id();
    let socket = folder.join("punctual").join(format!("{pid}.0.inspect"));
    let silent = UnixListener::bind(&socket).unwrap();
    let text = complaint(&top(&folder, &["--once", &pid.to_string()]));
    process.kill().unwrap();
    process.wait().unwrap();
    drop(silent);
    assert!(
        text.contains("no answer from the ORB at") && text.contains(&format!("kill -CONT {pid}")),
        "{text}"
    );
}

pub fn an_orb_that_ends_is_reported() {
    let folder = Folder::new("gone");
    let socket = folder.join("radar.inspect");
    // Answers once like an ORB and closes.
    let answer = {
        let orb = orb(Inspection::at(&socket));
        let mut stream = UnixStream::connect(orb.inspected_at().unwrap().socket).unwrap();
        stream.write_all(b"snapshot\n").unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line
    };
    let once = UnixListener::bind(&socket).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args(["top", socket.to_str().unwrap(), "--once", "--interval", "0.1"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stream, _) = once.accept().unwrap();
    // Removed before the answer: the next request finds no socket.
    drop(once);
    fs::remove_file(&socket).unwrap();
    stream.write_all(answer.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(complaint(&output).contains("is gone"), "{}", complaint(&output));
    let output = top(&folder, &[socket.to_str().unwrap(), "--once"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        complaint(&output).contains("no such socket"),
        "{}",
        complaint(&output)
    );
}

pub fn the_terminal_is_restored_however_top_ends() {
    let folder = Folder::new("terminal");
    type End = fn(&mut Terminal, &mut Option<Orb>);
    let ends: [(&str, End, i32); 4] = [
        ("q", |terminal, _| terminal.press(b"q"), 0),
        ("Ctrl-C", |terminal, _| terminal.press(b"\x03"), 0),
        (
            "SIGTERM",
            |terminal, _| {
                let child = Pid::from_child(&terminal.child);
                kill_process(child, Signal::TERM).unwrap();
            },
            0,
        ),
        ("the ORB ends", |_, orb| drop(orb.take()), 1),
    ];
    for (name, end, code) in ends {
        let socket = folder.join("radar.inspect");
        let mut orb = Some(orb(Inspection::at(&socket)));
        let mut terminal = Terminal::start(&socket);
        terminal.wait_for("q quits");
        assert!(!terminal.is_cooked(), "{name}: keys arrive one by one");
        end(&mut terminal, &mut orb);
        assert_eq!(terminal.wait(), code, "{name}");
        assert!(terminal.is_cooked(), "{name}: the terminal is restored");
    }
}

pub fn top_ends_when_its_terminal_is_closed() {
    let folder = Folder::new("closed");
    let socket = folder.join("radar.inspect");
    let _orb = orb(Inspection::at(&socket));
    let mut terminal = Terminal::start(&socket);
    terminal.wait_for("q quits");
    // It is not the controlling terminal of the process, which therefore receives no SIGHUP.
    terminal.master = File::open("/dev/null").unwrap();
    assert_eq!(terminal.wait(), 0);
}

/// `punctual top` on a pseudo-terminal.
struct Terminal {
    child: Child,
    master: File,
    slave: OwnedFd,
}

impl Terminal {
    fn start(socket: &Path) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = File::options()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        let size = rustix::termios::Winsize {
            ws_row: 24,
            ws_col: 120,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        rustix::termios::tcsetwinsize(&slave, size).unwrap();
        let stdio = || Stdio::from(slave.try_clone().unwrap());
        let child = Command::new(env!("CARGO_BIN_EXE_punctual"))
            .args(["top", socket.to_str().unwrap(), "--interval", "0.2"])
            .env("TERM", "xterm")
            .stdin(stdio())
            .stdout(stdio())
            .stderr(stdio())
            .spawn()
            .unwrap();
        rustix::io::ioctl_fionbio(&master, true).unwrap();
        Self {
            child,
            master: File::from(master),
            slave: slave.into(),
        }
    }

    fn press(&mut self, keys: &[u8]) {
        self.master.write_all(keys).unwrap();
    }

    fn is_cooked(&self) -> bool {
        let modes = tcgetattr(&self.slave).unwrap().local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
    }

    /// Reads until the text appears.
    fn wait_for(&mut self, text: &str) {
        let mut seen = String::new();
        let until = Instant::now() + Duration::from_secs(20);
        while !seen.contains(text) {
            assert!(Instant::now() < until, "{text:?} in {seen:?}");
            seen += &self.read();
        }
    }

    fn read(&mut self) -> String {
        let mut octets = [0; 4096];
        match self.master.read(&mut octets) {
            Ok(count) => String::from_utf8_lossy(&octets[..count]).into_owned(),
            Err(_) => {
                thread::sleep(Duration::from_millis(5));
                String::new()
            }
        }
    }

    fn wait(&mut self) -> i32 {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            self.read();
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().expect("not ended by a signal");
            }
            assert!(Instant::now() < until, "still running");
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn orb(inspection: Inspection) -> Orb {
    ordinary().inspection(inspection).build().unwrap()
}

fn top(folder: &Folder, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_punctual"))
        .arg("top")
        .args(arguments)
        .env("XDG_RUNTIME_DIR", &**folder)
        .env("TMPDIR", &**folder)
        .env_remove(Inspection::ENVIRONMENT)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

//! Requests a snapshot from an ORB over its inspection socket.

use std::{
    fmt, fs, io,
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use punctual::Inspection;

use super::snapshot::Snapshot;

/// Why `top` ended.
#[derive(Debug)]
pub enum Failed {
    /// No ORB or several ORBs were found.
    NotFound(String),
    /// The socket gave no valid answer.
    CannotAsk(PathBuf, String),
    /// The ORB answered before, but no longer does.
    Gone(String),
    /// The terminal could not be used.
    Terminal(io::Error),
}

impl Failed {
    pub fn terminal(error: io::Error) -> Self {
        Self::Terminal(error)
    }

    /// The same failure after an earlier answer: the ORB has ended.
    pub fn after(self, last: &Snapshot) -> Self {
        match self {
            Self::CannotAsk(..) => Self::Gone(format!("{} (process {})", last.program, last.pid)),
            other => other,
        }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(text) => f.write_str(text),
            Self::CannotAsk(socket, problem) => {
                write!(f, "no answer from the ORB at {}: {problem}", socket.display())
            }
            Self::Gone(orb) => write!(
                f,
                "the ORB of {orb} is gone: it was shut down, or its process has ended"
            ),
            Self::Terminal(error) => write!(
                f,
                "the terminal cannot be used ({error}); try `punctual top --once`"
            ),
        }
    }
}

/// Timeout of a snapshot: the ORB's inspection thread has a low priority, and lanes run first.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Limit of an answer in octets: far more than a thousand lanes need.
const MAX_ANSWER: u64 = 64 << 20;

/// Requests a snapshot.
pub fn ask(socket: &Path) -> Result<Snapshot, Failed> {
    let line = exchange(socket).map_err(|error| explain(socket, &error));
    let snapshot = line.and_then(|line| Snapshot::parse(&line));
    snapshot.map_err(|problem| Failed::CannotAsk(socket.to_owned(), problem))
}

fn exchange(socket: &Path) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.write_all(b"snapshot\n")?;
    let mut line = String::new();
    BufReader::new(stream.take(MAX_ANSWER)).read_line(&mut line)?;
    if line.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line)
}

fn explain(socket: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "no such socket; is the path correct, and is the ORB still running?".to_owned()
        }
        io::ErrorKind::ConnectionRefused if socket.is_dir() => {
            "this is a folder; name a socket in it, or the id of the process".to_owned()
        }
        io::ErrorKind::ConnectionRefused => "connection refused: its process has ended".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "permission denied: run this as the user of the ORB, or as root (`sudo`)".to_owned()
        }
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            let reason = match Inspection::process_of(socket).filter(|pid| is_stopped(*pid)) {
                Some(pid) => format!("its process is stopped; `kill -CONT {pid}` continues it"),
                None => "real-time threads may occupy the CPU of its thread `orb-inspect`; \
                         `Inspection::affinity` selects another CPU"
                    .to_owned(),
            };
            format!("timeout after {} s: {reason}", TIMEOUT.as_secs())
        }
        io::ErrorKind::UnexpectedEof => {
            "connection closed without an answer; is this the inspection socket of an ORB?".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Whether a signal or a debugger has stopped the process.
fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('T' | 't'))
}

use std::{
    fmt, io,
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use super::snapshot::Snapshot;

/// Why there is nothing to show.
#[derive(Debug)]
pub enum Failed {
    /// No ORB was found, or several.
    NotFound(String),
    /// The socket is there, or may be, and what it says is of no use.
    CannotAsk(PathBuf, String),
    /// It was there before.
    Gone(String),
    Terminal(io::Error),
}

impl Failed {
    pub fn terminal(error: io::Error) -> Self {
        Self::Terminal(error)
    }

    /// As seen by somebody who was answered before.
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
                write!(f, "the ORB at {} cannot be asked: {problem}", socket.display())
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

/// How long the ORB may take: its thread has a low priority, and lanes go first.
const PATIENCE: Duration = Duration::from_secs(5);
/// Octets of an answer: far above what an ORB with a thousand lanes says.
const MAX_ANSWER: u64 = 64 << 20;

/// Asks for a snapshot.
pub fn ask(socket: &Path) -> Result<Snapshot, Failed> {
    let line = exchange(socket).map_err(|error| explain(&error));
    let snapshot = line.and_then(|line| Snapshot::parse(&line));
    snapshot.map_err(|problem| Failed::CannotAsk(socket.to_owned(), problem))
}

fn exchange(socket: &Path) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(b"snapshot\n")?;
    let mut line = String::new();
    BufReader::new(stream.take(MAX_ANSWER)).read_line(&mut line)?;
    if line.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line)
}

fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such socket; is the path right, and the ORB still running?".to_owned(),
        io::ErrorKind::ConnectionRefused => "nobody listens there: its process has ended".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "it belongs to another user; run this as that user, or as root (`sudo`)".to_owned()
        }
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            "it does not answer; its thread `orb-inspect` has a low priority: is the CPU that it may use taken by real-time \
             threads? `Inspection::affinity` gives it another one"
                .to_owned()
        }
        io::ErrorKind::UnexpectedEof => "it hung up; is that the socket of an ORB's inspection?".to_owned(),
        _ => error.to_string(),
    }
}

//! Output of a child: lines of the protocol, and the end of its standard error.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use punctual_os::{Thread, ThreadSpec};

/// Output of a child. Two threads read it, so that a full pipe never blocks the child. They end with the
/// child.
#[derive(Debug)]
pub(super) struct Output {
    lines: Receiver<String>,
    errors: Arc<Mutex<VecDeque<String>>>,
    /// `None` if the child writes its errors elsewhere.
    error_reader: Option<Thread<()>>,
}

pub(super) enum NoLine {
    Late,
    End,
}

/// Number of lines of standard error that are kept.
const TAIL: usize = 20;
/// Maximum length of a line.
const LONGEST: u64 = 64 * 1024 * 1024;

impl Output {
    pub(super) fn of(process: &mut std::process::Child, name: &str) -> io::Result<Self> {
        let Some(stdout) = process.stdout.take() else {
            return Err(io::Error::other("the child was started without a pipe"));
        };
        let (sender, lines) = channel();
        let reader = ThreadSpec::new(format!("{name}-out"));
        reader.spawn(move || read_lines(stdout, &sender))?;
        let errors = Arc::new(Mutex::new(VecDeque::new()));
        let tail = Arc::clone(&errors);
        let read = |stderr| ThreadSpec::new(format!("{name}-err")).spawn(move || keep_tail(stderr, &tail));
        let error_reader = process.stderr.take().map(read).transpose()?;
        Ok(Self {
            lines,
            errors,
            error_reader,
        })
    }

    pub(super) fn line(&self, deadline: Instant) -> Result<String, NoLine> {
        let remaining = deadline.saturating_duration_since(Instant::now());
        self.lines.recv_timeout(remaining).map_err(|error| match error {
            RecvTimeoutError::Timeout => NoLine::Late,
            RecvTimeoutError::Disconnected => NoLine::End,
        })
    }

    /// Returns the last lines of standard error, after waiting briefly for the child's end.
    pub(super) fn error_tail(&self) -> String {
        let deadline = Instant::now() + Duration::from_millis(200);
        while self
            .error_reader
            .as_ref()
            .is_some_and(|reader| !reader.is_finished())
            && Instant::now() < deadline
        {
            std::thread::sleep(Duration::from_millis(2));
        }
        let lines = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

fn read_lines(stdout: impl Read, sender: &Sender<String>) {
    let mut reader = BufReader::new(stdout);
    loop {
        let mut line = String::new();
        match reader.by_ref().take(LONGEST).read_line(&mut line) {
            Ok(1..) => {}
            _ => return,
        }
        if sender.send(line.trim_end().to_owned()).is_err() {
            return;
        }
    }
}

fn keep_tail(stderr: impl Read, tail: &Mutex<VecDeque<String>>) {
    let mut reader = BufReader::new(stderr);
    let mut bytes = Vec::new();
    while matches!(reader.by_ref().take(4096).read_until(b'\n', &mut bytes), Ok(1..)) {
        let line = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.len() == TAIL {
            tail.pop_front();
        }
        tail.push_back(line);
        bytes.clear();
    }
}

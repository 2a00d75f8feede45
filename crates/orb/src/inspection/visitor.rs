use std::{
    io::{self, Read, Write},
    os::fd::{AsFd, BorrowedFd},
    time::{Duration, Instant},
};

use super::{prometheus, snapshot::Snapshot};

/// Somebody who asks, with what is known of the question and left of the answer. Nothing here waits.
pub(super) struct Visitor {
    stream: Box<dyn Stream>,
    /// Over TCP only HTTP is spoken.
    may_ask_lines: bool,
    question: Vec<u8>,
    answer: Vec<u8>,
    sent: usize,
    /// The answer is the last one.
    last: bool,
    /// When the question has to be complete, or the answer taken.
    until: Instant,
}

/// A connection.
pub(super) trait Stream: Read + Write + AsFd + Send {}

impl<S: Read + Write + AsFd + Send> Stream for S {}

/// What becomes of a visitor.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Next {
    Stays,
    Goes,
}

/// For a question, and again for taking its answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// Octets of a question.
const MAX_QUESTION: usize = 8 << 10;

impl Visitor {
    pub(super) fn new(stream: Box<dyn Stream>, may_ask_lines: bool, now: Instant) -> Self {
        Self {
            stream,
            may_ask_lines,
            question: Vec::new(),
            answer: Vec::new(),
            sent: 0,
            last: false,
            until: now + PATIENCE,
        }
    }

    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// Whether it waits for room for the answer, and not for more of the question.
    pub(super) fn is_being_answered(&self) -> bool {
        self.sent < self.answer.len()
    }

    /// Goes on as far as that is possible without waiting.
    pub(super) fn go_on(&mut self, now: Instant, look: &dyn Fn() -> Option<Snapshot>) -> Next {
        if now >= self.until {
            return Next::Goes;
        }
        if !self.is_being_answered() {
            match self.listen() {
                Ok(true) => {}
                Ok(false) => return Next::Stays,
                Err(_) => return Next::Goes,
            }
            let Some(answer) = self.answer_to_question(look) else {
                return Next::Stays;
            };
            self.answer = answer;
            self.sent = 0;
            self.until = now + PATIENCE;
        }
        match self.say() {
            Ok(true) if self.last => Next::Goes,
            Ok(true) => {
                self.answer = Vec::new();
                self.sent = 0;
                Next::Stays
            }
            Ok(false) => Next::Stays,
            Err(_) => Next::Goes,
        }
    }

    /// Reads once. `false`: there was nothing.
    fn listen(&mut self) -> io::Result<bool> {
        let mut octets = [0; 1024];
        match self.stream.read(&mut octets) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.question.extend_from_slice(&octets[..count]);
                Ok(true)
            }
            Err(error) if is_for_later(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes what there is room for. `true`: that was all.
    fn say(&mut self) -> io::Result<bool> {
        while self.is_being_answered() {
            match self.stream.write(&self.answer[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if is_for_later(&error) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// `None`: more of the question has to come.
    fn answer_to_question(&mut self, look: &dyn Fn() -> Option<Snapshot>) -> Option<Vec<u8>> {
        let too_long = self.question.len() > MAX_QUESTION;
        let end = self.question.iter().position(|octet| *octet == b'\n');
        let Some(end) = end.filter(|_| !too_long) else {
            self.last = true;
            return too_long.then(|| line("the question is too long"));
        };
        let first = String::from_utf8_lossy(&self.question[..end]).trim().to_owned();
        if !self.may_ask_lines || is_http(&first) {
            let whole = self.question.windows(4).any(|octets| octets == b"\r\n\r\n")
                || self.question.windows(2).any(|octets| octets == b"\n\n");
            self.last = true;
            return whole.then(|| answer_http(&first, look));
        }
        // What came behind the line is not waited for: who asks reads the answer first.
        self.question.clear();
        self.last = first != "snapshot";
        if self.last {
            return Some(line("ask `snapshot`, or `GET /metrics` over HTTP"));
        }
        let Some(snapshot) = look() else {
            self.last = true;
            return Some(line("the ORB has ended"));
        };
        Some((snapshot.to_json() + "\n").into_bytes())
    }
}

impl AsFd for Visitor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

fn line(problem: &str) -> Vec<u8> {
    format!("{{\"error\":\"{problem}\"}}\n").into_bytes()
}

fn is_http(first: &str) -> bool {
    first.contains(" HTTP/1.")
}

fn answer_http(first: &str, look: &dyn Fn() -> Option<Snapshot>) -> Vec<u8> {
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default();
    let plain = "text/plain; charset=utf-8";
    let (status, kind, body) = match (is_http(first), method, path) {
        (false, ..) => ("400 Bad Request", plain, "this is not HTTP 1\n".to_owned()),
        (_, "GET" | "HEAD", "/metrics") => match look() {
            Some(snapshot) => ("200 OK", prometheus::CONTENT_TYPE, snapshot.to_prometheus()),
            None => ("503 Service Unavailable", plain, "the ORB has ended\n".to_owned()),
        },
        (_, "GET" | "HEAD", _) => ("404 Not Found", plain, "there is /metrics only\n".to_owned()),
        _ => (
            "405 Method Not Allowed",
            plain,
            "GET /metrics is answered only\n".to_owned(),
        ),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let body = if method == "HEAD" { String::new() } else { body };
    (head + &body).into_bytes()
}

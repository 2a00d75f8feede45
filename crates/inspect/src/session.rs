//! One client of the inspection socket.

use std::{
    io::{self, Read, Write},
    os::fd::{AsFd, BorrowedFd},
    time::{Duration, Instant},
};

use crate::{prometheus, snapshot::UptimeSnapshot};

/// Connection of a client, with its request and the rest of its response. Nothing here waits.
pub(crate) struct Session {
    stream: Box<dyn Stream>,
    /// Whether lines are accepted, too: over TCP only HTTP is.
    accepts_lines: bool,
    request: Vec<u8>,
    response: Vec<u8>,
    sent: usize,
    /// Whether the connection ends after the response.
    last: bool,
    /// Deadline of the request, or of the client to take the response.
    deadline: Instant,
}

/// Connection of a session.
pub(crate) trait Stream: Read + Write + AsFd + Send {}

impl<S: Read + Write + AsFd + Send> Stream for S {}

/// Next state of a session.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Next {
    Continue,
    End,
}

/// Timeout of a request, and again of taking the response.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(2);
/// Largest request in octets.
const MAX_QUESTION: usize = 8 << 10;

impl Session {
    pub(crate) fn new(stream: Box<dyn Stream>, accepts_lines: bool, now: Instant) -> Self {
        Self {
            stream,
            accepts_lines,
            request: Vec::new(),
            response: Vec::new(),
            sent: 0,
            last: false,
            deadline: now + TIMEOUT,
        }
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns whether the session waits for room for its response, and not for more of the request.
    pub(crate) fn is_sending(&self) -> bool {
        self.sent < self.response.len()
    }

    /// Continues as far as possible without waiting.
    pub(crate) fn advance(&mut self, now: Instant, take: &dyn Fn() -> Option<UptimeSnapshot>) -> Next {
        if now >= self.deadline {
            return Next::End;
        }
        if !self.is_sending() {
            match self.receive() {
                Ok(true) => {}
                Ok(false) => return Next::Continue,
                Err(_) => return Next::End,
            }
            let Some(response) = self.response_to_request(take) else {
                return Next::Continue;
            };
            self.response = response;
            self.sent = 0;
            self.deadline = now + TIMEOUT;
        }
        match self.send() {
            Ok(true) if self.last => Next::End,
            Ok(true) => {
                self.response = Vec::new();
                self.sent = 0;
                Next::Continue
            }
            Ok(false) => Next::Continue,
            Err(_) => Next::End,
        }
    }

    /// Reads once. `false`: nothing has arrived.
    fn receive(&mut self) -> io::Result<bool> {
        let mut octets = [0; 1024];
        match self.stream.read(&mut octets) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.request.extend_from_slice(&octets[..count]);
                Ok(true)
            }
            Err(error) if is_for_later(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes as far as there is room. `true`: the whole response has been written.
    fn send(&mut self) -> io::Result<bool> {
        while self.is_sending() {
            match self.stream.write(&self.response[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if is_for_later(&error) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Response to the request; `None`: the request is not complete.
    fn response_to_request(&mut self, take: &dyn Fn() -> Option<UptimeSnapshot>) -> Option<Vec<u8>> {
        let too_long = self.request.len() > MAX_QUESTION;
        let end = self.request.iter().position(|octet| *octet == b'\n');
        let Some(end) = end.filter(|_| !too_long) else {
            self.last = true;
            return too_long.then(|| line("the request is too long"));
        };
        let first = String::from_utf8_lossy(&self.request[..end]).trim().to_owned();
        if !self.accepts_lines || is_http(&first) {
            let whole = self.request.windows(4).any(|octets| octets == b"\r\n\r\n")
                || self.request.windows(2).any(|octets| octets == b"\n\n");
            self.last = true;
            return whole.then(|| respond_to_http(&first, take));
        }
        // Octets after the line are dropped: a client reads the response first.
        self.request.clear();
        self.last = first != "snapshot";
        if self.last {
            return Some(line("ask `snapshot`, or `GET /metrics` over HTTP"));
        }
        let Some(snapshot) = take() else {
            self.last = true;
            return Some(line("the ORB has ended"));
        };
        Some((snapshot.to_json() + "\n").into_bytes())
    }
}

impl AsFd for Session {
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

fn respond_to_http(first: &str, take: &dyn Fn() -> Option<UptimeSnapshot>) -> Vec<u8> {
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default();
    let plain = "text/plain; charset=utf-8";
    let (status, kind, body) = match (is_http(first), method, path) {
        (false, ..) => ("400 Bad Request", plain, "this is not HTTP 1\n".to_owned()),
        (_, "GET" | "HEAD", "/metrics") => match take() {
            Some(snapshot) => (
                "200 OK",
                prometheus::CONTENT_TYPE,
                snapshot.snapshot.to_prometheus(snapshot.uptime),
            ),
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

//! An event as `tail` shows it: a line for people, or a JSON object.

use std::fmt::Write;

use punctual::any::Kind;
use punctual_events::rtec::rtec_event_comm::EventView;
use serde_json::{Value, json};

use super::payload::PayloadTypes;

/// A received event.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub event_type: i32,
    pub source: i32,
    pub ttl: i32,
    /// Times at which the supplier made the event, the channel received it, and the channel sent it; in µs
    /// since 1970, 0 if unknown.
    pub created: u64,
    pub received: u64,
    pub sent: u64,
    pub payload: Vec<u8>,
    /// Value of the payload or of the `any`, as JSON; or why it is none.
    pub value: Option<Result<String, String>>,
    /// Kind of the `any`, if there is one.
    pub any: Option<String>,
}

impl Record {
    pub fn new(event: &EventView<'_>, types: &PayloadTypes) -> Self {
        let header = &event.header;
        let any = match event.data.any_value.type_code().kind() {
            Ok(Kind::Null) => None,
            Ok(kind) => Some(format!("{kind:?}")),
            Err(error) => Some(format!("invalid: {error}")),
        };
        Self {
            event_type: header.r#type,
            source: header.source,
            ttl: header.ttl,
            created: since_1970(header.creation_time),
            received: since_1970(header.ec_recv_time),
            sent: since_1970(header.ec_send_time),
            payload: event.data.payload.to_vec(),
            value: types.value(event),
            any,
        }
    }

    pub fn json(&self) -> Value {
        json!({
            "type": self.event_type, "source": self.source, "ttl": self.ttl,
            "created_us": self.created, "received_us": self.received, "sent_us": self.sent,
            "payload": hex(&self.payload), "text": self.text(), "any": self.any,
            "value": self.value.as_ref().and_then(|value| serde_json::from_str::<Value>(value.as_ref().ok()?).ok()),
        })
    }

    /// One line without a line break, regardless of the payload.
    pub fn line(&self) -> String {
        let mut line = format!(
            "{}  type {:<5} source {:<5} {:>6} octets",
            time_of_day(self.received),
            self.event_type,
            self.source,
            self.payload.len()
        );
        // Writing to a string does not fail.
        let _ = match (&self.value, self.text()) {
            (Some(Ok(value)), _) => write!(line, "  {value}"),
            (Some(Err(problem)), _) => write!(line, "  {}: {problem}", shortened(&self.payload)),
            (None, Some("")) => Ok(()),
            (None, Some(text)) => write!(line, "  \"{text}\""),
            (None, None) => write!(line, "  {}", shortened(&self.payload)),
        };
        let _ = self.any.as_ref().map(|kind| write!(line, "  any: {kind}"));
        line
    }

    /// The payload if it is printable text, which no terminal interprets.
    fn text(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.payload).ok()?;
        (!text.chars().any(char::is_control)).then_some(text)
    }
}

/// Converts units of 100 ns since 15 October 1582 to µs since 1970.
fn since_1970(time: u64) -> u64 {
    time.saturating_sub(punctual_events::time::UNIX_EPOCH) / 10
}

fn time_of_day(us: u64) -> String {
    let seconds = us / 1_000_000;
    format!(
        "{:02}:{:02}:{:02}.{:06}Z",
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
        us % 1_000_000
    )
}

/// Octets that a line shows.
const SHOWN: usize = 32;

fn shortened(octets: &[u8]) -> String {
    match octets.get(..SHOWN) {
        Some(first) if octets.len() > SHOWN => format!("{}…", hex(first)),
        _ => hex(octets),
    }
}

fn hex(octets: &[u8]) -> String {
    octets.iter().fold(String::new(), |mut text, octet| {
        let _ = write!(text, "{octet:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(payload: &[u8]) -> Record {
        Record {
            event_type: 17,
            source: 7,
            ttl: 1,
            created: 0,
            received: 3_723_000_004,
            sent: 0,
            payload: payload.to_vec(),
            value: None,
            any: None,
        }
    }

    #[test]
    fn text_is_shown_as_text_and_everything_else_in_hexadecimal_digits() {
        let line = record("hot €".as_bytes()).line();
        assert_eq!(
            line,
            "01:02:03.000004Z  type 17    source 7          7 octets  \"hot €\""
        );
        assert!(record(b"\x1b[2Jx").line().ends_with("  1b5b324a78"));
        assert!(record(&[7; 33]).line().ends_with("07…"));
        assert!(record(b"").line().ends_with("0 octets"));
    }

    #[test]
    fn json_has_the_whole_payload() {
        let object = record(&[0xff; 40]).json();
        assert_eq!(object["payload"].as_str().map(str::len), Some(80));
        assert_eq!((&object["text"], &object["type"]), (&Value::Null, &json!(17)));
        assert_eq!(record(b"hot").json()["text"], "hot");
    }
}

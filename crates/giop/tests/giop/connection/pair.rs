//! Two connections joined by byte queues, in virtual time, and the messages that they exchange.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use punctual_cdr::Endian;
use punctual_giop::{
    connection::{Connection, ConnectionLimits, Event, Refused, Role},
    *,
};

use crate::messages::message;

/// An event with its message, owned.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub event: Event,
    pub message: Vec<u8>,
    pub fragment_starts: Vec<usize>,
}

/// One side of a pair.
pub struct Side {
    pub connection: Connection,
    /// Octets on their way to this side.
    pub incoming: VecDeque<u8>,
}

pub struct Pair {
    pub client: Side,
    pub server: Side,
    pub now: Instant,
}

pub fn limits() -> ConnectionLimits {
    ConnectionLimits {
        max_message_size: 1 << 16,
        max_fragmented_messages: 4,
        message_completion: Some(Duration::from_secs(1)),
    }
}

impl Pair {
    pub fn new(version: Version) -> Self {
        Self::with_roles(Role::Client, Role::Server, version)
    }

    pub fn with_roles(client: Role, server: Role, version: Version) -> Self {
        Self {
            client: Side::new(client, version, limits()),
            server: Side::new(server, Version::V1_0, limits()),
            now: Instant::now(),
        }
    }

    pub fn send_to_server(&mut self, octets: &[u8]) {
        self.server.incoming.extend(octets);
    }

    pub fn send_to_client(&mut self, octets: &[u8]) {
        self.client.incoming.extend(octets);
    }

    pub fn server_events(&mut self, chunk: usize) -> Result<Vec<Seen>, Refused> {
        self.server.events(chunk, self.now)
    }

    pub fn client_events(&mut self, chunk: usize) -> Result<Vec<Seen>, Refused> {
        self.client.events(chunk, self.now)
    }
}

impl Side {
    pub fn new(role: Role, version: Version, limits: ConnectionLimits) -> Self {
        Self {
            connection: Connection::new(role, version, limits),
            incoming: VecDeque::new(),
        }
    }

    /// Reads once, at most `chunk` octets.
    pub fn read(&mut self, chunk: usize) {
        let space = self.connection.receive.space();
        assert!(!space.is_empty(), "there is always space");
        let count = chunk.min(space.len()).min(self.incoming.len());
        for (octet, received) in space.iter_mut().zip(self.incoming.drain(..count)) {
            *octet = received;
        }
        self.connection.receive.received(count);
    }

    /// All events, reading `chunk` octets at a time.
    pub fn events(&mut self, chunk: usize, now: Instant) -> Result<Vec<Seen>, Refused> {
        self.events_in_chunks(&[chunk], now)
    }

    /// All events, reading in chunks of these sizes, over and over.
    pub fn events_in_chunks(&mut self, chunks: &[usize], now: Instant) -> Result<Vec<Seen>, Refused> {
        let mut seen = Vec::new();
        let mut chunks = chunks.iter().cycle();
        loop {
            let expected = self.connection.receive.has_message();
            match self.connection.receive.poll(|| now)? {
                Some(event) => {
                    assert!(expected, "{event:?} without `has_message`");
                    seen.push(self.seen(event));
                }
                None if self.incoming.is_empty() => return Ok(seen),
                None => self.read(*chunks.next().unwrap()),
            }
        }
    }

    /// Alternates between borrowing messages and taking them.
    fn seen(&mut self, event: Event) -> Seen {
        let receive = &mut self.connection.receive;
        let header = match event {
            Event::Request(header) | Event::LocateRequest(header) => header,
            Event::Reply(reply) => reply.header,
            _ => {
                let (message, fragment_starts) = (Vec::new(), Vec::new());
                return Seen {
                    event,
                    message,
                    fragment_starts,
                };
            }
        };
        let borrowed = (receive.message().to_vec(), receive.fragment_starts().to_vec());
        if header.size % 8 < 4 {
            let (mut message, mut starts) = (vec![7; 3], vec![9]);
            receive.take(&mut message, &mut starts);
            message.truncate(header.total_size());
            assert_eq!((&message, &starts), (&borrowed.0, &borrowed.1));
        }
        Seen {
            event,
            message: borrowed.0,
            fragment_starts: borrowed.1,
        }
    }
}

/// A request, with code sets announced if one is stated.
pub fn request(version: Version, endian: Endian, id: u32, char_set: Option<u32>) -> Vec<u8> {
    message(version, MessageType::Request, endian, |encoder| {
        let announced = char_set.map(|char| ServiceContext::CodeSets { char, wchar: UTF_16 });
        let request = OutgoingRequest {
            request_id: id,
            response: ResponseFlags::WithTarget,
            target: TargetAddress::Key(b"key"),
            operation: "cube",
            contexts: announced.as_slice(),
        };
        encode_request(encoder, version, &request).unwrap();
    })
}

pub fn locate_request(version: Version, endian: Endian, id: u32) -> Vec<u8> {
    message(version, MessageType::LocateRequest, endian, |encoder| {
        encode_locate_request(encoder, version, id, TargetAddress::Key(b"key")).unwrap();
    })
}

pub fn reply(version: Version, endian: Endian, id: u32) -> Vec<u8> {
    message(version, MessageType::Reply, endian, |encoder| {
        encode_reply_header(encoder, version, id, ReplyStatus::UserException, &[]).unwrap();
    })
}

pub fn locate_reply(version: Version, endian: Endian, id: u32) -> Vec<u8> {
    message(version, MessageType::LocateReply, endian, |encoder| {
        encode_locate_reply(encoder, version, id, LocateStatus::ObjectHere).unwrap();
    })
}

pub fn cancel(version: Version, id: u32) -> Vec<u8> {
    let mut octets = Vec::new();
    write_cancel_request(&mut octets, version, id);
    octets
}

pub fn close(version: Version) -> Vec<u8> {
    let mut octets = Vec::new();
    write_close_connection(&mut octets, version);
    octets
}

pub fn error(version: Version) -> Vec<u8> {
    let mut octets = Vec::new();
    write_message_error(&mut octets, version);
    octets
}

/// The events alone.
pub fn kinds(seen: &[Seen]) -> Vec<Event> {
    seen.iter().map(|seen| seen.event).collect()
}

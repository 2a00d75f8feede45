//! Messages of the gateways: eight octets, number of the sender, number of the message, and a set of one
//! event.
//!
//! The first octet is the byte order of what follows, in CDR with its alignment from octet 8.

use punctual_cdr::{Decode, Decoder, Encode, Encoder, Endian};
use punctual_events::{decode_set, encode_set, rtec::rtec_event_comm::Event};

const LENGTH: usize = 24;
/// Place of the message's number.
const NUMBER: std::ops::Range<usize> = 16..LENGTH;
const MAGIC: [u8; 7] = *b"PEV\x01\0\0\0";

/// A received message.
#[derive(Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) sender: u64,
    pub(crate) number: u64,
    pub(crate) events: Vec<Event>,
}

/// Returns a message with an event, whose `ttl` is decremented. It has the number 0.
pub(crate) fn encode(sender: u64, event: &Event) -> Option<Vec<u8>> {
    let mut message = vec![u8::from(Endian::NATIVE == Endian::Little)];
    message.extend_from_slice(&MAGIC);
    let mut rest = Vec::with_capacity(128 + event.data.payload.len());
    let mut encoder = Encoder::new(&mut rest, Endian::NATIVE);
    sender.encode(&mut encoder).ok()?;
    0_u64.encode(&mut encoder).ok()?;
    message.append(&mut rest);
    encode_set(event, &mut rest)?;
    message.append(&mut rest);
    Some(message)
}

/// Gives a message of this host its number.
pub(crate) fn set_number(message: &mut [u8], number: u64) {
    message[NUMBER].copy_from_slice(&number.to_ne_bytes());
}

/// Reads a message. `None`: it is not such a message.
pub(crate) fn decode(message: &[u8]) -> Option<Frame> {
    let (head, set) = message.split_at_checked(LENGTH)?;
    let endian = match head[0] {
        0 => Endian::Big,
        1 => Endian::Little,
        _ => return None,
    };
    let mut decoder = Decoder::new(&head[8..], endian);
    let frame = Frame {
        sender: u64::decode(&mut decoder).ok()?,
        number: u64::decode(&mut decoder).ok()?,
        events: decode_set(set, endian)?,
    };
    (head[1..8] == MAGIC).then_some(frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written_and_nothing_else() {
        let mut event = Event::default();
        event.header.ttl = 2;
        event.data.payload = b"hot".to_vec();
        let mut message = encode(7, &event).unwrap();
        set_number(&mut message, 9);
        event.header.ttl = 1;
        let frame = Frame {
            sender: 7,
            number: 9,
            events: vec![event],
        };
        assert_eq!(decode(&message), Some(frame));
        for length in 0..message.len() - 8 {
            assert_eq!(decode(&message[..length]), None, "{length}");
        }
        for place in 0..8 {
            let mut bad = message.clone();
            bad[place] ^= 0x40;
            assert_eq!(decode(&bad), None, "{place}");
        }
    }
}

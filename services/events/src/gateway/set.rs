//! Sets of events as gateways over networks send them, in CDR.

use punctual::rt::Encode;
use punctual_cdr::{Arena, Decode, Decoder, Encoder, Endian};

use crate::rtec::rtec_event_comm::{Event, EventView};

/// Appends a set of this event, with its `ttl` decremented, to an empty message, in this machine's byte
/// order; `None`: it cannot be encoded.
pub fn encode_set(event: &Event, message: &mut Vec<u8>) -> Option<()> {
    let mut encoder = Encoder::new(message, Endian::NATIVE);
    encoder.length(1).ok()?;
    let mut header = event.header.clone();
    header.ttl -= 1;
    header.encode(&mut encoder).ok()?;
    event.data.encode(&mut encoder).ok()
}

/// Reads a set of events, in memory proportional to its length; `None`: it is not a set.
pub fn decode_set(message: &[u8], endian: Endian) -> Option<Vec<Event>> {
    let arena = Arena::default();
    let limit = 4 * message.len() + 4_096;
    let mut decoder = Decoder::new(message, endian)
        .with_arena(&arena)
        .with_decoded_limit(limit);
    let events = <&[EventView<'_>]>::decode(&mut decoder).ok()?;
    Some(events.iter().map(EventView::to_owned).collect())
}

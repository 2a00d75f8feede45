//! Any octets, as sets of events of other channels and as subscriptions of consumers: what the fuzz target
//! `events` checks.

use std::time::Duration;

use punctual::transport::{Decode, Decoder};
use punctual_cdr::{Arena, Encode, Encoder, Endian};
use punctual_events::{
    ChannelLimits, EventChannel, EventType, Filter, decode_set, encode_set,
    rtec::rtec_event_channel_admin::DependencyView,
};

/// The first octet selects what the others are, and their byte order.
pub fn check(input: &[u8]) {
    let Some((selector, octets)) = input.split_first() else {
        return;
    };
    let endian = if selector & 1 == 0 {
        Endian::Big
    } else {
        Endian::Little
    };
    match selector & 2 {
        0 => events(octets, endian),
        _ => {
            subscription(octets, endian);
        }
    }
}

/// Sets of events: what is read can be written and read again, with a lower `ttl`.
fn events(octets: &[u8], endian: Endian) {
    for event in decode_set(octets, endian).into_iter().flatten() {
        let mut message = Vec::new();
        // A time to live that cannot be lowered is of no event that a gateway would send on.
        if event.header.ttl == i32::MIN || encode_set(&event, &mut message).is_none() {
            continue;
        }
        let again = decode_set(&message, Endian::NATIVE).expect("what was written can be read");
        assert_eq!(again.len(), 1);
        assert_eq!(again[0].header.ttl, event.header.ttl - 1);
        assert_eq!(again[0].data, event.data);
    }
}

/// A subscription: one that is a filter is the same when it is written and read again, and a channel either
/// refuses it or lives with it. Returns whether it is a filter.
fn subscription(octets: &[u8], endian: Endian) -> bool {
    let Some(filter) = read(octets, endian) else {
        return false;
    };
    // The first time, an interval of 584 years may lose what is less than 100 ns.
    let once = again(&filter);
    assert_eq!(again(&once), once);
    let limits = ChannelLimits {
        ending: Duration::ZERO,
        ..ChannelLimits::default()
    };
    let channel = EventChannel::builder().limits(limits).build().unwrap();
    let Ok(consumer) = channel
        .subscribe_to(filter)
        .queue(4, Default::default())
        .receiver()
    else {
        return true;
    };
    for event_type in [0, 1, 16, 17, 99].repeat(3) {
        channel.push_octets(EventType(event_type), b"x").unwrap();
    }
    assert!(consumer.subscription().statistics().waiting <= 4);
    channel.destroy();
    true
}

fn again(filter: &Filter) -> Filter {
    let mut written = Vec::new();
    let mut encoder = Encoder::new(&mut written, Endian::NATIVE);
    let encoded = filter.to_dependencies().encode(&mut encoder);
    encoded.expect("it is as long as it was");
    read(&written, Endian::NATIVE).expect("what was written can be read")
}

fn read(octets: &[u8], endian: Endian) -> Option<Filter> {
    let arena = Arena::default();
    let mut decoder = Decoder::new(octets, endian)
        .with_arena(&arena)
        .with_decoded_limit(4 * octets.len() + 4_096);
    let dependencies = <&[DependencyView<'_>]>::decode(&mut decoder).ok()?;
    Filter::from_dependencies(dependencies).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Corpus;

    fn corpus() -> Corpus {
        Corpus::of_octets(include_str!("../../../../fuzz/corpus/events.txt"))
    }

    #[test]
    fn the_corpus_passes() {
        corpus().inputs().for_each(check);
        let sets = corpus().inputs().filter(|input| input[0] == 1).count();
        let read = |input: &&[u8]| input[0] == 1 && decode_set(&input[1..], Endian::Little).is_some();
        assert!(corpus().inputs().filter(read).count() >= sets / 2);
        let filters = |input: &&[u8]| input[0] == 3 && subscription(&input[1..], Endian::Little);
        assert!(corpus().inputs().filter(filters).count() >= 4);
    }

    #[test]
    fn mutations_of_the_corpus_pass() {
        corpus().mutations(20_000, check);
    }
}

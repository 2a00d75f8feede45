//! Messages that TAO 2.2.2 sent (captures of its Simple example), and the same from here.

use punctual::{Interface, any::Kind};
use punctual_cdr::{Decode, Decoder, Encode, Encoder, Endian};
use punctual_events::{
    EventType, Filter,
    rtec::{
        rtec_event_channel_admin::{ConsumerQosView, EventChannelRef},
        rtec_event_comm::{Event, EventView},
    },
};

/// Body of `push`: one event of type 16 from source 1. Its times are uninitialised memory of TAO's.
const PUSH: &str = "
    010000001000000001000000010000006d652053657276696365205377697463682066756e6374696f6e616c00000000
                    00000000";

/// The second parameter of `connect_push_consumer`, after four octets to its alignment.
const CONSUMER_QOS: &str = "
    000000000200000009000000000000000000000000000000000000000000000000000000000000000000000000000000
    000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000
    00000000000000000000000000000000000000000000000000
";

pub fn octets(hex: &str) -> Vec<u8> {
    let hex: String = hex.split_whitespace().collect();
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect()
}

#[test]
fn an_event_of_tao_is_read_and_written_as_it_was() {
    let recorded = octets(PUSH);
    let arena = punctual_cdr::Arena::default();
    let mut decoder = Decoder::new(&recorded, Endian::Little).with_arena(&arena);
    let events: &[EventView<'_>] = Decode::decode(&mut decoder).unwrap();
    assert_eq!(decoder.remaining(), 0);
    let header = &events[0].header;
    assert_eq!((header.r#type, header.source, header.ttl), (16, 1, 1));
    assert!(events[0].data.payload.is_empty());
    assert_eq!(events[0].data.any_value.type_code().kind(), Ok(Kind::Null));
    let owned: Vec<Event> = events.iter().map(EventView::to_owned).collect();
    let mut written = Vec::new();
    owned
        .encode(&mut Encoder::new(&mut written, Endian::Little))
        .unwrap();
    assert_eq!(written, recorded);
}

#[test]
fn a_subscription_of_tao_in_basic_notation_is_a_disjunction() {
    let recorded = octets(CONSUMER_QOS);
    let arena = punctual_cdr::Arena::default();
    let mut decoder = Decoder::new(&recorded, Endian::Little).with_arena(&arena).at(4);
    let qos = ConsumerQosView::decode(&mut decoder).unwrap();
    assert!(!qos.is_gateway);
    let filter = Filter::from_dependencies(qos.dependencies).unwrap();
    assert_eq!(filter, Filter::any_of([Filter::event(EventType(16))]));
}

#[test]
fn ids_are_those_of_tao() {
    assert_eq!(
        EventChannelRef::REPOSITORY_ID,
        "IDL:RtecEventChannelAdmin/EventChannel:1.0"
    );
}

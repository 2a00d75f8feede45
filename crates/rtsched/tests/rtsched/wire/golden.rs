//! Contexts octet by octet, in both byte orders, written by hand from the document.

use std::time::Duration;

use punctual_cdr::Endian;
use punctual_rtsched::wire::{CarriedParameters, PeerLayout, Reading, SchedulingContext, UnknownParameters};
use punctual_sched::dynamic::{SchedulingParameters, Time, Utility};
use punctual_types::{DistributableThreadId, Priority};

use super::{CLOCKS, octets, reader};

const ID: DistributableThreadId = DistributableThreadId(0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f);

fn in_both_directions(context: SchedulingContext, endian: Endian, golden: &str) {
    let golden = octets(golden);
    assert_eq!(context.encode(&CLOCKS, endian).to_vec(), golden, "{endian:?}");
    assert_eq!(
        reader(PeerLayout::OwnOnly).read(&golden),
        Ok(Reading::Context(context)),
        "{endian:?}"
    );
}

#[test]
fn a_whole_context_little_endian_and_big_endian() {
    let context = SchedulingContext {
        id: ID,
        parameters: Some(CarriedParameters::Known(SchedulingParameters::Urgency {
            criticality: 3,
            deadline: CLOCKS.local + Duration::from_millis(1),
            execution_time: Duration::from_micros(200),
            importance: -1,
        })),
        implicit: Some(CarriedParameters::Known(SchedulingParameters::Importance {
            importance: 7,
        })),
        begins: false,
    };
    in_both_directions(
        context,
        Endian::Little,
        "01 504454 01 00 03 00  00010203 04050607 08090a0b 0c0d0e0f
         01 01 0600 28000000  102700000000f001 40420f0000000000  400d030000000000 03000000 ffffffff
         01 00 0200 10000000  07000000 00000000",
    );
    in_both_directions(
        context,
        Endian::Big,
        "00 504454 01 00 03 00  00010203 04050607 08090a0b 0c0d0e0f
         00 01 0006 00000028  01f0000000002710 00000000000f4240  0000000000030d40 00000003 ffffffff
         00 00 0002 00000010  00000007 00000000",
    );
}

#[test]
fn a_thread_without_parameters_is_its_id() {
    for (endian, order) in [(Endian::Little, "01"), (Endian::Big, "00")] {
        let context = SchedulingContext {
            id: ID,
            parameters: None,
            implicit: None,
            begins: false,
        };
        in_both_directions(
            context,
            endian,
            &format!("{order} 504454 01 00 00 00  000102030405060708090a0b0c0d0e0f"),
        );
    }
}

#[test]
fn a_thread_that_begins_with_its_request_is_marked() {
    let context = SchedulingContext {
        id: ID,
        parameters: None,
        implicit: Some(SchedulingParameters::Importance { importance: 7 }.into()),
        begins: true,
    };
    in_both_directions(
        context,
        Endian::Big,
        "00 504454 01 00 06 00  000102030405060708090a0b0c0d0e0f
         00 00 0002 00000010  00000007 00000000",
    );
}

#[test]
fn each_kind_has_its_fields() {
    let deadline = CLOCKS.local + Duration::from_millis(1);
    let past = Time(CLOCKS.local.0 - 300);
    let (ns_1, ns_2) = (Duration::from_nanos(1), Duration::from_nanos(2));
    let due = "01f0000000002710 00000000000f4240";
    let overdue = "01effffffffffffd fffffffffffffed4";
    use SchedulingParameters as P;
    let table: [(SchedulingParameters, String); 10] = [
        (
            P::FixedPriority {
                priority: Priority::MAX,
            },
            "00 00 0001 00000010  7fff 000000000000".into(),
        ),
        (
            P::Importance { importance: i32::MIN },
            "00 00 0002 00000010  80000000 00000000".into(),
        ),
        (
            P::Rate {
                period: ns_1,
                importance: 5,
            },
            "00 00 0003 00000018  0000000000000001 00000005 00000000".into(),
        ),
        (
            P::Deadline {
                deadline,
                period: ns_1,
                execution_time: ns_2,
                importance: 5,
            },
            format!("00 01 0004 00000030  {due} 0000000000000001 0000000000000002 00000005 00000000"),
        ),
        (
            P::Deadline {
                deadline: Time::NEVER,
                period: ns_1,
                execution_time: ns_2,
                importance: 5,
            },
            "00 00 0004 00000020  0000000000000001 0000000000000002 00000005 00000000".into(),
        ),
        (
            P::Laxity {
                deadline: past,
                execution_time: ns_2,
                importance: 5,
            },
            format!("00 01 0005 00000028  {overdue} 0000000000000002 00000005 00000000"),
        ),
        (
            P::Urgency {
                criticality: 1,
                deadline,
                execution_time: ns_2,
                importance: 5,
            },
            format!("00 01 0006 00000028  {due} 0000000000000002 00000001 00000005"),
        ),
        (
            P::RateOrLaxity {
                criticality: 1,
                period: ns_1,
                deadline,
                execution_time: ns_2,
                importance: 5,
            },
            format!("00 01 0007 00000030  {due} 0000000000000001 0000000000000002 00000001 00000005"),
        ),
        (
            P::Utility {
                deadline,
                execution_time: ns_2,
                utility: Utility {
                    value: u32::MAX,
                    decay: ns_1,
                },
            },
            format!("00 01 0008 00000030  {due} 0000000000000002 0000000000000001 ffffffff 00000000"),
        ),
        (
            P::Rate {
                period: Duration::from_nanos(u64::MAX),
                importance: 0,
            },
            "00 00 0003 00000018  ffffffffffffffff 00000000 00000000".into(),
        ),
    ];
    for (parameters, block) in table {
        let context = SchedulingContext {
            id: ID,
            parameters: Some(parameters.into()),
            implicit: None,
            begins: false,
        };
        in_both_directions(
            context,
            Endian::Big,
            &format!("00 504454 01 00 01 00 000102030405060708090a0b0c0d0e0f {block}"),
        );
        let implicit = SchedulingContext {
            parameters: None,
            implicit: context.parameters,
            ..context
        };
        in_both_directions(
            implicit,
            Endian::Big,
            &format!("00 504454 01 00 02 00 000102030405060708090a0b0c0d0e0f {block}"),
        );
    }
}

#[test]
fn unknown_parameters_keep_their_byte_order() {
    let fields = octets("0000002a 00000000");
    let deadline = Some(CLOCKS.local + Duration::from_millis(1));
    let energy = UnknownParameters::new(0x8001, deadline, Endian::Big, &fields).unwrap();
    let context = SchedulingContext {
        id: ID,
        parameters: Some(CarriedParameters::Unknown(energy)),
        implicit: Some(SchedulingParameters::Importance { importance: 7 }.into()),
        begins: false,
    };
    in_both_directions(
        context,
        Endian::Little,
        "01 504454 01 00 03 00  000102030405060708090a0b0c0d0e0f
         00 01 8001 00000020  01f0000000002710 00000000000f4240 0000002a 00000000
         01 00 0200 10000000  07000000 00000000",
    );
}

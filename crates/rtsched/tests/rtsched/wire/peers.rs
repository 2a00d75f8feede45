//! Contexts of TAO's example schedulers, with the layout of the peer set.

use std::time::Duration;

use punctual_cdr::{CdrErrorKind, Encode, Encoder, Endian, encode_encapsulation};
use punctual_rtsched::wire::{
    CarriedParameters, PeerLayout, Reader, Reading, SchedulingContext, UnknownParameters,
};
use punctual_sched::dynamic::{SchedulingParameters, Time};
use punctual_types::{DistributableThreadId, Priority};

use super::{CLOCKS, bad_input::read, fuzzed::LAYOUTS, octets, reader};

fn thread(id: u128, parameters: Option<SchedulingParameters>) -> Reading {
    Reading::Context(SchedulingContext {
        id: DistributableThreadId(id),
        parameters: parameters.map(Into::into),
        implicit: None,
        begins: false,
    })
}

/// Id of a counter at peer 0, whose number is inverted.
const PEER: u128 = 0xffff_ffff_ffff_ffff << 64;

/// Recorded from TAO 2.2.2: service context 30 of its RTScheduling test, three requests of two threads.
const RECORDED: [(&str, u128); 3] = [
    ("0400000000000000", 4),
    ("0500000000000000", 5),
    ("0400000000000000", 4),
];

#[test]
fn the_fixed_priority_example_sends_an_id() {
    for (data, id) in RECORDED {
        assert_eq!(
            read(PeerLayout::FixedPriority, &octets(data)),
            Ok(thread(PEER | id, None))
        );
    }
    assert_eq!(
        read(PeerLayout::FixedPriority, &octets("04000000")),
        Ok(thread(PEER | 4, None))
    );
    for other in ["", "04", "040000", "0400000000", "040000000000000005000000"] {
        assert_eq!(
            read(PeerLayout::FixedPriority, &octets(other)),
            Ok(Reading::Foreign),
            "{other}"
        );
    }
}

#[test]
fn contexts_for_tao_have_its_octets() {
    let sent = |layout: PeerLayout, id, parameters: Option<SchedulingParameters>, endian| {
        let context = SchedulingContext {
            id: DistributableThreadId(id),
            parameters: parameters.map(Into::into),
            implicit: None,
            begins: false,
        };
        layout.encode(&context, endian).map(|octets| octets.to_vec())
    };
    let importance = Some(SchedulingParameters::Importance { importance: -2 });
    for (recorded, id) in RECORDED {
        let recorded = octets(recorded);
        for endian in [Endian::Little, Endian::Big] {
            let of_peer = sent(PeerLayout::FixedPriority, PEER | id, importance, endian);
            assert_eq!(of_peer.as_ref(), Some(&recorded), "the id that it came with");
        }
    }
    let ours = 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f;
    for (endian, golden) in [
        (Endian::Little, "0f0e0d0c0b0a0908 feffffff"),
        (Endian::Big, "0f0e0d0c0b0a0908 fffffffe"),
    ] {
        let octets_sent = sent(PeerLayout::MostImportantFirst, ours, importance, endian);
        assert_eq!(octets_sent, Some(octets(golden)), "{endian:?}");
    }
    let priority = Priority::new(300).unwrap();
    for (parameters, golden) in [
        (None, "0f0e0d0c0b0a0908 00000000"),
        (
            Some(SchedulingParameters::FixedPriority { priority }),
            "0f0e0d0c0b0a0908 0000012c",
        ),
    ] {
        let octets_sent = sent(PeerLayout::MostImportantFirst, ours, parameters, Endian::Big);
        assert_eq!(octets_sent, Some(octets(golden)), "{parameters:?}");
    }
    let unknown = UnknownParameters::new(0x8001, None, Endian::Big, &[9; 8]).unwrap();
    let context = SchedulingContext {
        id: DistributableThreadId(ours),
        parameters: Some(CarriedParameters::Unknown(unknown)),
        implicit: None,
        begins: false,
    };
    let octets_sent = PeerLayout::MostImportantFirst
        .encode(&context, Endian::Big)
        .unwrap();
    assert_eq!(octets_sent.to_vec(), octets("0f0e0d0c0b0a0908 00000000"));
    for layout in LAYOUTS {
        let is_sent = matches!(layout, PeerLayout::FixedPriority | PeerLayout::MostImportantFirst);
        assert_eq!(
            layout.encode(&context, Endian::Big).is_some(),
            is_sent,
            "{layout:?}"
        );
    }
}

#[test]
fn ids_of_different_peers_are_different() {
    let of = |peer: u64| {
        let reader = Reader {
            peer,
            ..reader(PeerLayout::FixedPriority)
        };
        match reader.read(&octets("0400000000000000")) {
            Ok(Reading::Context(context)) => context.id,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(of(7), of(7));
    assert_ne!(of(7), of(8));
}

#[test]
fn the_mif_example_adds_its_importance_in_the_order_of_the_message() {
    let importance = |importance| Some(SchedulingParameters::Importance { importance });
    let cases = [
        (
            Endian::Little,
            "0400000000000000 f6ffffff",
            thread(PEER | 4, importance(-10)),
        ),
        (
            Endian::Little,
            "04000000 05000000",
            thread(PEER | 4, importance(5)),
        ),
        (
            Endian::Big,
            "0000000000000004 00000005",
            thread(PEER | 4 << 56, importance(5)),
        ),
    ];
    for (endian, data, expected) in cases {
        let reader = Reader {
            endian,
            ..reader(PeerLayout::MostImportantFirst)
        };
        assert_eq!(reader.read(&octets(data)), Ok(expected), "{data}");
    }
    for other in [
        "",
        "04",
        "04000000",
        "0400000000",
        "00000000000000000000000000000000",
    ] {
        assert_eq!(
            read(PeerLayout::MostImportantFirst, &octets(other)),
            Ok(Reading::Foreign),
            "{other}"
        );
    }
}

struct Kokyu<'g> {
    guid: &'g [u8],
    importance: i32,
    criticality: i32,
    priority: i16,
    deadline: u64,
    execution_time: u64,
}

const KOKYU: Kokyu<'static> = Kokyu {
    guid: &[4, 0, 0, 0, 0, 0, 0, 0],
    importance: 5,
    criticality: 3,
    priority: 99,
    deadline: 0,
    execution_time: 2000,
};
const KOKYU_ID: &str = "IDL:omg.org/Kokyu/Svc_Ctxt_DSRT_QoS:1.0";

impl Kokyu<'_> {
    /// An Any in an encapsulation: the TypeCode as TAO's compiler generates it, then the value.
    fn encode(&self, endian: Endian, repository_id: &str, kind: u32) -> Vec<u8> {
        let mut data = Vec::new();
        let encoder = &mut Encoder::new(&mut data, endian);
        endian.flag().encode(encoder).unwrap();
        kind.encode(encoder).unwrap();
        let alias = |encoder: &mut Encoder<'_>, id: &str, name: &str, of: &[u32]| {
            21_u32.encode(encoder)?;
            encode_encapsulation(encoder, |inner| {
                (id, name).encode(inner)?;
                of.iter().try_for_each(|number| number.encode(inner))
            })
        };
        encode_encapsulation(encoder, |inner| {
            (repository_id, "Svc_Ctxt_DSRT_QoS", 6_u32).encode(inner)?;
            "guid".encode(inner)?;
            21_u32.encode(inner)?;
            encode_encapsulation(inner, |inner| {
                ("IDL:omg.org/Kokyu/GuidType:1.0", "GuidType", 19_u32).encode(inner)?;
                encode_encapsulation(inner, |inner| (10_u32, 0_u32).encode(inner))
            })?;
            ("importance", 3_u32, "criticality", 3_u32, "desired_priority").encode(inner)?;
            alias(inner, "IDL:omg.org/RTCORBA/Priority:1.0", "Priority", &[2])?;
            for name in ["deadline", "estimated_initial_execution_time"] {
                name.encode(inner)?;
                alias(inner, "IDL:omg.org/TimeBase/TimeT:1.0", "TimeT", &[24])?;
            }
            Ok(())
        })
        .unwrap();
        (self.guid, self.importance, self.criticality, self.priority)
            .encode(encoder)
            .unwrap();
        (self.deadline, self.execution_time).encode(encoder).unwrap();
        data
    }
}

/// The present time, in units of 100 ns since 1970.
const NOW: u64 = CLOCKS.utc.0 - 0x01b2_1dd2_1381_4000;

#[test]
fn kokyu_sends_an_any_with_fields_by_scheduler() {
    for endian in [Endian::Little, Endian::Big] {
        let data = Kokyu {
            deadline: NOW + 10_000,
            ..KOKYU
        }
        .encode(endian, KOKYU_ID, 15);
        let cases = [
            (
                PeerLayout::KokyuFixedPriority,
                SchedulingParameters::FixedPriority {
                    priority: Priority::new(99).unwrap(),
                },
            ),
            (
                PeerLayout::KokyuMostImportantFirst,
                SchedulingParameters::Importance { importance: 5 },
            ),
            (
                PeerLayout::KokyuMaximumUrgencyFirst,
                SchedulingParameters::Urgency {
                    criticality: 3,
                    deadline: CLOCKS.local + Duration::from_millis(1),
                    execution_time: Duration::from_micros(200),
                    importance: 0,
                },
            ),
        ];
        for (layout, parameters) in cases {
            assert_eq!(
                read(layout, &data),
                Ok(thread(PEER | 4, Some(parameters))),
                "{layout:?}"
            );
        }
        for layout in [
            PeerLayout::OwnOnly,
            PeerLayout::FixedPriority,
            PeerLayout::MostImportantFirst,
        ] {
            assert_eq!(read(layout, &data), Ok(Reading::Foreign), "{layout:?}");
        }
        // Truncated anywhere, it is not in this layout, or malformed.
        for end in 0..data.len() {
            for layout in LAYOUTS {
                let reading = read(layout, &data[..end]);
                assert!(
                    !matches!(reading, Ok(Reading::Context(_))) || matches!(end, 4 | 8 | 12),
                    "{end}"
                );
            }
        }
    }
}

#[test]
fn a_remote_deadline_of_kokyu_is_ignored() {
    let deadline = |units: u64| {
        let data = Kokyu {
            deadline: units,
            ..KOKYU
        }
        .encode(Endian::Little, KOKYU_ID, 15);
        match read(PeerLayout::KokyuMaximumUrgencyFirst, &data) {
            Ok(Reading::Context(context)) => context.parameters.unwrap().deadline().unwrap(),
            other => panic!("{other:?}"),
        }
    };
    const DAY: u64 = 24 * 3600 * 10_000_000;
    assert_eq!(deadline(NOW - 10), Time(CLOCKS.local.0 - 1000));
    // Its schedulers send this if nothing was set: 24 hours from now, with seconds counted as tenths of
    // them.
    for none in [0, NOW / 10 + DAY / 10, NOW - DAY, NOW + DAY, u64::MAX] {
        assert_eq!(deadline(none), Time::NEVER, "{none}");
    }
}

#[test]
fn invalid_contexts_of_kokyu_are_refused() {
    let layout = PeerLayout::KokyuFixedPriority;
    let read_as = |kokyu: Kokyu<'_>, layout| {
        read(layout, &kokyu.encode(Endian::Little, KOKYU_ID, 15)).map_err(|error| error.kind)
    };
    // One of our ids returns unchanged.
    let ours = DistributableThreadId(0x1234 << 100);
    let back = Kokyu {
        guid: &ours.to_octets(),
        ..KOKYU
    };
    assert!(matches!(read_as(back, layout), Ok(Reading::Context(context)) if context.id == ours));
    for guid in [&[][..], &[0; 16], &[0; 3], &[1; 17], &[1; 200]] {
        read_as(Kokyu { guid, ..KOKYU }, layout).unwrap_err();
    }
    let below = Kokyu {
        priority: -1,
        ..KOKYU
    };
    assert_eq!(read_as(below, layout), Err(CdrErrorKind::EnumOutOfRange));
    // Other schedulers than FP do not initialise the priority.
    let below = Kokyu {
        priority: -1,
        ..KOKYU
    };
    read_as(below, PeerLayout::KokyuMostImportantFirst).unwrap();
    // Values of other types are no contexts.
    for (id, kind) in [("IDL:omg.org/Kokyu/Other:1.0", 15), (KOKYU_ID, 16), ("", 15)] {
        let data = KOKYU.encode(Endian::Big, id, kind);
        assert_eq!(read(layout, &data), Ok(Reading::Foreign), "{id}");
    }
    // Forged lengths of the TypeCode and the id.
    let data = KOKYU.encode(Endian::Big, KOKYU_ID, 15);
    for at in [8, 16] {
        for length in [0_u32, 1, 3, 0x7fff_ffff, u32::MAX] {
            let mut forged = data.clone();
            forged[at..at + 4].copy_from_slice(&length.to_be_bytes());
            assert_eq!(read(layout, &forged), Ok(Reading::Foreign), "{at} {length}");
        }
    }
}

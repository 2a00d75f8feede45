//! Every generated type through the wire and back, in both byte orders.

use std::fmt::Debug;

use punctual_cdr::{
    Arena, BoundedSeq, BoundedString, CdrErrorKind, CharSet, Decode, Decoder, Encode, Encoder, Endian,
    LongDouble,
};
use punctual_generated_tests::{
    cubit::cubit,
    features::{
        AtFileScope, FILE_CONSTANT,
        features::{self, *},
        units::Axis,
    },
    names, scopes,
};
use punctual_stub::{Reset, UserException};

const ORDERS: [Endian; 2] = [Endian::Big, Endian::Little];

fn encoded<T: Encode>(value: &T, endian: Endian, shift: usize) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, endian).with_char_set(CharSet::Utf8);
    encoder.octets(&[0; 8][..shift]).unwrap();
    value.encode(&mut encoder).unwrap();
    octets
}

/// The value comes back, from every alignment, also into another value; shorter input fails.
fn round_trip<T: Encode + for<'a> Decode<'a> + Clone + Default + PartialEq + Debug>(values: &[T]) {
    for endian in ORDERS {
        for shift in 0..8 {
            let mut reused = T::default();
            for value in values {
                let octets = encoded(value, endian, shift);
                let arena = Arena::new();
                let decoder = |end: usize| {
                    Decoder::new(&octets[..end], endian)
                        .with_char_set(CharSet::Utf8)
                        .with_arena(&arena)
                        .at(shift)
                };
                let mut whole = decoder(octets.len());
                assert_eq!(
                    &T::decode(&mut whole).unwrap(),
                    value,
                    "{endian:?}, shifted by {shift}"
                );
                assert_eq!(whole.remaining(), 0);
                reused.decode_into(&mut decoder(octets.len())).unwrap();
                assert_eq!(&reused, value, "{endian:?}, shifted by {shift}");
                assert!(
                    octets.len() - shift >= T::MIN_SIZE,
                    "MIN_SIZE {} is too large",
                    T::MIN_SIZE
                );
                for end in shift..octets.len() {
                    T::decode(&mut decoder(end)).unwrap_err();
                }
            }
        }
    }
}

/// Like [`round_trip`], and through the lent form.
macro_rules! round_trip_with_view {
    ($owned:ty, $view:ident, $values:expr) => {{
        let values: &[$owned] = $values;
        round_trip(values);
        for endian in ORDERS {
            for value in values {
                let octets = encoded(value, endian, 0);
                let arena = Arena::new();
                let mut decoder = Decoder::new(&octets, endian)
                    .with_char_set(CharSet::Utf8)
                    .with_arena(&arena);
                let view = $view::decode(&mut decoder).unwrap();
                assert_eq!(&view.to_owned(), value, "{endian:?}");
                assert_eq!(&<$owned>::from(view.clone()), value, "{endian:?}");
                assert_eq!(decoder.remaining(), 0);
                assert_eq!(<$owned as Decode>::MIN_SIZE, $view::MIN_SIZE);
            }
        }
    }};
}

fn bounded<const N: usize>(text: &str) -> BoundedString<N> {
    String::from(text).try_into().unwrap()
}

fn track(name: &str, size: usize) -> Track {
    Track {
        name: String::from(name),
        range: 1.25,
        hits: (0..size as i32).collect(),
        notes: vec![String::from("n"); size],
        mark: bounded("mark"),
        few_numbers: BoundedSeq::try_from(vec![1; size.min(3)]).unwrap(),
        labels: BoundedSeq::try_from(vec![bounded("l"); size.min(2)]).unwrap(),
        two_words: [String::from("w"), String::new()],
        pair_list: vec![
            Pair {
                a: 1,
                cells: [[1, 2, 3], [4, 5, 6]]
            };
            size
        ],
        raw_block: [7; 40],
        from_where: track::Origin {
            x: -1,
            site: String::from("s"),
        },
        more: vec![track::Origin::default(); size],
    }
}

#[test]
fn structs_survive() {
    round_trip(&[
        Basics::default(),
        Basics {
            flag: true,
            letter: 'x',
            raw: 255,
            small: -1,
            usmall: 65535,
            normal: i32::MIN,
            unormal: u32::MAX,
            big: i64::MIN,
            ubig: u64::MAX,
            single: 1.5,
            real: -2.5,
            wide: LongDouble(1 << 100),
            axis: Axis::ZAxis,
        },
    ]);
    round_trip(&[Pair {
        a: 5,
        cells: [[1, 2, 3], [4, 5, 6]],
    }]);
    round_trip(&[AtFileScope { a: 3 }]);
    // Of the attribute that build.rs adds.
    assert!(AtFileScope { a: 3 } < AtFileScope { a: 4 });
    round_trip(&[cubit::Many { o: 1, l: -2, s: 3 }]);
    round_trip_with_view!(
        Track,
        TrackView,
        &[
            track("a", 3),
            track("longer name", 1),
            track("", 0),
            track("b", 5)
        ]
    );
    round_trip_with_view!(Walled, WalledView, &[Walled::default()]);
    round_trip_with_view!(
        Later,
        LaterView,
        &[Later {
            latest: track("later", 2)
        }]
    );
}

#[test]
fn unions_survive() {
    let pair = Pair {
        a: 1,
        cells: [[0; 3]; 2],
    };
    round_trip_with_view!(
        OneLabel,
        OneLabelView,
        &[
            OneLabel::Number(3),
            OneLabel::Text(String::from("t")),
            OneLabel::Text(String::from("longer")),
            OneLabel::Other(Axis::ZAxis, pair),
        ]
    );
    round_trip_with_view!(
        Several,
        SeveralView,
        &[
            Several::Text(1, String::from("one")),
            Several::Text(2, String::from("two")),
            Several::Numbers(vec![1, 2]),
            Several::NoMember(77),
        ]
    );
    round_trip(&[Full::Yes(0.5), Full::No(-3)]);
    round_trip_with_view!(
        Only,
        OnlyView,
        &[
            Only::A(1),
            Only::Seen('b', track("b", 1)),
            Only::Seen('z', track("z", 2))
        ]
    );
    round_trip_with_view!(
        DefaultFirst,
        DefaultFirstView,
        &[DefaultFirst::Zero(1), DefaultFirst::Rest(9, String::from("nine"))]
    );
    round_trip(&[Unset::NoMember(4), Unset::NoMember_(false)]);
    round_trip_with_view!(
        Deep,
        DeepView,
        &[
            Deep::More(vec![
                Deep::More(vec![]),
                Deep::Bricks(std::array::from_fn(|_| String::from("w")))
            ]),
            Deep::NoMember(0),
        ]
    );
}

#[test]
fn recursive_types_survive_and_end() {
    let leaf = |name: &str| Node {
        name: String::from(name),
        children: vec![],
    };
    let root = Node {
        name: String::from("root"),
        children: vec![leaf("a"), leaf("b")],
    };
    round_trip_with_view!(Node, NodeView, &[root]);
    let end = Chain {
        value: 2,
        next: BoundedSeq::default(),
    };
    let chain = Chain {
        value: 1,
        next: BoundedSeq::try_from(vec![end]).unwrap(),
    };
    round_trip_with_view!(Chain, ChainView, &[chain]);

    let deep = |levels: usize| {
        (1..levels).fold(leaf("innermost"), |inner, _| Node {
            name: String::new(),
            children: vec![inner],
        })
    };
    let decode = |levels: usize| {
        let octets = encoded(&deep(levels), Endian::NATIVE, 0);
        let arena = Arena::new();
        let decoder = || Decoder::new(&octets, Endian::NATIVE).with_arena(&arena);
        let view = NodeView::decode(&mut decoder()).map(|_| ());
        let into = Node::default().decode_into(&mut decoder());
        let owned = Node::decode(&mut decoder()).map(|_| ());
        assert_eq!(view, owned);
        assert_eq!(view, into);
        view
    };
    decode(64).unwrap();
    assert_eq!(decode(65).unwrap_err().kind, CdrErrorKind::NestingTooDeep);
}

#[test]
fn exceptions_survive_and_say_what_they_are() {
    round_trip(&[Refused {
        reason: String::from("full"),
        code: 3,
    }]);
    assert_eq!(Refused::REPOSITORY_ID, "IDL:punctual.test/Features/Refused:1.0");
    assert_eq!(
        Refused {
            reason: String::from("full"),
            code: 3
        }
        .to_string(),
        "Features::Refused { reason: \"full\", code: 3 }"
    );
    assert_eq!(Empty {}.to_string(), "Features::Empty");
    let mut nothing = Vec::new();
    Empty {}
        .encode(&mut Encoder::new(&mut nothing, Endian::NATIVE))
        .unwrap();
    assert!(nothing.is_empty());
}

#[test]
fn enums_count_from_zero_and_refuse_the_rest() {
    round_trip(&[Axis::XAxis, Axis::YAxis, Axis::ZAxis]);
    assert_eq!(encoded(&Axis::ZAxis, Endian::Big, 0), [0, 0, 0, 2]);
    let error = Axis::decode(&mut Decoder::new(&[0, 0, 0, 3], Endian::Big)).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::EnumOutOfRange);
    assert_eq!(Axis::default(), Axis::XAxis);
    assert!(Axis::XAxis < Axis::YAxis);
}

#[test]
fn a_union_with_the_discriminator_of_another_member_is_refused() {
    fn refused(value: &impl Encode) {
        let mut octets = Vec::new();
        let error = value
            .encode(&mut Encoder::new(&mut octets, Endian::NATIVE))
            .unwrap_err();
        assert_eq!(error.kind, CdrErrorKind::UnionLabelMismatch);
    }
    refused(&OneLabel::Other(Axis::XAxis, Pair::default()));
    refused(&Several::Text(3, String::new()));
    refused(&Several::NoMember(-3));
    refused(&Only::Seen('a', Track::default()));
    refused(&DefaultFirst::Rest(1, String::new()));
    refused(&Unset::NoMember_(true));
}

#[test]
fn defaults_are_the_first_member_with_its_default() {
    assert_eq!(OneLabel::default(), OneLabel::Number(0));
    assert_eq!(Several::default(), Several::Text(1, String::new()));
    assert_eq!(Full::default(), Full::Yes(0.0));
    assert_eq!(DefaultFirst::default(), DefaultFirst::Rest(2, String::new()));
    assert_eq!(Track::default().raw_block, [0; 40]);
}

#[test]
fn reset_keeps_memory() {
    let mut value = track("a name", 9);
    let before = (value.name.as_ptr(), value.hits.as_ptr());
    value.reset();
    assert_eq!((value.name.as_ptr(), value.hits.as_ptr()), before);
    assert_eq!(value, Track::default());
    let mut several = Several::Text(2, String::from("text"));
    several.reset();
    assert_eq!(several, Several::Text(2, String::new()));
}

#[test]
fn a_union_decodes_into_the_memory_of_the_same_member() {
    let octets = encoded(&Several::Text(2, String::from("b")), Endian::NATIVE, 0);
    let mut kept = Several::Text(1, String::from("much longer"));
    let address = |value: &Several| match value {
        Several::Text(_, text) => text.as_ptr(),
        other => panic!("{other:?}"),
    };
    let before = address(&kept);
    kept.decode_into(&mut Decoder::new(&octets, Endian::NATIVE))
        .unwrap();
    assert_eq!(kept, Several::Text(2, String::from("b")));
    assert_eq!(address(&kept), before);
}

#[test]
fn constants_have_their_values() {
    assert_eq!(FILE_CONSTANT, 7);
    const { assert!(YES) };
    assert_eq!(E_ACUTE, 'é');
    assert_eq!(OCTET_TOP, 255);
    assert_eq!(LOW, i16::MIN);
    assert_eq!(HUGE_ONE, u64::MAX);
    assert_eq!(LOWEST, i64::MIN);
    assert_eq!(TENTH, 0.1_f32);
    assert_eq!(features::PI, std::f64::consts::PI);
    assert_eq!(ONE_AND_A_HALF, LongDouble(0x3fff8 << 108));
    assert_eq!(GREETING, "say \"hello\"\n");
    assert_eq!(UP, Axis::ZAxis);
    assert_eq!(features::LIMIT, 3);
    assert_eq!(bottom::INSIDE, 3);
}

#[test]
fn clashing_names_give_way_in_order() {
    use names::{clashes, r#impl, std as own_std};
    round_trip(&[clashes::GetState { a: 1 }]);
    round_trip(&[clashes::GetState_ {
        a: String::from("a"),
        a_: 1,
    }]);
    round_trip(&[clashes::GetState__ { a: 1 }]);
    assert_eq!(
        [clashes::Mode::TwoWay as u32, clashes::Mode::TwoWay_ as u32],
        [0, 1]
    );
    assert_eq!((clashes::MAX_SIZE, clashes::MAX_SIZE_), (1, 2));
    round_trip(&[clashes::u8_::Inner { o: 1 }]);
    round_trip(&[r#impl::Type {
        r#match: 1,
        self_: 2,
        super_: 3,
        r#ref: String::from("r"),
    }]);
    round_trip(&[
        r#impl::Use::Let(1),
        r#impl::Use::Mut(String::from("m")),
        r#impl::Use::NoMember(r#impl::Loop::Dyn),
    ]);
    assert_eq!(r#impl::Loop::Self_ as u32, 0);
    round_trip(&[own_std::Vec {
        items: vec![String::from("i")],
    }]);
    let string = own_std::String {
        text: String::from("t"),
    };
    round_trip(&[own_std::Clone {
        strings: vec![string],
    }]);
    round_trip(&[own_std::Some::Err]);
}

/// Wherever an octet changes, decoding ends, with a value that can be sent again or with an error.
#[test]
fn damaged_messages_never_panic() {
    let node = |children| Node {
        name: String::from("n"),
        children,
    };
    let tree = node(vec![node(vec![]), node(vec![node(vec![])])]);
    let union = Several::Text(1, String::from("text"));
    let octets = encoded(&(track("damaged", 2), (tree, union)), Endian::NATIVE, 0);
    let mut decoded = 0;
    for position in 0..octets.len() {
        for change in [1, 0x7f, 0xff] {
            let mut damaged = octets.clone();
            damaged[position] ^= change;
            let arena = Arena::new();
            let decoder = || {
                Decoder::new(&damaged, Endian::NATIVE)
                    .with_char_set(CharSet::Utf8)
                    .with_arena(&arena)
            };
            let mut owned = decoder();
            let owned = Track::decode(&mut owned)
                .and_then(|track| Ok((track, Node::decode(&mut owned)?, Several::decode(&mut owned)?)));
            let mut lent = decoder();
            let lent = TrackView::decode(&mut lent).and_then(|track| {
                let (node, several) = (NodeView::decode(&mut lent)?, SeveralView::decode(&mut lent)?);
                Ok((track.to_owned(), node.to_owned(), several.to_owned()))
            });
            // Numbers may have become NaN, which no other is equal to.
            assert_eq!(format!("{owned:?}"), format!("{lent:?}"));
            decoded += usize::from(owned.is_ok());
        }
    }
    assert!(decoded > 0 && decoded < octets.len() * 3);
}

#[test]
fn definitions_inside_others_are_found() {
    use scopes::{Buffers, BuffersView, Colour, Dab, Nest, NestView, Quoted, a, nest, torn};
    let inside = |text: &str| nest::Inside {
        s: String::from(text),
    };
    round_trip_with_view!(
        Nest,
        NestView,
        &[
            Nest::One(inside("a")),
            Nest::Several(vec![inside("b"), inside("c")]),
            Nest::NoMember(3)
        ]
    );
    round_trip(&[Quoted::A(1), Quoted::B(2), Quoted::C(3), Quoted::NoMember('x')]);
    round_trip_with_view!(
        Buffers,
        BuffersView,
        &[Buffers {
            data: [vec![1], vec![]],
            ..Buffers::default()
        }]
    );
    round_trip::<scopes::Canvas>(&[[
        [Dab { p: Colour::Green }, Dab { p: Colour::Red }],
        Default::default(),
        Default::default(),
    ]]);
    round_trip::<a::b::V>(&[a::b::a::S { x: 1 }]);
    round_trip(&[scopes::Torn {
        piece: torn::Part { s: String::from("p") },
    }]);
    assert_eq!((scopes::BRIEF, scopes::FIRST), ("abc", Colour::Red));
}

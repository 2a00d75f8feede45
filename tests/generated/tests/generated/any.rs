//! `any` in parameters, results and members, and the type codes of generated types.

use std::mem;

use punctual_any::{Any, AnyView, Kind, Typed, TypedReference, Value};
use punctual_cdr::{CharSet, Decode, Decoder, Encode, Encoder, Endian};
use punctual_generated_tests::{
    MemoryOrb,
    any::anys::{
        Choice, ChoiceView, Colour, Echo, EchoRef, Node, Point, Refused, Track, TrackView,
        echo::DescribeError,
    },
};
use punctual_types::SystemException;

struct Mirror;

impl Echo for Mirror {
    fn reflect(&self, a: AnyView<'_>, b: &mut Any) -> Result<(Any, Any), SystemException> {
        let a = a.to_owned();
        let c = mem::replace(b, a.clone());
        Ok((a, c))
    }

    fn copy(&self, track: TrackView<'_>) -> Result<Track, SystemException> {
        Ok(track.to_owned())
    }

    fn describe(&self, a: AnyView<'_>) -> Result<String, DescribeError> {
        if let Ok(track) = a.get::<TrackView<'_>>() {
            return Ok(format!("{} with {} points", track.name, track.path.len()));
        }
        match a.get::<&str>() {
            Ok(text) => Ok(String::from(text)),
            Err(error) => Err(Refused {
                reason: error.to_string(),
            }
            .into()),
        }
    }
}

fn track() -> Track {
    Track {
        name: "T1".into(),
        path: vec![Point { x: 1, y: 0.5 }, Point { x: -2, y: 1e9 }],
        paint: Colour::Green,
        extra: Any::new(&Choice::Text(Colour::Green, "é".into())).unwrap(),
    }
}

#[test]
fn any_travels_in_all_directions() {
    for endian in [Endian::Big, Endian::Little] {
        let orb = MemoryOrb::new(endian);
        let echo: EchoRef = orb.activate(Mirror);
        let (a, before) = (Any::new(&track()).unwrap(), Any::new(&7_i16).unwrap());
        let mut b = before.clone();
        let (result, c) = echo.reflect(&a, &mut b).unwrap();
        assert_eq!((&result, &b, &c), (&a, &a, &before));
        assert_eq!(result.get::<Track>().unwrap(), track());
        let (result, _) = echo.reflect(&Any::default(), &mut b).unwrap();
        assert_eq!(result.value().unwrap(), Value::None);
        assert_eq!(echo.copy(&track()).unwrap(), track());
    }
}

#[test]
fn servants_read_what_is_lent_from_the_message() {
    let orb = MemoryOrb::new(Endian::NATIVE);
    let echo: EchoRef = orb.activate(Mirror);
    assert_eq!(
        echo.describe(&Any::new(&track()).unwrap()).unwrap(),
        "T1 with 2 points"
    );
    assert_eq!(echo.describe(&Any::new("text").unwrap()).unwrap(), "text");
    match echo.describe(&Any::new(&3_i32).unwrap()) {
        Err(DescribeError::Refused(Refused { reason })) => {
            assert_eq!(
                reason,
                "the any holds long, not string; compare `type_code()` first"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn generated_types_have_the_type_codes_of_their_idl() {
    let texts = [
        (Point::type_code(), "struct Point { long x; double y; }"),
        (
            Track::type_code(),
            "struct Track { string name; sequence<Point> path; Colour paint; any extra; }",
        ),
        (TrackView::type_code(), &Track::type_code().to_string()),
        (Colour::type_code(), "enum Colour"),
        (Choice::type_code(), "union Choice"),
        (ChoiceView::type_code(), "union Choice"),
        (
            Node::type_code(),
            "struct Node { long id; sequence<Node> children; }",
        ),
        (Refused::type_code(), "exception Refused { string reason; }"),
        (<EchoRef as TypedReference>::type_code(), "interface Echo"),
    ];
    for (code, text) in texts {
        assert_eq!(code.to_string(), text);
    }
    assert_eq!(
        Point::type_code().view().id().unwrap(),
        "IDL:punctual.test/Anys/Point:1.0"
    );
    assert_eq!(Point::type_code(), Point::type_code());
}

#[test]
fn unions_and_recursive_types_are_read_without_their_rust_types() {
    let any = Any::new(&Choice::Number(5)).unwrap();
    let red = Box::new(Value::Enum(0, "red".into()));
    let number = Some(("number".into(), Box::new(Value::Long(5))));
    assert_eq!(any.value().unwrap(), Value::Union(red, number));
    let leaf = Node {
        id: 2,
        children: Vec::new(),
    };
    let tree = Node {
        id: 1,
        children: vec![leaf.clone(), leaf],
    };
    let any = Any::new(&tree).unwrap();
    assert_eq!(any.get::<Node>().unwrap(), tree);
    let Value::Struct(members) = any.value().unwrap() else {
        panic!("{any:?}")
    };
    let (name, Value::Sequence(children)) = &members[1] else {
        panic!("{members:?}")
    };
    assert_eq!((name.as_str(), children.len()), ("children", 2));
    assert_eq!(any.type_code().kind().unwrap(), Kind::Struct);
}

#[test]
fn what_has_been_received_can_be_sent_on_in_another_byte_order() {
    let any = Any::new(&track()).unwrap();
    let mut received = Vec::new();
    any.encode(&mut Encoder::new(&mut received, Endian::Big).with_char_set(CharSet::Utf8))
        .unwrap();
    let mut decoder = Decoder::new(&received, Endian::Big).with_char_set(CharSet::Utf8);
    let view = AnyView::decode(&mut decoder).unwrap();
    let mut sent = vec![0; 3];
    view.encode(&mut Encoder::resume(&mut sent, Endian::Little))
        .unwrap();
    let again = Any::decode(&mut Decoder::new(&sent, Endian::Little).at(3)).unwrap();
    assert_eq!(again, any);
    assert_eq!(again.get::<Track>().unwrap(), track());
}

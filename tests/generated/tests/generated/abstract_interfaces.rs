//! Abstract interfaces: a reference or a value, in all places, in both byte orders, and on the wire.

use std::sync::Mutex;

use punctual_any::{Any, AnyView, Kind, Typed, Value};
use punctual_cdr::{
    Abstract, CdrErrorKind, CharSet, Decode, DecodeContext, Decoder, Encode, Encoder, Endian, Shared,
    ValueFactory, ValueType,
};
use punctual_generated_tests::{
    MemoryOrb,
    abstracts::abstracts::{
        Canvas, CanvasRef, Chosen, Coloured, Drawing, Frame, Named, NamedRef, Nameless, Remote, RemoteRef,
        Shape, ShapeRef, Square, Unknown, shape::AreaError,
    },
};
use punctual_stub::Interface;
use punctual_types::SystemException;

type OneShape = Option<Abstract<ShapeRef>>;

/// An object with the interface.
struct Object(Mutex<i32>);

impl Named for Object {
    fn name(&self) -> Result<String, SystemException> {
        Ok(String::from("object"))
    }
}

impl Shape for Object {
    fn area(&self, factor: i32) -> Result<i32, AreaError> {
        match factor {
            0 => Err(Unknown {}.into()),
            _ => Ok(*self.0.lock().unwrap() * factor),
        }
    }
}

impl Remote for Object {
    fn grow(&self, by: i32) -> Result<(), SystemException> {
        *self.0.lock().unwrap() += by;
        Ok(())
    }
}

struct Paper;

fn area(shape: &Abstract<ShapeRef>) -> Result<i32, AreaError> {
    match shape {
        Abstract::Reference(remote) => remote.area(1),
        Abstract::Value(value) => Ok(value
            .narrow::<Square>()
            .map_or(-1, |square| square.side * square.side)),
    }
}

impl Canvas for Paper {
    fn echo(&self, value: OneShape) -> Result<OneShape, SystemException> {
        Ok(value)
    }

    fn widen(
        &self,
        value: OneShape,
        other: &mut Option<Abstract<NamedRef>>,
    ) -> Result<(Option<Abstract<NamedRef>>, i32), SystemException> {
        let area = value.as_ref().map_or(0, |shape| area(shape).unwrap());
        let named = value.map(|shape| match shape {
            Abstract::Reference(remote) => Abstract::Reference(remote.into()),
            Abstract::Value(value) => Abstract::Value(value.narrow().unwrap()),
        });
        Ok((std::mem::replace(other, named), area))
    }

    fn draw(&self, picture: &Drawing, again: OneShape) -> Result<(Drawing, bool), SystemException> {
        let same = picture.others.iter().all(|other| *other == picture.first) && again == picture.first;
        Ok((picture.clone(), same))
    }

    fn choose(&self, one: &Chosen) -> Result<Chosen, SystemException> {
        Ok(one.clone())
    }

    fn hang(&self, value: Option<Shared<Frame>>) -> Result<Option<Shared<Frame>>, SystemException> {
        Ok(value)
    }

    fn dynamic(&self, value: AnyView<'_>) -> Result<Any, SystemException> {
        // A reference can be used where its ORB is known.
        Ok(match value.get::<OneShape>() {
            Ok(Some(Abstract::Reference(shape))) => Any::new(&shape.area(2).unwrap()).unwrap(),
            _ => value.to_owned(),
        })
    }

    fn background(&self) -> Result<OneShape, SystemException> {
        Ok(Some(square(3).into()))
    }

    fn set_background(&self, _: OneShape) -> Result<(), SystemException> {
        Ok(())
    }
}

fn square(side: i32) -> Shared<Square> {
    Shared::new(Square { side })
}

fn coloured(side: i32) -> Coloured {
    Coloured {
        base: Square { side },
        colour: String::from("red"),
    }
}

fn both(test: impl Fn(&CanvasRef, &RemoteRef)) {
    for endian in [Endian::Big, Endian::Little] {
        let orb = MemoryOrb::new(endian);
        let remote = orb.activate::<RemoteRef, _>(Object(Mutex::new(5)));
        test(&orb.activate::<CanvasRef, _>(Paper), &remote);
    }
}

fn by_reference(remote: &RemoteRef) -> Abstract<ShapeRef> {
    Abstract::Reference(remote.clone().into())
}

#[test]
fn objects_pass_by_reference_and_values_by_value() {
    both(|canvas, remote| {
        assert!(canvas.echo(None).unwrap().is_none());
        let back = canvas.echo(Some(&by_reference(remote))).unwrap().unwrap();
        remote.grow(2).unwrap();
        assert_eq!(area(&back).unwrap(), 7, "it is the same object");
        let Abstract::Reference(shape) = &back else {
            panic!("{back:?}")
        };
        assert_eq!(shape.name().unwrap(), "object");
        assert_eq!(shape.area(0).unwrap_err(), AreaError::Unknown(Unknown {}));
        assert!(shape.narrow::<RemoteRef>().unwrap().is_some());

        let sent = square(4);
        let back = canvas.echo(Some(&sent.clone().into())).unwrap().unwrap();
        assert_eq!(area(&back).unwrap(), 16);
        assert_ne!(back, Abstract::from(sent), "it was copied");

        let back = canvas.echo(Some(&Shared::new(coloured(2)).into())).unwrap();
        let Some(Abstract::Value(value)) = back else {
            panic!("{back:?}")
        };
        assert_eq!(
            value.narrow::<Coloured>().expect("the type was kept").colour,
            "red"
        );
        assert!(value.narrow::<Nameless>().is_none());
    });
}

#[test]
fn bases_that_are_abstract_as_well() {
    both(|canvas, remote| {
        let mut other = None;
        let (returned, area) = canvas.widen(Some(&by_reference(remote)), &mut other).unwrap();
        assert_eq!((returned, area), (None, 5));
        let Some(Abstract::Reference(named)) = &other else {
            panic!("{other:?}")
        };
        assert_eq!(named.name().unwrap(), "object");
        let (returned, area) = canvas.widen(Some(&square(3).into()), &mut other).unwrap();
        assert!(matches!(returned, Some(Abstract::Reference(_))));
        assert_eq!(area, 9);
        let Some(Abstract::Value(named)) = &other else {
            panic!("{other:?}")
        };
        assert_eq!(named.narrow::<Square>().unwrap().side, 3);
    });
}

#[test]
fn in_structs_sequences_unions_attributes_and_chunked_values() {
    both(|canvas, remote| {
        let common = Some(Abstract::from(square(6)));
        let picture = Drawing {
            layer: 1,
            first: common.clone(),
            others: vec![common.clone(); 3],
        };
        let (back, same) = canvas.draw(&picture, common.as_ref()).unwrap();
        assert!(same, "one value in all places");
        assert!(back.others.iter().all(|other| *other == back.first));
        let mixed = Drawing {
            others: vec![None, Some(by_reference(remote)), common],
            ..Drawing::default()
        };
        let (back, same) = canvas.draw(&mixed, None).unwrap();
        assert!(!same && back.first.is_none() && back.others[0].is_none());
        let areas = back.others.iter().flatten().map(|shape| area(shape).unwrap());
        assert_eq!(areas.collect::<Vec<_>>(), [5, 36]);

        let chosen = canvas
            .choose(&Chosen::Figure(Some(by_reference(remote))))
            .unwrap();
        assert!(matches!(chosen, Chosen::Figure(Some(Abstract::Reference(_)))));
        assert_eq!(area(&canvas.background().unwrap().unwrap()).unwrap(), 9);

        for inside in [None, Some(by_reference(remote)), Some(square(2).into())] {
            let frame = Frame {
                base: coloured(1),
                border: 7,
                inside: inside.clone(),
                margin: 8,
                label: Some(Shared::new(coloured(2)).into()),
            };
            let back = canvas.hang(Some(&Shared::new(frame))).unwrap().unwrap();
            assert_eq!((back.border, back.margin), (7, 8));
            assert_eq!(
                back.inside.as_ref().map(|shape| area(shape).unwrap()),
                inside.as_ref().map(|shape| area(shape).unwrap())
            );
            assert!(
                matches!(&back.label, Some(Abstract::Value(label)) if label.narrow::<Coloured>().is_some())
            );
        }
    });
}

#[test]
fn an_any_carries_references_and_null() {
    assert_eq!(OneShape::type_code().kind().unwrap(), Kind::AbstractInterface);
    both(|canvas, remote| {
        let null = canvas.dynamic(&Any::new(&OneShape::None).unwrap()).unwrap();
        assert!(null.get::<OneShape>().unwrap().is_none());
        let reference = Any::new(&Some(by_reference(remote))).unwrap();
        assert_eq!(canvas.dynamic(&reference).unwrap().get::<i32>().unwrap(), 10);
        let ior = remote.as_object().ior().clone();
        assert_eq!(reference.value().unwrap(), Value::Reference(ior));
        let tree = Any::from_value(reference.type_code().clone(), &reference.value().unwrap());
        assert_eq!(tree.unwrap(), reference);
        assert_eq!(Any::new(&OneShape::None).unwrap().value().unwrap(), Value::None);
    });
    let area_of = |any: &Any| any.get::<OneShape>().unwrap().map(|shape| area(&shape).unwrap());
    // No type code describes the value: only its chunks, or a registered type, show where it ends.
    for (value, expected) in [(square(4).into(), 16), (Shared::new(coloured(3)).into(), 9)] {
        let value: OneShape = Some(value);
        let any = Any::new(&value).unwrap();
        assert_eq!(area_of(&any), Some(expected));
        for (offset, char_set) in [(0, CharSet::Utf8), (4, CharSet::Latin1)] {
            let mut octets = vec![0; offset];
            let mut encoder = Encoder::resume(&mut octets, Endian::NATIVE).with_char_set(char_set);
            any.encode(&mut encoder).unwrap();
            let mut decoder = Decoder::new(&octets, Endian::NATIVE)
                .with_char_set(char_set)
                .at(offset);
            assert_eq!(area_of(&Any::decode(&mut decoder).unwrap()), Some(expected));
        }
        let refused = any
            .encode(&mut Encoder::new(&mut Vec::new(), FOREIGN))
            .unwrap_err();
        assert_eq!(refused.kind, CdrErrorKind::TypeUnsupported);
    }
    let as_others_send_it = |value: OneShape| {
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, FOREIGN);
        (OneShape::type_code(), value).encode(&mut encoder).unwrap();
        octets
    };
    let octets = as_others_send_it(Some(Shared::new(coloured(3)).into()));
    let chunked = Any::decode(&mut Decoder::new(&octets, FOREIGN)).unwrap();
    assert_eq!(area_of(&chunked), Some(9));
    let octets = as_others_send_it(Some(square(4).into()));
    let refused = Any::decode(&mut Decoder::new(&octets, FOREIGN)).unwrap_err();
    assert_eq!(refused.kind, CdrErrorKind::TypeUnsupported);
    let registered = Any::decode(&mut Decoder::new(&octets, FOREIGN).with_context(&Squares)).unwrap();
    assert_eq!(area_of(&registered), Some(16));
}

const FOREIGN: Endian = match Endian::NATIVE {
    Endian::Little => Endian::Big,
    Endian::Big => Endian::Little,
};

/// An ORB to which the type has been registered.
struct Squares;

impl DecodeContext for Squares {
    fn value_factory(&self, id: &[u8]) -> Option<&'static ValueFactory> {
        Square::factories()
            .iter()
            .find(|factory| factory.id.as_bytes() == id)
    }
}

fn encoded(shape: &OneShape, endian: Endian) -> Vec<u8> {
    let mut octets = Vec::new();
    shape.encode(&mut Encoder::new(&mut octets, endian)).unwrap();
    octets
}

/// CORBA 3.3 part 2, 9.3.7: a boolean, then the reference if it is true, else the value.
#[test]
fn the_form_on_the_wire() {
    assert_eq!(encoded(&None, Endian::Big), [0; 8]);
    let mut value = vec![0, 0, 0, 0, 0x7f, 0xff, 0xff, 2, 0, 0, 0, 25];
    value.extend(b"IDL:abstracts/Square:1.0\0");
    value.extend([0, 0, 0, 0, 0, 0, 4]);
    assert_eq!(encoded(&Some(square(4).into()), Endian::Big), value);
    let orb = MemoryOrb::new(Endian::Big);
    let remote = orb.activate::<RemoteRef, _>(Object(Mutex::new(1)));
    let octets = encoded(&Some(by_reference(&remote)), Endian::Big);
    let mut reference = Vec::new();
    let mut encoder = Encoder::new(&mut reference, Endian::Big);
    true.encode(&mut encoder).unwrap();
    remote.as_object().ior().encode(&mut encoder).unwrap();
    assert_eq!(octets, reference);
}

#[test]
fn nil_references_and_bad_input() {
    let decode = |octets: &[u8]| OneShape::decode(&mut Decoder::new(octets, Endian::Big));
    // The nil reference: an empty type id, no profiles.
    assert_eq!(
        decode(&[1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap(),
        None
    );
    assert!(decode(&[2, 0, 0, 0, 0, 0, 0, 0]).is_err(), "no boolean");
    // The type of a value must be stated: the interface has no values of its own.
    let unknown = decode(&[0, 0, 0, 0, 0x7f, 0xff, 0xff, 0, 0, 0, 0, 4]).unwrap_err();
    assert_eq!(unknown.kind, CdrErrorKind::ValueTypeUnknown);
    // A value type that does not support the interface.
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::Big);
    false.encode(&mut encoder).unwrap();
    encoder
        .value(None, &["IDL:abstracts/Nameless:1.0"], false, |encoder, _| {
            0_u8.encode(encoder)
        })
        .unwrap();
    assert_eq!(decode(&octets).unwrap_err().kind, CdrErrorKind::ValueTypeUnknown);
    let whole = encoded(&Some(Shared::new(coloured(1)).into()), Endian::Big);
    for length in 0..whole.len() {
        assert!(decode(&whole[..length]).is_err(), "{length}");
    }
}

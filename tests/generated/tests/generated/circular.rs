//! Values in circles: parts that refer to the whole, as arguments and in an `any`.

use punctual_any::{Any, AnyError, AnyView, Typed};
use punctual_cdr::{
    Arena, CdrErrorKind, CharSet, Decode, DecodeContext, Decoder, Encode, Encoder, Endian, Shared,
    ValueFactory, ValueGraph, ValueType,
};
use punctual_generated_tests::{
    MemoryOrb,
    circular::circular::{Broken, Crack, Engine, Part, Store, StoreRef, Toolbox, store::InspectError},
};
use punctual_types::SystemException;

struct Keeper;

impl Store for Keeper {
    /// Answers with the whole of the part.
    fn echo(
        &self,
        value: Option<Shared<Part>>,
        held: AnyView<'_>,
    ) -> Result<(Option<Shared<Part>>, Any), SystemException> {
        let whole = value.and_then(|part| part.state()?.whole.clone());
        Ok((whole, held.into()))
    }

    fn inspect(&self, depth: i32) -> Result<(), InspectError> {
        let found = cracks(depth);
        Err(Broken { found }.into())
    }
}

/// A car with an engine and a wheel; the engine's spare part is the wheel.
fn car() -> Shared<Part> {
    let mut graph = ValueGraph::default();
    let (car, engine, wheel) = (
        graph.reserve::<Part>(),
        graph.reserve::<Engine>(),
        graph.reserve(),
    );
    let whole = car.shared();
    let part = |name: &str| Part {
        name: String::from(name),
        whole: Some(whole.clone()),
        parts: Vec::new(),
    };
    let mut state = part("car");
    (state.whole, state.parts) = (None, vec![Some(engine.shared().widen()), Some(wheel.shared())]);
    let spare: Option<Shared<Part>> = Some(wheel.shared());
    graph.set(car, state);
    graph.set(wheel, part("wheel"));
    graph.set(
        engine,
        Engine {
            base: part("engine"),
            power: 55.5,
            spare,
        },
    );
    graph.close(&whole)
}

/// The wheel of a cart, which has it twice.
fn cart() -> Shared<Part> {
    let mut graph = ValueGraph::default();
    let (cart, wheel) = (graph.reserve::<Part>(), graph.reserve::<Part>());
    let (whole, part) = (Some(cart.shared()), wheel.shared());
    let state = |name: &str, whole, parts| Part {
        name: String::from(name),
        whole,
        parts,
    };
    graph.set(
        cart,
        state("cart", None, vec![Some(part.clone()), Some(part.clone())]),
    );
    graph.set(wheel, state("wheel", whole, Vec::new()));
    graph.close(&part)
}

fn part(whole: &Shared<Part>, index: usize) -> Shared<Part> {
    whole.state().unwrap().parts[index].clone().unwrap()
}

fn is_a_car(whole: &Shared<Part>) {
    let (engine, wheel) = (part(whole, 0), part(whole, 1));
    let engine = engine.narrow::<Engine>().unwrap();
    assert_eq!(
        (&*whole.state().unwrap().name, engine.state().unwrap().power),
        ("car", 55.5)
    );
    assert_eq!(wheel.state().unwrap().name, "wheel");
    assert!(engine.state().unwrap().spare.as_ref().unwrap().is_same(&wheel));
    for part in [engine.widen(), wheel] {
        assert!(part.state().unwrap().whole.as_ref().unwrap().is_same(whole));
    }
}

/// A crack of this length with one branch that is shorter by 1, and so on; none of length 0.
fn cracks(length: i32) -> Vec<Crack> {
    let crack = |length| Crack {
        length,
        branches: cracks(length - 1),
    };
    (length > 0).then(|| crack(length)).into_iter().collect()
}

#[test]
fn exceptions_carry_structs_that_contain_themselves() {
    for endian in [Endian::Little, Endian::Big] {
        let store: StoreRef = MemoryOrb::new(endian).activate::<StoreRef, _>(Keeper);
        for depth in [0, 1, 20] {
            let Err(InspectError::Broken(Broken { found })) = store.inspect(depth) else {
                panic!("the exception does not arrive");
            };
            assert_eq!(found, cracks(depth));
        }
    }
}

#[test]
fn circles_pass_as_arguments_and_in_an_any() {
    for endian in [Endian::Little, Endian::Big] {
        let store: StoreRef = MemoryOrb::new(endian).activate::<StoreRef, _>(Keeper);
        let car = car();
        for value in [part(&car, 0), part(&car, 1)] {
            let held = Any::new(&Some(cart())).unwrap();
            let (whole, again) = store.echo(Some(&value), &held).unwrap();
            is_a_car(&whole.unwrap());
            let wheel: Option<Shared<Part>> = again.get().unwrap();
            let cart = wheel.unwrap().state().unwrap().whole.clone().unwrap();
            assert_eq!(
                (&*cart.state().unwrap().name, part(&cart, 0)),
                ("cart", part(&cart, 1))
            );
            let wheel = part(&cart, 0);
            assert_eq!(wheel.state().unwrap().whole, Some(cart));
        }
    }
}

#[test]
fn a_derived_value_in_a_circle_closes_it_in_an_any() {
    let car = car();
    let held = Any::new(&Some(part(&car, 0).narrow::<Engine>().unwrap())).unwrap();
    drop(car);
    let engine: Option<Shared<Engine>> = held.get().unwrap();
    is_a_car(engine.unwrap().state().unwrap().base.whole.as_ref().unwrap());
}

/// A message of this byte order in which something precedes an `any`.
fn message(
    endian: Endian,
    offset: usize,
    encode: impl FnOnce(&mut Encoder<'_>) -> Result<(), punctual_cdr::CdrError>,
) -> Vec<u8> {
    let mut octets = vec![0; offset];
    let encoder = Encoder::resume(&mut octets, endian).with_char_set(CharSet::Utf8);
    encode(&mut encoder.for_any()).unwrap();
    octets
}

/// A process that has the types of none of the values passes them on, as it gets them, at any alignment.
#[test]
fn a_circle_with_a_derived_value_passes_through_others_in_an_any() {
    let alignments = [0, 4].map(|from| [0, 4].map(|to| (from, to))).concat();
    for (endian, (from, to)) in [Endian::Little, Endian::Big]
        .into_iter()
        .flat_map(|endian| alignments.iter().map(move |places| (endian, *places)))
    {
        let mut octets = message(endian, from, |encoder| {
            Part::type_code().encode(encoder)?;
            Some(car()).encode(encoder)
        });
        let mut from = from;
        for to in [to, 4 - to, to, to] {
            let arena = Arena::new();
            let decoder = Decoder::new(&octets, endian).with_char_set(CharSet::Utf8);
            let mut decoder = decoder.with_arena(&arena).at(from);
            let lent = AnyView::decode(&mut decoder).unwrap();
            assert_eq!(decoder.remaining(), 0);
            let again = message(endian, to, |encoder| lent.encode(encoder));
            assert_eq!(
                again,
                message(endian, to, |encoder| lent.to_owned().encode(encoder))
            );
            assert_eq!(lent, lent.to_owned().view());
            (octets, from) = (again, to);
        }
        let decoder = Decoder::new(&octets, endian).with_char_set(CharSet::Utf8);
        let received = Any::decode(&mut decoder.at(from)).unwrap();
        assert!(received.type_code().equivalent(&Part::type_code()));
        let name = received.type_code().view().name().unwrap().to_owned();
        assert!(["Part", "Part____"].contains(&&*name), "{name}");
        let whole: Option<Shared<Part>> = received.get().unwrap();
        is_a_car(&whole.unwrap());
    }
}

/// The sender has all types, and anything may precede the `any` in the message.
#[test]
fn a_circle_with_a_derived_value_leaves_in_an_any() {
    let held = Any::new(&Some(car())).unwrap();
    for to in [0, 4] {
        let octets = message(Endian::NATIVE, to, |encoder| held.encode(encoder));
        let decoder = Decoder::new(&octets, Endian::NATIVE).with_char_set(CharSet::Utf8);
        let received = Any::decode(&mut decoder.at(to)).unwrap();
        is_a_car(&received.get::<Option<Shared<Part>>>().unwrap().unwrap());
    }
}

/// An ORB to which `Engine` has been registered.
struct Engines;

impl DecodeContext for Engines {
    fn value_factory(&self, id: &[u8]) -> Option<&'static ValueFactory> {
        let mut factories = Engine::factories().iter();
        factories.find(|factory| factory.id.as_bytes() == id)
    }
}

/// Where a value without chunks ends, its registered type shows; in it are references to itself, and in the
/// next one, a reference to the first.
#[test]
fn registered_values_without_chunks_refer_to_themselves() {
    let code = <Vec<Option<Shared<Part>>>>::type_code();
    for endian in [Endian::Little, Endian::Big] {
        let octets = message(endian, 0, |encoder| {
            code.encode(encoder)?;
            2_u32.encode(encoder)?;
            let mut first = None;
            for name in ["first", "second"] {
                encoder.value(None, &[Engine::REPOSITORY_ID], false, |encoder, position| {
                    name.encode(encoder)?;
                    encoder.value_at(*first.get_or_insert(position))?;
                    0_u32.encode(encoder)?;
                    55.5_f64.encode(encoder)?;
                    encoder.value_at(position)
                })?;
            }
            Ok(())
        });
        let decoder = Decoder::new(&octets, endian).with_char_set(CharSet::Utf8);
        let received = Any::decode(&mut decoder.with_context(&Engines)).unwrap();
        let again = message(endian, 4, |encoder| received.encode(encoder));
        let decoder = Decoder::new(&again, endian).with_char_set(CharSet::Utf8);
        let received = Any::decode(&mut decoder.at(4)).unwrap();
        let engines: Vec<Option<Shared<Part>>> = received.get().unwrap();
        let engine = |index: usize| engines[index].as_ref().unwrap().narrow::<Engine>().unwrap();
        for (engine, name) in [(engine(0), "first"), (engine(1), "second")] {
            let state = engine.state().unwrap();
            assert_eq!((&*state.base.name, state.power), (name, 55.5));
            assert!(state.base.whole.as_ref() == engines[0].as_ref());
            assert!(state.spare.as_ref().unwrap().is_same(&engine));
        }
    }
}

/// An `any` keeps its value on its own: it cannot refer to a value around the `any`, of which it would need a
/// copy before that value is complete.
#[test]
fn a_registered_value_in_an_any_does_not_refer_to_the_value_around_it() {
    let received = |refers: bool| {
        let octets = message(Endian::NATIVE, 0, |encoder| {
            encoder.value(None, &[Toolbox::REPOSITORY_ID], false, |encoder, around| {
                ("toolbox", 0_u32, 0_u32).encode(encoder)?;
                Part::type_code().encode(encoder)?;
                encoder.value(None, &[Engine::REPOSITORY_ID], false, |encoder, position| {
                    "engine".encode(encoder)?;
                    encoder.value_at(if refers { around } else { position })?;
                    (0_u32, 55.5_f64).encode(encoder)?;
                    encoder.value_at(position)
                })
            })
        });
        let decoder = Decoder::new(&octets, Endian::NATIVE).with_char_set(CharSet::Utf8);
        let part = Option::<Shared<Part>>::decode(&mut decoder.with_context(&Engines))?;
        let toolbox = part.unwrap().narrow::<Toolbox>().unwrap();
        let content = toolbox.state().unwrap().content.clone();
        let engine = content.get::<Option<Shared<Part>>>().unwrap().unwrap();
        let whole = engine.state().unwrap().whole.clone();
        Ok::<_, punctual_cdr::CdrError>(whole == Some(engine))
    };
    assert_eq!(received(false), Ok(true));
    assert_eq!(received(true).unwrap_err().kind, CdrErrorKind::ValueReleased);
}

/// A copy of an `any` has no message around it: what may refer there is truncated, as in the `any` that is
/// lent, and never refers to something else.
#[test]
fn a_derived_value_that_refers_out_of_its_any_is_truncated() {
    for endian in [Endian::Little, Endian::Big] {
        let mut first = 0;
        let mut octets = message(endian, 0, |encoder| {
            encoder.value(None, &[], false, |encoder, position| {
                first = position;
                ("first", 0_u32, 0_u32).encode(encoder)
            })
        });
        let begin = octets.len();
        let encoder = Encoder::resume(&mut octets, endian).with_char_set(CharSet::Utf8);
        let mut encoder = encoder.for_any();
        Part::type_code().encode(&mut encoder).unwrap();
        let ids = [Engine::REPOSITORY_ID, Part::REPOSITORY_ID];
        let state = |encoder: &mut Encoder<'_>, _| {
            ("engine", 0_u32, 0_u32, 55.5_f64).encode(encoder)?;
            encoder.value_at(first)
        };
        encoder.value(None, &ids, true, state).unwrap();
        let arena = Arena::new();
        let decoder = Decoder::new(&octets, endian).with_char_set(CharSet::Utf8);
        let lent = AnyView::decode(&mut decoder.with_arena(&arena).at(begin)).unwrap();
        for offset in [0, 4, 160] {
            let again = message(endian, offset, |encoder| lent.to_owned().encode(encoder));
            assert_eq!(again, message(endian, offset, |encoder| lent.encode(encoder)));
            let decoder = Decoder::new(&again, endian).with_char_set(CharSet::Utf8);
            let received = Any::decode(&mut decoder.at(offset)).unwrap();
            let part = received.get::<Option<Shared<Part>>>().unwrap().unwrap();
            assert_eq!(part.state().unwrap().name, "engine");
            assert!(part.narrow::<Engine>().is_none(), "truncated");
        }
    }
}

/// Its values have chunks there, as all values in it.
#[test]
fn a_value_in_nested_anys_has_chunks_in_a_state() {
    // It has the same alignment there.
    let held = Any::new(&vec![Any::new(&Some(cart())).unwrap()]).unwrap();
    for (offset, name) in [(0, "box"), (4, "box"), (0, "toolbox"), (4, "toolbox")] {
        let octets = message(Endian::NATIVE, offset, |encoder| {
            encoder.value(None, &[Toolbox::REPOSITORY_ID], true, |encoder, _| {
                (name, 0_u32, 0_u32).encode(encoder)?;
                held.encode(encoder)
            })
        });
        let arena = Arena::new();
        let decoder = Decoder::new(&octets, Endian::NATIVE).with_char_set(CharSet::Utf8);
        let toolbox = Option::<Shared<Toolbox>>::decode(&mut decoder.with_arena(&arena).at(offset));
        let content = toolbox.unwrap().unwrap().state().unwrap().content.clone();
        let wheel = content.get::<Vec<Any>>().unwrap()[0].get::<Option<Shared<Part>>>();
        let cart = wheel.unwrap().unwrap().state().unwrap().whole.clone().unwrap();
        assert_eq!(cart.state().unwrap().name, "cart");
    }
}

/// Text that ISO-8859-1 does not have ends the search as little as a `char` that UTF-8 does not have.
#[test]
#[should_panic = "a value of IDL:circular/Part:1.0 refers into the graph"]
fn values_outside_of_a_graph_are_found_behind_any_text() {
    let mut graph = ValueGraph::default();
    let whole = graph.reserve::<Part>();
    let to_whole = whole.shared();
    let part = |name: &str, whole, parts| Part {
        name: String::from(name),
        whole,
        parts,
    };
    let outside = Shared::new(part("車輪", Some(to_whole.clone()), Vec::new()));
    graph.set(whole, part("車", None, vec![Some(outside)]));
    graph.close(&to_whole);
}

/// The tree of values without Rust types has no references.
#[test]
fn circles_have_no_tree() {
    match Any::new(&Some(car())).unwrap().value() {
        Err(AnyError::Malformed(error)) => assert_eq!(error.kind, CdrErrorKind::ValueCyclic),
        other => panic!("{other:?}"),
    }
}

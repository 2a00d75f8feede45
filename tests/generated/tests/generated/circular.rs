//! Values in circles: parts that refer to the whole, as arguments and in an `any`.

use punctual_any::{Any, AnyError, AnyView};
use punctual_cdr::{CdrErrorKind, Endian, Shared, ValueGraph};
use punctual_generated_tests::{
    MemoryOrb,
    circular::circular::{Engine, Part, Store, StoreRef},
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

/// The tree of values without Rust types has no references.
#[test]
fn circles_have_no_tree() {
    match Any::new(&Some(car())).unwrap().value() {
        Err(AnyError::Malformed(error)) => assert_eq!(error.kind, CdrErrorKind::ValueCyclic),
        other => panic!("{other:?}"),
    }
}

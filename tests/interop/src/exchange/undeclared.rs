//! Checks of values whose types are not the declared ones, of references among them, and of type codes.

use std::thread;

use punctual::{
    Interface, ObjectRef, Orb,
    any::{Any, TypeCode, Typed},
    value::{Abstract, Shared},
};

use super::{OneFigure, POINT, any, chain, described, orb, special};
use crate::{
    dynamics::{
        Board, Choice, ExchangeRef, Family, Figure, FigureRef, Loaded, Node, Remote, RemoteRef, Special,
        Titled, Tree,
    },
    generated_dynamics::ValueBase,
};

fn board(size: i32) -> Shared<Board> {
    Shared::new(Board { size })
}

fn size(of: Option<Shared<Board>>) -> String {
    of.map_or("no board".into(), |board| format!("board {}", board.size))
}

pub fn abstract_values(exchange: &ExchangeRef) -> Result<(), String> {
    for value in [Some(board(1).widen::<Titled>()), None] {
        let found = exchange
            .echo_titled(value.as_ref())
            .map_err(|error| error.to_string())?;
        let shown = |value: &Option<Shared<Titled>>| size(value.as_ref().and_then(Shared::narrow));
        if found.is_some() != value.is_some() || shown(&found) != shown(&value) {
            return Err(format!("{}, not {}", shown(&found), shown(&value)));
        }
    }
    Ok(())
}

pub fn value_base(exchange: &ExchangeRef) -> Result<(), String> {
    let values = [
        Some(board(1).widen::<ValueBase>()),
        Some(chain(2).widen()),
        Some(special(3, None, None).widen()),
        None,
    ];
    let shown = |value: &Option<Shared<ValueBase>>| match value {
        Some(value) if value.narrow::<Node>().is_some() => described(&value.narrow()),
        Some(value) => size(value.narrow()),
        None => "null".into(),
    };
    for value in values {
        let found = exchange
            .echo_base(value.as_ref())
            .map_err(|error| error.to_string())?;
        if shown(&found) != shown(&value) {
            return Err(format!("{}, not {}", shown(&found), shown(&value)));
        }
    }
    Ok(())
}

fn figure(value: &OneFigure) -> String {
    match value {
        None => "null".into(),
        Some(Abstract::Value(value)) => size(value.narrow()),
        Some(Abstract::Reference(figure)) => format!("reference {}", figure.as_object().ior().type_id),
    }
}

fn figures(exchange: &ExchangeRef, [a, b, c]: [OneFigure; 3]) -> Result<(), String> {
    let expected = [&a, &c, &b].map(figure);
    let mut inout = b;
    let rotated = exchange.rotate_figure(a.as_ref(), &mut inout, c.as_ref());
    let (result, d) = rotated.map_err(|error| error.to_string())?;
    let found = [&result, &inout, &d].map(figure);
    match found == expected {
        true => Ok(()),
        false => Err(format!("{found:?}, not {expected:?}")),
    }
}

pub fn figure_values(exchange: &ExchangeRef) -> Result<(), String> {
    let value = |number| Some(Abstract::from(board(number)));
    figures(exchange, [value(1), value(2), None])
}

/// An object of the checks.
struct Nothing;

impl Figure for Nothing {}
impl Remote for Nothing {}

/// Calls back to objects of its own: a peer may ask them for their interface.
fn with_remote<R>(check: impl FnOnce(&Orb, &RemoteRef) -> R) -> R {
    let orb = orb(Orb::builder());
    let remote: RemoteRef = orb
        .root_poa()
        .activate(Nothing)
        .expect("an object in the root adapter");
    let runner = orb.clone();
    let running = thread::spawn(move || runner.run());
    let result = check(&orb, &remote);
    orb.shutdown();
    drop(running.join());
    result
}

pub fn figure_references(exchange: &ExchangeRef) -> Result<(), String> {
    with_remote(|_, remote| {
        let reference = || Some(Abstract::Reference(FigureRef::from(remote.clone())));
        figures(exchange, [reference(), None, reference()])
    })
}

pub fn type_codes(exchange: &ExchangeRef) -> Result<(), String> {
    let codes = [
        [i32::type_code(), Tree::type_code(), Choice::type_code()],
        [Node::type_code(), Special::type_code(), Board::type_code()],
        [
            Family::type_code(),
            <Vec<String>>::type_code(),
            Loaded::type_code(),
        ],
        [
            OneFigure::type_code(),
            <Option<RemoteRef>>::type_code(),
            TypeCode::default(),
        ],
    ];
    for [a, b, c] in codes {
        let mut inout = b.clone();
        let (result, d) = exchange
            .rotate_type(&a, &mut inout, &c)
            .map_err(|error| error.to_string())?;
        for (found, expected) in [(result, a), (inout, c), (d, b)] {
            // A peer may have other names of types in it.
            if !found.equivalent(&expected) {
                return Err(format!("{found}, not {expected}"));
            }
        }
    }
    Ok(())
}

/// Puts a value into an `any` of its base, as `rotate_any` passes it on.
pub fn any_derived(exchange: &ExchangeRef) -> Result<(), String> {
    let [a, b, c] = [1, 2, 3].map(|id| Some(special(id, None, Some(chain(id)))));
    let anys = [&a, &b, &c].map(any);
    let mut inout = anys[1].clone();
    let (result, d) = exchange
        .rotate_any(&anys[0], &mut inout, &anys[2])
        .map_err(|error| error.to_string())?;
    for (any, expected) in [(result, a), (inout, c), (d, b)] {
        let node: Option<Shared<Node>> = any.get().map_err(|error| error.to_string())?;
        if described(&node) != described(&expected) {
            return Err(format!("{}, not {}", described(&node), described(&expected)));
        }
    }
    Ok(())
}

/// The type code of an abstract interface says nothing about the type of a value.
pub fn any_figure(exchange: &ExchangeRef) -> Result<(), String> {
    with_remote(|orb, remote| {
        let reference: OneFigure = Some(Abstract::Reference(remote.clone().into()));
        let value: OneFigure = Some(board(2).into());
        let mut inout = any(&value);
        let (result, d) = exchange
            .rotate_any(&any(&reference), &mut inout, &any(&POINT))
            .map_err(|error| error.to_string())?;
        let shown = |any: &Any| orb.extract::<OneFigure>(any).map(|found| figure(&found));
        for (any, expected) in [(result, &reference), (d, &value)] {
            let found = shown(&any).map_err(|error| error.to_string())?;
            if found != figure(expected) {
                return Err(format!("{found}, not {}", figure(expected)));
            }
        }
        // A reference to an object of any interface is an `Object`.
        let object = orb.extract::<Option<ObjectRef>>(&any(&Some(remote.clone())));
        match object.map_err(|error| error.to_string())? {
            Some(object) if object == *remote.as_object() => Ok(()),
            other => Err(format!("{other:?}, not the object")),
        }
    })
}

//! Stack that deeply nested values take: each level has its share, as the activation of servants assumes.

use std::thread;

use punctual_any::{Any, Typed};
use punctual_cdr::{Arena, CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, Endian, Shared};
use punctual_generated_tests::{any::anys, values::values};

const LEVELS: u16 = Decoder::MAX_NESTING_LIMIT;

/// The size that `Limits::max_nesting` states.
const STACK: usize = 2 << 20;

type OneNode = Option<Shared<values::Node>>;

fn foreign() -> Endian {
    match Endian::NATIVE {
        Endian::Big => Endian::Little,
        Endian::Little => Endian::Big,
    }
}

/// Each inside of the one before.
fn structs(levels: u16) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, foreign());
    for id in 1..i32::from(levels) {
        (id, 1_u32).encode(&mut encoder).unwrap();
    }
    (0_i32, 0_u32).encode(&mut encoder).unwrap();
    octets
}

/// Each the `next` of the one before, which is between other members.
fn values(levels: u16) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, foreign());
    for id in 0..i32::from(levels) {
        (0x7fff_ff00_u32, id).encode(&mut encoder).unwrap();
    }
    0_u32.encode(&mut encoder).unwrap();
    for _ in 0..levels {
        "".encode(&mut encoder).unwrap();
    }
    octets
}

fn encode(value: &impl Encode, levels: u16) {
    let mut octets = Vec::new();
    let encoder = Encoder::new(&mut octets, foreign());
    value
        .encode(&mut encoder.with_nesting_limit(levels))
        .expect("as many levels as were decoded");
}

/// Runs what is done with a message on a stack of this size.
fn on_stack(bytes: usize, run: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(bytes);
    thread.spawn(run).unwrap().join().unwrap();
}

fn decoder<'a>(octets: &'a [u8], arena: &'a Arena, levels: u16) -> Decoder<'a> {
    Decoder::new(octets, foreign())
        .with_nesting_limit(levels)
        .with_arena(arena)
}

#[test]
fn structs_in_structs() {
    on_stack(STACK, || {
        let arena = Arena::new();
        let octets = structs(LEVELS);
        let node = anys::Node::decode(&mut decoder(&octets, &arena, LEVELS)).unwrap();
        encode(&node.clone(), LEVELS);
        assert!(format!("{node:?}").len() > usize::from(LEVELS));
    });
}

#[test]
fn values_in_values() {
    on_stack(STACK, || {
        let arena = Arena::new();
        let octets = values(LEVELS - 1);
        let node = OneNode::decode(&mut decoder(&octets, &arena, LEVELS)).unwrap();
        encode(&node, LEVELS);
    });
}

/// Each level of the type is two of the value: struct and sequence.
#[test]
fn structs_in_an_any() {
    on_stack(STACK, || in_an_any::<anys::Node>(structs, LEVELS / 2));
}

#[test]
fn values_in_an_any() {
    on_stack(STACK, || in_an_any::<OneNode>(values, LEVELS - 1));
}

fn in_an_any<T: Typed + Encode + for<'a> Decode<'a>>(octets: fn(u16) -> Vec<u8>, levels: u16) {
    let arena = Arena::new();
    let decode = |levels, limit| {
        let octets = octets(levels);
        Any::decode_value(&T::type_code(), &mut decoder(&octets, &arena, limit))
    };
    let any = decode(levels, LEVELS).unwrap();
    encode(&any, LEVELS);
    drop(any.value().unwrap());
    encode(&any.get::<T>().unwrap(), LEVELS);
    // Values in an `any` state their types, even if the peer's did not: from then on, the octets remain.
    let again = Any::new(&any.get::<T>().unwrap()).unwrap();
    let stated = Any::new(&again.get::<T>().unwrap()).unwrap();
    assert_eq!(stated.octets(), again.octets());
    let too_deep = |decoded: Result<Any, CdrError>| decoded.unwrap_err().kind == CdrErrorKind::NestingTooDeep;
    assert!(too_deep(decode(levels + 2, LEVELS)), "the hard limit");
    assert!(too_deep(decode(levels + 2, u16::MAX)), "nor can it be raised");
    assert!(
        too_deep(decode(levels / 2 + 2, LEVELS / 2)),
        "a lower setting applies as well"
    );
}

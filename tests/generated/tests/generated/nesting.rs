//! Stack that deeply nested values take: each level has its share, as the activation of servants assumes.

use std::thread;

use punctual_any::{Any, Typed};
use punctual_cdr::{Arena, Decode, Decoder, Encode, Encoder, Endian, Shared};
use punctual_generated_tests::{any::anys, values::values};

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

fn pass(kind: &str, levels: u16) {
    let arena = Arena::new();
    match kind {
        "struct" => {
            let node = anys::Node::decode(&mut decoder(&structs(levels), &arena, levels)).unwrap();
            encode(&node.clone(), levels);
            assert!(format!("{node:?}").len() > usize::from(levels));
        }
        "value" => {
            let node = OneNode::decode(&mut decoder(&values(levels), &arena, levels)).unwrap();
            encode(&node, levels);
        }
        _ => {
            let (code, octets) = match kind {
                "value in an any" => (OneNode::type_code(), values(levels)),
                _ => (anys::Node::type_code(), structs(levels / 2)),
            };
            let any = Any::decode_value(&code, &mut decoder(&octets, &arena, levels)).unwrap();
            encode(&any, levels);
            drop(any.value().unwrap());
        }
    }
}

#[test]
#[ignore]
fn measure() {
    let kind = std::env::var("KIND").unwrap();
    let levels: u16 = std::env::var("LEVELS").unwrap().parse().unwrap();
    on_stack(std::env::var("STACK").unwrap().parse().unwrap(), move || {
        pass(&kind, levels)
    });
}

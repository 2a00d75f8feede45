//! Type codes and values of types known at run time: golden octets, properties, hostile input, codec.

mod characters;
mod codec;
#[path = "../../../../fuzz/corpus.rs"]
mod corpus;
mod derived;
mod fuzzed;
mod hostile;
mod round_trips;
mod trees;
mod type_codes;
mod value_types;

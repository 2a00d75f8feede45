//! Type codes and values of types known at run time: golden octets, properties, hostile input, codec.

mod codec;
mod hostile;
mod round_trips;
mod trees;
mod type_codes;

//! Type codes and values of types known at run time: golden octets, properties, hostile input.

mod hostile;
mod round_trips;
mod type_codes;

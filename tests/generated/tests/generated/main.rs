//! Generated code: calls, asynchronous calls, and values that are encoded and decoded.

mod abstract_interfaces;
mod any;
mod asynchronous;
mod calls;
mod circular;
mod divided;
mod dynamic;
mod idl4;
mod large_arrays;
mod large_scalars;
mod local;
mod many_members;
mod nesting;
mod records;
mod round_trips;
mod type_codes;
mod value_base;
mod values;
mod wide;

//! Values whose type is known at run time: type codes, `any`, and dynamic values.
//!
//! | Task | Type |
//! |---|---|
//! | Describe an IDL type | [`TypeCode`], [`TypeCodeView`], [`Kind`] |
//! | Carry a value together with its type | [`Any`], [`AnyView`] |
//! | Know the type code of a Rust type | [`Typed`] |
//! | Inspect, build or change a value without its Rust type | [`Value`] |
//! | Convert to octets outside of messages | [`Codec`] |
//!
//! An [`Any`] keeps its value encoded, as received, and decodes it on request. A [`TypeCode`] is its encoded
//! form as well, so that receiving one costs a copy or, in an upcall, nothing.
//!
//! Source: CORBA 3.3 part 1, 8.11 "TypeCodes", and part 2, 9.3.5 "Pseudo-object types". Pure: no I/O, no
//! clock, no thread.
//!
//! ```
//! use punctual_any::{Any, Kind, Value};
//!
//! let any = Any::new(&vec![3_i32, 5])?;
//! assert_eq!(any.type_code().kind()?, Kind::Sequence);
//! assert_eq!(any.get::<Vec<i32>>()?, [3, 5]);
//! assert_eq!(any.value()?, Value::Sequence(vec![Value::Long(3), Value::Long(5)]));
//! assert!(any.get::<String>().is_err(), "it holds another type");
//! # Ok::<(), punctual_any::AnyError>(())
//! ```
#![no_std]

extern crate alloc;

mod any;
mod build;
mod codec;
mod compare;
mod copy;
mod error;
mod kind;
mod type_code;
mod typed;
mod walk;

pub use any::{Any, AnyView, DynValue, Value};
pub use build::{Member, UnionMember, ValueMember};
pub use codec::Codec;
pub use error::AnyError;
pub use kind::{Kind, ValueModifier};
pub use type_code::{TypeCode, TypeCodeView, UnionCase};
#[doc(hidden)]
pub use typed::Enclosing;
pub use typed::{Typed, TypedReference};

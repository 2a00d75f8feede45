//! Common data representation (CDR): the encoding of values in GIOP messages.
//!
//! An [`Encoder`] appends to a buffer that its owner reuses. A [`Decoder`] lends values from the received
//! message where possible, and otherwise copies them to an arena that its owner resets. Neither side
//! allocates once buffers and arena have grown to the size of the messages in use.
//!
//! Source: CORBA 3.3 part 2, 9.3 "CDR Transfer Syntax". Pure: no I/O, no clock, no thread.
//!
//! ```
//! use punctual_cdr::{Arena, Decode, Decoder, Encode, Encoder, Endian};
//!
//! let mut message = Vec::new();
//! let mut encoder = Encoder::new(&mut message, Endian::NATIVE);
//! ("radar", [3_i32, 5].as_slice()).encode(&mut encoder)?;
//!
//! let arena = Arena::new();
//! let mut decoder = Decoder::new(&message, Endian::NATIVE).with_arena(&arena);
//! assert_eq!(<&str>::decode(&mut decoder)?, "radar");
//! assert_eq!(<&[i32]>::decode(&mut decoder)?, [3, 5]);
//! # Ok::<(), punctual_cdr::CdrError>(())
//! ```
#![no_std]

extern crate alloc;
// For `OnceLock`, which waits for nothing here.
extern crate std;

mod array;
mod bits;
mod bounded;
mod char_set;
mod decoder;
mod encapsulation;
mod encoder;
mod endian;
mod error;
mod fixed;
mod ior;
mod large_values;
mod map;
mod primitive;
mod reference;
mod sequence;
#[cfg(feature = "serde")]
mod serde;
mod text;
mod value;
mod wide;

pub use array::{boxed_array, filled_array};
pub use bits::{pack_bits, unpack_bits};
pub use bounded::{BoundedMap, BoundedSeq, BoundedSlice, BoundedStr, BoundedString, TooLong};
pub use char_set::{CharSet, CodeSets, WideCharSet};
pub use decoder::{Decode, DecodeContext, Decoder, Place, UnknownValue, ValueFactory, ValueHeader, ValueTag};
pub use encapsulation::{decode_encapsulation, encode_encapsulation};
pub use encoder::{Encode, Encoder};
pub use endian::Endian;
pub use error::{CdrError, CdrErrorKind};
pub use fixed::{Fixed, FixedOverflow, unscaled};
pub use ior::{Ior, TaggedComponent, TaggedProfile};
pub use large_values::boxed;
pub use primitive::LongDouble;
pub use reference::{FromIor, HasIor};
pub use text::Text;
pub use value::{
    Abstract, AbstractInterface, CopiedOctets, CustomMarshal, Inherits, Reserved, Shared, ValueGraph,
    ValueObject, ValueState, ValueType,
};
pub use wide::{WChar, WString};

/// Memory for decoded values that cannot be lent from the message itself. Reset it after each message.
///
/// It keeps its memory when it is reset and stops allocating after the largest message.
pub type Arena = bumpalo::Bump;

#[cfg(test)]
mod tests;

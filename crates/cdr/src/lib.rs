//! Common data representation (CDR): how values stand in a GIOP message.
//!
//! An [`Encoder`] appends to a buffer that its owner keeps and reuses; a [`Decoder`] lends values out of a received
//! message without copying them where it can, and from an arena that its owner resets where it cannot. So neither
//! side allocates once buffers and arena have grown to the size of the messages in use.
//!
//! Source: CORBA 3.3 Part 2, 9.3 "CDR Transfer Syntax". Pure: no I/O, no clock, no thread.
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

mod array;
mod bounded;
mod decoder;
mod encapsulation;
mod encoder;
mod endian;
mod error;
mod ior;
mod primitive;
mod reference;
mod sequence;
mod text;

pub use bounded::{BoundedSeq, BoundedSlice, BoundedStr, BoundedString, TooLong};
pub use decoder::{Decode, Decoder};
pub use encapsulation::{decode_encapsulation, encode_encapsulation};
pub use encoder::{Encode, Encoder};
pub use endian::Endian;
pub use error::{CdrError, CdrErrorKind};
pub use ior::{Ior, TaggedComponent, TaggedProfile};
pub use primitive::LongDouble;
pub use reference::{FromIor, HasIor};
pub use text::CharSet;

/// Where a decoder puts what it cannot lend from the message itself; reset it after each message.
///
/// It keeps its memory when it is reset, so it stops allocating once it has seen the largest message.
pub type Arena = bumpalo::Bump;

#[cfg(test)]
mod tests;

// Generated from IDL by Punctual; changes here are lost.

/// IDL `typedef Longs`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub type Longs = ::std::vec::Vec<i32>;
/// IDL `typedef Table`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub type Table = ::punctual::rt::BoundedSeq<Longs, 4>;

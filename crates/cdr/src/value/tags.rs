//! Numbers that introduce values. Source: CORBA 3.3 part 2, 9.3.4.1.

/// The least value tag; flags are in the last octet.
pub(crate) const TAG: u32 = 0x7fff_ff00;
/// Flag: the URL of the code follows.
pub(crate) const CODEBASE: u32 = 1;
/// Flag: a repository id follows.
pub(crate) const ONE_ID: u32 = 2;
/// Flags: a list of repository ids follows.
pub(crate) const ID_LIST: u32 = 6;
/// Flag: the state is in chunks.
pub(crate) const CHUNKED: u32 = 8;
/// Instead of a tag, a length or a string: the position of an earlier one follows.
pub(crate) const INDIRECTION: u32 = u32::MAX;

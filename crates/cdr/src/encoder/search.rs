//! State of a search for values outside of a graph: see `value/outsiders.rs`.

use alloc::{collections::BTreeSet, vec::Vec};

/// State of a search, in an encoder whose octets are discarded.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// Addresses of the slots of the graph.
    pub(crate) own: BTreeSet<usize>,
    /// Addresses of other values that have been seen.
    pub(crate) seen: BTreeSet<usize>,
    /// Addresses and repository ids of the other values around the present place.
    pub(crate) around: Vec<(usize, &'static str)>,
    pub(crate) found: Option<&'static str>,
}

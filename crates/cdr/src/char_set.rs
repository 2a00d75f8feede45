//! Transmission code sets.

/// The transmission code set of `char` and `string` on a connection.
///
/// ```
/// use punctual_cdr::CharSet;
///
/// // What peers use that have not agreed on another one.
/// assert_eq!(CharSet::default(), CharSet::Latin1);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum CharSet {
    /// ISO-8859-1: the code set of peers that have negotiated none.
    #[default]
    Latin1,
    /// UTF-8.
    Utf8,
}

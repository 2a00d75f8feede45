//! `Debug` of public errors, which `fn main() -> Result<…>` and `unwrap` print.

/// Implements `Debug` by `Display`: `fn main() -> Result<(), Error>` and `unwrap` print `Debug`, and users
/// are to read the message, not the structure.
///
/// ```
/// struct Late;
///
/// impl core::fmt::Display for Late {
///     fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
///         f.write_str("too late")
///     }
/// }
/// punctual_types::debug_as_display!(Late);
/// assert_eq!(format!("{Late:?}"), "too late");
/// ```
#[macro_export]
macro_rules! debug_as_display {
    ($($error:ty),+) => {
        $(impl ::core::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(self, f)
            }
        })+
    };
}

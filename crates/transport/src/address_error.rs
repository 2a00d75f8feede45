//! Errors of addresses.

use std::{fmt, io};

/// A text that is not an address of its transport, or whose transport is unknown.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::io;
///
/// use punctual::transport::{AddressError, Transports};
///
/// let transports = Transports::standard();
/// let error: AddressError = transports.endpoint("localhost:2809").err().expect("it has no scheme");
/// assert!(error.to_string().starts_with("`localhost:2809` is not an endpoint; use `iiop://HOST:PORT`"));
/// // In `Transport::listen`:
/// let hint = "write `abstract://NAME`";
/// let error = io::Error::from(AddressError::new("abstract://", hint));
/// assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct AddressError {
    text: String,
    hint: String,
}

punctual_types::debug_as_display!(AddressError);

impl AddressError {
    /// Creates an error; `hint` states the expected form.
    pub fn new(text: &str, hint: impl Into<String>) -> Self {
        Self {
            text: text.to_owned(),
            hint: hint.into(),
        }
    }

    /// Adds the place where the endpoint is stated, such as `radar.toml:3`.
    #[must_use]
    pub fn stated_at(mut self, place: &str) -> Self {
        self.hint.push_str(&format!(" (stated at {place})"));
        self
    }
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not an endpoint; {}", self.text, self.hint)
    }
}

impl std::error::Error for AddressError {}

/// The form in which [`crate::Transport::listen`] reports the error.
impl From<AddressError> for io::Error {
    fn from(error: AddressError) -> Self {
        io::Error::new(io::ErrorKind::InvalidInput, error)
    }
}

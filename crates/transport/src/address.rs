use std::{fmt, io};

/// A text that is no address of its transport, or whose transport is not known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AddressError {
    text: String,
    hint: String,
}

impl AddressError {
    /// `hint` says what to write instead.
    pub fn new(text: &str, hint: impl Into<String>) -> Self {
        Self {
            text: text.to_owned(),
            hint: hint.into(),
        }
    }
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no endpoint; {}", self.text, self.hint)
    }
}

impl std::error::Error for AddressError {}

/// As [`crate::Transport::listen`] reports it.
impl From<AddressError> for io::Error {
    fn from(error: AddressError) -> Self {
        io::Error::new(io::ErrorKind::InvalidInput, error)
    }
}

//! Errors of values whose type is known at run time.

use alloc::string::String;
use core::fmt;

use punctual_cdr::{CdrError, CdrErrorKind};

use crate::Kind;

/// Why a value cannot be taken from an `any`, or put into one.
///
/// ```
/// # mod punctual { pub(crate) use punctual_any as any; }
/// use punctual::any::{Any, AnyError};
///
/// let any = Any::new(&7_i32)?;
/// let error = any.get::<f64>().unwrap_err();
/// assert!(matches!(&error, AnyError::OtherType { held, .. } if held == "long"));
/// assert_eq!(error.to_string(), "the any holds long, not double; compare `type_code()` first");
/// # Ok::<(), AnyError>(())
/// ```
#[derive(Clone, PartialEq)]
pub enum AnyError {
    /// The octets are malformed.
    Malformed(CdrError),
    /// The `any` holds another type than the requested one.
    OtherType {
        /// Type that it holds.
        held: String,
        /// Requested type.
        wanted: String,
    },
    /// The value does not have the form that the type code states.
    NotOfType(Kind),
}

impl fmt::Display for AnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) if error.kind == CdrErrorKind::DecoderIncomplete => f.write_str(
                "the value contains object references or values of value types, which belong to an ORB; decode it \
                 with `Orb::extract`",
            ),
            Self::Malformed(error) => write!(f, "malformed any: {error}"),
            Self::OtherType { held, wanted } => {
                write!(
                    f,
                    "the any holds {held}, not {wanted}; compare `type_code()` first"
                )
            }
            Self::NotOfType(kind) => write!(
                f,
                "the value does not have the form of its type code ({})",
                kind.idl()
            ),
        }
    }
}

/// Formats the error like [`Display`](fmt::Display): `main` prints this when it returns the error.
impl fmt::Debug for AnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for AnyError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        None
    }
}

impl From<CdrError> for AnyError {
    fn from(error: CdrError) -> Self {
        Self::Malformed(error)
    }
}

//! Names of types, as in declarations.

use std::fmt;

use punctual::any::TypeCodeView;

/// A type by its name, if it has one.
pub struct Named<'a>(pub TypeCodeView<'a>);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.name() {
            Ok(name) if !name.is_empty() => f.write_str(name),
            _ => self.0.fmt(f),
        }
    }
}

//! The context of a request: the context properties behind the arguments of an operation with a `context`
//! clause.
//!
//! Source: CORBA 3.3 part 2, 9.4.2.

use punctual_cdr::{CdrError, Encode as _, Encoder};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use crate::{ObjectRef, RequestOrigin, Upcall};

/// Encodes, after the arguments of a call, the context properties in force that match the `context` clause of
/// its operation, as a sequence of names and values.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_cdr as value, punctual_stub::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::{Interface, rt::encode_context, value::{Encoder, Endian}};
///
/// let doubler: DoublerRef = local::activate(Doubler);
/// let mut octets = Vec::new();
/// encode_context(doubler.as_object(), &["user", "sh*"], &mut Encoder::new(&mut octets, Endian::Big))?;
/// assert_eq!(octets, [0; 4], "no context properties are set");
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
pub fn encode_context(
    object: &ObjectRef,
    patterns: &[&str],
    encoder: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    let properties = object.target().context_properties();
    encoder.length(2 * properties.matching(patterns).count())?;
    for (name, value) in properties.matching(patterns) {
        name.encode(encoder)?;
        value.encode(encoder)?;
    }
    Ok(())
}

/// Time for which a servant can read the context properties of its request: until this is dropped.
pub struct ContextScope<'m>(Option<&'m dyn RequestOrigin>);

impl Drop for ContextScope<'_> {
    fn drop(&mut self) {
        if let Some(origin) = self.0 {
            origin.set_context_properties(None);
        }
    }
}

impl<'m> Upcall<'m, '_> {
    /// Decodes the context properties, which follow the parameters of an operation with a `context` clause,
    /// and lets the servant read them until the result is dropped.
    ///
    /// # Errors
    /// MARSHAL or a similar exception, not completed, also for a name without a value.
    pub fn context(&mut self) -> Result<ContextScope<'m>, SystemException> {
        let list: &[&str] = self.argument()?;
        let (pairs, rest) = list.as_chunks();
        if !rest.is_empty() {
            let (kind, minor) = (SystemExceptionKind::Marshal, Minor::CONTEXT_VALUE_MISSING);
            return Err(SystemException::new(kind, minor, Completion::No));
        }
        let origin = self.origin().filter(|_| !pairs.is_empty());
        if let Some(origin) = origin {
            let properties = pairs.iter().map(|[name, value]| (*name, *value)).collect();
            origin.set_context_properties(Some(properties));
        }
        Ok(ContextScope(origin))
    }
}

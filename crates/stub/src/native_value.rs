//! Values of `native` types of IDL, which stay within the process.

use std::{any::Any, fmt, sync::Arc};

/// Value of a `native` type of IDL: any value of the program, or none. Clones share the value; two are equal
/// if they are the same value, or both are none.
///
/// ```
/// # use punctual_stub as punctual;
/// use punctual::NativeValue;
///
/// let cookie = NativeValue::new(7_i64);
/// assert_eq!((cookie.get::<i64>(), cookie.get::<String>()), (Some(&7), None));
/// assert!(cookie == cookie.clone() && cookie != NativeValue::new(7_i64));
/// assert_eq!(NativeValue::default().get::<i64>(), None);
/// ```
#[derive(Clone, Default)]
pub struct NativeValue(Option<Arc<dyn Any + Send + Sync>>);

impl NativeValue {
    /// Makes one of a value of the program.
    pub fn new(value: impl Any + Send + Sync) -> Self {
        Self(Some(Arc::new(value)))
    }

    /// Returns the value, if it is of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_deref()?.downcast_ref()
    }
}

impl PartialEq for NativeValue {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (own, other) => own.is_none() && other.is_none(),
        }
    }
}

impl Eq for NativeValue {}

impl fmt::Debug for NativeValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "native value"
        } else {
            "no native value"
        })
    }
}

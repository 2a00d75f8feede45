//! Values of value types in a tree.

use alloc::{string::String, sync::Arc, vec::Vec};
use core::{any::Any, fmt};

use super::Value;

/// A value of a value type: `DynamicAny::DynValue`, and `DynValueBox` with the one member `value`. Its clones
/// are the same value, for peers as well: a value that is in several places is sent once. Null is
/// [`Value::None`].
///
/// Two are equal if they are the same value; compare [`DynValue::members`] for their states.
///
/// ```
/// # mod punctual { pub(crate) use punctual_any as any; }
/// use punctual::any::{Any, DynValue, Kind, TypeCode, Value, ValueModifier};
///
/// let members = [("id", TypeCode::basic(Kind::Long), true)];
/// let node = TypeCode::value("IDL:Node:1.0", "Node", ValueModifier::None, None, members);
/// let value = DynValue::new(vec![("id".into(), 7.into())]);
/// let any = Any::from_value(node, &value.into())?;
/// assert_eq!(any.value()?.seek("id"), Some(&Value::Long(7)));
/// # Ok::<(), punctual_any::AnyError>(())
/// ```
#[derive(Clone)]
pub struct DynValue(Arc<State>);

struct State {
    bases: Vec<String>,
    members: Vec<(String, Value)>,
}

impl DynValue {
    /// Creates a value with these members, those of the base first, of the type that a type code states.
    pub fn new(members: Vec<(String, Value)>) -> Self {
        Self(Arc::new(State {
            bases: Vec::new(),
            members,
        }))
    }

    /// Sets the repository ids of the bases that it may be truncated to, the nearest first. Default: none.
    pub fn truncatable_to(self, bases: Vec<String>) -> Self {
        let members = match Arc::try_unwrap(self.0) {
            Ok(state) => state.members,
            Err(shared) => shared.members.clone(),
        };
        Self(Arc::new(State { bases, members }))
    }

    /// Returns the repository ids of the bases that it may be truncated to, the nearest first.
    pub fn bases(&self) -> &[String] {
        &self.0.bases
    }

    /// Returns its members, those of the base first.
    pub fn members(&self) -> &[(String, Value)] {
        &self.0.members
    }

    /// Lends its members, to change them; `None` if the value is elsewhere, too.
    pub fn members_mut(&mut self) -> Option<&mut [(String, Value)]> {
        Arc::get_mut(&mut self.0).map(|state| &mut state.members[..])
    }

    /// Returns a number that no other value has at the same time.
    pub fn identity(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// The object that all clones share.
    pub(super) fn shared(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::clone(&self.0) as _
    }
}

impl PartialEq for DynValue {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The names of its members only: a small message can describe a value that is reachable in very many ways.
impl fmt::Debug for DynValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut described = f.debug_tuple("DynValue");
        for (name, _) in self.members() {
            described.field(name);
        }
        described.finish()
    }
}

impl From<DynValue> for Value {
    fn from(value: DynValue) -> Self {
        Self::ValueType(value)
    }
}

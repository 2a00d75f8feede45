//! Policies whose types are the program's own: interceptors read them, the ORB only carries them.

use std::{any::Any, fmt, sync::Arc};

/// Policies of user-defined types, at most one of each type in force. Clones share the policies; policies are
/// equal if they are the same values.
#[derive(Clone, Default)]
pub struct UserPolicies(Vec<Arc<dyn Any + Send + Sync>>);

impl UserPolicies {
    /// Adds a policy. It replaces one of the same type.
    pub fn set(&mut self, policy: impl Any + Send + Sync) {
        let of_type = policy.type_id();
        self.0.retain(|other| (**other).type_id() != of_type);
        self.0.push(Arc::new(policy));
    }

    /// Returns the policy of this type.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.0.iter().find_map(|policy| policy.downcast_ref())
    }

    /// Adds those of the enclosing scope `outer` whose types have no policy here.
    pub(crate) fn within(mut self, outer: &Self) -> Self {
        let own = self.0.len();
        for policy in &outer.0 {
            let is_set = self.0[..own]
                .iter()
                .any(|own| (**own).type_id() == (**policy).type_id());
            if !is_set {
                self.0.push(Arc::clone(policy));
            }
        }
        self
    }
}

impl PartialEq for UserPolicies {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.0.iter().zip(&other.0);
        self.0.len() == other.0.len() && pairs.all(|(own, other)| Arc::ptr_eq(own, other))
    }
}

impl Eq for UserPolicies {}

impl fmt::Debug for UserPolicies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of the program's own types", self.0.len())
    }
}

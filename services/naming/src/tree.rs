//! Contexts and their bindings in memory.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound as Range,
    sync::Arc,
};

use punctual::{Ior, naming::NameComponent};

/// Number of a context; numbers are not used again.
pub(crate) type ContextNumber = u64;

/// Number of the root.
pub(crate) const ROOT: ContextNumber = 0;

/// Target of a binding.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Bound {
    /// An object; nil without profiles.
    Object(Ior),
    /// A context of this service.
    Own(ContextNumber),
    /// A context of another server.
    Foreign(Ior),
}

impl Bound {
    pub(crate) fn is_context(&self) -> bool {
        !matches!(self, Self::Object(_))
    }

    /// Octets of its reference.
    pub(crate) fn octets(&self) -> usize {
        match self {
            Self::Object(ior) | Self::Foreign(ior) => octets_of(ior),
            Self::Own(_) => 0,
        }
    }
}

/// Octets that a reference takes.
pub(crate) fn octets_of(ior: &Ior) -> usize {
    let profiles = ior.profiles.iter().map(|profile| profile.data.len() + 32);
    ior.type_id.len() + profiles.sum::<usize>()
}

/// A change of the tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    Create(ContextNumber),
    Destroy(ContextNumber),
    /// Instead of what was bound before.
    Bind(ContextNumber, NameComponent, Arc<Bound>),
    Unbind(ContextNumber, NameComponent),
}

type Bindings = BTreeMap<NameComponent, Arc<Bound>>;

/// All contexts.
#[derive(Debug)]
pub(crate) struct Tree {
    contexts: HashMap<ContextNumber, Bindings>,
    next: ContextNumber,
    bindings: usize,
    octets: usize,
}

/// Octets that a context and a binding take besides their content: entries of maps and allocations.
const PER_CONTEXT: usize = 128;
const PER_BINDING: usize = 256;

impl Tree {
    /// A root without bindings.
    pub(crate) fn new() -> Self {
        let mut tree = Self {
            contexts: HashMap::new(),
            next: ROOT,
            bindings: 0,
            octets: 0,
        };
        tree.apply(&Change::Create(ROOT));
        tree
    }

    pub(crate) fn context_count(&self) -> usize {
        self.contexts.len()
    }

    pub(crate) fn binding_count(&self) -> usize {
        self.bindings
    }

    pub(crate) fn octets(&self) -> usize {
        self.octets
    }

    /// Octets that a binding adds.
    pub(crate) fn cost(component: &NameComponent, bound: &Bound) -> usize {
        PER_BINDING + component.id.len() + component.kind.len() + bound.octets()
    }

    /// Number of the next new context.
    pub(crate) fn next_context(&self) -> ContextNumber {
        self.next
    }

    /// Gives no number below this one to a new context.
    #[cfg_attr(
        not(feature = "store"),
        expect(dead_code, reason = "only a store has earlier contexts")
    )]
    pub(crate) fn reserve_contexts(&mut self, next: ContextNumber) {
        self.next = self.next.max(next);
    }

    pub(crate) fn has(&self, context: ContextNumber) -> bool {
        self.contexts.contains_key(&context)
    }

    /// Number of bindings in a context; `None`: it does not exist.
    pub(crate) fn len(&self, context: ContextNumber) -> Option<usize> {
        self.contexts.get(&context).map(Bindings::len)
    }

    pub(crate) fn get(&self, context: ContextNumber, component: &NameComponent) -> Option<&Arc<Bound>> {
        self.contexts.get(&context)?.get(component)
    }

    /// Bindings of a context in their order, from the one behind this component on.
    pub(crate) fn after(
        &self,
        context: ContextNumber,
        component: Option<&NameComponent>,
    ) -> impl Iterator<Item = (&NameComponent, &Arc<Bound>)> {
        let from = component.map_or(Range::Unbounded, Range::Excluded);
        let bindings = self.contexts.get(&context).into_iter();
        bindings.flat_map(move |bindings| bindings.range::<NameComponent, _>((from, Range::Unbounded)))
    }

    /// Takes over a change, which has been checked.
    pub(crate) fn apply(&mut self, change: &Change) {
        match change {
            Change::Create(number) => {
                self.next = self.next.max(number + 1);
                if self.contexts.insert(*number, Bindings::new()).is_none() {
                    self.octets += PER_CONTEXT;
                }
            }
            Change::Destroy(number) => {
                if self.contexts.remove(number).is_some() {
                    self.octets -= PER_CONTEXT;
                }
            }
            Change::Bind(context, component, bound) => {
                self.apply(&Change::Unbind(*context, component.clone()));
                if let Some(bindings) = self.contexts.get_mut(context) {
                    self.octets += Self::cost(component, bound);
                    self.bindings += 1;
                    bindings.insert(component.clone(), Arc::clone(bound));
                }
            }
            Change::Unbind(context, component) => {
                let bindings = self.contexts.get_mut(context);
                if let Some(bound) = bindings.and_then(|bindings| bindings.remove(component)) {
                    self.octets -= Self::cost(component, &bound);
                    self.bindings -= 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_return_to_what_they_were() {
        let mut tree = Tree::new();
        let before = tree.octets();
        let component = NameComponent::new("radar", "x");
        let bound = |type_id: &str| {
            Arc::new(Bound::Object(Ior {
                type_id: type_id.to_owned(),
                ..Ior::default()
            }))
        };
        tree.apply(&Change::Create(1));
        for type_id in ["IDL:Radar:1.0", "IDL:R:1.0"] {
            tree.apply(&Change::Bind(1, component.clone(), bound(type_id)));
            assert_eq!(tree.binding_count(), 1);
            let cost = PER_CONTEXT + PER_BINDING + 6 + type_id.len();
            assert_eq!(tree.octets() - before, cost);
        }
        tree.apply(&Change::Unbind(1, component));
        tree.apply(&Change::Destroy(1));
        assert_eq!(
            (tree.octets(), tree.binding_count(), tree.context_count()),
            (before, 0, 1)
        );
        assert_eq!(tree.next_context(), 2, "numbers are not used again");
    }
}

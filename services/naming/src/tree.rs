//! Contexts and their bindings in memory.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
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

#[derive(Debug, Default)]
struct Context {
    bindings: BTreeMap<NameComponent, Arc<Bound>>,
    /// Number of bindings to it in all contexts.
    names: usize,
}

/// All contexts.
#[derive(Debug)]
pub(crate) struct Tree {
    contexts: HashMap<ContextNumber, Context>,
    /// Number of contexts without a name, with the root.
    unnamed: usize,
    next: ContextNumber,
    bindings: usize,
    octets: usize,
}

/// Octets that a context and a binding take besides their content: entries of maps and allocations.
pub(crate) const PER_CONTEXT: usize = 128;
const PER_BINDING: usize = 256;

impl Tree {
    /// A root without bindings.
    pub(crate) fn new() -> Self {
        let mut tree = Self {
            contexts: HashMap::new(),
            unnamed: 0,
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

    /// Number of contexts beside the root to which no context of this service is bound.
    pub(crate) fn unnamed_count(&self) -> usize {
        let root_has_name = self.contexts.get(&ROOT).is_some_and(|root| root.names > 0);
        self.unnamed - usize::from(!root_has_name)
    }

    /// Changes that remove the contexts to which no name leads from the root.
    pub(crate) fn prune(&self) -> Vec<Change> {
        let (mut reached, mut new) = (HashSet::from([ROOT]), vec![ROOT]);
        while let Some(context) = new.pop() {
            for (_, bound) in self.after(context, None) {
                if let Bound::Own(below) = **bound
                    && reached.insert(below)
                {
                    new.push(below);
                }
            }
        }
        let lost = self
            .contexts
            .iter()
            .filter(|(number, _)| !reached.contains(number));
        lost.flat_map(|(number, context)| {
            let names = context.bindings.keys().cloned();
            let unbound = names.map(|name| Change::Unbind(*number, name));
            unbound.chain([Change::Destroy(*number)])
        })
        .collect()
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
        self.contexts.get(&context).map(|context| context.bindings.len())
    }

    pub(crate) fn get(&self, context: ContextNumber, component: &NameComponent) -> Option<&Arc<Bound>> {
        self.contexts.get(&context)?.bindings.get(component)
    }

    /// Bindings of a context in their order, from the one behind this component on.
    pub(crate) fn after(
        &self,
        context: ContextNumber,
        component: Option<&NameComponent>,
    ) -> impl Iterator<Item = (&NameComponent, &Arc<Bound>)> {
        let from = component.map_or(Range::Unbounded, Range::Excluded);
        let contexts = self.contexts.get(&context).into_iter();
        contexts.flat_map(move |context| {
            context
                .bindings
                .range::<NameComponent, _>((from, Range::Unbounded))
        })
    }

    /// Takes over a change, which has been checked.
    pub(crate) fn apply(&mut self, change: &Change) {
        match change {
            Change::Create(number) => {
                self.next = self.next.max(number + 1);
                self.contexts.entry(*number).or_insert_with(|| {
                    self.octets += PER_CONTEXT;
                    self.unnamed += 1;
                    Context::default()
                });
            }
            Change::Destroy(number) => {
                if let Some(context) = self.contexts.remove(number) {
                    self.octets -= PER_CONTEXT;
                    self.unnamed -= usize::from(context.names == 0);
                }
            }
            Change::Bind(context, component, bound) => {
                self.apply(&Change::Unbind(*context, component.clone()));
                if let Some(context) = self.contexts.get_mut(context) {
                    self.octets += Self::cost(component, bound);
                    self.bindings += 1;
                    context.bindings.insert(component.clone(), Arc::clone(bound));
                    self.name(bound, |names| names + 1);
                }
            }
            Change::Unbind(context, component) => {
                let context = self.contexts.get_mut(context);
                if let Some(bound) = context.and_then(|context| context.bindings.remove(component)) {
                    self.octets -= Self::cost(component, &bound);
                    self.bindings -= 1;
                    self.name(&bound, |names| names - 1);
                }
            }
        }
    }

    /// Changes the number of names of a context, unless it has been destroyed.
    fn name(&mut self, bound: &Bound, change: impl Fn(usize) -> usize) {
        if let Bound::Own(number) = bound
            && let Some(context) = self.contexts.get_mut(number)
        {
            let names = change(context.names);
            self.unnamed = self.unnamed + usize::from(names == 0) - usize::from(context.names == 0);
            context.names = names;
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

    #[test]
    fn contexts_without_a_name_are_counted_and_pruned_with_circles() {
        let mut tree = Tree::new();
        let own = |number| Arc::new(Bound::Own(number));
        let bind = |from, name: &str, to| Change::Bind(from, NameComponent::new(name, ""), own(to));
        (1..=4).for_each(|number| tree.apply(&Change::Create(number)));
        assert_eq!(tree.unnamed_count(), 4);
        tree.apply(&bind(ROOT, "1", 1));
        tree.apply(&bind(1, "root", ROOT));
        tree.apply(&bind(2, "3", 3));
        tree.apply(&bind(3, "2", 2));
        tree.apply(&bind(ROOT, "gone", 99));
        assert_eq!(tree.unnamed_count(), 1, "a circle has names");
        tree.apply(&bind(1, "root", 4));
        assert_eq!(tree.unnamed_count(), 0, "the root needs none");
        tree.apply(&Change::Unbind(1, NameComponent::new("root", "")));
        assert_eq!(tree.unnamed_count(), 1);
        let changes = tree.prune();
        changes.iter().for_each(|change| tree.apply(change));
        assert_eq!(
            (tree.context_count(), tree.binding_count(), tree.unnamed_count()),
            (2, 2, 0)
        );
        assert!(tree.has(1) && tree.prune().is_empty());
    }
}

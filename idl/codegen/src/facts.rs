//! Facts about named types that determine the mapping, computed for all types at once.
//!
//! The time is linear in the size of the specification, however many types share a part, and no function
//! calls itself from type to type: neither a long chain nor a wide ladder of types costs more than its text.

use crate::{
    layout::copies_of_levels,
    model::{Facts, Model, NamedType, Shape, State, Type, TypeId},
};

impl Model {
    /// Computes the facts of all types, from their shapes.
    pub fn compute_facts(&mut self) {
        self.facts = vec![Facts::default(); self.types.len()];
        let all = self.edges(true);
        let held = self.edges(false);
        // What a type holds comes before it: nothing holds itself.
        for id in trees(&held, 0..self.types.len()).concat() {
            self.facts[id].min_size = self.shape_min_size(TypeId(id));
            self.facts[id].last_alias = self.end_of_aliases(TypeId(id));
            self.facts[id].layout = self.shape_layout(TypeId(id));
            if let Shape::Struct(members) = &self.types[id].shape {
                self.facts[id].in_parts = !self.parts_of(None, members).is_empty();
                self.facts[id].large = self.facts[id].in_parts || self.boxes_some(members);
            }
        }
        self.compute_states();
        let of_values = self.values_decoding();
        let finished = trees(&all, 0..self.types.len()).concat();
        let cycles = trees(&reversed(&all), finished.into_iter().rev());
        // The types of a cycle come after those to which they refer, and have the same facts.
        for cycle in cycles.into_iter().rev() {
            let parts = || cycle.iter().flat_map(|id| self.parts(TypeId(*id)));
            let is_interface = matches!(
                self.types[cycle[0]].shape,
                Shape::Interface | Shape::Abstract | Shape::Local | Shape::Value(_) | Shape::Native
            );
            let is_large = cycle.iter().any(|id| self.facts[*id].large);
            let variable = is_interface || is_large || parts().any(|part| !self.is_fixed(part));
            let reference = is_interface || parts().any(|part| self.has_reference(part));
            let in_parts =
                cycle.iter().any(|id| self.facts[*id].in_parts) || parts().any(|part| self.has_parts(part));
            let local = matches!(self.types[cycle[0]].shape, Shape::Local | Shape::Native)
                || parts().any(|part| self.is_local(part));
            let recursive = cycle.len() > 1 || all[cycle[0]].contains(&cycle[0]);
            let decoding = match &self.types[cycle[0]].shape {
                Shape::Value(_) => of_values,
                _ => self.cycle_decoding(&cycle, recursive),
            };
            for id in cycle {
                let facts = &mut self.facts[id];
                (facts.variable, facts.reference, facts.recursive) = (variable, reference, recursive);
                (facts.local, facts.in_parts, facts.decoding) = (local, in_parts, decoding);
            }
        }
    }

    /// The types to which each type refers; those that it holds, or also those behind its sequences.
    fn edges(&self, through_sequences: bool) -> Vec<Vec<usize>> {
        let ids = (0..self.types.len()).map(TypeId);
        ids.map(|id| {
            let discriminator = match &self.named(id).shape {
                Shape::Union { discriminator, .. } => Some(discriminator),
                _ => None,
            };
            let parts = self.parts(id).iter().chain(discriminator);
            parts
                .filter_map(|part| named_in(part, through_sequences))
                .collect()
        })
        .collect()
    }

    /// Computes the sizes of the states of value types, from the bases to what is derived from them.
    fn compute_states(&mut self) {
        let base = |named: &NamedType| match &named.shape {
            Shape::Value(State::Members { base, .. }) => base.iter().map(|base| base.0).collect(),
            _ => Vec::new(),
        };
        let bases: Vec<_> = self.types.iter().map(base).collect();
        for id in trees(&bases, 0..self.types.len()).concat() {
            if let Shape::Value(state) = &self.types[id].shape {
                let (state, whole_state) = self.state_sizes(state);
                (self.facts[id].state, self.facts[id].whole_state) = (state, whole_state);
            }
        }
    }

    /// Octets that values of value types need while they are decoded, inside of each other if their states
    /// hold others: a value may be of any type that the program knows.
    fn values_decoding(&self) -> u64 {
        let states = self.types.iter().filter_map(|named| match &named.shape {
            Shape::Value(State::Box(content)) => Some(std::slice::from_ref(content)),
            Shape::Value(State::Members { members, .. }) => Some(&members[..]),
            _ => None,
        });
        let is_nested = states.flatten().any(|member| named_in(member, true).is_some());
        let largest = self.facts.iter().map(|facts| facts.whole_state).max();
        largest.unwrap_or(0).saturating_mul(copies_of_levels(is_nested))
    }

    fn end_of_aliases(&self, id: TypeId) -> Option<TypeId> {
        match &self.named(id).shape {
            Shape::Alias(Type::Named(target)) => self.facts[target.0].last_alias.or(Some(id)),
            Shape::Alias(_) => Some(id),
            _ => None,
        }
    }
}

/// The named type at the end of a type: an element of an element.
fn named_in(mut of: &Type, through_sequences: bool) -> Option<usize> {
    loop {
        match of {
            Type::Sequence { .. } | Type::Map { .. } if !through_sequences => return None,
            Type::Sequence { element, .. }
            | Type::Array { element, .. }
            | Type::Map { value: element, .. } => of = element,
            Type::Named(id) => return Some(id.0),
            Type::Basic(_)
            | Type::String { .. }
            | Type::WString { .. }
            | Type::Fixed { .. }
            | Type::Object
            | Type::TypeCode
            | Type::Any => return None,
        }
    }
}

/// The trees of a depth-first search from each root in turn; within a tree, each node follows those that were
/// reached from it.
fn trees(edges: &[Vec<usize>], roots: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    let mut seen = vec![false; edges.len()];
    let mut trees = Vec::new();
    for root in roots {
        let (mut tree, mut open) = (Vec::new(), vec![(root, 0)]);
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        while let Some((node, next)) = open.pop() {
            match edges[node].get(next) {
                None => tree.push(node),
                Some(&other) => {
                    open.push((node, next + 1));
                    if !std::mem::replace(&mut seen[other], true) {
                        open.push((other, 0));
                    }
                }
            }
        }
        trees.push(tree);
    }
    trees
}

fn reversed(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut reversed = vec![Vec::new(); edges.len()];
    for (from, others) in edges.iter().enumerate() {
        others.iter().for_each(|to| reversed[*to].push(from));
    }
    reversed
}

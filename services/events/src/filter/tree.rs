//! Evaluation of a filter: which events pass, and in which sets.

use std::{sync::Arc, time::Duration};

use crate::{
    EventType, Filter, SourceId,
    filter::{Bits, Group, Item, Timeout},
    pool::octets,
    rtec::rtec_event_comm::{Event, EventHeader},
    suppliers::Supplier,
};

/// A filter with its state: the events that conjunctions hold. Its depth has been checked.
#[derive(Debug, Default)]
pub(crate) struct FilterTree {
    nodes: Vec<Node>,
    timers: Vec<TimerSpec>,
    /// Sets of events that operands of conjunctions have passed; empty: none yet.
    held: Vec<Vec<Arc<Event>>>,
    /// Number of their octets.
    octets: usize,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    item: Item,
    /// Index after the last of its descendants.
    end: usize,
    /// Index of the first set of a conjunction in `held`.
    held: usize,
}

/// A timeout of a filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerSpec {
    /// Index of its element.
    pub(crate) node: usize,
    /// Element of the group that it stands in.
    group: Option<usize>,
    pub(crate) timeout: Timeout,
    pub(crate) interval: Duration,
    /// Whether its group has fired since the timer was armed.
    pub(crate) rearm: bool,
}

/// Event to which a filter is applied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stimulus<'e> {
    pub(crate) event: &'e Arc<Event>,
    /// Element whose timeout this is; `None`: an event of a supplier.
    pub(crate) timer: Option<usize>,
    /// Supplier of another process that has pushed it.
    pub(crate) supplier: Option<&'e Arc<Supplier>>,
}

impl FilterTree {
    pub(crate) fn new(filter: &Filter) -> Self {
        let mut tree = Self::default();
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (index, item) in filter.items.iter().enumerate() {
            if let Item::Timeout(timeout, interval) = *item {
                tree.timers.push(TimerSpec {
                    node: index,
                    group: open.last().map(|(group, _)| *group),
                    timeout,
                    interval,
                    rearm: false,
                });
            }
            let held = tree.held.len();
            if let Item::Group(Group::Conjunction, children) = *item {
                tree.held.resize_with(held + children, Vec::new);
            }
            tree.nodes.push(Node {
                item: *item,
                end: index + 1,
                held,
            });
            open.push((index, item.children()));
            while let Some(&(inner, 0)) = open.last() {
                open.pop();
                tree.nodes[inner].end = index + 1;
                if let Some((_, missing)) = open.last_mut() {
                    *missing -= 1;
                }
            }
        }
        tree
    }

    pub(crate) fn timers(&mut self) -> &mut [TimerSpec] {
        &mut self.timers
    }

    /// Number of events that conjunctions hold.
    pub(crate) fn number_held(&self) -> usize {
        self.held.iter().map(Vec::len).sum()
    }

    /// Forgets what conjunctions hold if it has more octets than this; returns the number of events.
    pub(crate) fn hold_at_most(&mut self, octets: usize) -> usize {
        if self.octets <= octets {
            return 0;
        }
        let number = self.number_held();
        self.forget();
        number
    }

    /// Forgets what conjunctions hold.
    pub(crate) fn forget(&mut self) {
        self.octets = 0;
        self.held.iter_mut().for_each(Vec::clear);
    }

    /// Whether the event passes; appends what is to be delivered.
    pub(crate) fn pass(&mut self, stimulus: Stimulus<'_>, out: &mut Vec<Arc<Event>>) -> bool {
        !self.nodes.is_empty() && self.pass_at(0, stimulus, out)
    }

    fn pass_at(&mut self, index: usize, stimulus: Stimulus<'_>, out: &mut Vec<Arc<Event>>) -> bool {
        let is_event = stimulus.timer.is_none();
        let header = &stimulus.event.header;
        let passes = match self.nodes[index].item {
            Item::Event { event_type, source } => is_event && matches(header, event_type, source),
            Item::Masked { mask, value } => is_event && is_masked(header, mask, value),
            Item::Timeout(..) => stimulus.timer == Some(index),
            Item::Nothing => false,
            Item::Bitmask(mask) => {
                return is_event && has_bits(header, mask) && self.pass_at(index + 1, stimulus, out);
            }
            Item::Negation => {
                let before = out.len();
                let refused = !self.pass_at(index + 1, stimulus, out);
                out.truncate(before);
                is_event && refused
            }
            Item::Group(group, _) => return self.pass_group(index, group, stimulus, out),
        };
        if passes {
            out.push(Arc::clone(stimulus.event));
        }
        passes
    }

    fn pass_group(
        &mut self,
        index: usize,
        group: Group,
        stimulus: Stimulus<'_>,
        out: &mut Vec<Arc<Event>>,
    ) -> bool {
        let fires = match group {
            Group::Disjunction => self.pass_any(index, stimulus, out),
            Group::LogicalAnd => self.pass_each(index, stimulus, out),
            Group::Conjunction => self.collect(index, stimulus, out),
        };
        if fires {
            for timer in &mut self.timers {
                timer.rearm |= timer.group == Some(index);
            }
        }
        fires
    }

    /// Every operand sees the event. Sets that it completes pass, and it passes alone at most once.
    fn pass_any(&mut self, index: usize, stimulus: Stimulus<'_>, out: &mut Vec<Arc<Event>>) -> bool {
        let first = out.len();
        let end = self.nodes[index].end;
        let mut child = index + 1;
        let mut passes = false;
        while child < end {
            let before = out.len();
            passes |= self.pass_at(child, stimulus, out);
            let is_alone = out.len() == before + 1;
            if is_alone
                && out[first..before]
                    .iter()
                    .any(|event| Arc::ptr_eq(event, stimulus.event))
            {
                out.truncate(before);
            }
            child = self.nodes[child].end;
        }
        passes
    }

    /// Every operand sees the event: conjunctions hold it.
    fn pass_each(&mut self, index: usize, stimulus: Stimulus<'_>, out: &mut Vec<Arc<Event>>) -> bool {
        let before = out.len();
        let end = self.nodes[index].end;
        let mut child = index + 1;
        let mut all = true;
        while child < end {
            all &= self.pass_at(child, stimulus, out);
            child = self.nodes[child].end;
        }
        out.truncate(before);
        if all {
            out.push(Arc::clone(stimulus.event));
        }
        all
    }

    /// Holds the first event of each operand, and passes all on when none is missing.
    fn collect(&mut self, index: usize, stimulus: Stimulus<'_>, out: &mut Vec<Arc<Event>>) -> bool {
        let Node { end, held, .. } = self.nodes[index];
        let mut child = index + 1;
        let mut slot = held;
        let mut complete = true;
        while child < end {
            if self.held[slot].is_empty() {
                // The set keeps its memory.
                let mut set = std::mem::take(&mut self.held[slot]);
                self.pass_at(child, stimulus, &mut set);
                complete &= !set.is_empty();
                self.octets += sum(&set);
                self.held[slot] = set;
            }
            child = self.nodes[child].end;
            slot += 1;
        }
        if complete {
            for set in &mut self.held[held..slot] {
                self.octets -= sum(set);
                out.append(set);
            }
        }
        complete
    }
}

fn sum(set: &[Arc<Event>]) -> usize {
    set.iter().map(|event| octets(event)).sum()
}

fn matches(header: &EventHeader, event_type: EventType, source: SourceId) -> bool {
    (event_type == EventType::ANY || header.r#type == event_type.0)
        && (source == SourceId::ANY || header.source == source.0)
}

fn is_masked(header: &EventHeader, mask: Bits, value: Bits) -> bool {
    header.r#type & mask.event_type == value.event_type && header.source & mask.source == value.source
}

fn has_bits(header: &EventHeader, mask: Bits) -> bool {
    header.r#type & mask.event_type != 0 && header.source & mask.source != 0
}

//! Filters, which state the events of a subscription as an expression in prefix notation.
//!
//! A filter is a flat list, however deep the expression: building, checking and dropping one needs no
//! recursion. [`tree`] evaluates it, with a depth that has been checked.

mod dependencies;
pub(crate) mod tree;

use std::time::Duration;

pub use dependencies::{Designator, RESERVED_TYPES};
pub(crate) use tree::{FilterTree, Stimulus};

/// Type of an event. Types of applications begin with [`EventType::FIRST_USER`].
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EventType(pub i32);

impl EventType {
    /// Matches every type in a filter.
    pub const ANY: Self = Self(0);
    /// Fired once.
    pub const TIMEOUT: Self = Self(4);
    /// Fired periodically.
    pub const INTERVAL_TIMEOUT: Self = Self(5);
    /// Fired because other events did not arrive in time.
    pub const DEADLINE_TIMEOUT: Self = Self(6);
    /// First type that is free for applications.
    pub const FIRST_USER: Self = Self(RESERVED_TYPES);
}

/// Source of an event; 0 in a filter: every source.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SourceId(pub i32);

impl SourceId {
    /// Matches every source in a filter.
    pub const ANY: Self = Self(0);
}

impl From<i32> for SourceId {
    fn from(number: i32) -> Self {
        Self(number)
    }
}

/// An expression over the headers of events.
///
/// ```
/// use punctual_events::{EventType, Filter, SourceId};
/// use std::time::Duration;
///
/// let (track, alarm) = (EventType(16), EventType(17));
/// // Tracks of radar 7, unless they are late: then a deadline timeout instead.
/// let filter = Filter::any_of([
///     Filter::event(track).from(SourceId(7)),
///     Filter::unless_within(Duration::from_millis(50)),
/// ]);
/// // A track and an alarm, in any order, delivered as one set.
/// let pair = Filter::all_of([Filter::event(track), Filter::event(alarm)]);
/// assert_eq!((filter.depth(), pair.len()), (2, 3));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Filter {
    items: Vec<Item>,
}

/// An element of a filter, followed by its children.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Item {
    Event { event_type: EventType, source: SourceId },
    Masked { mask: Bits, value: Bits },
    Timeout(Timeout, Duration),
    Nothing,
    Bitmask(Bits),
    Negation,
    Group(Group, usize),
}

/// Bits of type and source of an event.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Bits {
    /// Bits of the type.
    pub event_type: i32,
    /// Bits of the source.
    pub source: i32,
}

/// Kinds of groups.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Group {
    Conjunction,
    Disjunction,
    LogicalAnd,
}

/// Kinds of timeouts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Timeout {
    Once,
    Interval,
    Deadline,
}

impl Item {
    /// Number of operands that follow it.
    fn children(self) -> usize {
        match self {
            Self::Event { .. } | Self::Masked { .. } | Self::Timeout(..) | Self::Nothing => 0,
            Self::Bitmask(_) | Self::Negation => 1,
            Self::Group(_, children) => children,
        }
    }
}

impl Filter {
    /// Whether it delivers several events as one set.
    pub(crate) fn collects_sets(&self) -> bool {
        self.items
            .iter()
            .any(|item| matches!(item, Item::Group(Group::Conjunction, _)))
    }

    /// Events of a type, of every source.
    pub fn event(event_type: EventType) -> Self {
        let source = SourceId::ANY;
        Self::leaf(Item::Event { event_type, source })
    }

    /// Every event that suppliers push.
    pub fn every_event() -> Self {
        Self::event(EventType::ANY)
    }

    /// No event.
    pub fn nothing() -> Self {
        Self::leaf(Item::Nothing)
    }

    /// Restricts the filter to events of this source. A filter made with [`event`](Self::event) then accepts
    /// its events from this source only; other filters gain the source as a further condition.
    pub fn from(self, source: impl Into<SourceId>) -> Self {
        let source = source.into();
        match self.items[..] {
            [Item::Event { event_type, .. }] => Self::leaf(Item::Event { event_type, source }),
            _ => Self::each_of([self, Self::every_event().from(source)]),
        }
    }

    /// Events whose bits under `mask` equal those of `value`, in type and source.
    pub fn masked(mask: Bits, value: Bits) -> Self {
        Self::leaf(Item::Masked { mask, value })
    }

    /// Events that this filter accepts and that have at least one bit of `mask` in the type, and one in the
    /// source.
    pub fn with_bits(self, mask: Bits) -> Self {
        self.under(Item::Bitmask(mask))
    }

    /// One timeout event, this long after the subscription.
    pub fn after(delay: Duration) -> Self {
        Self::leaf(Item::Timeout(Timeout::Once, delay))
    }

    /// Periodic timeout events.
    pub fn every(interval: Duration) -> Self {
        Self::leaf(Item::Timeout(Timeout::Interval, interval))
    }

    /// A timeout event whenever the group around it has not passed an event for this long.
    pub fn unless_within(interval: Duration) -> Self {
        Self::leaf(Item::Timeout(Timeout::Deadline, interval))
    }

    /// Conjunction: the first event of each filter, in any order; delivered together as one set when all have
    /// arrived.
    pub fn all_of(filters: impl IntoIterator<Item = Self>) -> Self {
        Self::group(Group::Conjunction, filters)
    }

    /// Disjunction: events that at least one of the filters accepts.
    pub fn any_of(filters: impl IntoIterator<Item = Self>) -> Self {
        Self::group(Group::Disjunction, filters)
    }

    /// Logical and: events that each of the filters accepts.
    pub fn each_of(filters: impl IntoIterator<Item = Self>) -> Self {
        Self::group(Group::LogicalAnd, filters)
    }

    /// Negation: events that this filter refuses.
    pub fn negated(self) -> Self {
        self.under(Item::Negation)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether the filter has no element; such a filter accepts nothing.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Number of timeouts.
    pub(crate) fn timers(&self) -> usize {
        let is_timeout = |item: &&Item| matches!(item, Item::Timeout(..));
        self.items.iter().filter(is_timeout).count()
    }

    /// Number of elements on the longest path from the outermost to an innermost element.
    pub fn depth(&self) -> usize {
        let mut missing: Vec<usize> = Vec::new();
        let mut deepest = 0;
        for item in &self.items {
            deepest = deepest.max(missing.len() + 1);
            missing.push(item.children());
            while missing.last() == Some(&0) {
                missing.pop();
                if let Some(outer) = missing.last_mut() {
                    *outer -= 1;
                }
            }
        }
        deepest
    }

    /// Checks the filter against the limits of a channel.
    ///
    /// # Errors
    /// The limit that it exceeds.
    pub fn check(&self, limits: &FilterLimits) -> Result<(), FilterError> {
        let depth = self.depth();
        if depth > limits.depth {
            let limit = limits.depth;
            return Err(FilterError::TooDeep { depth, limit });
        }
        let elements = self.items.len();
        if elements > limits.elements {
            let limit = limits.elements;
            return Err(FilterError::TooLong { elements, limit });
        }
        let timers = self.timers();
        if timers > limits.timers {
            let limit = limits.timers;
            return Err(FilterError::TooManyTimeouts { timers, limit });
        }
        for item in &self.items {
            if let Item::Timeout(_, interval) = *item
                && interval < limits.interval
            {
                let limit = limits.interval;
                return Err(FilterError::TooFrequent { interval, limit });
            }
        }
        Ok(())
    }

    /// Types of the events that can pass; `None`: any.
    pub(crate) fn event_types(&self) -> Option<impl Iterator<Item = EventType>> {
        let is_open = |item: &Item| match *item {
            Item::Event { event_type, .. } => event_type == EventType::ANY,
            Item::Masked { .. } | Item::Negation => true,
            _ => false,
        };
        if self.items.iter().any(is_open) {
            return None;
        }
        Some(self.items.iter().filter_map(|item| match *item {
            Item::Event { event_type, .. } => Some(event_type),
            _ => None,
        }))
    }

    /// Alternatives that include all events that can pass: what suppliers elsewhere may have to send.
    pub(crate) fn wanted(&self) -> Vec<Self> {
        if self.event_types().is_none() {
            return vec![Self::every_event()];
        }
        let is_event = |item: &&Item| matches!(item, Item::Event { .. });
        self.items
            .iter()
            .filter(is_event)
            .map(|item| Self::leaf(*item))
            .collect()
    }

    fn leaf(item: Item) -> Self {
        Self { items: vec![item] }
    }

    fn under(mut self, item: Item) -> Self {
        self.items.insert(0, item);
        self
    }

    fn group(group: Group, filters: impl IntoIterator<Item = Self>) -> Self {
        let mut items = vec![Item::Nothing];
        let mut children = 0;
        for filter in filters {
            items.extend(filter.items);
            children += 1;
        }
        items[0] = match children {
            0 => Item::Nothing,
            _ => Item::Group(group, children),
        };
        Self { items }
    }
}

/// Limits of the filters of a channel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FilterLimits {
    /// Maximum depth; default 32. Evaluation needs stack space in proportion.
    pub depth: usize,
    /// Maximum number of elements; default 1,024.
    pub elements: usize,
    /// Minimum interval of timeouts; default 1 ms.
    pub interval: Duration,
    /// Maximum number of timeouts; default 64.
    pub timers: usize,
    /// Maximum number of elements of all filters of the channel, and of types that its suppliers announce;
    /// default 65,536.
    pub all_elements: usize,
    /// Maximum number of timeouts of all filters of the channel; default 4,096.
    pub all_timers: usize,
}

impl Default for FilterLimits {
    fn default() -> Self {
        Self {
            depth: 32,
            elements: 1_024,
            interval: Duration::from_millis(1),
            timers: 64,
            all_elements: 65_536,
            all_timers: 4_096,
        }
    }
}

/// A filter that cannot be used.
#[derive(Clone, Copy, Eq, PartialEq, thiserror::Error)]
pub enum FilterError {
    /// The expression is too deep.
    #[error(
        "the filter is {depth} levels deep, and the channel permits {limit}; write `a or (b or c)` as one group, \
         or raise `FilterLimits::depth`"
    )]
    TooDeep {
        /// Its depth.
        depth: usize,
        /// Limit of the channel.
        limit: usize,
    },
    /// The filter has too many elements.
    #[error(
        "the filter has {elements} elements, and the channel permits {limit}; use masks, several subscriptions, \
         or raise `FilterLimits::elements`"
    )]
    TooLong {
        /// Number of elements.
        elements: usize,
        /// Limit of the channel.
        limit: usize,
    },
    /// A timeout would fire too often.
    #[error(
        "a timeout of {interval:?} is below the channel's minimum of {limit:?}; lengthen it, or lower \
         `FilterLimits::interval`"
    )]
    TooFrequent {
        /// Its interval.
        interval: Duration,
        /// Limit of the channel.
        limit: Duration,
    },
    /// There are too many timeouts.
    #[error(
        "the filter has {timers} timeouts, and the channel permits {limit}; use several subscriptions, or raise \
         `FilterLimits::timers`"
    )]
    TooManyTimeouts {
        /// Their number.
        timers: usize,
        /// Limit of the channel.
        limit: usize,
    },
    /// Operands are missing.
    #[error(
        "the subscription ends {missing} operands early: element {element} announces more than follow it"
    )]
    Incomplete {
        /// Index of the innermost element with missing operands.
        element: usize,
        /// Number of missing operands.
        missing: usize,
    },
    /// A group announces a negative number of operands.
    #[error(
        "element {element} announces {children} operands; a group has at least 1, or 0 in basic notation"
    )]
    Children {
        /// Index of the element.
        element: usize,
        /// Number of children that it announces.
        children: i32,
    },
}

punctual_types::debug_as_display!(FilterError);

#[cfg(test)]
mod tests;

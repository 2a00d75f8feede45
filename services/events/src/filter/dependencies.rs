//! Filters as subscriptions on the wire: the sequence of dependencies in a `ConsumerQOS`.
//!
//! Prefix notation: a group's `source` is the number of its operands. Basic notation: it is 0, and the group
//! extends to the next group; groups are alternatives. Both are TAO's.

use crate::{
    EventType, Filter, FilterError, SourceId,
    filter::{Bits, Group, Item, Timeout},
    rtec::rtec_event_channel_admin::{Dependency, DependencyView},
    rtec::rtec_event_comm::EventHeader,
    time::{duration, units},
};

/// Number of event types that the service reserves.
pub const RESERVED_TYPES: i32 = 16;

/// Event types that designate operators in subscriptions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(i32)]
pub enum Designator {
    /// Begins a conjunction.
    Conjunction = 8,
    /// Begins a disjunction.
    Disjunction = 9,
    /// Negates the next operand.
    Negation = 10,
    /// Begins a logical and.
    LogicalAnd = 11,
    /// Followed by a mask and an operand.
    Bitmask = 12,
    /// Followed by a mask and a value.
    MaskedType = 13,
    /// Accepts nothing.
    Null = 14,
}

impl Designator {
    fn of(event_type: i32) -> Option<Self> {
        Some(match event_type {
            8 => Self::Conjunction,
            9 => Self::Disjunction,
            10 => Self::Negation,
            11 => Self::LogicalAnd,
            12 => Self::Bitmask,
            13 => Self::MaskedType,
            14 => Self::Null,
            _ => return None,
        })
    }

    fn is_group(self) -> bool {
        matches!(self, Self::Conjunction | Self::Disjunction | Self::LogicalAnd)
    }
}

impl Filter {
    /// Reads the filter of a subscription. Without dependencies it accepts nothing.
    ///
    /// # Errors
    /// The dependencies are no expression.
    pub fn from_dependencies(dependencies: &[DependencyView<'_>]) -> Result<Self, FilterError> {
        let mut reader = Reader {
            dependencies,
            at: 0,
            items: Vec::with_capacity(dependencies.len() + 1),
        };
        let alternatives = reader.read_all()?;
        if alternatives > 1 {
            reader
                .items
                .insert(0, Item::Group(Group::Disjunction, alternatives));
        }
        Ok(Self { items: reader.items })
    }

    /// Returns the filter as the dependencies of a subscription, in prefix notation.
    pub fn to_dependencies(&self) -> Vec<Dependency> {
        let mut dependencies = Vec::with_capacity(self.items.len());
        let mut add = |event_type: i32, source: i32, creation_time: u64| {
            let mut dependency = Dependency::default();
            dependency.event.header = EventHeader {
                r#type: event_type,
                source,
                creation_time,
                ..EventHeader::default()
            };
            dependencies.push(dependency);
        };
        for item in &self.items {
            match *item {
                Item::Event { event_type, source } => add(event_type.0, source.0, 0),
                Item::Masked { mask, value } => {
                    add(Designator::MaskedType as i32, 0, 0);
                    add(mask.event_type, mask.source, 0);
                    add(value.event_type, value.source, 0);
                }
                Item::Timeout(timeout, interval) => add(timeout.event_type().0, 0, units(interval)),
                Item::Nothing => add(Designator::Null as i32, 0, 0),
                Item::Bitmask(mask) => {
                    add(Designator::Bitmask as i32, 0, 0);
                    add(mask.event_type, mask.source, 0);
                }
                Item::Negation => add(Designator::Negation as i32, 0, 0),
                Item::Group(group, children) => {
                    let children = i32::try_from(children).unwrap_or(i32::MAX);
                    add(group.designator() as i32, children, 0);
                }
            }
        }
        dependencies
    }
}

impl Group {
    fn designator(self) -> Designator {
        match self {
            Self::Conjunction => Designator::Conjunction,
            Self::Disjunction => Designator::Disjunction,
            Self::LogicalAnd => Designator::LogicalAnd,
        }
    }
}

impl Timeout {
    pub(crate) fn event_type(self) -> EventType {
        match self {
            Self::Once => EventType::TIMEOUT,
            Self::Interval => EventType::INTERVAL_TIMEOUT,
            Self::Deadline => EventType::DEADLINE_TIMEOUT,
        }
    }

    fn of(event_type: EventType) -> Option<Self> {
        match event_type {
            EventType::TIMEOUT => Some(Self::Once),
            EventType::INTERVAL_TIMEOUT => Some(Self::Interval),
            EventType::DEADLINE_TIMEOUT => Some(Self::Deadline),
            _ => None,
        }
    }
}

struct Reader<'d> {
    dependencies: &'d [DependencyView<'d>],
    at: usize,
    items: Vec<Item>,
}

/// An operator whose operands are being read.
#[derive(Clone, Copy)]
struct Open {
    /// Index of its dependency.
    element: usize,
    missing: usize,
}

impl Reader<'_> {
    /// Reads all dependencies; returns the number of alternatives.
    fn read_all(&mut self) -> Result<usize, FilterError> {
        let mut alternatives = 0;
        while self.at < self.dependencies.len() {
            let (first, element) = (self.items.len(), self.at);
            let item = self.next()?;
            self.items.push(item);
            match item {
                Item::Group(group, 0) => {
                    self.items[first] = match self.read_basic()? {
                        0 => Item::Nothing,
                        children => Item::Group(group, children),
                    };
                }
                _ => self.read_operands(element, item.children())?,
            }
            alternatives += 1;
        }
        Ok(alternatives)
    }

    /// Reads the operands of a group in basic notation, up to the next group.
    fn read_basic(&mut self) -> Result<usize, FilterError> {
        let mut children = 0;
        while let Some(dependency) = self.dependencies.get(self.at) {
            let element = self.at;
            if Designator::of(dependency.event.header.r#type).is_some_and(Designator::is_group) {
                break;
            }
            let item = self.next()?;
            self.items.push(item);
            self.read_operands(element, item.children())?;
            children += 1;
        }
        Ok(children)
    }

    /// Reads the operands of the element before, and theirs.
    fn read_operands(&mut self, element: usize, missing: usize) -> Result<(), FilterError> {
        let mut open = vec![Open { element, missing }];
        while let Some(last) = open.last_mut() {
            if last.missing == 0 {
                open.pop();
                continue;
            }
            let Open { element, missing } = *last;
            if self.at == self.dependencies.len() {
                return Err(FilterError::Incomplete { element, missing });
            }
            last.missing -= 1;
            let element = self.at;
            let item = self.next()?;
            if let Item::Group(_, 0) = item {
                return Err(FilterError::Children { element, children: 0 });
            }
            self.items.push(item);
            let missing = item.children();
            open.push(Open { element, missing });
        }
        Ok(())
    }

    /// Reads one element without its operands.
    fn next(&mut self) -> Result<Item, FilterError> {
        let element = self.at;
        let header = &self.dependencies[element].event.header;
        let (source, interval) = (header.source, header.creation_time);
        let event_type = EventType(header.r#type);
        self.at += 1;
        let Some(designator) = Designator::of(event_type.0) else {
            return Ok(match Timeout::of(event_type) {
                Some(timeout) => Item::Timeout(timeout, duration(interval)),
                None => Item::Event {
                    event_type,
                    source: SourceId(source),
                },
            });
        };
        let group = |group| match usize::try_from(source) {
            Ok(children) => Ok(Item::Group(group, children)),
            Err(_) => Err(FilterError::Children {
                element,
                children: source,
            }),
        };
        match designator {
            Designator::Conjunction => group(Group::Conjunction),
            Designator::Disjunction => group(Group::Disjunction),
            Designator::LogicalAnd => group(Group::LogicalAnd),
            Designator::Negation => Ok(Item::Negation),
            Designator::Null => Ok(Item::Nothing),
            Designator::Bitmask => Ok(Item::Bitmask(self.bits(element, 2)?)),
            Designator::MaskedType => Ok(Item::Masked {
                mask: self.bits(element, 2)?,
                value: self.bits(element, 1)?,
            }),
        }
    }

    fn bits(&mut self, element: usize, missing: usize) -> Result<Bits, FilterError> {
        let missing = FilterError::Incomplete { element, missing };
        let header = &self.dependencies.get(self.at).ok_or(missing)?.event.header;
        self.at += 1;
        Ok(Bits {
            event_type: header.r#type,
            source: header.source,
        })
    }
}

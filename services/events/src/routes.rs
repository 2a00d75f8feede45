//! Routes from event types to consumers: computed when consumers change, read by suppliers.

use std::{
    cmp::Reverse,
    collections::HashMap,
    ops::Range,
    sync::{Arc, Weak},
};

use crate::{EventError, EventType, Filter, FilterLimits, backlog::Backlog, consumer::Consumer};

/// Consumers by the types of events that their filters accept. Its few allocations are soon freed, on
/// whichever thread uses it last.
#[derive(Default)]
pub(crate) struct Routes {
    /// Lanes, from the highest to the lowest; the place of a consumer is its rank.
    consumers: Vec<Arc<Consumer>>,
    lanes: Vec<Lane>,
    /// Ranks of consumers whose filters name types: those of a type together, ascending.
    named: Vec<u32>,
    /// Part of `named` for each type.
    by_type: HashMap<EventType, Range<usize>>,
    /// Ranks of consumers whose filters accept all types, ascending.
    open: Vec<u32>,
    generation: u64,
}

/// Events that wait for a lane, with the routes by which its thread finds the consumers.
pub(crate) type LaneBacklog = Backlog<Routes>;

/// The ranks of a lane: of consumers to which its thread offers events, and of those to which suppliers do,
/// each from the highest priority to the lowest.
struct Lane {
    level: u32,
    backlog: Option<Arc<LaneBacklog>>,
    first_direct: u32,
    end: u32,
}

/// Consumers of a lane that an event may concern.
pub(crate) struct OfLane<'a> {
    /// Where the event can wait for the thread of the lane.
    pub(crate) backlog: Option<&'a Arc<LaneBacklog>>,
    /// Consumers that the lane's thread serves.
    pub(crate) deferrable: Ranks<'a>,
    /// Consumers that only the supplier's thread serves.
    pub(crate) direct: Ranks<'a>,
}

/// Consumers in the order of their ranks.
#[derive(Clone, Default)]
pub(crate) struct Ranks<'a> {
    consumers: &'a [Arc<Consumer>],
    named: &'a [u32],
    open: &'a [u32],
}

/// A consumer with the filter that it subscribed with.
pub(crate) struct Subscription {
    pub(crate) consumer: Arc<Consumer>,
    pub(crate) filter: Filter,
}

/// All subscriptions of a channel, within its limits.
#[derive(Default)]
pub(crate) struct Subscriptions {
    list: Vec<Subscription>,
    elements: usize,
    timers: usize,
    /// Former consumers for which a lane's queue has a command still.
    departed: Vec<Weak<Consumer>>,
    /// Number of consumers that ever subscribed, or tried to.
    last_id: u64,
    /// Configuration of the lanes.
    generation: u64,
}

impl Subscriptions {
    /// An id that no other consumer has.
    pub(crate) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Subscription> {
        self.list.iter()
    }

    pub(crate) fn consumers(&self) -> impl Iterator<Item = &Arc<Consumer>> {
        self.iter().map(|one| &one.consumer)
    }

    /// The lanes change; returns the number of their new configuration.
    pub(crate) fn next_generation(&mut self) -> u64 {
        self.generation += 1;
        self.generation
    }

    /// Checks whether there is room for another one.
    pub(crate) fn check(
        &mut self,
        filter: &Filter,
        consumers: usize,
        limits: &FilterLimits,
    ) -> Result<(), EventError> {
        let is_scheduled = |one: &Weak<Consumer>| one.upgrade().is_some_and(|one| one.is_scheduled());
        self.departed.retain(is_scheduled);
        if self.list.len() + self.departed.len() >= consumers {
            return Err(EventError::TooManyConsumers(consumers));
        }
        if self.elements + filter.len() > limits.all_elements {
            return Err(EventError::TooManyElements(limits.all_elements));
        }
        if self.timers + filter.timers() > limits.all_timers {
            return Err(EventError::TooManyTimeouts(limits.all_timers));
        }
        Ok(())
    }

    pub(crate) fn add(&mut self, subscription: Subscription) {
        self.elements += subscription.filter.len();
        self.timers += subscription.filter.timers();
        self.list.push(subscription);
    }

    pub(crate) fn remove(&mut self, consumer: &Consumer) -> Option<Subscription> {
        let place = self.list.iter().position(|one| one.consumer.id == consumer.id)?;
        let removed = self.list.remove(place);
        self.elements -= removed.filter.len();
        self.timers -= removed.filter.timers();
        if removed.consumer.is_scheduled() {
            self.departed.push(Arc::downgrade(&removed.consumer));
        }
        Some(removed)
    }
}

impl Routes {
    /// `backlog` returns that of the lane of a consumer, if the thread of the lane can offer events to it.
    pub(crate) fn new(
        subscriptions: &Subscriptions,
        backlog: impl Fn(&Consumer) -> Option<Arc<LaneBacklog>>,
    ) -> Self {
        let placed = subscriptions.iter().map(|one| (one, backlog(&one.consumer)));
        let mut ordered: Vec<_> = placed.collect();
        ordered.sort_by_key(|(one, backlog)| {
            let consumer = &one.consumer;
            let order = (Reverse(consumer.priority()), consumer.id);
            (consumer.level(), backlog.is_none(), order)
        });
        let mut lanes: Vec<Lane> = Vec::new();
        let mut open = Vec::new();
        let mut named: Vec<(EventType, u32)> = Vec::with_capacity(subscriptions.elements);
        for ((subscription, backlog), rank) in ordered.iter().zip(0..) {
            let level = subscription.consumer.level();
            if lanes.last().is_none_or(|lane| lane.level != level) {
                lanes.push(Lane {
                    level,
                    backlog: backlog.clone(),
                    first_direct: rank,
                    end: rank,
                });
            }
            if let Some(lane) = lanes.last_mut() {
                lane.end = rank + 1;
                lane.first_direct += u32::from(backlog.is_some());
            }
            match subscription.filter.event_types() {
                Some(types) => named.extend(types.map(|event_type| (event_type, rank))),
                None => open.push(rank),
            }
        }
        named.sort_unstable();
        named.dedup();
        let mut by_type = HashMap::new();
        let mut end = 0;
        for of_type in named.chunk_by(|(one, _), (next, _)| one == next) {
            let begin = end;
            end += of_type.len();
            by_type.insert(of_type[0].0, begin..end);
        }
        Self {
            consumers: ordered.iter().map(|(one, _)| Arc::clone(&one.consumer)).collect(),
            lanes,
            named: named.into_iter().map(|(_, rank)| rank).collect(),
            by_type,
            open,
            generation: subscriptions.generation,
        }
    }

    /// Configuration of the lanes to which the consumers belong.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// The consumers of each lane, from the highest lane to the lowest. Takes O(log n) steps for each lane.
    pub(crate) fn lanes(&self, event_type: EventType) -> impl Iterator<Item = OfLane<'_>> {
        let mut rest = self.of_type(event_type);
        let of_lanes = self.lanes.iter().map(move |lane| OfLane {
            backlog: lane.backlog.as_ref(),
            deferrable: rest.split_off(lane.first_direct),
            direct: rest.split_off(lane.end),
        });
        of_lanes.filter(|lane| lane.deferrable.len() + lane.direct.len() > 0)
    }

    /// Consumers to which the thread of the lane at this level can offer the event.
    pub(crate) fn deferrable(&self, event_type: EventType, level: u32) -> Ranks<'_> {
        let Ok(place) = self.lanes.binary_search_by_key(&level, |lane| lane.level) else {
            return Ranks::default();
        };
        let mut rest = self.of_type(event_type);
        if let Some(before) = place.checked_sub(1) {
            rest.split_off(self.lanes[before].end);
        }
        rest.split_off(self.lanes[place].first_direct)
    }

    fn of_type(&self, event_type: EventType) -> Ranks<'_> {
        let of_type = self.by_type.get(&event_type).cloned().unwrap_or_default();
        Ranks {
            consumers: &self.consumers,
            named: &self.named[of_type],
            open: &self.open,
        }
    }
}

impl Ranks<'_> {
    pub(crate) fn len(&self) -> usize {
        self.named.len() + self.open.len()
    }

    /// Removes and returns the ranks below this one.
    fn split_off(&mut self, end: u32) -> Self {
        Self {
            consumers: self.consumers,
            named: split_off(&mut self.named, end),
            open: split_off(&mut self.open, end),
        }
    }
}

fn split_off<'a>(ranks: &mut &'a [u32], end: u32) -> &'a [u32] {
    let (before, rest) = ranks.split_at(ranks.partition_point(|rank| *rank < end));
    *ranks = rest;
    before
}

impl<'a> Iterator for Ranks<'a> {
    type Item = &'a Arc<Consumer>;

    fn next(&mut self) -> Option<Self::Item> {
        let is_named = match (self.named.first(), self.open.first()) {
            (Some(named), Some(open)) => named < open,
            (named, _) => named.is_some(),
        };
        let ranks = if is_named { &mut self.named } else { &mut self.open };
        let rank = ranks.split_off_first()?;
        Some(&self.consumers[*rank as usize])
    }
}

#[cfg(test)]
mod tests {
    use punctual::Priority;

    use super::*;
    use crate::{
        Overflow,
        consumer::{ConsumerQos, Exit, UNTIMED},
        filter::FilterTree,
    };

    fn subscription(id: u64, priority: i16, filter: Filter) -> Subscription {
        let qos = ConsumerQos {
            name: String::new(),
            priority: Priority::new(priority).unwrap(),
            queue: 1,
            octets: 1,
            overflow: Overflow::DropNewest,
            is_gateway: false,
            timing: UNTIMED,
            rt_infos: Vec::new(),
        };
        let tree = FilterTree::new(&filter);
        let consumer = Consumer::new(id, qos, tree, Exit::Receiver, &Arc::default());
        Subscription {
            consumer: Arc::new(consumer),
            filter,
        }
    }

    fn types(types: std::ops::Range<i32>) -> Filter {
        Filter::any_of(types.map(|event_type| Filter::event(EventType(event_type))))
    }

    fn routes(subscriptions: &Subscriptions) -> Routes {
        Routes::new(subscriptions, |_| None)
    }

    fn ids(routes: &Routes, event_type: i32) -> Vec<u64> {
        let lanes = routes.lanes(EventType(event_type));
        let consumers = lanes.flat_map(|lane| lane.deferrable.chain(lane.direct));
        consumers.map(|one| one.id).collect()
    }

    #[test]
    fn consumers_of_a_type_and_those_of_all_types_come_in_one_order() {
        let mut all = Subscriptions::default();
        for (id, priority, filter) in [
            (1, 5, types(16..18)),
            (2, 9, Filter::every_event()),
            (3, 7, types(17..19)),
            (4, 5, Filter::event(EventType(16)).negated()),
            (5, 1, types(16..17)),
        ] {
            all.add(subscription(id, priority, filter));
        }
        let routes = routes(&all);
        assert_eq!(
            [16, 17, 18, 19].map(|event_type| ids(&routes, event_type)),
            [vec![2, 1, 4, 5], vec![2, 3, 1, 4], vec![2, 3, 4], vec![2, 4]]
        );
        let third = Arc::clone(all.consumers().nth(2).unwrap());
        assert!(all.remove(&third).is_some() && all.remove(&third).is_none());
        assert_eq!(ids(&self::routes(&all), 17), [2, 1, 4]);
        assert_eq!((all.elements, all.timers), (3 + 1 + 2 + 2, 0));
    }

    #[test]
    fn routes_are_as_large_as_the_filters_together() {
        let mut all = Subscriptions::default();
        for id in 0..50 {
            all.add(subscription(id, 0, types(16..116)));
            all.add(subscription(50 + id, 0, Filter::every_event()));
        }
        let routes = routes(&all);
        assert_eq!(routes.named.len() + routes.open.len(), 50 * 100 + 50);
        assert_eq!((routes.consumers.len(), ids(&routes, 20).len()), (100, 100));
    }

    #[test]
    fn consumers_are_found_by_lane_and_by_who_offers_to_them() {
        let mut all = Subscriptions::default();
        for (id, level, filter) in [
            (1, 2, Filter::every_event()),
            (2, 0, types(16..18)),
            (3, 2, types(16..17)),
            (4, 2, types(16..18)),
            (5, 1, types(17..18)),
        ] {
            all.add(subscription(id, 0, filter));
            all.list
                .last()
                .unwrap()
                .consumer
                .reconfigure(Priority::MIN, level, None);
        }
        let backlogs = [0, 1, 2].map(|level| Arc::new(Backlog::new(level, 0)));
        // The thread of the lane can offer to consumers of odd numbers.
        let backlog = |one: &Consumer| (one.id % 2 == 1).then(|| Arc::clone(&backlogs[one.level() as usize]));
        let routes = Routes::new(&all, backlog);
        let ids = |ranks: Ranks<'_>| ranks.map(|one| one.id).collect::<Vec<_>>();
        let found = |event_type| {
            let lanes = routes.lanes(EventType(event_type));
            let of_lane = |lane: OfLane<'_>| {
                let level = lane.backlog.map(|backlog| backlog.level());
                (
                    level,
                    lane.deferrable.len(),
                    ids(lane.deferrable),
                    ids(lane.direct),
                )
            };
            lanes.map(of_lane).collect::<Vec<_>>()
        };
        assert_eq!(
            found(16),
            [(None, 0, vec![], vec![2]), (Some(2), 2, vec![1, 3], vec![4])]
        );
        assert_eq!(
            found(17),
            [
                (None, 0, vec![], vec![2]),
                (Some(1), 1, vec![5], vec![]),
                (Some(2), 1, vec![1], vec![4])
            ]
        );
        assert_eq!(found(18), [(Some(2), 1, vec![1], vec![])]);
        let deferrable = |event_type, level| ids(routes.deferrable(EventType(event_type), level));
        assert_eq!(
            [
                deferrable(16, 2),
                deferrable(17, 1),
                deferrable(17, 0),
                deferrable(16, 7)
            ],
            [vec![1, 3], vec![5], vec![], vec![]]
        );
    }
}

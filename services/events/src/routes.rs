//! Which consumers an event may concern: computed when consumers change, read by suppliers.

use std::{cmp::Reverse, collections::HashMap, ops::Range, sync::Arc};

use crate::{EventError, EventType, Filter, FilterLimits, consumer::Consumer};

/// Consumers by the types of events that their filters accept. Its few allocations are soon freed, on
/// whichever thread uses it last.
#[derive(Default)]
pub(crate) struct Routes {
    /// From the highest priority to the lowest; the place of a consumer is its rank.
    consumers: Vec<Arc<Consumer>>,
    /// Ranks of consumers whose filters name types: those of a type together, ascending.
    named: Vec<u32>,
    /// Part of `named` for each type.
    by_type: HashMap<EventType, Range<usize>>,
    /// Ranks of consumers whose filters accept all types, ascending.
    open: Vec<u32>,
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
}

impl Subscriptions {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Subscription> {
        self.list.iter()
    }

    pub(crate) fn consumers(&self) -> impl Iterator<Item = &Arc<Consumer>> {
        self.iter().map(|one| &one.consumer)
    }

    /// Checks whether there is room for another one.
    pub(crate) fn check(
        &self,
        filter: &Filter,
        consumers: usize,
        limits: &FilterLimits,
    ) -> Result<(), EventError> {
        if self.list.len() >= consumers {
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
        Some(removed)
    }
}

impl Routes {
    pub(crate) fn new(subscriptions: &Subscriptions) -> Self {
        let mut ordered: Vec<&Subscription> = subscriptions.iter().collect();
        ordered.sort_by_key(|one| (Reverse(one.consumer.priority()), one.consumer.id));
        let mut open = Vec::new();
        let mut named: Vec<(EventType, u32)> = Vec::with_capacity(subscriptions.elements);
        for (subscription, rank) in ordered.iter().zip(0..) {
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
            consumers: ordered.iter().map(|one| Arc::clone(&one.consumer)).collect(),
            named: named.into_iter().map(|(_, rank)| rank).collect(),
            by_type,
            open,
        }
    }

    /// From the highest priority to the lowest.
    pub(crate) fn consumers(&self, event_type: EventType) -> impl Iterator<Item = &Arc<Consumer>> {
        let of_type = self.by_type.get(&event_type).cloned().unwrap_or_default();
        let (mut named, mut open) = (&self.named[of_type], &self.open[..]);
        std::iter::from_fn(move || {
            let is_named = match (named.first(), open.first()) {
                (Some(named), Some(open)) => named < open,
                (named, _) => named.is_some(),
            };
            let rank = if is_named { &mut named } else { &mut open }.split_off_first()?;
            Some(&self.consumers[*rank as usize])
        })
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
        };
        let tree = FilterTree::new(&filter);
        let consumer = Consumer::new(id, qos, 0, tree, Exit::Receiver, &Arc::default());
        Subscription {
            consumer: Arc::new(consumer),
            filter,
        }
    }

    fn types(types: std::ops::Range<i32>) -> Filter {
        Filter::any_of(types.map(|event_type| Filter::event(EventType(event_type))))
    }

    fn ids(routes: &Routes, event_type: i32) -> Vec<u64> {
        routes
            .consumers(EventType(event_type))
            .map(|one| one.id)
            .collect()
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
        let routes = Routes::new(&all);
        assert_eq!(
            [16, 17, 18, 19].map(|event_type| ids(&routes, event_type)),
            [vec![2, 1, 4, 5], vec![2, 3, 1, 4], vec![2, 3, 4], vec![2, 4]]
        );
        let third = Arc::clone(all.consumers().nth(2).unwrap());
        assert!(all.remove(&third).is_some() && all.remove(&third).is_none());
        assert_eq!(ids(&Routes::new(&all), 17), [2, 1, 4]);
        assert_eq!((all.elements, all.timers), (3 + 1 + 2 + 2, 0));
    }

    #[test]
    fn routes_are_as_large_as_the_filters_together() {
        let mut all = Subscriptions::default();
        for id in 0..50 {
            all.add(subscription(id, 0, types(16..116)));
            all.add(subscription(50 + id, 0, Filter::every_event()));
        }
        let routes = Routes::new(&all);
        assert_eq!(routes.named.len() + routes.open.len(), 50 * 100 + 50);
        assert_eq!((routes.consumers.len(), ids(&routes, 20).len()), (100, 100));
    }
}

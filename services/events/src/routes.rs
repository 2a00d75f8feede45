//! Which consumers an event may concern: computed when consumers change, read by suppliers.

use std::{cmp::Reverse, collections::HashMap, sync::Arc};

use crate::{EventType, Filter, consumer::Consumer};

/// Consumers by the types of events that their filters accept, each list from the highest priority to the
/// lowest.
#[derive(Default)]
pub(crate) struct Routes {
    by_type: HashMap<EventType, Vec<Arc<Consumer>>>,
    /// For types that no filter names.
    open: Vec<Arc<Consumer>>,
}

/// A consumer with the filter that it subscribed with.
pub(crate) struct Subscription {
    pub(crate) consumer: Arc<Consumer>,
    pub(crate) filter: Filter,
}

impl Routes {
    pub(crate) fn new(subscriptions: &[Subscription]) -> Self {
        let mut ordered: Vec<&Subscription> = subscriptions.iter().collect();
        ordered.sort_by_key(|one| (Reverse(one.consumer.priority()), one.consumer.id));
        let mut routes = Self::default();
        for subscription in &ordered {
            for event_type in subscription.filter.event_types().into_iter().flatten() {
                routes.by_type.entry(event_type).or_default();
            }
        }
        for subscription in ordered {
            let consumer = &subscription.consumer;
            match subscription.filter.event_types() {
                Some(types) => {
                    for event_type in types {
                        let list = routes.by_type.entry(event_type).or_default();
                        if list.last().is_none_or(|last| last.id != consumer.id) {
                            list.push(Arc::clone(consumer));
                        }
                    }
                }
                None => {
                    routes.open.push(Arc::clone(consumer));
                    for list in routes.by_type.values_mut() {
                        list.push(Arc::clone(consumer));
                    }
                }
            }
        }
        routes
    }

    pub(crate) fn consumers(&self, event_type: EventType) -> &[Arc<Consumer>] {
        self.by_type.get(&event_type).unwrap_or(&self.open)
    }
}

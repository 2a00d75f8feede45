//! Allocations of resources.

use std::time::Duration;

use punctual_rtsched::SchedulingError;

use crate::{
    after_warm_up,
    hosts::{cooperative, importance},
};

pub fn locking_allocates_nothing() {
    let scheduling = cooperative();
    let map = scheduling
        .create_resource_manager("map", Some(importance(5)))
        .unwrap();
    let count = scheduling.current().segment("track", importance(1), |_| {
        let lock = || drop((map.lock().unwrap(), map.try_lock(Duration::ZERO).unwrap()));
        Ok::<_, SchedulingError>(after_warm_up(lock))
    });
    assert_eq!(count.unwrap(), 0);
}

//! Schedules of a channel: lanes and priorities of consumers follow the levels of operations.

use std::sync::Arc;

use punctual::Priority;
use punctual_dispatch::OperationLevels;

use crate::{
    EventChannel, EventError, Lane,
    consumer::Consumer,
    dispatching::NewLanes,
    schedule::{Places, placement},
};

impl EventChannel {
    /// Follows a schedule, such as a `ReconfigurableScheduler`, until another schedule or other lanes come
    /// into force: each of its levels becomes a lane, which serves in the order that the schedule states, and
    /// each consumer with the name of an operation, or with its
    /// [handle](crate::SubscriptionBuilder::rt_info), gets the priority of the operation's level, and the
    /// operation's timing with its period as [deadline](crate::SubscriptionBuilder::deadline). The same
    /// applies to consumers that subscribe, or get the [name](crate::RemoteSubscription::set_name) of an
    /// operation, later. `lane` describes the lane of a level, given its number from 0, which is the first to
    /// be dispatched; [`Lane::descending`] is what most programs need.
    ///
    /// For schedules that change, pass this to `ScheduledDispatcher::pass_on` for a scheduler of this
    /// process, or to `ScheduleFollower::start` for one of another process.
    ///
    /// As with [`Self::reconfigure`], no event is lost or overtaken; events that waited without a deadline
    /// get one as if they arrived now. Consumers outside the schedule, which name none of its operations, and
    /// consumers whose operations do not run keep their priorities, but never use a lane of the schedule: the
    /// lanes of the channel below it stay, and serve them as if there were no others; if there are none, a
    /// lane with one thread of [`Priority::MIN`] does. If nothing runs, nothing changes.
    ///
    /// ```
    /// use std::time::Duration;
    /// use punctual::Priority;
    /// use punctual_events::{EventChannel, EventType, Filter, Lane};
    /// use punctual_scheduling::reconfigurable::*;
    ///
    /// let ms = Duration::from_millis;
    /// let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
    /// for (name, period) in [("radar", 10), ("display", 100)] {
    ///     scheduler.add(Operation::new(name, Criticality::High).tuple(ms(period), ms(1)))?;
    /// }
    /// scheduler.compute();
    ///
    /// let channel = EventChannel::builder().lane(Priority::MIN, 1).build()?;
    /// let display = channel.subscribe_to(Filter::event(EventType(17))).name("display").each(|_| {})?;
    /// channel.follow(scheduler, Lane::descending(Priority::new(20_000)?))?;
    /// // The radar has the shorter period, and therefore the first level.
    /// assert_eq!(display.statistics().priority, Priority::new(19_999)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`EventError::NoLaneBelow`] if a level has [`Priority::MIN`], and as for [`Self::reconfigure`]; the
    /// channel then continues to follow its earlier schedule.
    pub fn follow(
        &self,
        schedule: impl OperationLevels + Send + Sync + 'static,
        lane: impl Fn(u32) -> Lane + Send + Sync + 'static,
    ) -> Result<(), EventError> {
        if schedule.level_count() == 0 {
            return Ok(());
        }
        let lanes = (0..schedule.level_count()).map(|level| Lane {
            order: schedule.order_of(level),
            ..lane(level)
        });
        let lanes = NewLanes::Schedule(lanes.collect());
        let places: Arc<Places> = Arc::new(move |consumer| {
            let placement = placement(&schedule, consumer)?;
            Some((lane(placement.level).priority, placement.timing))
        });
        let before = self.core.schedule.replace(Some(Arc::clone(&places)));
        let place = |consumer: &Consumer| places(consumer).map(|(priority, timing)| (priority, Some(timing)));
        self.core.reconfigure(lanes, place).inspect_err(|_| {
            self.core.schedule.replace(before);
        })
    }
}

impl Lane {
    /// Returns lanes of one thread each for [`EventChannel::follow`]: the first level has this priority, each
    /// further one the next lower priority, down to [`Priority::MIN`].
    ///
    /// ```
    /// use punctual::Priority;
    /// use punctual_events::Lane;
    ///
    /// let lane = Lane::descending(Priority::MAX);
    /// assert_eq!((lane(0).priority, lane(1).priority.value()), (Priority::MAX, 32_766));
    /// ```
    pub fn descending(highest: Priority) -> impl Fn(u32) -> Self {
        move |level| {
            let below = i16::try_from(level).unwrap_or(i16::MAX);
            let priority = Priority::new(highest.value().saturating_sub(below).max(Priority::MIN.value()));
            Self::new(priority.unwrap_or(Priority::MIN), 1)
        }
    }
}

//! A consumer in the channel: its filter, its bounded queue, and its delivery.

mod export;
mod queue;
mod replies;

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicI16, AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    task::Waker,
    time::{Duration, Instant},
};

use punctual::{
    Completion, Minor, Priority, SystemException, SystemExceptionKind, at_priority, rtscheduling::Time,
};
use punctual_dispatch::{Qos, Timing, now};
use punctual_os::{PiCondvar, PiMutex, PiMutexGuard, clock::later};

use crate::{
    ChannelLimits, ConsumerStatistics, ConsumerTolerance, Overflow, Undelivered,
    filter::{FilterTree, Stimulus},
    gateway,
    rtec::rtec_event_comm::Event,
    suppliers::Supplier,
};

use queue::{Queue, Size};
use replies::Replies;

/// Where a consumer's events go.
pub(crate) trait Sink: Send + Sync {
    /// Delivers a set. The thread is one of the channel's, or the supplier's under reactive dispatching.
    fn deliver(&self, events: &[Arc<Event>]) -> Result<(), SystemException>;

    /// Asks whether the consumer exists, if it can be dead.
    fn ping(&self) -> Option<Result<Answer, SystemException>> {
        None
    }

    /// Events were dropped instead of being delivered, because they could no longer meet their deadline.
    fn cancelled(&self, _: &[Arc<Event>]) {}

    /// The channel ends.
    fn disconnected(&self) {}

    /// The channel has disconnected this consumer because of a limit, without notifying it.
    fn disconnected_by_limit(&self) {}
}

/// Answer of a consumer of another process to the question whether it exists.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Answer {
    Gone,
    /// With the number of events that a queue of its own has lost.
    Exists {
        lost: u64,
    },
}

/// How a consumer gets its events.
pub(crate) enum Exit {
    Sink(Box<dyn Sink>),
    /// It takes them from the queue.
    Receiver,
}

/// Settings of a subscription besides its filter.
#[derive(Clone, Debug)]
pub(crate) struct ConsumerQos {
    pub(crate) name: String,
    pub(crate) priority: Priority,
    pub(crate) queue: usize,
    /// Maximum number of octets of the events in its queue, and of those that conjunctions hold.
    pub(crate) octets: usize,
    pub(crate) overflow: Overflow,
    pub(crate) is_gateway: bool,
    /// Timing of its deliveries.
    pub(crate) timing: Timing,
    /// Handles of its operations in a schedule; they precede its name.
    pub(crate) rt_infos: Vec<i32>,
}

/// Timing of deliveries without a deadline.
pub(crate) const UNTIMED: Timing = Timing::within(Duration::MAX);

pub(crate) struct Consumer {
    pub(crate) id: u64,
    pub(crate) qos: ConsumerQos,
    priority: AtomicI16,
    /// Preemption priority of its lane.
    level: AtomicU32,
    /// Whether its deliveries have deadlines.
    is_timed: AtomicBool,
    pub(crate) exit: Exit,
    replies: PiMutex<Replies>,
    state: PiMutex<State>,
    room: PiCondvar,
    arrived: PiCondvar,
    counters: Counters,
    totals: Arc<UndeliveredCounters>,
    /// Set after it has subscribed.
    name: OnceLock<String>,
    /// If it is a gateway of another process to elsewhere: what that has reported.
    export: OnceLock<Arc<gateway::Counters>>,
}

/// Counts of the events that did not reach a consumer, or any consumer of a channel since it was built.
#[derive(Debug, Default)]
pub(crate) struct UndeliveredCounters {
    lost: AtomicU64,
    failed: AtomicU64,
    cancelled: AtomicU64,
    lost_at_consumer: AtomicU64,
}

impl UndeliveredCounters {
    pub(crate) fn get(&self) -> Undelivered {
        Undelivered {
            lost: self.lost.load(Relaxed),
            failed: self.failed.load(Relaxed),
            cancelled: self.cancelled.load(Relaxed),
            lost_at_consumer: self.lost_at_consumer.load(Relaxed),
        }
    }
}

struct State {
    tree: FilterTree,
    /// When each timer of the tree fires next.
    due: Vec<Option<Instant>>,
    queue: Queue,
    timing: Timing,
    /// Whether the scheduled delivery waits behind all that can be in time, as none of the queue can.
    is_late: bool,
    /// Events of the filter's last answer.
    passed: Vec<Arc<Event>>,
    /// Events that are being delivered; `None` while a thread has them.
    delivering: Option<Vec<Arc<Event>>>,
    is_suspended: bool,
    is_connected: bool,
    failures: u32,
    /// Failure of the last delivery.
    error: Option<SystemException>,
    /// Number of consecutive lost events.
    lost: u64,
    waker: Option<Waker>,
}

#[derive(Debug, Default)]
struct Counters {
    queued: AtomicU64,
    delivered: AtomicU64,
    sets: AtomicU64,
    undelivered: UndeliveredCounters,
    late: AtomicU64,
}

/// Circumstances of the arrival of a set.
#[derive(Clone, Copy)]
struct Arrival<'a> {
    /// Time that counts for deadlines; `None`: the present.
    arrived: Option<Time>,
    /// Whether the thread waits for room under [`Overflow::Block`].
    may_wait: bool,
    /// Supplier of another process that has pushed the last event of the set.
    supplier: Option<&'a Arc<Supplier>>,
}

/// Fate of an event that was offered to a consumer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Offered {
    /// The filter did not accept it, or the consumer is suspended.
    Ignored,
    Queued,
    /// Queued, instead of the set for which the delivery is scheduled.
    Replaced,
    /// Queued, and a thread must deliver it.
    Schedule,
    Lost,
    /// Exceeds a limit: the consumer must be disconnected.
    Disconnect,
}

impl Consumer {
    pub(crate) fn new(
        id: u64,
        qos: ConsumerQos,
        mut tree: FilterTree,
        exit: Exit,
        totals: &Arc<UndeliveredCounters>,
    ) -> Self {
        let now = Instant::now();
        let due = tree
            .timers()
            .iter()
            .map(|timer| Some(later(now, timer.interval)))
            .collect();
        let state = State {
            tree,
            due,
            queue: Queue::new(qos.queue, qos.octets),
            timing: qos.timing,
            is_late: false,
            passed: Vec::new(),
            delivering: Some(Vec::new()),
            is_suspended: false,
            is_connected: true,
            failures: 0,
            error: None,
            lost: 0,
            waker: None,
        };
        Self {
            id,
            priority: AtomicI16::new(qos.priority.value()),
            is_timed: AtomicBool::new(qos.timing != UNTIMED),
            qos,
            level: AtomicU32::new(0),
            exit,
            replies: PiMutex::new(Replies::new()),
            state: PiMutex::new(state),
            room: PiCondvar::new(),
            arrived: PiCondvar::new(),
            counters: Counters::default(),
            totals: Arc::clone(totals),
            name: OnceLock::new(),
            export: OnceLock::new(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.name.get().unwrap_or(&self.qos.name)
    }

    /// Gives it a name, unless it has been given one before; returns whether it has this one from now on.
    pub(crate) fn set_name(&self, name: &str) -> bool {
        self.name.set(name.to_owned()).is_ok()
    }

    pub(crate) fn priority(&self) -> Priority {
        Priority::new(self.priority.load(Relaxed)).unwrap_or(self.qos.priority)
    }

    pub(crate) fn level(&self) -> u32 {
        self.level.load(Relaxed)
    }

    /// Whether its deliveries have deadlines.
    pub(crate) fn is_timed(&self) -> bool {
        self.is_timed.load(Relaxed)
    }

    /// Sets priority, level, and timing unless that stays, from the next delivery on; returns whether any of
    /// them changes. What waits without a deadline gets one as if it arrived now.
    pub(crate) fn reconfigure(&self, priority: Priority, level: u32, timing: Option<Timing>) -> bool {
        let mut state = self.state.lock();
        let mut changes = self.priority.swap(priority.value(), Relaxed) != priority.value();
        changes |= self.level.swap(level, Relaxed) != level;
        if let Some(timing) = timing.filter(|timing| *timing != state.timing) {
            state.timing = timing;
            self.is_timed.store(timing != UNTIMED, Relaxed);
            if timing != UNTIMED {
                state.queue.date(now());
            }
            changes = true;
        }
        changes
    }

    /// Arrival of the set that is delivered next, [`Time::NEVER`] if its delivery has no deadline, and the
    /// quality of service of the delivery. `None`: nothing waits.
    pub(crate) fn next_delivery(&self) -> Option<(Time, Qos)> {
        let state = self.state.lock();
        let arrived = state.queue.first_arrival(|_| true)?;
        if self.is_timed() {
            return Some((arrived, state.timing.qos(self.level(), arrived)));
        }
        let importance = i32::from(self.priority().value());
        Some((Time::NEVER, Qos::new(self.level()).importance(importance)))
    }

    /// As [`next_delivery`](Self::next_delivery), of the oldest set that can still be in time. Without any, of
    /// the oldest one, and the delivery that is scheduled waits behind all that can be in time.
    pub(crate) fn most_urgent_delivery(&self, now: Time) -> Option<(Time, Qos)> {
        let mut state = self.state.lock();
        let State { queue, timing, .. } = &*state;
        let qos = |arrived| timing.qos(self.level(), arrived);
        let in_time = queue.first_arrival(|arrived| !qos(arrived).is_hopeless(now));
        let arrived = in_time.or(queue.first_arrival(|_| true))?;
        let delivery = (arrived, qos(arrived));
        state.is_late = in_time.is_none();
        Some(delivery)
    }

    /// Queries whether a consumer of another process exists; returns whether it is dead.
    pub(crate) fn is_dead(&self, tolerance: &ConsumerTolerance) -> bool {
        let Exit::Sink(sink) = &self.exit else {
            return false;
        };
        let reply = at_priority(self.priority(), || sink.ping());
        if let Some(Ok(Answer::Exists { lost })) = reply {
            let before = self.counters.undelivered.lost_at_consumer.swap(lost, Relaxed);
            let more = lost.saturating_sub(before);
            // A consumer may state any number.
            let sum = |total: u64| Some(total.saturating_add(more));
            let _ = self.totals.lost_at_consumer.fetch_update(Relaxed, Relaxed, sum);
        }
        reply.is_some_and(|reply| self.replies.lock().show_death(reply, tolerance))
    }

    /// Whether the thread of its lane can offer events to it, later than the supplier's: neither does a
    /// supplier wait for room, nor the program take events from the queue, nor a timeout depend on them.
    pub(crate) fn is_deferrable(&self) -> bool {
        let waits = matches!(self.qos.overflow, Overflow::Block(_));
        matches!(self.exit, Exit::Sink(_)) && !waits && self.timers() == 0
    }

    /// Filters an event, and queues what passes. A timeout does not wait for room. The time of `arrived`
    /// counts for deadlines; `None`: the present.
    pub(crate) fn offer(
        &self,
        stimulus: Stimulus<'_>,
        arrived: Option<Time>,
        limits: &ChannelLimits,
    ) -> Offered {
        let mut state = self.state.lock();
        if !state.is_connected || state.is_suspended {
            return Offered::Ignored;
        }
        let mut passed = std::mem::take(&mut state.passed);
        let passes = state.tree.pass(stimulus, &mut passed);
        let forgotten = state.tree.hold_at_most(self.qos.octets);
        let arrival = Arrival {
            arrived,
            may_wait: stimulus.timer.is_none(),
            supplier: stimulus.supplier,
        };
        self.count_lost(&mut state, forgotten, arrival.supplier);
        let mut offered = Offered::Ignored;
        if passes {
            state.rearm();
            offered = self.enqueue(&mut state, &mut passed, arrival);
        }
        passed.clear();
        state.passed = passed;
        match state.lost > limits.tolerance.lost {
            true => Offered::Disconnect,
            false => offered,
        }
    }

    /// Queues a set that the filter of a channel of another process has passed.
    pub(crate) fn offer_set(&self, events: impl Iterator<Item = Arc<Event>>) -> Offered {
        let mut state = self.state.lock();
        if !state.is_connected {
            return Offered::Ignored;
        }
        let mut passed = std::mem::take(&mut state.passed);
        passed.extend(events);
        let arrival = Arrival {
            arrived: None,
            may_wait: true,
            supplier: None,
        };
        let offered = self.enqueue(&mut state, &mut passed, arrival);
        passed.clear();
        state.passed = passed;
        offered
    }

    /// Counts events that this consumer has lost, also for the supplier whose event is the cause.
    fn count_lost(&self, state: &mut State, events: usize, supplier: Option<&Arc<Supplier>>) {
        let events = events as u64;
        if events > 0 {
            self.counters.undelivered.lost.fetch_add(events, Relaxed);
            self.totals.lost.fetch_add(events, Relaxed);
            state.lost += events;
            if let Some(supplier) = supplier {
                supplier.count_lost(events);
            }
        }
    }

    fn enqueue(
        &self,
        state: &mut PiMutexGuard<'_, State>,
        passed: &mut Vec<Arc<Event>>,
        arrival: Arrival<'_>,
    ) -> Offered {
        let Arrival {
            arrived,
            may_wait,
            supplier,
        } = arrival;
        let size = Size::of(passed);
        let mut replaces = false;
        if !state.queue.fits(size) {
            match self.qos.overflow {
                Overflow::DropOldest => {
                    let oldest = state.queue.make_room(size);
                    self.count_lost(state, oldest, supplier);
                    replaces = oldest > 0 && self.is_timed();
                }
                Overflow::Block(timeout) if may_wait => {
                    let deadline = later(Instant::now(), timeout);
                    let _ = self.room.wait_while_until(state, deadline, |state| {
                        state.is_connected && !state.queue.fits(size)
                    });
                }
                Overflow::Block(_) | Overflow::DropNewest => {}
                Overflow::Disconnect => {
                    self.count_lost(state, size.events, supplier);
                    return Offered::Disconnect;
                }
            }
        }
        if !state.is_connected || !state.queue.fits(size) {
            self.count_lost(state, size.events, supplier);
            return Offered::Lost;
        }
        self.counters.queued.fetch_add(size.events as u64, Relaxed);
        let arrived = match self.is_timed() {
            true => arrived.unwrap_or_else(now),
            false => Time::NEVER,
        };
        state.queue.push_set(passed, size, arrived);
        let was_late = std::mem::take(&mut state.is_late);
        match self.exit {
            Exit::Receiver => {
                if let Some(waker) = state.waker.take() {
                    waker.wake();
                }
                self.arrived.notify_one();
                Offered::Queued
            }
            Exit::Sink(_) => match std::mem::replace(&mut state.queue.is_scheduled, true) {
                true if replaces || was_late => Offered::Replaced,
                true => Offered::Queued,
                false => Offered::Schedule,
            },
        }
    }

    /// Delivers one batch, or if it has deadlines, the set that arrived then. Returns whether more is queued;
    /// the caller then continues, or schedules the consumer again.
    pub(crate) fn deliver(&self, arrived: Time, limits: &ChannelLimits) -> Delivered {
        let Some((mut events, deadline)) = self.take_set(arrived, limits) else {
            return Delivered::Nothing;
        };
        let result = match &self.exit {
            Exit::Sink(sink) => {
                // A consumer of another process need not have a lane of this thread's own priority.
                let deliver = || at_priority(self.priority(), || sink.deliver(&events));
                let deliver = std::panic::AssertUnwindSafe(deliver);
                std::panic::catch_unwind(deliver).unwrap_or_else(|_| Err(panicked()))
            }
            Exit::Receiver => Ok(()),
        };
        let number = events.len() as u64;
        self.counters.sets.fetch_add(1, Relaxed);
        if deadline < Time::NEVER && deadline < now() {
            self.counters.late.fetch_add(number, Relaxed);
        }
        events.clear();
        let mut state = self.state.lock();
        state.delivering = Some(events);
        state.error = result.err();
        if result.is_ok() {
            self.counters.delivered.fetch_add(number, Relaxed);
            state.failures = 0;
            state.lost = 0;
        } else {
            self.counters.undelivered.failed.fetch_add(number, Relaxed);
            self.totals.failed.fetch_add(number, Relaxed);
            state.failures += 1;
            if state.failures >= limits.tolerance.failures {
                return Delivered::Disconnect;
            }
        }
        state.has_more()
    }

    /// Drops the set that arrived then instead of delivering it; returns whether more is queued.
    pub(crate) fn give_up(&self, arrived: Time, limits: &ChannelLimits) -> bool {
        {
            let mut state = self.state.lock();
            if !state.queue.has(arrived) {
                // Overflow has removed it. What is next may still be in time.
                return state.has_more() == Delivered::More;
            }
        }
        let Some((mut events, _)) = self.take_set(arrived, limits) else {
            return false;
        };
        let number = events.len() as u64;
        self.counters.undelivered.cancelled.fetch_add(number, Relaxed);
        self.totals.cancelled.fetch_add(number, Relaxed);
        if let Exit::Sink(sink) = &self.exit {
            let tell = std::panic::AssertUnwindSafe(|| sink.cancelled(&events));
            let _ = std::panic::catch_unwind(tell);
        }
        events.clear();
        let mut state = self.state.lock();
        state.delivering = Some(events);
        state.has_more() == Delivered::More
    }

    /// Takes the next batch, or if it has deadlines, the set that arrived then, with its deadline. `None`:
    /// nothing waits, or another thread delivers.
    fn take_set(&self, arrived: Time, limits: &ChannelLimits) -> Option<(Vec<Arc<Event>>, Time)> {
        let mut state = self.state.lock();
        let mut events = state.delivering.take()?;
        state.is_late = false;
        let deadline = match (state.is_connected, self.is_timed()) {
            (false, _) => None,
            (true, true) => {
                let arrived = state.queue.take_of(arrived, &mut events);
                arrived.map(|arrived| arrived + state.timing.deadline)
            }
            (true, false) => {
                let took = state.queue.take(limits.batch, limits.octets.batch, &mut events);
                took.then_some(Time::NEVER)
            }
        };
        let Some(deadline) = deadline else {
            state.queue.is_scheduled = false;
            state.delivering = Some(events);
            return None;
        };
        drop(state);
        self.room.notify_all();
        Some((events, deadline))
    }

    /// Takes one event of a [receiver](Exit::Receiver), waiting until the deadline; `None`: none came.
    pub(crate) fn receive(&self, deadline: Option<Instant>) -> Option<Arc<Event>> {
        let mut state = self.state.lock();
        let waits = |state: &mut State| state.is_connected && state.queue.is_empty();
        match deadline {
            Some(deadline) => {
                let _ = self.arrived.wait_while_until(&mut state, deadline, waits);
            }
            None => self.arrived.wait_while(&mut state, waits),
        }
        self.take_one(&mut state)
    }

    /// Takes one event, or leaves a waker for the next one.
    pub(crate) fn poll_receive(&self, waker: &Waker) -> std::task::Poll<Option<Arc<Event>>> {
        let mut state = self.state.lock();
        match self.take_one(&mut state) {
            None if state.is_connected => {
                state.waker = Some(waker.clone());
                std::task::Poll::Pending
            }
            event => std::task::Poll::Ready(event),
        }
    }

    fn take_one(&self, state: &mut State) -> Option<Arc<Event>> {
        let event = state.queue.take_one()?;
        state.lost = 0;
        self.counters.delivered.fetch_add(1, Relaxed);
        self.room.notify_all();
        Some(event)
    }

    pub(crate) fn suspend(&self, suspended: bool) {
        self.state.lock().is_suspended = suspended;
    }

    /// Accepts and delivers nothing from now on; returns whether it was connected.
    pub(crate) fn disconnect(&self) -> bool {
        self.end(false)
    }

    /// Like [`disconnect`](Self::disconnect), and counts what waits as lost.
    pub(crate) fn expel(&self) -> bool {
        self.end(true)
    }

    fn end(&self, counts: bool) -> bool {
        let mut state = self.state.lock();
        if counts {
            let waiting = state.queue.len() + state.tree.number_held();
            self.count_lost(&mut state, waiting, None);
        }
        state.queue.clear();
        state.tree.forget();
        let was_connected = std::mem::replace(&mut state.is_connected, false);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        self.room.notify_all();
        self.arrived.notify_all();
        was_connected
    }

    /// Whether a thread delivers to it, or a command to do so waits.
    pub(crate) fn is_scheduled(&self) -> bool {
        self.state.lock().queue.is_scheduled
    }

    /// Whether the channel still delivers to it.
    pub(crate) fn is_connected(&self) -> bool {
        self.state.lock().is_connected
    }

    /// Number of timers of its filter.
    pub(crate) fn timers(&self) -> usize {
        self.state.lock().due.len()
    }

    /// Asks whether a timer fires now: the element of the filter that fires, and the next point in time.
    pub(crate) fn timer(&self, timer: usize, now: Instant) -> TimerState {
        self.state.lock().timer(timer, now)
    }

    pub(crate) fn statistics(&self) -> ConsumerStatistics {
        let unanswered = self.replies.lock().failure();
        let state = self.state.lock();
        ConsumerStatistics {
            id: self.id,
            name: self.name().to_owned(),
            priority: self.priority(),
            waiting: state.queue.len(),
            octets: state.queue.octets(),
            capacity: self.qos.queue,
            high_water: state.queue.high_water(),
            is_suspended: state.is_suspended,
            is_gateway: self.qos.is_gateway,
            queued: self.counters.queued.load(Relaxed),
            delivered: self.counters.delivered.load(Relaxed),
            sets: self.counters.sets.load(Relaxed),
            undelivered: self.counters.undelivered.get(),
            late: self.counters.late.load(Relaxed),
            error: state.error.map(|error| error.to_string()).or(unanswered),
        }
    }
}

/// The exception of a callback that has panicked.
fn panicked() -> SystemException {
    SystemException::new(
        SystemExceptionKind::Unknown,
        Minor::SERVANT_PANICKED,
        Completion::Maybe,
    )
}

/// Next step after [`Consumer::deliver`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Delivered {
    Nothing,
    More,
    Disconnect,
}

/// State of a timer at a point in time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TimerState {
    /// It has been re-armed.
    Later(Instant),
    Fires {
        /// Element of the filter.
        node: usize,
        event_type: crate::EventType,
        next: Option<Instant>,
    },
    Over,
}

impl State {
    /// Whether more is queued; if not, no thread delivers from now on.
    fn has_more(&mut self) -> Delivered {
        if self.queue.is_empty() || !self.is_connected {
            self.queue.is_scheduled = false;
            return Delivered::Nothing;
        }
        Delivered::More
    }

    /// Re-arms the deadlines whose groups have fired.
    fn rearm(&mut self) {
        for (timer, due) in self.tree.timers().iter_mut().zip(&mut self.due) {
            if std::mem::take(&mut timer.rearm) && timer.timeout == crate::filter::Timeout::Deadline {
                *due = Some(later(Instant::now(), timer.interval));
            }
        }
    }

    fn timer(&mut self, index: usize, now: Instant) -> TimerState {
        use crate::filter::Timeout;
        let Some(due) = self.due[index].filter(|_| self.is_connected) else {
            return TimerState::Over;
        };
        if due > now {
            return TimerState::Later(due);
        }
        let timer = self.tree.timers()[index];
        let next = match timer.timeout {
            Timeout::Once => None,
            // Missed periods are skipped.
            Timeout::Interval | Timeout::Deadline => Some(later(due, timer.interval).max(now)),
        };
        self.due[index] = next;
        TimerState::Fires {
            node: timer.node,
            event_type: timer.timeout.event_type(),
            next,
        }
    }
}

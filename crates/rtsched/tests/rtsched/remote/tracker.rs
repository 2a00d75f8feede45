//! The object that threads call. Hand-written equivalent of the code generated from
//! `interface Tracker { long track(in long manner); oneway void wake(); };`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_fixtures::LONG;
use punctual_os::{PiMutex, alloc_counter};
use punctual_rtsched::{RtScheduling, storage::WordKey};
use punctual_sched::dynamic::{SchedulingParameters, Time};
use punctual_stub::rt::{Encode, Interface, ObjectRef, Phase, Skeleton, SystemException, Upcall};
use punctual_types::DistributableThreadId;

/// Returns immediately if there is no next host.
pub const RETURN: i32 = 0;
/// Passes scheduling points there until it is released or cancelled.
pub const WORK: i32 = 1;
/// Sleeps there without end.
pub const SLEEP: i32 = 2;
/// Works there without scheduling points until it is released.
pub const DEAF: i32 = 3;
/// Returns the number of allocations of the thread that serves it there.
pub const COUNT: i32 = 4;

/// Calls the next host, if there is one; otherwise behaves as requested.
#[derive(Clone)]
pub struct Tracker(pub Arc<State>);

pub struct State {
    pub scheduling: RtScheduling,
    pub next: PiMutex<Option<TrackerRef>>,
    /// Id of the thread at the end of the calls.
    pub received_thread: PiMutex<Option<DistributableThreadId>>,
    /// Releases threads that work.
    pub released: AtomicU32,
    /// Results of calls that have ended.
    pub results: PiMutex<Vec<Result<i32, SystemException>>>,
    /// Parameters of the last thread that reached the end of the calls.
    pub scheduled_by: PiMutex<Option<SchedulingParameters>>,
    /// Key under which threads store a value.
    pub key: PiMutex<Option<WordKey<u32>>>,
    /// Number of oneway calls received.
    pub woken: PiMutex<u32>,
}

impl Tracker {
    pub fn new(scheduling: &RtScheduling) -> Self {
        Self(Arc::new(State {
            scheduling: scheduling.clone(),
            next: PiMutex::new(None),
            received_thread: PiMutex::new(None),
            released: AtomicU32::new(0),
            results: PiMutex::new(Vec::new()),
            scheduled_by: PiMutex::new(None),
            key: PiMutex::new(None),
            woken: PiMutex::new(0),
        }))
    }

    fn track(&self, manner: i32) -> Result<i32, SystemException> {
        let next = self.0.next.lock().clone();
        let result = match next {
            Some(next) => next.track(manner),
            None if manner == COUNT => return Ok(alloc_counter::allocations_of_this_thread() as i32),
            None => self.behave(manner),
        };
        self.0.results.lock().push(result);
        result
    }

    fn behave(&self, manner: i32) -> Result<i32, SystemException> {
        let current = self.0.scheduling.current();
        *self.0.received_thread.lock() = Some(current.id()?);
        *self.0.scheduled_by.lock() = Some(current.scheduling_parameter()?);
        if let Some(key) = *self.0.key.lock() {
            key.set(1).expect("a distributable thread runs");
        }
        let until = Instant::now() + LONG;
        let result = loop {
            let released = self.0.released.load(Ordering::SeqCst) > 0;
            if manner == RETURN || released || Instant::now() > until {
                break Ok(());
            }
            let passed = match manner {
                WORK => current.scheduling_point(),
                SLEEP => current.sleep_until(Time::NEVER),
                _ => Ok(()),
            };
            if passed.is_err() {
                break passed;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        *self.0.received_thread.lock() = None;
        result.map(|()| manner)
    }
}

#[derive(Clone, Debug)]
pub struct TrackerRef(ObjectRef);

impl TrackerRef {
    pub fn track(&self, manner: i32) -> Result<i32, SystemException> {
        let mut result = 0;
        self.0.call::<SystemException>("track", |phase| match phase {
            Phase::Arguments(encoder) => manner.encode(encoder),
            Phase::Results(decoder) => punctual_cdr::Decode::decode_into(&mut result, decoder),
        })?;
        Ok(result)
    }

    pub fn wake(&self) -> Result<(), SystemException> {
        self.0.oneway("wake", |_| Ok(()))
    }
}

impl Interface for TrackerRef {
    const REPOSITORY_ID: &'static str = "IDL:Tracker:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];

    fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

impl Skeleton<Tracker> for TrackerRef {
    fn dispatch(servant: &Tracker, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        match upcall.operation() {
            "track" => {
                let manner = upcall.argument()?;
                let result = servant.track(manner)?;
                upcall.reply(|reply| result.encode(reply))
            }
            "wake" => {
                *servant.0.woken.lock() += 1;
                Ok(())
            }
            _ => Err(upcall.unknown_operation()),
        }
    }
}

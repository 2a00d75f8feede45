//! State of one endsystem.

use std::{sync::Arc, time::Duration};

use punctual_os::{PiMutex, Scheduling};
use punctual_sched::dynamic::{
    ParameterKind, Scheduler, SchedulingParameters, SheddingPolicy, TimedWork, TranslationDefaults,
    UserParameters,
};
use punctual_types::{Completion, DistributableThreadId, Minor, SystemException, SystemExceptionKind};

use crate::{
    accepted_claims::ClaimRules,
    activations::SegmentSpec,
    dispatcher::{
        Departure, Dispatcher, Mechanism, NativePriorities, Outcome, Preemption, Settings, Timer, Watch, now,
    },
    error::{BuildError, SchedulingError},
    ids::Ids,
    object_resources::ObjectResources,
    storage::{RetainedStorage, RetentionLimits},
    unknown_policy::UnknownPolicy,
    wire::{PeerLayout, Reader, UnknownParameters},
};

/// State that everything of one endsystem shares.
pub(crate) struct Endsystem {
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) ids: Ids,
    /// Maximum number of open segments of an activation.
    pub(crate) max_segments: usize,
    native: NativePriorities,
    default_parameters: SchedulingParameters,
    timer: PiMutex<Option<Timer>>,
    pub(crate) retained: Arc<RetainedStorage>,
    pub(crate) objects: ObjectResources,
    pub(crate) max_clock_skew: Duration,
    pub(crate) peer_layout: PeerLayout,
    pub(crate) claims: ClaimRules,
    pub(crate) shedding: PiMutex<SheddingPolicy>,
    unknown: UnknownPolicy,
}

/// Settings of an endsystem.
pub(crate) struct EndsystemSettings {
    pub(crate) dispatcher: Settings,
    pub(crate) max_segments: usize,
    pub(crate) default_parameters: SchedulingParameters,
    pub(crate) retention: RetentionLimits,
    pub(crate) max_clock_skew: Duration,
    pub(crate) peer_layout: PeerLayout,
    pub(crate) claims: ClaimRules,
    pub(crate) shedding: SheddingPolicy,
    pub(crate) unknown: UnknownPolicy,
}

impl Default for EndsystemSettings {
    fn default() -> Self {
        Self {
            dispatcher: Settings {
                processors: 1,
                preemption: Preemption::default(),
                native: NativePriorities::default(),
                max_threads: 1024,
                decisions: 0,
            },
            max_segments: 32,
            default_parameters: SchedulingParameters::Importance { importance: 0 },
            retention: RetentionLimits::default(),
            max_clock_skew: Reader::DEFAULT_MAX_CLOCK_SKEW,
            peer_layout: PeerLayout::OwnOnly,
            claims: ClaimRules::default(),
            shedding: SheddingPolicy::never(),
            unknown: UnknownPolicy::Carry,
        }
    }
}

impl EndsystemSettings {
    fn check(&self) -> Result<(), BuildError> {
        let Settings {
            processors,
            max_threads,
            native,
            ..
        } = &self.dispatcher;
        native.check().map_err(BuildError::InvalidSetting)?;
        if *processors == 0 || *max_threads == 0 || self.max_segments == 0 {
            let text = "processors, max_threads and max_segments must be at least 1";
            return Err(BuildError::InvalidSetting(text));
        }
        if u32::try_from(*max_threads).is_err() {
            return Err(BuildError::InvalidSetting("max_threads must be less than 2^32"));
        }
        Ok(())
    }
}

impl Endsystem {
    pub(crate) fn new(
        scheduler: Box<dyn Scheduler>,
        mechanism: Mechanism,
        settings: EndsystemSettings,
    ) -> Result<Self, BuildError> {
        settings.check()?;
        let wants_timer = wants_timer(&*scheduler, mechanism);
        let endsystem = Self {
            native: settings.dispatcher.native.clone(),
            dispatcher: Arc::new(Dispatcher::new(scheduler, mechanism, settings.dispatcher)?),
            ids: Ids::new()?,
            max_segments: settings.max_segments,
            default_parameters: settings.default_parameters,
            timer: PiMutex::new(None),
            retained: Arc::new(RetainedStorage::new(settings.retention)),
            objects: ObjectResources::default(),
            max_clock_skew: settings.max_clock_skew,
            peer_layout: settings.peer_layout,
            claims: settings.claims,
            shedding: PiMutex::new(settings.shedding),
            unknown: settings.unknown,
        };
        endsystem.start_timer(wants_timer)?;
        Ok(endsystem)
    }

    /// Installs another scheduler for all threads.
    pub(crate) fn install(
        &self,
        scheduler: Box<dyn Scheduler>,
        mechanism: Mechanism,
    ) -> Result<(), BuildError> {
        self.start_timer(wants_timer(&*scheduler, mechanism))?;
        self.dispatcher.install(scheduler, mechanism)
    }

    /// Returns the kind of parameters that the application has to give.
    pub(crate) fn kind(&self) -> ParameterKind {
        self.dispatcher.inspect(|state| state.kind())
    }

    /// Checks the kind of parameters given by the application.
    pub(crate) fn check(&self, parameters: &SchedulingParameters) -> Result<(), SchedulingError> {
        let (given, wanted) = (parameters.kind(), self.kind());
        if given == wanted {
            return Ok(());
        }
        Err(SchedulingError::UnsupportedSchedulingDiscipline { given, wanted })
    }

    /// Watch of a segment that begins now.
    pub(crate) fn watch(&self, segment: &SegmentSpec<'_>) -> Option<Watch> {
        match segment.timed {
            Some((work, policy)) => Watch::begin(work, policy, false),
            None => self.watch_of(&segment.parameters),
        }
    }

    /// Watch of work that parameters describe, by the endsystem's policy.
    pub(crate) fn watch_of(&self, parameters: &SchedulingParameters) -> Option<Watch> {
        let policy = *self.shedding.lock();
        Watch::begin(TimedWork::of(parameters)?, policy, true)
    }

    /// Parameters of threads without any.
    pub(crate) fn default_parameters(&self) -> SchedulingParameters {
        self.default_parameters_of(self.kind())
    }

    /// Returns the same, of this kind.
    pub(crate) fn default_parameters_of(&self, kind: ParameterKind) -> SchedulingParameters {
        if let ParameterKind::User(_) = kind {
            // The scheduler adopts them.
            return self.default_parameters;
        }
        let defaults = TranslationDefaults {
            now: now(),
            ..TranslationDefaults::default()
        };
        self.default_parameters.translated(kind, &defaults)
    }

    /// Parameters of the scheduler's own kind for a request.
    pub(crate) fn marshal(&self, parameters: &UserParameters, received: Duration) -> UserParameters {
        self.dispatcher
            .inspect(|state| state.marshal(parameters, received))
    }

    /// Parameters by which a thread is scheduled that arrives with a foreign kind (`None`: the default ones),
    /// and whether they are of the scheduler's own kind, which it sends itself.
    pub(crate) fn understand(
        &self,
        unknown: &UnknownParameters,
    ) -> Result<(Option<SchedulingParameters>, bool), SystemException> {
        let own = match self.kind() {
            ParameterKind::User(kind) if kind.number() == unknown.kind() => {
                let read = unknown
                    .user()
                    .and_then(|parameters| self.dispatcher.inspect(|state| state.unmarshal(&parameters)));
                Some(read.ok_or_else(unreadable)?)
            }
            _ => None,
        };
        match (own, self.unknown) {
            (Some(own), _) => Ok((Some(SchedulingParameters::User(own)), true)),
            (None, UnknownPolicy::Carry) => Ok((None, false)),
            (None, UnknownPolicy::Translate(translate)) => Ok((translate(unknown), false)),
            (None, UnknownPolicy::Refuse) => Err(SystemException::new(
                SystemExceptionKind::InvPolicy,
                Minor::SCHEDULING_DISCIPLINE_UNSUPPORTED,
                Completion::No,
            )),
        }
    }

    /// Disposes of the storage of a thread without an activation at this host, which no OS thread has
    /// attached any more. Calls its destructors where the thread has ended on an OS thread of the application.
    pub(crate) fn dispose_of_storage(&self, id: DistributableThreadId, departure: Departure) {
        let Departure { storage, outcome } = departure;
        match outcome {
            Outcome::Ended => storage.clear(),
            Outcome::EndedOnLane => self.retained.discard(storage),
            Outcome::MayReturn => self.retained.retain(id, storage, now()),
        }
    }

    fn start_timer(&self, wanted: bool) -> std::io::Result<()> {
        let mut timer = self.timer.lock();
        if wanted && timer.is_none() {
            let executive = Scheduling::fifo(self.native.executive);
            *timer = Some(Timer::start(&self.dispatcher, executive)?);
        }
        Ok(())
    }
}

fn unreadable() -> SystemException {
    SystemException::new(
        SystemExceptionKind::Marshal,
        Minor::SCHEDULING_PARAMETERS_MALFORMED,
        Completion::No,
    )
}

fn wants_timer(scheduler: &dyn Scheduler, mechanism: Mechanism) -> bool {
    mechanism == Mechanism::ReadyQueue && Timer::is_wanted_by(scheduler)
}

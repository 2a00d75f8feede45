use std::time::{Duration, Instant};

use punctual_os::clock;
use punctual_types::{DistributableThreadId, Minor, SystemException};

use super::{LocalThreads, Place, ThreadControlRef, Whereabouts, thread_control::Question};
use crate::error::unknown_thread;

/// How many hosts a search goes on to.
pub(super) const MOST_HOSTS: u8 = 16;

/// Follows the thread from this endsystem, once.
///
/// Fails with OBJECT_NOT_EXIST where it is not known here; nothing else fails.
pub(super) fn follow(
    threads: &dyn LocalThreads,
    question: &Question,
) -> Result<Whereabouts, SystemException> {
    let until = in_time(question.within);
    let here = if question.cancels {
        threads.cancel(question.id)
    } else {
        threads.look(question.id)
    };
    let here = here.ok_or_else(unknown_thread)?;
    let known = |place| Whereabouts {
        place,
        hosts: 0,
        cancelled: here.cancelled,
    };
    let Some(next) = here.calls else {
        return Ok(known(Place::AtHead));
    };
    let (Some(control), Some(hosts)) = (ThreadControlRef::of(&next), question.hosts.checked_sub(1)) else {
        return Ok(known(Place::OutOfReach));
    };
    let within = until.saturating_duration_since(Instant::now());
    if within.is_zero() {
        return Ok(known(Place::OutOfReach));
    }
    Ok(
        match control.ask(&Question {
            hosts,
            within,
            ..*question
        }) {
            Ok(further) => Whereabouts {
                hosts: further.hosts.saturating_add(1),
                ..further
            },
            // Its request is not there yet, or it has returned meanwhile.
            Err(exception) if exception.minor == Minor::DISTRIBUTABLE_THREAD_UNKNOWN => known(Place::Moving),
            Err(_) => known(Place::OutOfReach),
        },
    )
}

/// Follows the thread by `step` until it does not move any more, or the time is up.
pub(super) fn pursue(
    within: Duration,
    mut step: impl FnMut(Duration) -> Result<Whereabouts, SystemException>,
) -> Result<Whereabouts, SystemException> {
    const FIRST_PAUSE: Duration = Duration::from_millis(1);
    const LONGEST_PAUSE: Duration = Duration::from_millis(20);
    let until = in_time(within);
    let mut pause = FIRST_PAUSE;
    let mut moving = None;
    loop {
        let step = step(until.saturating_duration_since(Instant::now()));
        let is_answered = match &step {
            Ok(found) => found.place != Place::OutOfReach,
            Err(exception) => exception.minor == Minor::DISTRIBUTABLE_THREAD_UNKNOWN,
        };
        if let Some(before) = moving
            && !is_answered
            && Instant::now() >= until
        {
            // There was no time for an answer; the one before still says that it is within reach.
            return Ok(before);
        }
        let found = step?;
        if found.place != Place::Moving || Instant::now() + pause >= until {
            return Ok(found);
        }
        moving = Some(found);
        clock::sleep_until(Instant::now() + pause);
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

/// Looks a thread up that is known here, or cancels it: [`follow`], and again while it moves.
pub(crate) fn search(
    threads: &dyn LocalThreads,
    id: DistributableThreadId,
    cancels: bool,
    within: Duration,
) -> Result<Whereabouts, SystemException> {
    pursue(within, |within| {
        let hosts = MOST_HOSTS;
        follow(
            threads,
            &Question {
                id,
                cancels,
                hosts,
                within,
            },
        )
    })
}

/// A distributable thread that need not have been at this host: found through the control of one where it is known.
///
/// ```
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::DoublerRef;
/// use std::time::Duration;
///
/// use punctual_rtsched::remote::{Place, RemoteThread, ThreadControlRef};
/// use punctual_stub::Interface;
/// use punctual_types::{DistributableThreadId, SystemException};
///
/// /// Ends a thread that is believed to be at the host of an object, or behind it.
/// fn stop(id: DistributableThreadId, somewhere: &DoublerRef) -> Result<bool, SystemException> {
///     let Some(control) = ThreadControlRef::of(somewhere.as_object()) else {
///         return Ok(false);
///     };
///     let patience = Duration::from_millis(200);
///     let thread = RemoteThread::find(id, &[control], patience)?;
///     Ok(thread.cancel(patience)?.place == Place::AtHead)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct RemoteThread {
    id: DistributableThreadId,
    control: ThreadControlRef,
}

impl RemoteThread {
    /// Asks these controls one after the other for a thread of this id; the first that knows it is kept. `within` is for all.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST where none of them knows it: it has ended, or was never there. Where one could not be asked, what came of
    /// that: NO_PERMISSION, TRANSIENT, TIMEOUT.
    pub fn find(
        id: DistributableThreadId,
        controls: &[ThreadControlRef],
        within: Duration,
    ) -> Result<Self, SystemException> {
        let until = in_time(within);
        let mut failure = unknown_thread();
        for control in controls {
            let thread = Self {
                id,
                control: control.clone(),
            };
            match thread.ask(false, until.saturating_duration_since(Instant::now())) {
                Ok(_) => return Ok(thread),
                Err(exception) if exception.minor == Minor::DISTRIBUTABLE_THREAD_UNKNOWN => {}
                Err(exception) => failure = exception,
            }
        }
        Err(failure)
    }

    /// Its id.
    pub fn id(&self) -> DistributableThreadId {
        self.id
    }

    /// Where it is now. Returns after `within`, at the latest.
    ///
    /// # Errors
    /// As [`Self::find`], for the control that knew it.
    pub fn whereabouts(&self, within: Duration) -> Result<Whereabouts, SystemException> {
        pursue(within, |within| self.ask(false, within))
    }

    /// Cancels it. Hosts that the search reaches mark it; where that is not [`Place::AtHead`], it runs on until it comes to one of
    /// them. Returns after `within`, at the latest.
    ///
    /// # Errors
    /// As [`Self::find`], for the control that knew it.
    pub fn cancel(&self, within: Duration) -> Result<Whereabouts, SystemException> {
        pursue(within, |within| self.ask(true, within))
    }

    fn ask(&self, cancels: bool, within: Duration) -> Result<Whereabouts, SystemException> {
        self.control.ask(&Question {
            id: self.id,
            cancels,
            hosts: MOST_HOSTS,
            within,
        })
    }
}

/// After so much time; a hundred years are as good as for ever.
fn in_time(within: Duration) -> Instant {
    const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    Instant::now() + within.min(FOR_EVER)
}

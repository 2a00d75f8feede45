//! The client's processor during a download: all operations are released at the rates of the schedule, and
//! the schedule follows the progress.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::{Arc, OnceLock, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use punctual::NativePriority;
use punctual_dispatch::{Command, Execution, Hopeless};
use punctual_os::clock;
use punctual_sched::dynamic::Time;
use punctual_scheduling::{ScheduledDispatcher, fifo, reconfigurable::OperationId};

use super::{
    super::{
        adaptation::{self, Adaptation, Operations},
        codec,
        picture::TILES,
    },
    Download, Downloaded,
    transfer::Transfer,
};
use crate::{
    error::Error,
    os::{fifo as thread, joined},
};

/// Priority of the thread that releases operations and examines the progress; levels are below it.
const RELEASES: i16 = 60;
const HIGHEST_LEVEL: NativePriority = NativePriority(50);
/// Time between two examinations of the progress.
const EXAMINED: Duration = Duration::from_millis(125);
/// For how long an image is waited for, if that is longer than its deadline.
const PATIENCE: Duration = Duration::from_secs(66);
/// Share of the worst-case execution time that operations use.
const TYPICAL: f64 = 0.6;
/// Stack of the releasing thread: it computes schedules.
const STACK_BYTES: usize = 1 << 20;

/// Downloads the image, and returns what became of it.
pub(super) fn fly(transfer: &Arc<Transfer>, download: Download, scale: f64) -> Result<Downloaded, Error> {
    let (transfer, spec) = (
        Arc::clone(transfer),
        thread("releases", RELEASES).stack_bytes(STACK_BYTES),
    );
    joined(spec.spawn(move || Flight::start(transfer, download, scale)?.run())?)?
}

/// Shared by the releasing thread and the operations.
struct Cockpit {
    transfer: Arc<Transfer>,
    dispatcher: OnceLock<ScheduledDispatcher<Run>>,
    delivery: (OperationId, Duration),
}

struct Flight {
    cockpit: Arc<Cockpit>,
    adaptation: Adaptation,
    operations: Operations,
    scale: f64,
}

impl Flight {
    fn start(transfer: Arc<Transfer>, download: Download, scale: f64) -> Result<Self, Error> {
        let (scheduler, operations) = adaptation::operations(scale)?;
        let deadline = Duration::from_secs(download.deadline_s);
        let adaptation = Adaptation::new(scheduler, &operations, deadline, scale, download.adapts)?;
        let dispatcher = ScheduledDispatcher::start(adaptation.scheduler().clone(), fifo(HIGHEST_LEVEL))?;
        let cockpit = Arc::new(Cockpit {
            transfer,
            dispatcher: OnceLock::from(dispatcher),
            delivery: operations.delivery,
        });
        Ok(Self {
            cockpit,
            adaptation,
            operations,
            scale,
        })
    }

    /// Releases operations until the image is complete, or too late to be waited for.
    fn run(mut self) -> Result<Downloaded, Error> {
        let own = &self.operations;
        let mut sources: Vec<(OperationId, Work)> = own
            .flight
            .iter()
            .chain([&own.map])
            .map(|(id, wcet)| (*id, Work::Other(*wcet)))
            .collect();
        sources.push((own.decompression.0, Work::Decompression(own.decompression.1)));
        let start = self.cockpit.transfer.elapsed();
        let mut releases: BinaryHeap<_> = (0..sources.len())
            .map(|source| Reverse((start, source)))
            .collect();
        let (examined, mut next_examination) = (EXAMINED.div_f64(self.scale), start);
        let limit = PATIENCE
            .div_f64(self.scale)
            .max(self.cockpit.transfer.deadline() + examined * 8);
        while self.left() > 0 && self.cockpit.transfer.elapsed() < limit {
            let Some(Reverse((at, source))) = releases.peek().copied() else {
                break;
            };
            if next_examination <= at {
                self.sleep_until(next_examination);
                next_examination += examined;
                self.examine()?;
                continue;
            }
            releases.pop();
            self.sleep_until(at);
            let (id, work) = sources[source];
            self.cockpit.release(id, work);
            let assignment = self.adaptation.scheduler().assignment(id);
            if let Some(period) = assignment.and_then(|own| own.period) {
                releases.push(Reverse((at + period, source)));
            }
        }
        self.end()
    }

    /// Returns the number of tiles that have not been displayed.
    fn left(&self) -> u32 {
        TILES - self.cockpit.transfer.displayed.load(Relaxed)
    }

    fn examine(&mut self) -> Result<(), Error> {
        let transfer = &self.cockpit.transfer;
        let (now, left) = (transfer.elapsed(), self.left());
        let last = Duration::from_nanos(transfer.displayed_ns.load(Relaxed));
        if left > 0 && self.adaptation.examine(now, last, left)? {
            let agreed = self.adaptation.scheduler().clone();
            self.cockpit
                .dispatcher()
                .reconfigure(|scheduler| *scheduler = agreed)?;
        }
        Ok(())
    }

    fn end(self) -> Result<Downloaded, Error> {
        // What still waits is cancelled.
        let _ = self.cockpit.dispatcher().dispatcher().shutdown(Duration::ZERO);
        let transfer = &self.cockpit.transfer;
        let paper = |time: Duration| time.as_secs_f64() * self.scale;
        let last = Duration::from_nanos(transfer.displayed_ns.load(Relaxed));
        let decompression = self
            .adaptation
            .scheduler()
            .assignment(self.operations.decompression.0);
        let period = decompression.and_then(|own| own.period).unwrap_or_default();
        let downloaded = Downloaded {
            displayed_s: (self.left() == 0).then(|| paper(last)),
            displayed: TILES - self.left(),
            starved: transfer.starved.load(Relaxed),
            image_s: paper(period) * f64::from(TILES),
            recomputations: self.adaptation.recomputations,
            ..Downloaded::default()
        };
        Ok(transfer.complete(downloaded))
    }

    fn sleep_until(&self, at: Duration) {
        let left = at.saturating_sub(self.cockpit.transfer.elapsed());
        clock::sleep_until(Instant::now() + left);
    }
}

impl Cockpit {
    fn dispatcher(&self) -> &ScheduledDispatcher<Run> {
        self.dispatcher.get().expect("set when it was created")
    }

    /// Queues an operation for the thread of its level. One that is refused has no room, and is counted by
    /// the dispatcher.
    fn release(self: &Arc<Self>, id: OperationId, work: Work) {
        let cockpit = Arc::clone(self);
        let now = Time(0) + clock::monotonic();
        let _ = self.dispatcher().dispatch(id, now, Run { cockpit, work });
    }
}

/// What an operation does, with its worst-case execution time.
#[derive(Clone, Copy)]
enum Work {
    /// Flies the aircraft, or redraws the map.
    Other(Duration),
    Decompression(Duration),
    Delivery(Duration),
}

/// One execution of an operation.
struct Run {
    cockpit: Arc<Cockpit>,
    work: Work,
}

impl Command for Run {
    fn execute(&mut self, _: &Execution) -> Result<(), Hopeless> {
        let began = clock::thread_cpu_time();
        let transfer = &self.cockpit.transfer;
        match self.work {
            Work::Other(wcet) => use_processor(began, wcet),
            Work::Decompression(wcet) => {
                let Some((number, compressed)) = transfer.take() else {
                    return Ok(());
                };
                transfer.hand_on(number, codec::decompress(&compressed));
                use_processor(began, wcet);
                let (id, wcet) = self.cockpit.delivery;
                self.cockpit.release(id, Work::Delivery(wcet));
            }
            Work::Delivery(wcet) => {
                transfer.deliver();
                use_processor(began, wcet);
            }
        }
        Ok(())
    }
}

/// Uses what an operation typically uses: decompression and display of the paper's computers.
fn use_processor(began: Duration, wcet: Duration) {
    let end = began + wcet.mul_f64(TYPICAL);
    while clock::thread_cpu_time() < end {
        std::hint::spin_loop();
    }
}

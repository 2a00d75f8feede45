//! The client's processor during a download: all operations are consumers of an event channel, released at
//! the rates of the schedule, and the schedule follows the progress.

use std::{
    cell::RefCell,
    cmp::Reverse,
    collections::BinaryHeap,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use punctual_events::{EventChannel, Filter, Subscription};
use punctual_harness::statistics::median;
use punctual_os::clock;
use punctual_sched::dynamic::SheddingPolicy;
use punctual_scheduling::reconfigurable::OperationId;

use super::{
    super::{
        super::channel::{self, RELEASES},
        adaptation::{self, Adaptation, Operations, Progress, Recomputation},
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

/// Time between two examinations of the progress.
const EXAMINED: Duration = Duration::from_millis(125);
/// Time for which an image is awaited, if that is longer than its deadline.
const TIMEOUT: Duration = Duration::from_secs(66);
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

/// Number of repetitions of each computation.
const REPETITIONS: usize = 31;
/// Memory that is written before each repetition: more than the second-level cache has.
const EVICTING: usize = 4 << 20;

/// Repeats the computations of downloads, which take too little time to be measured once: none finds its data
/// in the first two levels of caches, and repetitions of all downloads alternate, so that a disturbance meets
/// all of them alike. Returns the median processor time of each computation, in microseconds.
pub(super) fn repeat(
    downloads: Vec<(Download, Vec<Recomputation>)>,
    scale: f64,
) -> Result<Vec<Vec<f64>>, Error> {
    let spec = thread("releases", RELEASES).stack_bytes(STACK_BYTES);
    let repeat = move || -> Result<Vec<Vec<f64>>, Error> {
        let memory = RefCell::new(vec![0u8; EVICTING]);
        let evict = || {
            let mut memory = memory.borrow_mut();
            memory
                .iter_mut()
                .step_by(64)
                .for_each(|octet| *octet = octet.wrapping_add(1));
            std::hint::black_box(&mut memory[..]);
        };
        let times = |all: &Vec<Recomputation>| vec![Vec::with_capacity(REPETITIONS); all.len()];
        let mut times: Vec<Vec<Vec<f64>>> = downloads.iter().map(|(_, all)| times(all)).collect();
        for _ in 0..REPETITIONS {
            for ((download, recomputations), times) in downloads.iter().zip(&mut times) {
                let deadline = Duration::from_secs(download.deadline_s);
                let took = adaptation::repeated(deadline, download.adapts, scale, recomputations, evict)?;
                times
                    .iter_mut()
                    .zip(took)
                    .for_each(|(times, took)| times.push(took));
            }
        }
        let medians = |times: Vec<Vec<f64>>| times.iter().filter_map(|times| median(times)).collect();
        Ok(times.into_iter().map(medians).collect())
    };
    joined(spec.spawn(repeat)?)?
}

struct Flight {
    transfer: Arc<Transfer>,
    channel: EventChannel,
    /// The operations, as long as they run.
    _components: Vec<Subscription>,
    adaptation: Adaptation,
    operations: Operations,
    scale: f64,
}

impl Flight {
    fn start(transfer: Arc<Transfer>, download: Download, scale: f64) -> Result<Self, Error> {
        let (scheduler, operations) = adaptation::operations(scale)?;
        let deadline = Duration::from_secs(download.deadline_s);
        let adaptation = Adaptation::new(scheduler, &operations, deadline, scale, download.adapts)?;
        let channel = channel::channel().name("client").build()?;
        let flight = Self {
            _components: components(&channel, &transfer, &operations, &adaptation)?,
            transfer,
            channel,
            adaptation,
            operations,
            scale,
        };
        flight.follow()?;
        Ok(flight)
    }

    /// Has the channel serve at the levels that have been agreed on.
    fn follow(&self) -> Result<(), Error> {
        let lanes = channel::lanes(SheddingPolicy::never());
        Ok(self.channel.follow(self.adaptation.scheduler().clone(), lanes)?)
    }

    /// Releases operations until the image is complete, or too late to be waited for.
    fn run(mut self) -> Result<Downloaded, Error> {
        let own = &self.operations;
        let others = own.flight.iter().chain([&own.map]);
        let mut sources: Vec<OperationId> = others.map(|(id, _)| *id).collect();
        sources.push(own.decompression.0);
        let start = self.transfer.elapsed();
        let mut releases: BinaryHeap<_> = (0..sources.len())
            .map(|source| Reverse((start, source)))
            .collect();
        let (examined, mut next_examination) = (EXAMINED.div_f64(self.scale), start);
        let timeout = TIMEOUT
            .div_f64(self.scale)
            .max(self.transfer.deadline() + examined * 8);
        while self.left() > 0 && self.transfer.elapsed() < timeout {
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
            let id = sources[source];
            self.channel.push_octets(channel::releases(id), b"")?;
            let assignment = self.adaptation.scheduler().assignment(id);
            if let Some(period) = assignment.and_then(|own| own.period) {
                releases.push(Reverse((at + period, source)));
            }
        }
        self.end()
    }

    /// Returns the number of tiles that have not been displayed.
    fn left(&self) -> u32 {
        TILES - self.transfer.displayed.load(Relaxed)
    }

    fn examine(&mut self) -> Result<(), Error> {
        let transfer = &self.transfer;
        let (now, left) = (transfer.elapsed(), self.left());
        let last = Duration::from_nanos(transfer.displayed_ns.load(Relaxed));
        if left > 0 && self.adaptation.examine(Progress { now, last, left })? {
            self.follow()?;
        }
        Ok(())
    }

    fn end(self) -> Result<Downloaded, Error> {
        // Events that still wait are no longer delivered.
        self.channel.destroy();
        let transfer = &self.transfer;
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
        let left = at.saturating_sub(self.transfer.elapsed());
        clock::sleep_until(Instant::now() + left);
    }
}

/// Connects all operations to the events that release them. One that has no room loses its oldest release,
/// which the channel counts.
fn components(
    channel: &EventChannel,
    transfer: &Arc<Transfer>,
    operations: &Operations,
    adaptation: &Adaptation,
) -> Result<Vec<Subscription>, Error> {
    let mut components = Vec::new();
    let mut connect = |id: OperationId, work: Box<dyn Fn(Duration) + Send + Sync>| -> Result<(), Error> {
        let component = channel
            .subscribe_to(Filter::event(channel::releases(id)))
            .name(adaptation.name(id))
            .each(move |_| work(clock::thread_cpu_time()))?;
        components.push(component);
        Ok(())
    };
    for &(id, wcet) in operations.flight.iter().chain([&operations.map]) {
        connect(id, Box::new(move |began| use_processor(began, wcet)))?;
    }
    let (delivery, wcet) = operations.delivery;
    let displays = Arc::clone(transfer);
    let deliver = move |began| {
        displays.deliver();
        use_processor(began, wcet);
    };
    connect(delivery, Box::new(deliver))?;
    let (decompression, wcet) = operations.decompression;
    let (tiles, releases) = (Arc::clone(transfer), channel.clone());
    let decompress = move |began| {
        let Some((number, compressed)) = tiles.take() else {
            return;
        };
        tiles.hand_on(number, codec::decompress(&compressed));
        use_processor(began, wcet);
        // Refused only at the end of the flight.
        let _ = releases.push_octets(channel::releases(delivery), b"");
    };
    connect(decompression, Box::new(decompress))?;
    Ok(components)
}

/// Uses what an operation typically uses: decompression and display of the paper's computers.
fn use_processor(began: Duration, wcet: Duration) {
    let end = began + wcet.mul_f64(TYPICAL);
    while clock::thread_cpu_time() < end {
        std::hint::spin_loop();
    }
}

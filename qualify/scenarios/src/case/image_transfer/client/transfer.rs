//! One image on its way: the requests, the queue of received tiles, and what has been displayed.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use punctual::SystemException;
use punctual_os::PiMutex;

use super::{
    super::{
        codec::PIXELS,
        picture::{self, TILES, WIDTH},
    },
    Download, Downloaded, Stage,
};
use crate::idl::image::image::FolderRef;

/// An image on its way.
pub(super) struct Transfer {
    folder: FolderRef,
    began: Instant,
    deadline: Duration,
    scale: f64,
    compresses: bool,
    state: PiMutex<State>,
    pub(super) displayed: AtomicU32,
    /// When the last tile was displayed, in nanoseconds since the request.
    pub(super) displayed_ns: AtomicU64,
    /// Decompressions that found no tile while some had yet to be displayed.
    pub(super) starved: AtomicU32,
}

struct State {
    /// Tiles that have been requested.
    requested: u32,
    /// Times and octets of the last tiles received.
    arrivals: VecDeque<(Duration, usize)>,
    /// Received tiles.
    queue: VecDeque<(u32, Vec<u8>)>,
    /// Decompressed tiles.
    decompressed: VecDeque<(u32, Vec<u8>)>,
    shown: Vec<u8>,
    stages: Vec<Stage>,
    ratios: Vec<(f64, f64)>,
    received: Option<Duration>,
}

/// Pictures of the display while it is filled.
const STAGES: u32 = 4;
/// Highest ratio of compression.
const MOST: usize = 16;
/// Part of the time to the deadline after which all tiles are to be received, so that displaying them does
/// not wait for the link.
const RECEIVED_BY: f64 = 0.8;
/// Arrivals from which the rate of the link is estimated.
const ESTIMATED: usize = 4;
/// Octets of a message beyond the tile, in all protocols.
const AROUND: usize = 160;

impl Transfer {
    pub(super) fn new(folder: FolderRef, download: Download, scale: f64) -> Self {
        Self {
            folder,
            began: Instant::now(),
            deadline: Duration::from_secs(download.deadline_s).div_f64(scale),
            scale,
            compresses: download.compresses,
            state: PiMutex::new(State {
                requested: 0,
                arrivals: VecDeque::new(),
                queue: VecDeque::new(),
                decompressed: VecDeque::new(),
                shown: vec![0; WIDTH * WIDTH],
                stages: Vec::new(),
                ratios: Vec::new(),
                received: None,
            }),
            displayed: AtomicU32::new(0),
            displayed_ns: AtomicU64::new(0),
            starved: AtomicU32::new(0),
        }
    }

    /// Fills the server's queue with requests.
    pub(super) fn begin(&self, capacity: u32) -> Result<(), SystemException> {
        (0..capacity).try_for_each(|_| self.request())
    }

    /// Returns the time since the request.
    pub(super) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    pub(super) fn deadline(&self) -> Duration {
        self.deadline
    }

    /// Queues a tile that has arrived, and requests the next one.
    pub(super) fn receive(&self, number: u32, compressed: &[u8]) -> Result<(), SystemException> {
        let now = self.elapsed();
        {
            let mut state = self.state.lock();
            state.arrivals.push_back((now, compressed.len() + AROUND));
            if state.arrivals.len() > ESTIMATED {
                state.arrivals.pop_front();
            }
            let ratio = PIXELS as f64 / compressed.len() as f64;
            state.ratios.push((now.as_secs_f64() * self.scale, ratio));
            state.received = Some(now);
            state.queue.push_back((number, compressed.to_vec()));
        }
        self.request()
    }

    fn request(&self) -> Result<(), SystemException> {
        let (number, octets) = {
            let mut state = self.state.lock();
            if state.requested == TILES {
                return Ok(());
            }
            state.requested += 1;
            (state.requested - 1, self.octets(&state))
        };
        self.folder.request(number, octets as u32)
    }

    /// Returns what a tile may have so that all are received in time at the present rate of the link.
    fn octets(&self, state: &State) -> usize {
        if !self.compresses {
            return 2 * PIXELS;
        }
        let least = PIXELS / MOST;
        let Some((first, _)) = state.arrivals.front().filter(|_| state.arrivals.len() > 1) else {
            return least;
        };
        let now = self.elapsed();
        let octets: usize = state.arrivals.iter().skip(1).map(|(_, octets)| octets).sum();
        let per_second = octets as f64 / (now - *first).as_secs_f64().max(1e-6);
        let time = self
            .deadline
            .mul_f64(RECEIVED_BY)
            .saturating_sub(now)
            .as_secs_f64();
        let to_receive = TILES - state.ratios.len() as u32;
        let each = per_second * time / f64::from(to_receive.max(1));
        (each as usize).saturating_sub(AROUND).clamp(least, PIXELS)
    }

    /// Takes the next received tile for decompression.
    pub(super) fn take(&self) -> Option<(u32, Vec<u8>)> {
        let next = self.state.lock().queue.pop_front();
        if next.is_none() && self.displayed.load(Relaxed) < TILES {
            self.starved.fetch_add(1, Relaxed);
        }
        next
    }

    /// Hands a decompressed tile on to its delivery.
    pub(super) fn hand_on(&self, number: u32, pixels: Vec<u8>) {
        self.state.lock().decompressed.push_back((number, pixels));
    }

    /// Delivers the next decompressed tile to the display.
    pub(super) fn deliver(&self) {
        let mut state = self.state.lock();
        let Some((number, pixels)) = state.decompressed.pop_front() else {
            return;
        };
        picture::put(&mut state.shown, number, &pixels);
        let now = self.elapsed();
        self.displayed_ns.store(now.as_nanos() as u64, Relaxed);
        let tiles = self.displayed.fetch_add(1, Relaxed) + 1;
        if tiles.is_multiple_of(TILES / STAGES) {
            let stage = Stage {
                at_s: now.as_secs_f64() * self.scale,
                tiles,
                pixels: picture::halved(&state.shown),
            };
            state.stages.push(stage);
        }
    }

    /// Adds what was shown and received to the download.
    pub(super) fn complete(&self, downloaded: Downloaded) -> Downloaded {
        let state = self.state.lock();
        let received = state.received.filter(|_| state.ratios.len() == TILES as usize);
        Downloaded {
            received_s: received.map(|at| at.as_secs_f64() * self.scale),
            ratios: state.ratios.clone(),
            quality_db: picture::quality(&picture::all(), &state.shown),
            stages: state.stages.clone(),
            ..downloaded
        }
    }
}

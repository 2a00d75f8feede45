//! The client process: the delegate that requests tiles, the queue of received ones, and the operations that
//! decompress and display them at the rates of the schedule.

mod flight;
mod transfer;

use std::{sync::Arc, time::Duration};

use punctual::{
    Orb, Priority, SystemException,
    transport::{Layered, Tcp},
};
use punctual_harness::child::{Role, Task, TaskEntry};
use punctual_link::Link as Delayed;
use punctual_os::PiMutex;
use serde::{Deserialize, Serialize};

use self::transfer::Transfer;
use super::{adaptation::Recomputation, radio};
use crate::{
    error::Error,
    idl::image::image::{Display, DisplayRef, FolderRef},
    load::network,
};

/// Delay of the link in each direction, in seconds of the paper: a terminal waits for its time slots.
const DELAY: Duration = Duration::from_millis(250);

/// The client process.
pub(crate) struct Client {
    setup: ClientSetup,
    link: Option<Link>,
}

/// The client's side of the link, once there is one.
struct Link {
    /// Keeps its servant.
    _orb: Orb,
    folder: FolderRef,
    display: DisplayRef,
    /// The transfer to which arriving tiles belong.
    current: Arc<PiMutex<Option<Arc<Transfer>>>>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ClientSetup {
    /// Reference of the folder.
    pub(super) folder: String,
    /// Divisor of times.
    pub(super) scale: f64,
}

impl Role for Client {
    const NAME: &'static str = "__image-client";
    type Setup = ClientSetup;
    type Ready = ();
    const TASKS: &'static [TaskEntry<Self>] = &[
        TaskEntry::of::<PluggedIn>(),
        TaskEntry::of::<Download>(),
        TaskEntry::of::<Repeat>(),
    ];

    fn start(setup: ClientSetup) -> Result<(Self, ()), Error> {
        network::separate()?;
        Ok((Self { setup, link: None }, ()))
    }
}

/// Bring up the client's end of the link, which is now in this namespace, and vary what it sends.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct PluggedIn;

impl Task<Client> for PluggedIn {
    const NAME: &'static str = "plugged-in";
    type Reply = ();

    fn perform(self, client: &mut Client) -> Result<(), Error> {
        network::connect()?;
        radio::vary(network::CLIENT_END, client.setup.scale)?;
        let delayed = Delayed::new(DELAY.div_f64(client.setup.scale));
        let orb = Orb::builder()
            .transport(Layered::new(Tcp, delayed))
            .listen(format!("iiop://{}:0", network::CLIENT))
            .build()?;
        let folder: FolderRef = orb.resolve(&client.setup.folder)?;
        let current = Arc::new(PiMutex::new(None));
        let servant = Screen(Arc::clone(&current));
        // Tiles are received while operations use the processor.
        let pool = orb
            .threadpool()
            .threads(1)
            .default_priority(Priority::MAX)
            .build()?;
        let adapter = orb.root_poa().child("display").threadpool(&pool).build()?;
        let display: DisplayRef = adapter.activate(servant)?;
        client.link = Some(Link {
            _orb: orb,
            folder,
            display,
            current,
        });
        Ok(())
    }
}

/// Puts arriving tiles into the queue of the current transfer.
struct Screen(Arc<PiMutex<Option<Arc<Transfer>>>>);

impl Display for Screen {
    fn tile(&self, number: u32, compressed: &[u8]) -> Result<(), SystemException> {
        let current = self.0.lock().clone();
        match current {
            Some(transfer) => transfer.receive(number, compressed),
            None => Ok(()),
        }
    }
}

/// Download an image.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Download {
    /// In seconds of the paper.
    pub(super) deadline_s: u64,
    /// Whether rates are adapted.
    pub(super) adapts: bool,
    /// Whether tiles are compressed.
    pub(super) compresses: bool,
}

/// Course of a download. Times are seconds of the paper since its request.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Downloaded {
    pub(super) recomputations: Vec<Recomputation>,
    /// When the last tile was displayed, unless that came too late to be waited for.
    pub(super) displayed_s: Option<f64>,
    pub(super) displayed: u32,
    /// When the last tile was received.
    pub(super) received_s: Option<f64>,
    /// Times and ratios of compression, by tile.
    pub(super) ratios: Vec<(f64, f64)>,
    /// Number of decompressions that found no tile.
    pub(super) starved: u32,
    /// Requests that found the server's queue full.
    pub(super) refused: u32,
    /// Ratio of signal to noise of the displayed image.
    pub(super) quality_db: f64,
    /// Period of decompression at the end, as the seconds of an image.
    pub(super) image_s: f64,
    /// The display after each quarter of the tiles.
    pub(super) stages: Vec<Stage>,
}

/// The display at one time.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Stage {
    pub(super) at_s: f64,
    pub(super) tiles: u32,
    /// Pixels of the picture in half its size.
    pub(super) pixels: Vec<u8>,
}

impl Task<Client> for Download {
    const NAME: &'static str = "download";
    type Reply = Downloaded;

    fn perform(self, client: &mut Client) -> Result<Downloaded, Error> {
        let link = client.link.as_ref().ok_or("there is no link")?;
        let capacity = link.folder.open(Some(&link.display))?;
        let transfer = Arc::new(Transfer::new(link.folder.clone(), self, client.setup.scale));
        *link.current.lock() = Some(Arc::clone(&transfer));
        transfer.begin(capacity)?;
        let downloaded = flight::fly(&transfer, self, client.setup.scale);
        *link.current.lock() = None;
        let mut downloaded = downloaded?;
        downloaded.refused = link.folder.refused()?;
        Ok(downloaded)
    }
}

/// Repeat the computations of downloads.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Repeat(pub(super) Vec<(Download, Vec<Recomputation>)>);

impl Task<Client> for Repeat {
    const NAME: &'static str = "repeat";
    /// Median processor time of each computation, in microseconds.
    type Reply = Vec<Vec<f64>>;

    fn perform(self, client: &mut Client) -> Result<Self::Reply, Error> {
        flight::repeat(self.0, client.setup.scale)
    }
}

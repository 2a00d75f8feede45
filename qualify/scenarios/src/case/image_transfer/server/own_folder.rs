//! The image folder on Punctual.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
    mpsc::{self, SyncSender},
};

use punctual::{Orb, SystemException};
use punctual_os::{PiMutex, ThreadSpec};

use super::{Images, QUEUE};
use crate::{
    error::Error,
    idl::image::image::{DisplayRef, Folder, FolderRef},
};

/// Serves the folder at this address; returns its reference. It exists as long as the ORB.
pub(super) fn serve(address: &str) -> Result<(Orb, String), Error> {
    let orb = Orb::builder().listen(format!("iiop://{address}:0")).build()?;
    let (requests, waiting) = mpsc::sync_channel(QUEUE);
    let display = Arc::new(PiMutex::new(None::<DisplayRef>));
    let folder = VirtualFolder {
        requests,
        display: Arc::clone(&display),
        refused: AtomicU32::new(0),
    };
    ThreadSpec::new("collaboration").spawn(move || {
        let images = Images::new();
        for (number, octets) in waiting {
            let compressed = images.tile(number, octets);
            let display = display.lock().clone();
            // A lost tile is a lost image: the client reports it.
            let _ = display.map(|display| display.tile(number, &compressed));
        }
    })?;
    let pool = orb.threadpool().threads(1).build()?;
    let adapter = orb.root_poa().child("folder").threadpool(&pool).build()?;
    let folder: FolderRef = adapter.activate(folder)?;
    let reference = folder.to_ior();
    Ok((orb, reference))
}

struct VirtualFolder {
    requests: SyncSender<(u32, u32)>,
    display: Arc<PiMutex<Option<DisplayRef>>>,
    refused: AtomicU32,
}

impl Folder for VirtualFolder {
    fn open(&self, screen: Option<DisplayRef>) -> Result<u32, SystemException> {
        *self.display.lock() = screen;
        self.refused.store(0, Relaxed);
        Ok(QUEUE as u32)
    }

    fn request(&self, number: u32, octets: u32) -> Result<(), SystemException> {
        if self.requests.try_send((number, octets)).is_err() {
            self.refused.fetch_add(1, Relaxed);
        }
        Ok(())
    }

    fn refused(&self) -> Result<u32, SystemException> {
        Ok(self.refused.load(Relaxed))
    }
}

//! The server process: the queue of tile requests, and the collaboration server that compresses and sends
//! them; and the process that loads the server, as [Gill 2004] figure 9 has it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
        mpsc::{self, SyncSender},
    },
    thread,
    time::Duration,
};

use punctual::{Orb, SystemException};
use punctual_harness::child::{Role, Task, TaskEntry};
use punctual_os::{PiMutex, ThreadSpec, clock};
use serde::{Deserialize, Serialize};

use super::{codec, picture};
use crate::{
    error::Error,
    idl::image::image::{DisplayRef, Folder, FolderRef},
    load::network::{self, SERVER_END},
};

/// Requests that wait at the server.
const QUEUE: usize = 4;
/// Bits per second of the link, and for how long: a narrow link that becomes narrower at times. Rates are
/// those of Link-16 terminals.
const LINK: [(u64, Duration); 2] = [
    (28_800, Duration::from_secs(12)),
    (19_200, Duration::from_secs(6)),
];

/// The server process.
pub(crate) struct Server {
    /// Keeps its servants.
    _orb: Orb,
    setup: ServerSetup,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct ServerSetup {
    /// By what times are divided, and rates multiplied.
    pub(super) scale: f64,
}

impl Role for Server {
    const NAME: &'static str = "__image-server";
    type Setup = ServerSetup;
    /// Reference of the folder.
    type Ready = String;
    const TASKS: &'static [TaskEntry<Self>] = &[TaskEntry::of::<Plug>()];

    fn start(setup: ServerSetup) -> Result<(Self, String), Error> {
        network::make_cable()?;
        let orb = Orb::builder()
            .listen(format!("iiop://{}:0", network::SERVER))
            .build()?;
        let (requests, waiting) = mpsc::sync_channel(QUEUE);
        let display = Arc::new(PiMutex::new(None::<DisplayRef>));
        let folder = VirtualFolder {
            requests,
            display: Arc::clone(&display),
            refused: AtomicU32::new(0),
        };
        ThreadSpec::new("collaboration").spawn(move || {
            let picture = picture::all();
            for (number, octets) in waiting {
                let compressed = codec::compress(&picture::tile(&picture, number), octets as usize);
                let display = display.lock().clone();
                // A lost tile is a lost image: the client reports it.
                let _ = display.map(|display| display.tile(number, &compressed));
            }
        })?;
        let pool = orb.threadpool().threads(1).build()?;
        let adapter = orb.root_poa().child("folder").threadpool(&pool).build()?;
        let folder: FolderRef = adapter.activate(folder)?;
        let reference = folder.to_ior();
        Ok((Self { _orb: orb, setup }, reference))
    }
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

/// Move the other end of the link to the client process, and vary the link from then on.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Plug {
    pub(super) client: u32,
}

impl Task<Server> for Plug {
    const NAME: &'static str = "plug";
    type Answer = ();

    fn perform(self, server: &mut Server) -> Result<(), Error> {
        network::plug_into(self.client)?;
        let scale = server.setup.scale;
        let limit = move |bits: u64| network::limit(SERVER_END, (bits as f64 * scale) as u64);
        limit(LINK[0].0)?;
        ThreadSpec::new("link").spawn(move || {
            for (bits, duration) in LINK.into_iter().cycle() {
                if let Err(error) = limit(bits) {
                    eprintln!("the link does not vary: {error}");
                    return;
                }
                thread::sleep(duration.div_f64(scale));
            }
        })?;
        Ok(())
    }
}

/// The process that loads the server.
pub(crate) struct Environment;

/// What it uses of each period.
const USED: (Duration, Duration) = (Duration::from_millis(6), Duration::from_millis(20));

impl Role for Environment {
    const NAME: &'static str = "__image-environment";
    type Setup = ();
    type Ready = ();
    const TASKS: &'static [TaskEntry<Self>] = &[];

    fn start((): ()) -> Result<(Self, ()), Error> {
        ThreadSpec::new("environment").spawn(|| {
            loop {
                let end = clock::thread_cpu_time() + USED.0;
                while clock::thread_cpu_time() < end {
                    std::hint::spin_loop();
                }
                thread::sleep(USED.1 - USED.0);
            }
        })?;
        Ok((Self, ()))
    }
}

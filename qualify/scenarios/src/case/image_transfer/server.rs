//! The server process: the queue of tile requests, and the collaboration server that compresses and sends
//! them; and the process that loads the server, as [Gill 2004] figure 9 has it.

mod other_folder;
mod own_folder;
#[cfg(test)]
mod tests;

use std::{path::PathBuf, thread, time::Duration};

use punctual::Orb;
use punctual_harness::child::{Role, Task, TaskEntry};
use punctual_os::{ThreadSpec, clock};
use serde::{Deserialize, Serialize};

use super::{codec, picture, radio};
use crate::{
    error::{Error, Missing},
    load::network::{self, SERVER_END},
};

/// Requests that wait at the server.
const QUEUE: usize = 4;

/// The server process.
pub(crate) struct Server {
    /// Keeps the servant, unless another program has it.
    _orb: Option<Orb>,
    setup: ServerSetup,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ServerSetup {
    /// The program that serves the folder on another ORB; `None`: this one does, on Punctual.
    pub(super) program: Option<PathBuf>,
    /// Divisor of times, and factor of rates.
    pub(super) scale: f64,
}

impl Role for Server {
    const NAME: &'static str = "__image-server";
    type Setup = ServerSetup;
    /// Reference of the folder, or what is missing.
    type Ready = Result<String, String>;
    const TASKS: &'static [TaskEntry<Self>] = &[TaskEntry::of::<Plug>()];

    fn start(setup: ServerSetup) -> Result<(Self, Self::Ready), Error> {
        if let Err(missing) = Missing::of(network::make_cable())? {
            return Ok((Self { _orb: None, setup }, Err(missing)));
        }
        let (orb, reference) = match &setup.program {
            Some(program) => (None, other_folder::serve(program, network::SERVER)?),
            None => {
                let (orb, reference) = own_folder::serve(network::SERVER)?;
                (Some(orb), reference)
            }
        };
        Ok((Self { _orb: orb, setup }, Ok(reference)))
    }
}

/// The pictures of the server, which it compresses.
struct Images {
    picture: Vec<u8>,
}

impl Images {
    fn new() -> Self {
        Self {
            picture: picture::all(),
        }
    }

    /// Returns a tile in this number of octets at most.
    fn tile(&self, number: u32, octets: u32) -> Vec<u8> {
        codec::compress(&picture::tile(&self.picture, number), octets as usize)
    }
}

/// Move the other end of the link to the client process, and vary what this one sends from then on.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Plug {
    pub(super) client: u32,
}

impl Task<Server> for Plug {
    const NAME: &'static str = "plug";
    type Reply = ();

    fn perform(self, server: &mut Server) -> Result<(), Error> {
        network::plug_into(self.client)?;
        radio::vary(SERVER_END, server.setup.scale)
    }
}

/// The process that loads the server.
pub(crate) struct Environment;

/// Processor time that it uses, and the period.
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

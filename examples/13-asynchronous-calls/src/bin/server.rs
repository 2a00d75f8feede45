//! Exposes stars one after the other, on a thread of its own. The lane's thread never waits for that.

use std::{sync::mpsc, thread, time::Duration};

use punctual::ResponseHandler;
use punctual::prelude::*;

punctual::include_idl!("observatory");
use observatory::{Camera, CameraRef, Clouded, camera::ExposeError};

/// A star, and the right to answer its request.
type Exposure = (i16, ResponseHandler<i32, ExposeError>);

struct Shutter(mpsc::SyncSender<Exposure>);

impl Camera for Shutter {
    fn expose(&self, star: i16, response: ResponseHandler<i32, ExposeError>) {
        // A handler that finds no room is dropped: its client gets NO_RESPONSE at once.
        let _ = self.0.try_send((star, response));
    }
}

fn main() -> Result<(), OrbError> {
    let (sender, exposures) = mpsc::sync_channel::<Exposure>(16);
    thread::spawn(move || {
        for (star, response) in exposures {
            // No exposure is made for a client that has gone or no longer waits.
            if !response.is_awaited() {
                continue;
            }
            thread::sleep(Duration::from_millis(50));
            response.respond(match star {
                1.. => Ok(100 * i32::from(star)),
                _ => Err(ExposeError::from(Clouded {
                    reason: "no such star".into(),
                })),
            });
        }
    });
    let orb = Orb::builder().listen("iiop://localhost:2913").build()?;
    let pool = orb.threadpool().build()?;
    let poa = orb.root_poa().child("cameras").threadpool(&pool).build()?;
    let camera: CameraRef = poa.activate(Shutter(sender))?;
    println!("Camera at {}", orb.publish("Camera", &camera)?);
    orb.run();
    Ok(())
}

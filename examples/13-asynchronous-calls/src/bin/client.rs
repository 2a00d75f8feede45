//! Has several exposures under way at once, and gets their results in three ways.

use std::time::Duration;

use punctual::prelude::*;

punctual::include_idl!("observatory");
use observatory::CameraRef;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().build()?;
    // Its thread reads the replies to calls of any priority.
    orb.set_reply_threadpool(&orb.threadpool().lane(Priority::MAX, 1).build()?)?;
    let camera: CameraRef = orb.resolve("corbaloc::localhost:2913/Camera")?;

    // Both requests are sent before the first wait. `AsyncCall` is a future, too.
    let (first, second) = (camera.expose_async(1), camera.expose_async(2));
    println!("waiting: {} and {} photons", first.wait()?, second.wait()?);

    // Polling: something else is done until the reply is there.
    let mut third = camera.expose_async(3);
    let mut turns = 0;
    while !third.is_ready_within(Duration::from_millis(5)) {
        turns += 1;
    }
    println!(
        "polling: {} photons, meanwhile turned: {}",
        third.wait()?,
        turns > 0
    );

    // Callbacks: the handlers run on the thread that asks the queue.
    let (callbacks, queue) = orb.callbacks(4);
    for star in [4, 0] {
        callbacks.deliver(camera.expose_async(star), move |photons| match photons {
            Ok(photons) => println!("callback: {photons} photons of star {star}"),
            Err(error) => println!("callback: {error}"),
        })?;
    }
    for _ in 0..2 {
        queue.deliver_next(Duration::from_secs(10));
    }
    Ok(())
}

//! Both servers, ours and the one on omniORB, send what is requested and refuse what their queue cannot hold.

use std::{fs, os::unix::fs::MetadataExt, sync::mpsc, time::Duration};

use punctual::SystemException;
use punctual_fixtures::{Folder, LONG, Missing, eventually, skip};
use punctual_os::PiMutex;

use super::*;
use crate::{
    idl::image::image::{Display, DisplayRef, FolderRef},
    omniorb,
};

const HERE: &str = "127.0.0.1";

struct Screen(PiMutex<mpsc::Sender<(u32, Vec<u8>)>>);

impl Display for Screen {
    fn tile(&self, number: u32, compressed: &[u8]) -> Result<(), SystemException> {
        let _ = self.0.lock().send((number, compressed.to_vec()));
        Ok(())
    }
}

/// Requests tiles one after the other, and compares what arrives.
fn transfers(reference: &str) {
    let orb = Orb::builder().listen(format!("iiop://{HERE}")).build().unwrap();
    let (sender, tiles) = mpsc::channel();
    let screen: DisplayRef = orb.root_poa().activate(Screen(PiMutex::new(sender))).unwrap();
    let serving = orb.clone();
    let server = thread::spawn(move || serving.run());
    let folder: FolderRef = orb.resolve(reference).unwrap();
    assert_eq!(folder.open(Some(&screen)).unwrap(), QUEUE as u32);
    let images = Images::new();
    for (number, octets) in [(0, 256), (9, 4_000), (63, 1)] {
        folder.request(number, octets).unwrap();
        assert_eq!(
            tiles.recv_timeout(LONG).unwrap(),
            (number, images.tile(number, octets))
        );
    }
    // A burst: some of it is compressed, some waits, and some is refused.
    const BURST: u32 = 100;
    (0..BURST).for_each(|number| folder.request(number % 64, 4_000).unwrap());
    // omniORB may answer before it has executed all requests of the connection.
    let mut sent = 0;
    eventually("all are sent or refused", || {
        sent += tiles.try_iter().count() as u32;
        sent + folder.refused().unwrap() == BURST
    });
    assert!(sent < BURST, "the queue has room for {QUEUE}");
    assert!(tiles.recv_timeout(Duration::from_millis(50)).is_err());
    assert_eq!(folder.open(None).unwrap(), QUEUE as u32);
    assert_eq!(folder.refused().unwrap(), 0);
    orb.shutdown();
    server.join().unwrap();
}

#[test]
fn our_folder_sends_what_is_requested() {
    let (orb, reference) = own_folder::serve(HERE).unwrap();
    transfers(&reference);
    orb.shutdown();
}

#[test]
fn so_does_the_one_on_omniorb() {
    if let Some(missing) = omniorb::missing() {
        return skip(Missing::Peer, missing);
    }
    let folder = Folder::new("peers");
    let program = omniorb::build_in(&folder).unwrap();
    let reference = other_folder::serve(&program, HERE).unwrap();
    transfers(&reference);
    // It is built once.
    let built = fs::metadata(&program).unwrap().ino();
    assert_eq!(omniorb::build_in(&folder).unwrap(), program);
    assert_eq!(fs::metadata(&program).unwrap().ino(), built);
    assert_eq!(fs::read_dir(&*folder).unwrap().count(), 1);
}

//! Valid calls with arrays and structs of a megabyte, on lanes with the default stack.

use std::{
    ops::Deref,
    sync::atomic::{AtomicI32, Ordering},
    thread,
};

use punctual::{ObjectRef, Orb, OrbError, SystemException, rt::Skeleton};
use punctual_cdr::filled_array;
use punctual_fixtures::{
    attacks::{
        Archive, ArchiveRef, Camera, CameraRef, Frame, Heights, House, Painter, PainterRef, Panorama, Room,
    },
    server::client,
};

#[derive(Default)]
struct Eye(AtomicI32);

impl Camera for Eye {
    fn put(&self, shot: &Frame) -> Result<(), SystemException> {
        self.0.store(shot[999_999].into(), Ordering::SeqCst);
        Ok(())
    }

    fn take(&self, shot: &mut Frame) -> Result<(Box<Frame>, Box<Heights>), SystemException> {
        let mut taken: Box<Frame> = filled_array(3);
        taken.swap_with_slice(shot);
        let mut terrain: Box<Heights> = filled_array([0; 500]);
        terrain[599][499] = 8848;
        Ok((taken, terrain))
    }

    fn ping(&self) -> Result<i32, SystemException> {
        Ok(self.0.load(Ordering::SeqCst))
    }
}

impl Painter for Eye {
    fn paint(&self, from: &Panorama, over: &mut Panorama) -> Result<(Panorama, Panorama), SystemException> {
        let before = over.clone();
        over.clone_from(from);
        Ok((before, from.clone()))
    }

    fn ping(&self) -> Result<i32, SystemException> {
        Ok(1)
    }
}

impl Archive for Eye {
    fn put(&self, all: &House) -> Result<i32, SystemException> {
        Ok(matches!(all.only, Room::Only(_)).into())
    }
}

/// Runs a client on a thread with a large stack: what a client does with its own values is its own affair.
fn with_large_stack(run: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let client = thread::Builder::new()
            .stack_size(64 << 20)
            .spawn_scoped(scope, run);
        client.unwrap().join().unwrap();
    });
}

fn server() -> Orb {
    Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .lock_memory(false)
        .build()
        .unwrap()
}

#[test]
fn arrays_of_a_megabyte_need_no_stack() {
    let server = server();
    let pool = server.threadpool().build().unwrap();
    let poa = server
        .root_poa()
        .child("cameras")
        .threadpool(&pool)
        .build()
        .unwrap();
    let camera: CameraRef = poa.activate(Eye::default()).unwrap();
    let client = client();
    let remote: CameraRef = client.resolve(&camera.to_ior()).unwrap();
    for camera in [&remote, &camera] {
        let mut shot: Box<Frame> = filled_array(7);
        camera.put(&shot).unwrap();
        assert_eq!(camera.ping(), Ok(7));
        let (taken, terrain) = camera.take(&mut shot).unwrap();
        assert_eq!((taken[999_999], shot[999_999], terrain[599][499]), (7, 3, 8848));
        let (mut again, mut heights) = (filled_array(0), filled_array([0; 500]));
        camera.take_into(&mut shot, &mut again, &mut heights).unwrap();
        assert_eq!((again[0], shot[0], heights[599][499]), (3, 3, 8848));
    }
    server.shutdown_and_wait().unwrap();
}

/// Octets of stack that the activation of a servant on a small stack asks for.
fn needed<R: Skeleton<Eye> + 'static>(server: &Orb, name: &str) -> usize {
    let small = server.threadpool().stack_bytes(512 << 10).build().unwrap();
    let poa = server.root_poa().child(name).threadpool(&small).build().unwrap();
    match poa.activate::<R, _>(Eye::default()) {
        Err(OrbError::StackTooSmall {
            interface,
            stack_bytes,
            needed,
        }) => {
            assert_eq!((&interface[..], stack_bytes), (R::REPOSITORY_ID, 512 << 10));
            needed
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("activated"),
    }
}

/// Activates a servant on a stack of this size, and returns a reference for a client.
fn activated<R: Skeleton<Eye> + Deref<Target = ObjectRef> + 'static>(
    server: &Orb,
    client: &Orb,
    stack_bytes: usize,
) -> R {
    let pool = server.threadpool().stack_bytes(stack_bytes).build().unwrap();
    let name = R::REPOSITORY_ID.replace('/', "-");
    let poa = server.root_poa().child(&name).threadpool(&pool).build().unwrap();
    let object: R = poa.activate(Eye::default()).unwrap();
    client.resolve(&object.to_ior()).unwrap()
}

#[test]
fn a_stack_that_is_too_small_for_an_interface_is_an_error_at_activation() {
    let (server, client) = (server(), client());
    // With as much as the error names, the largest operation works.
    let stack = needed::<PainterRef>(&server, "painters");
    let painter: PainterRef = activated(&server, &client, stack);
    let stack = needed::<ArchiveRef>(&server, "archives");
    let archive: ArchiveRef = activated(&server, &client, stack);
    with_large_stack(|| {
        let (mut from, mut over) = (Panorama::default(), Panorama::default());
        (from.left.first[0], over.right.fifth[4095]) = (1, 2);
        let (returned, besides) = painter.paint(&from, &mut over).unwrap();
        assert_eq!(returned.right.fifth[4095], 2);
        assert!(over == from && besides == from);
        assert_eq!(archive.put(&House::default()), Ok(1));
    });
    assert_eq!(painter.ping(), Ok(1));
    server.shutdown_and_wait().unwrap();
}

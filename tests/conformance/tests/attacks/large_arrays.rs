//! Valid calls with large arrays and structs, on lanes with stacks of the default size or less.

use std::{
    ops::Deref,
    sync::atomic::{AtomicI32, Ordering},
    thread,
};

use punctual::{
    Limits, ObjectRef, Orb, OrbError, Priority, SystemException,
    any::Any,
    dynamic::{DynamicServant, RequestError, Upcall},
    rt::Skeleton,
};
use punctual_cdr::{Shared, filled_array};
use punctual_fixtures::{
    attacks::{
        Archive, ArchiveRef, Camera, CameraRef, Forest, ForestRef, Frame, Heights, Leaf, Mosaic, MosaicView,
        Painter, PainterRef, Panorama, Room, RoomView, Torn, Tree, TreeView, Trunk, painter::LookError,
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
    fn put(&self, all: MosaicView<'_>) -> Result<(), SystemException> {
        self.0.store(all.t199[1999].into(), Ordering::SeqCst);
        Ok(())
    }

    fn paint(&self, from: MosaicView<'_>, over: &mut Mosaic) -> Result<(Mosaic, Mosaic), SystemException> {
        let before = std::mem::replace(over, from.to_owned());
        Ok((before, from.to_owned()))
    }

    fn look(&self, at: RoomView<'_>, from: &mut Panorama) -> Result<Room, LookError> {
        match at.to_owned() {
            Room::View(view) => Ok(Room::View(std::mem::replace(from, view))),
            inside => Err(Torn {
                r#where: std::mem::take(&mut from.right),
                inside,
            }
            .into()),
        }
    }

    fn only_returned(&self) -> Result<Mosaic, SystemException> {
        let mut mosaic = Mosaic::default();
        mosaic.t0[0] = 9;
        Ok(mosaic)
    }

    fn ping(&self) -> Result<i32, SystemException> {
        Ok(self.0.load(Ordering::SeqCst))
    }
}

impl Archive for Eye {
    fn store(
        &self,
        a0: &Leaf,
        a1: &Leaf,
        a2: &Leaf,
        a3: &Leaf,
        a4: &Leaf,
        a5: &Leaf,
        a6: &Leaf,
        a7: &Leaf,
        a8: &Leaf,
        a9: &Leaf,
        a10: &Leaf,
        a11: &Leaf,
        b0: &mut Leaf,
        b1: &mut Leaf,
        b2: &mut Leaf,
        b3: &mut Leaf,
        b4: &mut Leaf,
        b5: &mut Leaf,
    ) -> Result<(Leaf, Leaf, Leaf, Leaf, Leaf, Leaf), SystemException> {
        for (inout, given) in [b0, b1, b2, b3, b4, b5].into_iter().zip([a0, a1, a2, a3, a4, a5]) {
            inout.clone_from(given);
        }
        Ok((
            a6.clone(),
            a7.clone(),
            a8.clone(),
            a9.clone(),
            a10.clone(),
            a11.clone(),
        ))
    }
}

impl Forest for Eye {
    fn height(&self, all: TreeView<'_>) -> Result<i32, SystemException> {
        let mut height = 1;
        let mut branches = all.branches;
        while let [only] = branches {
            (height, branches) = (height + 1, only.branches);
        }
        Ok(height)
    }

    fn trunks(&self, lowest: Option<Shared<Trunk>>) -> Result<i32, SystemException> {
        let above = |trunk: &Shared<Trunk>| trunk.above.clone();
        Ok(std::iter::successors(lowest, above).count() as i32)
    }
}

/// Octets of the smallest stack of these tests.
const SMALL_STACK: usize = 256 << 10;

/// Runs a client on a thread with a stack of this size.
fn with_stack(octets: usize, run: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let client = thread::Builder::new().stack_size(octets).spawn_scoped(scope, run);
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

struct Plain;

impl DynamicServant for Plain {
    fn repository_id(&self) -> String {
        "IDL:Plain:1.0".into()
    }

    fn invoke(&self, request: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
        Err(request.unknown_operation().into())
    }
}

/// Each level of nesting above the default needs stack, whatever the size of the values.
#[test]
fn more_levels_of_nesting_need_more_stack() {
    let server = |max_nesting| {
        let limits = Limits::default().max_nesting(max_nesting);
        Orb::builder().listen("iiop://127.0.0.1:0").limits(limits).build()
    };
    let error = server(513).err().expect("more than a stack is used for");
    assert!(matches!(error, OrbError::NestingLimit(513)), "{error}");
    let activated = |max_nesting| {
        let server = server(max_nesting).unwrap();
        let small = server.threadpool().stack_bytes(1 << 20).build().unwrap();
        let poa = server
            .root_poa()
            .child("small")
            .threadpool(&small)
            .build()
            .unwrap();
        match poa.activate::<ObjectRef, _>(Plain) {
            Ok(_) => None,
            Err(OrbError::StackTooSmall { needed, .. }) => Some(needed),
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(activated(64), None);
    assert_eq!(activated(288), None, "128 KiB, and 4 KiB for each level above 64");
    assert_eq!(
        activated(512),
        Some((128 + 448 * 4) << 10),
        "it fits into the default, 2 MiB"
    );
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
fn structs_of_400_kilobytes_need_no_stack() {
    let (server, client) = (server(), client());
    let replies = client
        .threadpool()
        .stack_bytes(SMALL_STACK)
        .lane(Priority::MAX, 1);
    client.set_reply_threadpool(&replies.build().unwrap()).unwrap();
    let painter: PainterRef = activated(&server, &client, SMALL_STACK);
    with_stack(SMALL_STACK, || {
        let (mut from, mut over) = (Mosaic::default(), Mosaic::default());
        (from.t199[1999], from.title) = (7, String::from("from"));
        over.t100[1000] = 8;
        painter.put(&from).unwrap();
        assert_eq!(painter.ping(), Ok(7));
        let before = over.clone();
        let (returned, besides) = painter.paint(&from, &mut over).unwrap();
        assert!(returned == before && over == from && besides == from);
        let (mut returned, mut besides) = (Mosaic::default(), Mosaic::default());
        painter
            .paint_into(&from, &mut over, &mut returned, &mut besides)
            .unwrap();
        assert!(returned == from && over == from && besides == from);
        assert_eq!(painter.only_returned().unwrap().t0[0], 9);
        assert_eq!(painter.only_returned_async().wait().unwrap().t0[0], 9);
    });
    server.shutdown_and_wait().unwrap();
}

#[test]
fn structs_unions_and_exceptions_are_large_through_what_they_contain() {
    let (server, client) = (server(), client());
    let painter: PainterRef = activated(&server, &client, SMALL_STACK);
    with_stack(SMALL_STACK, || {
        let (mut view, mut panorama) = (Panorama::default(), Panorama::default());
        view.right.fifth.sum = 5;
        panorama.left.first.first[0] = 1;
        let room = Room::View(view.clone());
        let Ok(Room::View(found)) = painter.look(&room, &mut panorama) else {
            panic!("no view");
        };
        assert!(found.left.first.first[0] == 1 && panorama == view);
        let wall = Room::Wall(Default::default());
        let Err(LookError::Torn(torn)) = painter.look(&wall, &mut panorama) else {
            panic!("not torn");
        };
        assert!(torn.r#where.fifth.sum == 5 && torn.inside == wall);
    });
    server.shutdown_and_wait().unwrap();
}

#[test]
fn a_stack_that_is_too_small_for_an_interface_is_an_error_at_activation() {
    let (server, client) = (server(), client());
    // With as much as the error names, the largest operation works.
    let stack = needed::<ArchiveRef>(&server, "archives");
    let archive: ArchiveRef = activated(&server, &client, stack);
    let stack = needed::<ForestRef>(&server, "forests");
    let forest: ForestRef = activated(&server, &client, stack);
    with_stack(64 << 20, || {
        let leaf = |octet| Leaf { whole: [octet; 4096] };
        let given: [Leaf; 12] = std::array::from_fn(|number| leaf(number as u8));
        let [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11] = &given;
        let mut inout: [Leaf; 6] = std::array::from_fn(|_| leaf(99));
        let [b0, b1, b2, b3, b4, b5] = &mut inout;
        let (first, .., last) = archive
            .store(
                a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, b0, b1, b2, b3, b4, b5,
            )
            .unwrap();
        assert!(inout == given[..6] && first == given[6] && last == given[11]);
        let mut tree = Tree::default();
        for _ in 1..64 {
            tree = Tree {
                bark: [3; 2000],
                branches: vec![tree],
            };
        }
        assert_eq!(forest.height(&tree), Ok(64));
        let higher = |above: Option<Shared<Trunk>>| {
            let bark = [3; 2000];
            Some(Shared::new(Trunk { bark, above }))
        };
        let lowest = (0..63).fold(None, |above, _| higher(above));
        assert_eq!(forest.trunks(lowest.as_ref()), Ok(63));
    });
    server.shutdown_and_wait().unwrap();
}

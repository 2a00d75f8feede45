//! Large arrays through an ORB in memory: lent to servants, boxed for owners, in every place of a type.

use std::mem;

use punctual_cdr::{Endian, Shared, boxed_array, filled_array};
use punctual_generated_tests::{
    MemoryOrb,
    large_arrays::large_arrays::{self as idl, mover::MoveChestError, *},
};
use punctual_types::SystemException;

type Outcome<T> = Result<T, SystemException>;

const ORDERS: [Endian; 2] = [Endian::Big, Endian::Little];

/// Gives back `a`; `c` becomes what `b` was, `b` becomes `a`.
struct Moving;

macro_rules! moves {
    ($($method:ident($given:ty, $referred:ty => $owned:ty) $convert:expr, $place:expr;)*) => {$(
        fn $method(&self, a: $given, b: &mut $referred) -> Outcome<($owned, $owned)> {
            let convert: fn($given) -> $owned = $convert;
            let place: fn(&mut $owned) -> &mut $referred = $place;
            let a = convert(a);
            let mut c = a.clone();
            mem::swap(place(&mut c), b);
            Ok((a, c))
        }
    )*};
}

impl idl::Mover for Moving {
    moves! {
        move_frame(&Frame, Frame => Box<Frame>) |a| Box::new(*a), |c| c;
        move_samples(&Samples, Samples => Box<Samples>) |a| Box::new(*a), |c| c;
        move_picture(&Picture, Picture => Box<Picture>) |a| Box::new(*a), |c| c;
        move_album([&[u8; 20000]; 3], Album => Album) |a| a.map(|page| Box::new(*page)), |c| c;
        move_library(&[&str; 300], Library => Box<Library>)
            |a| boxed_array(a.iter().map(|text| (*text).to_owned())), |c| c;
        move_crowd(&Crowd, Crowd => Box<Crowd>) |a| Box::new(a.clone()), |c| c;
        move_film(&[&Frame], Film => Film) |a| a.iter().map(|frame| Box::new(**frame)).collect(), |c| c;
        move_corners(&Corners, Corners => Box<Corners>) |a| Box::new(a.clone()), |c| c;
        move_shot(ShotView<'_>, Shot => Shot) |a| a.to_owned(), |c| c;
        move_media(MediaView<'_>, Media => Media) |a| a.to_owned(), |c| c;
        move_machine(MachineView<'_>, Machine => Machine) |a| a.to_owned(), |c| c;
        move_fleet(&Fleet, Fleet => Fleet) |a| a.clone(), |c| c;
    }

    fn move_chest(&self, a: Option<Shared<Chest>>) -> Result<Option<Shared<Chest>>, MoveChestError> {
        let chest = a.expect("a chest");
        if chest.inside.name.is_empty() {
            let (one, code) = (chest.inside.clone(), chest.upper.clone());
            return Err(Broken { one, code }.into());
        }
        Ok(Some(chest))
    }

    fn latest(&self) -> Outcome<Box<Frame>> {
        Ok(filled_array(9))
    }

    fn set_latest(&self, value: &Frame) -> Outcome<()> {
        assert_eq!(*value, [8; 5000]);
        Ok(())
    }
}

struct One;

impl idl::Counter for One {
    fn increase(&self, n: i32) -> Outcome<i32> {
        Ok(n + 1)
    }
}

macro_rules! check {
    ($object:expr; $($method:ident, $into:ident, $asynchronous:ident $a:expr, $b:expr;)*) => {$({
        let (a, b) = ($a, $b);
        let mut inout = b.clone();
        let (mut result, mut out) = $object.$method(&a, &mut inout).unwrap();
        assert!((&result, &inout, &out) == (&a, &a, &b), stringify!($method));
        // Twice: the second time the lane's own values have been used before.
        for _ in 0..2 {
            (inout, result, out) = (b.clone(), b.clone(), a.clone());
            $object.$into(&a, &mut inout, &mut result, &mut out).unwrap();
            assert!((&result, &inout, &out) == (&a, &a, &b), stringify!($into));
        }
        let results = $object.$asynchronous(&a, &b).wait().unwrap();
        assert!(results == (a.clone(), a, b), stringify!($asynchronous));
    })*};
}

fn album(first: u8) -> Album {
    [first, first + 1, first + 2].map(filled_array)
}

fn shot(title: &str) -> Shot {
    let mut shot = Shot {
        title: title.to_owned(),
        pages: album(3),
        ..Shot::default()
    };
    (shot.pixels[4999], shot.small[99][49][2]) = (1, 2);
    shot
}

fn machine(text: &str) -> Machine {
    let mut machine = Machine {
        id: 5,
        spot: Corner { x: -1, kind: 2 },
        ..Machine::default()
    };
    let detail = || Detail {
        raw: [7; 1000],
        name: text.to_owned(),
    };
    *machine.moving = Part::One(detail());
    *machine.inside = detail();
    machine.labels[19] = text.to_owned();
    machine.code[3999] = 9;
    machine
}

/// Members of structs, exceptions and value types are in a box if all of them are large together.
#[test]
fn values_of_large_structs_are_small() {
    let sizes = [
        size_of::<Machine>(),
        size_of::<MachineView<'_>>(),
        size_of::<Fleet>(),
        size_of::<Chest>(),
        size_of::<Broken>(),
    ];
    assert_eq!(sizes, [48, 48, 72, 24, 16]);
}

#[test]
fn large_states_and_exceptions_travel() {
    for endian in ORDERS {
        let orb = MemoryOrb::new(endian);
        let object: MoverRef = orb.activate(Moving);
        let mut chest = Chest::default();
        (chest.upper[3999], chest.lower[0]) = (1, 2);
        let Err(MoveChestError::Broken(broken)) = object.move_chest(Some(&Shared::new(chest.clone()))) else {
            panic!("not broken");
        };
        assert_eq!((&broken.code, &broken.one), (&chest.upper, &chest.inside));
        chest.inside.name = String::from("gold");
        let moved = object.move_chest(Some(&Shared::new(chest.clone()))).unwrap();
        assert_eq!(**moved.as_ref().unwrap(), chest);
    }
}

#[test]
fn large_arrays_travel_in_all_directions() {
    for endian in ORDERS {
        let orb = MemoryOrb::new(endian);
        let object: MoverRef = orb.activate(Moving);
        let one: CounterRef = orb.activate(One);
        let mut picture: Box<Picture> = filled_array([[3; 3]; 50]);
        picture[99][49] = [4, 5, 6];
        let library = |text: &str| boxed_array((0..300).map(|number| format!("{text} {number}")));
        let corners = |x| boxed_array((0..1000).map(|kind| Corner { x, kind: kind as u8 }));
        let mut crowd: Box<Crowd> = filled_array(None);
        crowd[599] = Some(one.clone());
        let mut fleet = Fleet {
            first: machine("fleet"),
            driver: Some(one),
            ..Fleet::default()
        };
        fleet.log[4089] = 3;
        check! { object;
            move_frame, move_frame_into, move_frame_async filled_array(1), filled_array(2);
            move_samples, move_samples_into, move_samples_async filled_array(1.5), filled_array(-2.0);
            move_picture, move_picture_into, move_picture_async picture.clone(), filled_array([[0; 3]; 50]);
            move_album, move_album_into, move_album_async album(1), album(7);
            move_library, move_library_into, move_library_async library("a"), library("another");
            move_crowd, move_crowd_into, move_crowd_async crowd.clone(), filled_array(None);
            move_film, move_film_into, move_film_async vec![filled_array(1), filled_array(2)],
                vec![filled_array(3)];
            move_corners, move_corners_into, move_corners_async corners(1), corners(-1);
            move_shot, move_shot_into, move_shot_async shot("a"), shot("another");
            move_media, move_media_into, move_media_async Media::Still(filled_array(1)),
                Media::Texts(3, library("b"));
            move_media, move_media_into, move_media_async Media::Shape(7, corners(2)), Media::default();
            move_machine, move_machine_into, move_machine_async machine("a"), machine("another");
            move_fleet, move_fleet_into, move_fleet_async fleet.clone(), Fleet::default();
        }
        assert_eq!(*object.latest().unwrap(), [9; 5000]);
        let mut latest = [0; 5000];
        object.latest_into(&mut latest).unwrap();
        assert_eq!(latest, [9; 5000]);
        object.set_latest(&[8; 5000]).unwrap();
    }
}

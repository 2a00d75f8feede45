//! Additions of IDL 4.2: short integers, bitmasks, bitsets and maps, on the wire, in calls and in an `any`.

use std::collections::BTreeMap;

use punctual_any::{Any, Typed};
use punctual_cdr::{CdrErrorKind, Decode, Decoder, Encode, Encoder, Endian};
use punctual_generated_tests::{
    MemoryOrb,
    idl4::idl4::{
        Colour, Grade, Kept, LEAST, Lone, Longer, NamedPlace, Palette, Permissions, Place, Plan, PlanView,
        Planner, PlannerRef, Preset, Record, Settings, Signed16, Signed32, Signed64, Status, Step, Store,
        StoreRef, Unsigned16, Unsigned32, Unsigned64, Wide,
    },
};
use punctual_types::SystemException;

struct Guide;

impl Planner for Guide {
    fn find(&self, r#where: PlanView<'_>, from: &mut NamedPlace) -> Result<Place, SystemException> {
        from.bearing += r#where.bearing;
        from.name.push_str(r#where.name);
        Ok(Place::from(&*from))
    }
}

fn place(floor: u8, name: &str) -> NamedPlace {
    let (bearing, name) = (f64::from(floor) / 2.0, String::from(name));
    NamedPlace { floor, bearing, name }
}

/// As if the struct had all members, in its type code, too, which CORBA does not define.
#[test]
fn a_struct_with_a_base_has_its_members_first() {
    let octets = encoded(&place(3, "a"), Endian::Big).unwrap();
    assert_eq!(
        octets,
        [
            3, 0, 0, 0, 0, 0, 0, 0, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, b'a', 0
        ]
    );
    let code = NamedPlace::type_code();
    let members: Vec<_> = code
        .view()
        .members()
        .unwrap()
        .map(|member| member.unwrap().0)
        .collect();
    assert_eq!(members, ["floor", "bearing", "name"]);
    let places = vec![place(1, "b"), place(2, "c")];
    let plan = Plan {
        floor: 9,
        bearing: 1.5,
        name: String::from("top"),
        places,
    };
    let base = NamedPlace::from(&plan);
    assert_eq!(
        Place::from(&base),
        Place {
            floor: 9,
            bearing: 1.5
        }
    );
    for endian in [Endian::Little, Endian::Big] {
        let planner: PlannerRef = MemoryOrb::new(endian).activate::<PlannerRef, _>(Guide);
        let mut from = place(4, "from ");
        let found = planner.find(&plan, &mut from).unwrap();
        assert_eq!(
            found,
            Place {
                floor: 4,
                bearing: 3.5
            }
        );
        assert_eq!((from.bearing, &*from.name), (3.5, "from top"));
    }
    assert_eq!(Any::new(&plan).unwrap().get::<Plan>().unwrap(), plan);
}

struct Shelf;

impl Store for Shelf {
    fn keep(
        &self,
        one: &Record,
        may: &Permissions,
        settings: &mut Settings,
    ) -> Result<(Record, Longer), SystemException> {
        settings.insert(String::from("kept"), f64::from(may.0));
        let status = Longer {
            level: one.state.level,
            valid: true,
            trim: -1,
            count: 1 << 39,
        };
        Ok((one.clone(), status))
    }

    fn paint(&self, colours: &Palette, by: i8) -> Result<Palette, SystemException> {
        let mut painted = colours.clone();
        painted.insert(Colour::Green, vec![Settings::from([(String::new(), by.into())])]);
        Ok(painted)
    }
}

fn encoded(value: &impl Encode, endian: Endian) -> Result<Vec<u8>, CdrErrorKind> {
    let mut octets = Vec::new();
    value
        .encode(&mut Encoder::new(&mut octets, endian))
        .map_err(|error| error.kind)?;
    Ok(octets)
}

fn record() -> Record {
    Record {
        small: LEAST,
        more: vec![-1, 127],
        may: Permissions::READ | Permissions::EXECUTE,
        state: Status {
            level: 5,
            valid: true,
            trim: -32,
        },
        parts: BTreeMap::from([(3, Record::default()), (-7, Record::default())]),
        few: BTreeMap::from([(String::from("a"), 1)]).try_into().unwrap(),
    }
}

#[test]
fn a_map_with_a_bound_takes_no_more() {
    let mut record = record();
    record.few.insert(String::from("b"), 2).unwrap();
    record.few.insert(String::from("b"), 3).unwrap();
    assert!(record.few.insert(String::from("c"), 3).is_err());
    assert_eq!((record.few.len(), record.few["b"]), (2, 3));
    let code = Any::new(&record).unwrap().type_code().to_string();
    assert!(code.ends_with("; sequence<struct, 2> few; }"), "{code}");
}

#[test]
fn flags_are_bits() {
    let all = Permissions::READ | Permissions::WRITE | Permissions::EXECUTE;
    assert_eq!(all.0, 0b11_0001);
    assert!(all.contains(Permissions::WRITE) && !(all - Permissions::WRITE).contains(Permissions::WRITE));
    assert_eq!(encoded(&all, Endian::Big), Ok(vec![0, 0b11_0001]));
    assert_eq!(Permissions::type_code().to_string(), "typedef Permissions");
}

#[test]
fn bit_fields_share_an_integer() {
    let status = Status {
        level: 5,
        valid: true,
        trim: -2,
    };
    assert_eq!(encoded(&status, Endian::Big), Ok(vec![0b11_1110, 0b0000_1101]));
    for endian in [Endian::Big, Endian::Little] {
        let octets = encoded(&status, endian).unwrap();
        assert_eq!(Status::decode(&mut Decoder::new(&octets, endian)), Ok(status));
    }
    // What has no room is not sent as something else.
    for wrong in [Status { level: 8, ..status }, Status { trim: 32, ..status }] {
        assert_eq!(
            encoded(&wrong, Endian::Big),
            Err(CdrErrorKind::ValueNotRepresentable)
        );
    }
}

#[test]
fn values_pass_through_calls() {
    for endian in [Endian::Big, Endian::Little] {
        let orb = MemoryOrb::new(endian);
        let store: StoreRef = orb.activate(Shelf);
        let mut settings = Settings::from([(String::from("a"), 0.5)]);
        let (kept, status) = store.keep(&record(), &Permissions::WRITE, &mut settings).unwrap();
        assert_eq!(kept, record());
        assert_eq!((status.level, status.trim, status.count), (5, -1, 1 << 39));
        assert_eq!(settings["kept"], 16.0);
        let painted = store
            .paint(&Palette::from([(Colour::Red, Vec::new())]), -3)
            .unwrap();
        assert_eq!(painted[&Colour::Green][0][""], -3.0);
        assert_eq!(painted.len(), 2);
    }
}

#[test]
fn in_an_any_they_are_what_they_are_on_the_wire() {
    let any = Any::new(&record()).unwrap();
    assert_eq!(any.get::<Record>(), Ok(record()));
    let settings = Settings::from([(String::from("a"), 0.5)]);
    let any = Any::new(&settings).unwrap();
    assert_eq!(any.get::<Settings>(), Ok(settings));
}

#[test]
fn defaults_are_those_of_the_annotations() {
    let preset = Preset::default();
    assert_eq!((preset.number, preset.flag, preset.letter), (-7, true, 'x'));
    assert_eq!((preset.real, preset.hue, preset.plain), (2.0, Colour::Green, 0));
    assert_eq!(preset.price.to_string(), "1.50");
    assert_eq!((&preset.text[..], &preset.few[..]), ("a", "b"));
    assert_eq!((&preset.wide[..], &preset.few_wide[..]), ("c", "d"));
    assert_eq!((Kept::default().level, Kept::default().other), (5, 0));
}

/// The octets, which are the same in an `any`, and the value that they are read as.
fn passes<T>(value: T, octets: &[u8])
where
    T: Encode + Typed + PartialEq + std::fmt::Debug + for<'a> Decode<'a>,
{
    assert_eq!(encoded(&value, Endian::Big).as_deref(), Ok(octets));
    assert_eq!(
        T::decode(&mut Decoder::new(octets, Endian::Big)).as_ref(),
        Ok(&value)
    );
    assert_eq!(Any::new(&value).unwrap().get::<T>(), Ok(value));
}

#[test]
fn short_integers_are_discriminators_of_one_octet() {
    passes(Step::AllBack(-2), &[0x80, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFE]);
    passes(Step::ByOne(-1, String::new()), &[0xFF, 0, 0, 0, 0, 0, 0, 1, 0]);
    passes(
        Step::Far(127, 0.0),
        &[0x7F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    );
    passes(Grade::Best(String::new()), &[0xFF, 0, 0, 0, 0, 0, 0, 1, 0]);
    passes(Grade::NoMember(7), &[7]);
    passes(Wide::Only(9, 1), &[9, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(
        Lone::default(),
        Lone::Only(0, 0),
        "the first discriminator without label"
    );
    assert_eq!(Wide::default(), Wide::Only(0, 0));
    let wrong = Step::ByOne(2, String::new());
    assert_eq!(
        encoded(&wrong, Endian::Big),
        Err(CdrErrorKind::UnionLabelMismatch)
    );
    let code = Step::type_code();
    let labels: Vec<_> = code.view().cases().unwrap().map(|case| case.unwrap().0).collect();
    assert_eq!(labels, [Some(0x80), Some(0xFF), Some(1), None]);
}

#[test]
fn integers_of_each_size_are_discriminators() {
    passes(Signed16::Least(1), &[0x80, 0, 0, 0, 0, 0, 0, 1]);
    passes(Unsigned16::Most(1), &[0xFF, 0xFF, 0, 0, 0, 0, 0, 1]);
    passes(Signed32::Least(1), &[0x80, 0, 0, 0, 0, 0, 0, 1]);
    passes(Unsigned32::Most(1), &[0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1]);
    passes(Signed64::Least(1), &[0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
    passes(
        Unsigned64::Most(1),
        &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1],
    );
}

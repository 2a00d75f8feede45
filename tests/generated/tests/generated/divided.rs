//! Code that is divided otherwise than one output for each file: with types of other code, several files
//! together, and one side only.

use punctual_cdr::{Endian, Shared};
use punctual_generated_tests::{MemoryOrb, base, client, server, station, together};
use punctual_stub::Interface;
use punctual_types::{Minor, SystemException};

/// A servant of the interface with the types of some generated code: the module of what is declared in the
/// included file, and that of what is declared in the including one.
macro_rules! servant {
    ($name:ident, $base:ident $(:: $base_inner:ident)*, $own:ident $(:: $own_inner:ident)*) => {
        struct $name;

        impl $base$(::$base_inner)*::plant::Source for $name {
            fn read(
                &self,
                sensor: &str,
            ) -> Result<
                $base$(::$base_inner)*::plant::Reading,
                $base$(::$base_inner)*::plant::source::ReadError,
            > {
                use $base$(::$base_inner)*::plant::{Broken, Position, Reading};
                if sensor.is_empty() {
                    let reason = String::from("no sensor");
                    return Err(Broken { reason }.into());
                }
                Ok(Reading {
                    sensor: String::from(sensor),
                    values: vec![0.5, 2.0],
                    state: Position::On,
                })
            }

            fn switched(&self) -> Result<$base$(::$base_inner)*::plant::Position, SystemException> {
                Ok($base$(::$base_inner)*::plant::Position::Off)
            }

            fn set_switched(
                &self,
                _: $base$(::$base_inner)*::plant::Position,
            ) -> Result<(), SystemException> {
                Ok(())
            }
        }

        impl $own$(::$own_inner)*::plant::Station for $name {
            fn replay(
                &self,
                first: $base$(::$base_inner)*::plant::ReadingView<'_>,
                state: &mut $base$(::$base_inner)*::plant::Position,
            ) -> Result<$own$(::$own_inner)*::plant::Log, $own$(::$own_inner)*::plant::station::ReplayError> {
                *state = first.state;
                Ok($own$(::$own_inner)*::plant::Log {
                    readings: vec![first.into(); 2],
                    r#where: $base$(::$base_inner)*::Everywhere { number: 7 },
                    labels: vec![String::from("a")],
                })
            }

            fn other(
                &self,
                source: Option<$base$(::$base_inner)*::plant::SourceRef>,
                note: Option<Shared<$base$(::$base_inner)*::plant::Note>>,
                label: $base$(::$base_inner)*::plant::names::LabelView<'_>,
            ) -> Result<Option<$own$(::$own_inner)*::plant::StationRef>, SystemException> {
                let as_expected = note.is_some_and(|note| note.author == label.text);
                let station = source.map(|source| {
                    $own$(::$own_inner)*::plant::StationRef::from_object(source.as_object().clone())
                });
                Ok(station.filter(|_| as_expected))
            }
        }
    };
}

servant!(Divided, base, station);
servant!(Together, together, together);
servant!(OneSide, server, server);

struct Screen;

impl together::Display for Screen {
    fn show(
        &self,
        reading: together::plant::ReadingView<'_>,
        place: &together::Everywhere,
    ) -> Result<together::plant::Reading, SystemException> {
        let mut shown: together::plant::Reading = reading.into();
        shown.values.push(place.number.into());
        Ok(shown)
    }
}

#[test]
fn types_of_other_code_are_used() {
    let orb = MemoryOrb::new(Endian::Big);
    let station: station::plant::StationRef = orb.activate(Divided);
    // Of the derived interface and of its base in other code.
    let source: base::plant::SourceRef = station.clone().into();
    let reading: base::plant::Reading = source.read("t1").unwrap();
    assert_eq!(station.read("t1"), Ok(reading.clone()));
    assert!(matches!(
        station.read(""),
        Err(base::plant::source::ReadError::Broken(base::plant::Broken { reason })) if reason == "no sensor"
    ));
    let mut state = base::plant::Position::Off;
    let log: station::plant::Log = station.replay(&reading, &mut state).unwrap();
    assert_eq!(
        (state, station::plant::INITIALLY),
        (base::plant::Position::On, base::plant::Position::On)
    );
    assert_eq!(log.readings, [reading.clone(), reading]);
    assert_eq!(log.r#where, base::Everywhere { number: 7 });
    let note = Shared::new(base::plant::Note {
        author: String::from("me"),
    });
    let label = base::plant::names::Label {
        text: String::from("me"),
    };
    assert_eq!(
        station.other(Some(&source), Some(&note), &label),
        Ok(Some(station))
    );
}

/// A value of a type that only the including file declares, for a parameter that the included one declares.
#[test]
fn values_of_other_code_are_received_if_the_orb_knows_them() {
    use punctual_orb::{Orb, OrbBuilder};

    let send = |builder: OrbBuilder| {
        let orb = builder.lock_memory(false).build().unwrap();
        let station: station::plant::StationRef = orb.root_poa().activate(Divided).unwrap();
        let source: base::plant::SourceRef = station.clone().into();
        let remark = station::plant::Remark {
            base: base::plant::Note {
                author: String::from("me"),
            },
            of: base::plant::Reading::default(),
        };
        let note: Shared<base::plant::Note> = Shared::new(remark).widen();
        assert!(note.narrow::<station::plant::Remark>().is_some());
        // Another type of the same name.
        assert!(note.narrow::<together::plant::Note>().is_none());
        let label = base::plant::names::Label {
            text: String::from("me"),
        };
        let answer = station.other(Some(&source), Some(&note), &label);
        answer.map(|answer| answer == Some(station))
    };
    let known = Orb::builder().value_type::<station::plant::Remark>();
    assert_eq!(send(known), Ok(true));
    let refused = send(Orb::builder()).unwrap_err();
    assert_eq!(refused.minor, Minor::VALUE_TYPE_UNKNOWN);
    // Of that name, but without the state of this `Note`.
    let other = Orb::builder().value_type::<together::plant::Remark>();
    assert_eq!(send(other).unwrap_err().minor, Minor::VALUE_TYPE_UNKNOWN);
}

#[test]
fn files_compiled_together_share_their_types() {
    let orb = MemoryOrb::new(Endian::Little);
    let (station, display): (together::plant::StationRef, together::DisplayRef) =
        (orb.activate(Together), orb.activate(Screen));
    let place = together::Everywhere { number: 4 };
    let shown = display.show(&station.read("t2").unwrap(), &place).unwrap();
    assert_eq!(shown.values, [0.5, 2.0, 4.0]);
}

#[test]
fn one_side_calls_the_other() {
    let orb = MemoryOrb::new(Endian::Little);
    let served: server::plant::StationRef = orb.activate(OneSide);
    let station = client::plant::StationRef::from_object(served.as_object().clone());
    let reading = station.read("t3").unwrap();
    let mut state = client::plant::Position::Off;
    let log = station.replay(&reading, &mut state).unwrap();
    assert_eq!((log.readings.len(), state), (2, client::plant::Position::On));
}

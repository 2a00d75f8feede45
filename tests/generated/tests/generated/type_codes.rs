//! `CORBA::TypeCode` as parameter, result, element and member.

use std::mem;

use punctual_any::{Any, Kind, TypeCode, Typed};
use punctual_cdr::Endian;
use punctual_generated_tests::{
    MemoryOrb,
    any::anys::Track,
    type_codes::{
        corba::type_code::{BadKind, Bounds},
        meta::{Catalogue, CatalogueRef, Field, Types, catalogue::MemberError},
    },
};
use punctual_types::SystemException;

struct Library;

impl Catalogue for Library {
    fn describe(&self, one: &Field, other: &mut TypeCode) -> Result<(TypeCode, Types), SystemException> {
        let before = mem::replace(other, one.of.clone());
        Ok((before.clone(), vec![before, one.of.clone()]))
    }

    fn caller(&self) -> Result<Vec<u8>, SystemException> {
        Ok(vec![1, 2])
    }

    fn member(&self, index: u32) -> Result<TypeCode, MemberError> {
        match index {
            0 => Err(Bounds {}.into()),
            1 => Err(BadKind {}.into()),
            _ => Ok(TypeCode::default()),
        }
    }
}

#[test]
fn type_codes_pass_through_calls() {
    for endian in [Endian::Big, Endian::Little] {
        let orb = MemoryOrb::new(endian);
        let catalogue: CatalogueRef = orb.activate(Library);
        let (track, short) = (Track::type_code(), TypeCode::basic(Kind::Short));
        let field = Field {
            name: String::from("last"),
            of: track.clone(),
        };
        let mut other = short.clone();
        let (before, all) = catalogue.describe(&field, &mut other).unwrap();
        assert_eq!((&before, &other), (&short, &track));
        assert_eq!(all, [short, track]);
        assert_eq!(catalogue.caller(), Ok(vec![1, 2]));
        assert_eq!(catalogue.member(0), Err(MemberError::Bounds(Bounds {})));
        assert_eq!(catalogue.member(1), Err(MemberError::BadKind(BadKind {})));
        assert_eq!(catalogue.member(2), Ok(TypeCode::default()));
        let any = Any::new(&field).unwrap();
        assert_eq!(any.get::<Field>(), Ok(field));
    }
}

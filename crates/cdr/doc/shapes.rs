// What the IDL compiler generates, shortened, for the examples of this crate:
//
//     abstract interface Shape {};
//     valuetype Circle supports Shape { public double radius; };
//     valuetype Stop { public long id; public Stop next; }; // circular

use std::any::{Any, TypeId};

use punctual_cdr::{
    AbstractInterface, CdrError, Decode, Decoder, Encode, Encoder, FromIor, HasIor, Inherits, Ior,
    Shared, ValueFactory, ValueObject, ValueType,
};

/// A reference to an object with the abstract interface.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeRef(pub Ior);

/// A value that supports it.
#[derive(Clone, Debug, PartialEq)]
pub struct Circle {
    pub radius: f64,
}

const FACTORIES: &[ValueFactory] = &[ValueFactory {
    id: Circle::REPOSITORY_ID,
    bases: Circle::BASES,
    decode: |decoder| ValueFactory::decode::<Circle>(decoder),
}];

impl ValueType for ShapeRef {
    const REPOSITORY_ID: &'static str = "IDL:Shape:1.0";
    const CIRCULAR: bool = true;

    fn factories() -> &'static [ValueFactory] {
        FACTORIES
    }
}

impl AbstractInterface for ShapeRef {
    const NAME: &'static str = "Shape";
}

impl HasIor for ShapeRef {
    fn ior(&self) -> &Ior {
        &self.0
    }
}

impl FromIor for ShapeRef {
    fn from_ior(ior: Ior, _: &Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self(ior))
    }
}

impl ValueType for Circle {
    const REPOSITORY_ID: &'static str = "IDL:Circle:1.0";
    const BASES: &'static [&'static str] = &[ShapeRef::REPOSITORY_ID];

    fn factories() -> &'static [ValueFactory] {
        FACTORIES
    }
}

impl Inherits<ShapeRef> for Circle {}

impl ValueObject for Circle {
    fn ids(&self) -> &'static [&'static str] {
        &[Self::REPOSITORY_ID]
    }

    fn bases(&self) -> &'static [&'static str] {
        Self::BASES
    }

    fn is_chunked(&self) -> bool {
        false
    }

    fn encode_state(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.radius.encode(encoder)
    }

    fn part(&self, wanted: TypeId) -> Option<&dyn Any> {
        (wanted == TypeId::of::<Self>()).then_some(self)
    }
}

impl Decode<'_> for Circle {
    const MIN_SIZE: usize = 8;

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            radius: f64::decode(decoder)?,
        })
    }
}

/// A stop of a circular line.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    pub id: i32,
    pub next: Option<Shared<Stop>>,
}

impl ValueType for Stop {
    const REPOSITORY_ID: &'static str = "IDL:Stop:1.0";
    const CIRCULAR: bool = true;

    fn factories() -> &'static [ValueFactory] {
        const {
            &[ValueFactory {
                id: Self::REPOSITORY_ID,
                bases: &[],
                decode: |decoder| ValueFactory::decode::<Self>(decoder),
            }]
        }
    }
}

impl ValueObject for Stop {
    fn ids(&self) -> &'static [&'static str] {
        &[Self::REPOSITORY_ID]
    }

    fn is_chunked(&self) -> bool {
        false
    }

    fn encode_state(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.id.encode(encoder)?;
        self.next.encode(encoder)
    }

    fn part(&self, wanted: TypeId) -> Option<&dyn Any> {
        (wanted == TypeId::of::<Self>()).then_some(self)
    }
}

impl Decode<'_> for Stop {
    const MIN_SIZE: usize = 8;

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            id: i32::decode(decoder)?,
            next: Option::decode(decoder)?,
        })
    }
}

// Generated from IDL by Punctual; changes here are lost.

/// Values that may be in circles: the type that is named, its base, and what inherits from it.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Link {
    /// IDL `Link::id`.
    pub id: i32,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::default::Default for Link {
    fn default() -> Self {
        Self {
            id: ::core::default::Default::default(),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Link {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.id, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Link {
    const MIN_SIZE: usize = 0;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            id: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueObject for Link {
    fn ids(&self) -> &'static [&'static str] {
        const { &["IDL:Link:1.0"] }
    }
    fn bases(&self) -> &'static [&'static str] {
        <Self as ::punctual::rt::ValueType>::BASES
    }
    fn is_chunked(&self) -> bool {
        false
    }
    fn encode_state(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(self, encoder)
    }
    fn part(
        &self,
        wanted: ::core::any::TypeId,
    ) -> ::core::option::Option<&dyn ::core::any::Any> {
        if wanted == ::core::any::TypeId::of::<Self>() {
            return ::core::option::Option::Some(self);
        }
        ::core::option::Option::None
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueType for Link {
    const REPOSITORY_ID: &'static str = "IDL:Link:1.0";
    const BASES: &'static [&'static str] = &[];
    const CIRCULAR: bool = true;
    fn factories() -> &'static [::punctual::rt::ValueFactory] {
        static FACTORIES: &[::punctual::rt::ValueFactory] = &[
            ::punctual::rt::ValueFactory {
                id: "IDL:Link:1.0",
                bases: <Link as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Link>(decoder),
            },
            ::punctual::rt::ValueFactory {
                id: "IDL:Ring:1.0",
                bases: <Ring as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Ring>(decoder),
            },
            ::punctual::rt::ValueFactory {
                id: "IDL:Signet:1.0",
                bases: <Signet as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Signet>(decoder),
            },
        ];
        FACTORIES
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Link {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing
            .value(
                "IDL:Link:1.0",
                "Link",
                ::punctual::rt::ValueModifier::None,
                ::core::option::Option::None,
                &[("id", <i32 as ::punctual::rt::Typed>::describe, true)],
            )
    }
}
/// IDL `valuetype Ring`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Ring {
    /// The state of the base.
    pub base: Link,
    /// IDL `Ring::next`.
    pub next: ::core::option::Option<::punctual::rt::Shared<Ring>>,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::default::Default for Ring {
    fn default() -> Self {
        Self {
            base: ::core::default::Default::default(),
            next: ::core::default::Default::default(),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Ring {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.base, encoder)?;
        ::punctual::rt::Encode::encode(&self.next, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Ring {
    const MIN_SIZE: usize = 0;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            base: ::punctual::rt::Decode::decode(decoder)?,
            next: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueObject for Ring {
    fn ids(&self) -> &'static [&'static str] {
        const { &["IDL:Ring:1.0"] }
    }
    fn bases(&self) -> &'static [&'static str] {
        <Self as ::punctual::rt::ValueType>::BASES
    }
    fn is_chunked(&self) -> bool {
        false
    }
    fn encode_state(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(self, encoder)
    }
    fn part(
        &self,
        wanted: ::core::any::TypeId,
    ) -> ::core::option::Option<&dyn ::core::any::Any> {
        if wanted == ::core::any::TypeId::of::<Self>() {
            return ::core::option::Option::Some(self);
        }
        ::punctual::rt::ValueObject::part(&self.base, wanted)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueType for Ring {
    const REPOSITORY_ID: &'static str = "IDL:Ring:1.0";
    const BASES: &'static [&'static str] = &["IDL:Link:1.0"];
    const CIRCULAR: bool = true;
    fn factories() -> &'static [::punctual::rt::ValueFactory] {
        static FACTORIES: &[::punctual::rt::ValueFactory] = &[
            ::punctual::rt::ValueFactory {
                id: "IDL:Ring:1.0",
                bases: <Ring as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Ring>(decoder),
            },
            ::punctual::rt::ValueFactory {
                id: "IDL:Signet:1.0",
                bases: <Signet as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Signet>(decoder),
            },
        ];
        FACTORIES
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Inherits<Link> for Ring {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Ring {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing
            .value(
                "IDL:Ring:1.0",
                "Ring",
                ::punctual::rt::ValueModifier::None,
                ::core::option::Option::Some(<Link as ::punctual::rt::Typed>::describe),
                &[
                    (
                        "next",
                        <::core::option::Option<
                            ::punctual::rt::Shared<Ring>,
                        > as ::punctual::rt::Typed>::describe,
                        true,
                    ),
                ],
            )
    }
}
/// IDL `valuetype Signet`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Signet {
    /// The state of the base.
    pub base: Ring,
    /// IDL `Signet::other`.
    pub other: ::core::option::Option<::punctual::rt::Shared<Link>>,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::default::Default for Signet {
    fn default() -> Self {
        Self {
            base: ::core::default::Default::default(),
            other: ::core::default::Default::default(),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Signet {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.base, encoder)?;
        ::punctual::rt::Encode::encode(&self.other, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Signet {
    const MIN_SIZE: usize = 0;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            base: ::punctual::rt::Decode::decode(decoder)?,
            other: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueObject for Signet {
    fn ids(&self) -> &'static [&'static str] {
        const { &["IDL:Signet:1.0"] }
    }
    fn bases(&self) -> &'static [&'static str] {
        <Self as ::punctual::rt::ValueType>::BASES
    }
    fn is_chunked(&self) -> bool {
        false
    }
    fn encode_state(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(self, encoder)
    }
    fn part(
        &self,
        wanted: ::core::any::TypeId,
    ) -> ::core::option::Option<&dyn ::core::any::Any> {
        if wanted == ::core::any::TypeId::of::<Self>() {
            return ::core::option::Option::Some(self);
        }
        ::punctual::rt::ValueObject::part(&self.base, wanted)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueType for Signet {
    const REPOSITORY_ID: &'static str = "IDL:Signet:1.0";
    const BASES: &'static [&'static str] = &["IDL:Ring:1.0", "IDL:Link:1.0"];
    const CIRCULAR: bool = true;
    fn factories() -> &'static [::punctual::rt::ValueFactory] {
        static FACTORIES: &[::punctual::rt::ValueFactory] = &[
            ::punctual::rt::ValueFactory {
                id: "IDL:Signet:1.0",
                bases: <Signet as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Signet>(decoder),
            },
        ];
        FACTORIES
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Inherits<Ring> for Signet {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Inherits<Link> for Signet {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Signet {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing
            .value(
                "IDL:Signet:1.0",
                "Signet",
                ::punctual::rt::ValueModifier::None,
                ::core::option::Option::Some(<Ring as ::punctual::rt::Typed>::describe),
                &[
                    (
                        "other",
                        <::core::option::Option<
                            ::punctual::rt::Shared<Link>,
                        > as ::punctual::rt::Typed>::describe,
                        true,
                    ),
                ],
            )
    }
}
/// IDL `valuetype Chain`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Chain {
    /// IDL `Chain::first`.
    pub first: ::core::option::Option<::punctual::rt::Shared<Ring>>,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::default::Default for Chain {
    fn default() -> Self {
        Self {
            first: ::core::default::Default::default(),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Chain {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.first, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Chain {
    const MIN_SIZE: usize = 0;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            first: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueObject for Chain {
    fn ids(&self) -> &'static [&'static str] {
        const { &["IDL:Chain:1.0"] }
    }
    fn bases(&self) -> &'static [&'static str] {
        <Self as ::punctual::rt::ValueType>::BASES
    }
    fn is_chunked(&self) -> bool {
        false
    }
    fn encode_state(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(self, encoder)
    }
    fn part(
        &self,
        wanted: ::core::any::TypeId,
    ) -> ::core::option::Option<&dyn ::core::any::Any> {
        if wanted == ::core::any::TypeId::of::<Self>() {
            return ::core::option::Option::Some(self);
        }
        ::core::option::Option::None
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueType for Chain {
    const REPOSITORY_ID: &'static str = "IDL:Chain:1.0";
    const BASES: &'static [&'static str] = &[];
    fn factories() -> &'static [::punctual::rt::ValueFactory] {
        static FACTORIES: &[::punctual::rt::ValueFactory] = &[
            ::punctual::rt::ValueFactory {
                id: "IDL:Chain:1.0",
                bases: <Chain as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Chain>(decoder),
            },
        ];
        FACTORIES
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Chain {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing
            .value(
                "IDL:Chain:1.0",
                "Chain",
                ::punctual::rt::ValueModifier::None,
                ::core::option::Option::None,
                &[
                    (
                        "first",
                        <::core::option::Option<
                            ::punctual::rt::Shared<Ring>,
                        > as ::punctual::rt::Typed>::describe,
                        true,
                    ),
                ],
            )
    }
}

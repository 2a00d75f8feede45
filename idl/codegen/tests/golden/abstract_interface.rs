// Generated from IDL by Punctual; changes here are lost.

/// An abstract interface, with an object and a value that support it.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Shape: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Shape::area`.
    fn area(&self) -> ::core::result::Result<i32, ::punctual::rt::SystemException>;
}
/// A reference to an object that supports `Shape`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct ShapeRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ShapeRef {
    /// IDL `Shape::area`.
    pub fn area(&self) -> ::core::result::Result<i32, ::punctual::rt::SystemException> {
        let mut result: i32 = ::core::default::Default::default();
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "area",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(_) => Ok(()),
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut result, decoder)?;
                        Ok(())
                    }
                },
            )?;
        Ok(result)
    }
    /// Like [`area`](Self::area), without waiting: the request is sent, and the result is a future.
    pub fn area_async(
        &self,
    ) -> ::punctual::rt::AsyncCall<i32, ::punctual::rt::SystemException> {
        self.0.call_async("area", &mut |_| Ok(()), ::punctual::rt::one_result)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for ShapeRef {
    const REPOSITORY_ID: &'static str = "IDL:Shape:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Shape:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for ShapeRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for ShapeRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for ShapeRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for ShapeRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueType for ShapeRef {
    const REPOSITORY_ID: &'static str = "IDL:Shape:1.0";
    const BASES: &'static [&'static str] = &[];
    const CIRCULAR: bool = true;
    fn factories() -> &'static [::punctual::rt::ValueFactory] {
        static FACTORIES: &[::punctual::rt::ValueFactory] = &[
            ::punctual::rt::ValueFactory {
                id: "IDL:Square:1.0",
                bases: <Square as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Square>(decoder),
            },
        ];
        FACTORIES
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::AbstractInterface for ShapeRef {
    const NAME: &'static str = "Shape";
}
/// IDL `interface Remote`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Remote: Shape {}
/// A reference to an object that supports `Remote`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct RemoteRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl RemoteRef {
    /// IDL `Shape::area`.
    pub fn area(&self) -> ::core::result::Result<i32, ::punctual::rt::SystemException> {
        let mut result: i32 = ::core::default::Default::default();
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "area",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(_) => Ok(()),
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut result, decoder)?;
                        Ok(())
                    }
                },
            )?;
        Ok(result)
    }
    /// Like [`area`](Self::area), without waiting: the request is sent, and the result is a future.
    pub fn area_async(
        &self,
    ) -> ::punctual::rt::AsyncCall<i32, ::punctual::rt::SystemException> {
        self.0.call_async("area", &mut |_| Ok(()), ::punctual::rt::one_result)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for RemoteRef {
    const REPOSITORY_ID: &'static str = "IDL:Remote:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Remote:1.0", "IDL:Shape:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for RemoteRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for RemoteRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for RemoteRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for RemoteRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for RemoteRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Remote:1.0", "Remote")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::From<RemoteRef> for ShapeRef {
    fn from(derived: RemoteRef) -> Self {
        <Self as ::punctual::rt::Interface>::from_object(derived.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Remote> ::punctual::rt::Skeleton<S> for RemoteRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        fn serve_area<S: Shape>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            match <S as Shape>::area(servant) {
                Ok(result) => {
                    upcall.reply(|reply| ::punctual::rt::Encode::encode(&result, reply))
                }
                Err(error) => upcall.fail(error),
            }
        }
        match upcall.operation() {
            "area" => serve_area(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}
/// IDL `valuetype Square`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Square {
    /// IDL `Square::side`.
    pub side: i32,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::default::Default for Square {
    fn default() -> Self {
        Self {
            side: ::core::default::Default::default(),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Square {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.side, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Square {
    const MIN_SIZE: usize = 0;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            side: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueObject for Square {
    fn ids(&self) -> &'static [&'static str] {
        const { &["IDL:Square:1.0"] }
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
impl ::punctual::rt::ValueType for Square {
    const REPOSITORY_ID: &'static str = "IDL:Square:1.0";
    const BASES: &'static [&'static str] = &["IDL:Shape:1.0"];
    fn factories() -> &'static [::punctual::rt::ValueFactory] {
        static FACTORIES: &[::punctual::rt::ValueFactory] = &[
            ::punctual::rt::ValueFactory {
                id: "IDL:Square:1.0",
                bases: <Square as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Square>(decoder),
            },
        ];
        FACTORIES
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Inherits<ShapeRef> for Square {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Square {
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
                "IDL:Square:1.0",
                "Square",
                ::punctual::rt::ValueModifier::None,
                ::core::option::Option::None,
                &[("side", <i32 as ::punctual::rt::Typed>::describe, true)],
            )
    }
}
/// IDL `interface Canvas`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Canvas: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Canvas::larger`.
    fn larger(
        &self,
        one: ::core::option::Option<::punctual::rt::Abstract<ShapeRef>>,
        other: &mut ::core::option::Option<::punctual::rt::Abstract<ShapeRef>>,
    ) -> ::core::result::Result<
        ::core::option::Option<::punctual::rt::Abstract<ShapeRef>>,
        ::punctual::rt::SystemException,
    >;
}
/// A reference to an object that supports `Canvas`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct CanvasRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl CanvasRef {
    /// IDL `Canvas::larger`.
    pub fn larger(
        &self,
        one: ::core::option::Option<&::punctual::rt::Abstract<ShapeRef>>,
        other: &mut ::core::option::Option<::punctual::rt::Abstract<ShapeRef>>,
    ) -> ::core::result::Result<
        ::core::option::Option<::punctual::rt::Abstract<ShapeRef>>,
        ::punctual::rt::SystemException,
    > {
        let mut result: ::core::option::Option<::punctual::rt::Abstract<ShapeRef>> = ::core::default::Default::default();
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "larger",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&one, encoder)?;
                        ::punctual::rt::Encode::encode(&*other, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut result, decoder)?;
                        ::punctual::rt::Decode::decode_into(&mut *other, decoder)?;
                        Ok(())
                    }
                },
            )?;
        Ok(result)
    }
    /// Like [`larger`](Self::larger), without waiting: the request is sent, and the result is a future.
    pub fn larger_async(
        &self,
        one: ::core::option::Option<&::punctual::rt::Abstract<ShapeRef>>,
        other: ::core::option::Option<&::punctual::rt::Abstract<ShapeRef>>,
    ) -> ::punctual::rt::AsyncCall<
        (
            ::core::option::Option<::punctual::rt::Abstract<ShapeRef>>,
            ::core::option::Option<::punctual::rt::Abstract<ShapeRef>>,
        ),
        ::punctual::rt::SystemException,
    > {
        self.0
            .call_async(
                "larger",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&one, encoder)?;
                    ::punctual::rt::Encode::encode(&other, encoder)?;
                    Ok(())
                },
                |decoder| Ok((
                    ::punctual::rt::Decode::decode(decoder)?,
                    ::punctual::rt::Decode::decode(decoder)?,
                )),
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for CanvasRef {
    const REPOSITORY_ID: &'static str = "IDL:Canvas:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Canvas:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for CanvasRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for CanvasRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for CanvasRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for CanvasRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for CanvasRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Canvas:1.0", "Canvas")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Canvas> ::punctual::rt::Skeleton<S> for CanvasRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        fn serve_larger<S: Canvas>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            let one = upcall
                .argument::<
                    ::core::option::Option<::punctual::rt::Abstract<ShapeRef>>,
                >()?;
            let mut other = upcall
                .argument::<
                    ::core::option::Option<::punctual::rt::Abstract<ShapeRef>>,
                >()?;
            match <S as Canvas>::larger(servant, one, &mut other) {
                Ok(result) => {
                    upcall
                        .reply(|reply| {
                            ::punctual::rt::Encode::encode(&result, reply)?;
                            ::punctual::rt::Encode::encode(&other, reply)?;
                            Ok(())
                        })
                }
                Err(error) => upcall.fail(error),
            }
        }
        match upcall.operation() {
            "larger" => serve_larger(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}

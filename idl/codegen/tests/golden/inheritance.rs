// Generated from IDL by Punctual; changes here are lost.

/// IDL `interface Base`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Base: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Base::ping`.
    fn ping(&self) -> ::core::result::Result<(), ::punctual::rt::SystemException>;
}
/// A reference to an object that supports `Base`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct BaseRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl BaseRef {
    /// IDL `Base::ping`.
    pub fn ping(&self) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "ping",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(_) => Ok(()),
                    ::punctual::rt::Phase::Results(_) => Ok(()),
                },
            )
    }
    /// Like [`ping`](Self::ping), without waiting: the request is sent, and the result is a future.
    pub fn ping_async(
        &self,
    ) -> ::punctual::rt::AsyncCall<(), ::punctual::rt::SystemException> {
        self.0.call_async("ping", &mut |_| Ok(()), |_| Ok(()))
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for BaseRef {
    const REPOSITORY_ID: &'static str = "IDL:Base:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Base:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for BaseRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for BaseRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for BaseRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for BaseRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for BaseRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Base:1.0", "Base")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Base> ::punctual::rt::Skeleton<S> for BaseRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        fn serve_ping<S: Base>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            match <S as Base>::ping(servant) {
                Ok(()) => upcall.reply(|_| Ok(())),
                Err(error) => upcall.fail(error),
            }
        }
        match upcall.operation() {
            "ping" => serve_ping(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}
/// IDL `interface Derived`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Derived: Base {}
/// A reference to an object that supports `Derived`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct DerivedRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl DerivedRef {
    /// IDL `Base::ping`.
    pub fn ping(&self) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "ping",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(_) => Ok(()),
                    ::punctual::rt::Phase::Results(_) => Ok(()),
                },
            )
    }
    /// Like [`ping`](Self::ping), without waiting: the request is sent, and the result is a future.
    pub fn ping_async(
        &self,
    ) -> ::punctual::rt::AsyncCall<(), ::punctual::rt::SystemException> {
        self.0.call_async("ping", &mut |_| Ok(()), |_| Ok(()))
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for DerivedRef {
    const REPOSITORY_ID: &'static str = "IDL:Derived:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Derived:1.0", "IDL:Base:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for DerivedRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for DerivedRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for DerivedRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for DerivedRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for DerivedRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Derived:1.0", "Derived")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::From<DerivedRef> for BaseRef {
    fn from(derived: DerivedRef) -> Self {
        <Self as ::punctual::rt::Interface>::from_object(derived.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Derived> ::punctual::rt::Skeleton<S> for DerivedRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        fn serve_ping<S: Base>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            match <S as Base>::ping(servant) {
                Ok(()) => upcall.reply(|_| Ok(())),
                Err(error) => upcall.fail(error),
            }
        }
        match upcall.operation() {
            "ping" => serve_ping(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}

// Generated from IDL by Punctual; changes here are lost.

/// IDL `interface Greeter`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Greeter: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Greeter::greet`.
    fn greet(
        &self,
        name: &str,
    ) -> ::core::result::Result<::std::string::String, ::punctual::rt::SystemException>;
    /// Like [`greet`](Self::greet), with results in memory that is kept from call to call; override it to allocate none.
    fn greet_into(
        &self,
        name: &str,
        result: &mut ::std::string::String,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        *result = <Self as Greeter>::greet(self, name)?;
        Ok(())
    }
}
/// A reference to an object that supports `Greeter`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct GreeterRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl GreeterRef {
    /// IDL `Greeter::greet`.
    pub fn greet(
        &self,
        name: &str,
    ) -> ::core::result::Result<::std::string::String, ::punctual::rt::SystemException> {
        let mut result: ::std::string::String = ::core::default::Default::default();
        self.greet_into(name, &mut result)?;
        Ok(result)
    }
    /// Like [`greet`](Self::greet), with results in memory that the caller keeps.
    pub fn greet_into(
        &self,
        name: &str,
        result: &mut ::std::string::String,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "greet",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&name, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut *result, decoder)?;
                        Ok(())
                    }
                },
            )
    }
    /// Like [`greet`](Self::greet), without waiting: the request is sent, and the result is a future.
    pub fn greet_async(
        &self,
        name: &str,
    ) -> ::punctual::rt::AsyncCall<
        ::std::string::String,
        ::punctual::rt::SystemException,
    > {
        self.0
            .call_async(
                "greet",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&name, encoder)?;
                    Ok(())
                },
                ::punctual::rt::one_result,
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for GreeterRef {
    const REPOSITORY_ID: &'static str = "IDL:Greeter:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Greeter:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for GreeterRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for GreeterRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for GreeterRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for GreeterRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for GreeterRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Greeter:1.0", "Greeter")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Greeter> ::punctual::rt::Skeleton<S> for GreeterRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        fn serve_greet<S: Greeter>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            let mut result = upcall.reuse::<::std::string::String>();
            let mut serve = || {
                let name = upcall.argument::<&str>()?;
                match <S as Greeter>::greet_into(servant, name, &mut *result) {
                    Ok(()) => {
                        upcall
                            .reply(|reply| ::punctual::rt::Encode::encode(
                                &*result,
                                reply,
                            ))
                    }
                    Err(error) => upcall.fail(error),
                }
            };
            let outcome = serve();
            upcall.keep(result);
            outcome
        }
        match upcall.operation() {
            "greet" => serve_greet(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}

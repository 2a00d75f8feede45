// Generated from IDL by Punctual; changes here are lost.

/// IDL `interface Adder`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Adder: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Adder::add`.
    ///
    /// # Arguments
    ///
    /// - `b`: The other summand, increased. `@unit("m")`
    /// - `c`: Always 3.
    fn add(
        &self,
        a: i32,
        b: &mut i32,
    ) -> ::core::result::Result<(i32, i16), ::punctual::rt::SystemException>;
}
/// A reference to an object that supports `Adder`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct AdderRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl AdderRef {
    /// IDL `Adder::add`.
    ///
    /// # Arguments
    ///
    /// - `b`: The other summand, increased. `@unit("m")`
    /// - `c`: Always 3.
    pub fn add(
        &self,
        a: i32,
        b: &mut i32,
    ) -> ::core::result::Result<(i32, i16), ::punctual::rt::SystemException> {
        let mut result: i32 = ::core::default::Default::default();
        let mut c: i16 = ::core::default::Default::default();
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "add",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&a, encoder)?;
                        ::punctual::rt::Encode::encode(&*b, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut result, decoder)?;
                        ::punctual::rt::Decode::decode_into(&mut *b, decoder)?;
                        ::punctual::rt::Decode::decode_into(&mut c, decoder)?;
                        Ok(())
                    }
                },
            )?;
        Ok((result, c))
    }
    /// Like [`add`](Self::add), without waiting: the request is sent, and the result is a future.
    pub fn add_async(
        &self,
        a: i32,
        b: i32,
    ) -> ::punctual::rt::AsyncCall<(i32, i32, i16), ::punctual::rt::SystemException> {
        self.0
            .call_async(
                "add",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&a, encoder)?;
                    ::punctual::rt::Encode::encode(&b, encoder)?;
                    Ok(())
                },
                |decoder| Ok((
                    ::punctual::rt::Decode::decode(decoder)?,
                    ::punctual::rt::Decode::decode(decoder)?,
                    ::punctual::rt::Decode::decode(decoder)?,
                )),
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for AdderRef {
    const REPOSITORY_ID: &'static str = "IDL:Adder:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Adder:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for AdderRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for AdderRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for AdderRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for AdderRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for AdderRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Adder:1.0", "Adder")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Adder> ::punctual::rt::Skeleton<S> for AdderRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        fn serve_add<S: Adder>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            let a = upcall.argument::<i32>()?;
            let mut b = upcall.argument::<i32>()?;
            match <S as Adder>::add(servant, a, &mut b) {
                Ok((result, c)) => {
                    upcall
                        .reply(|reply| {
                            ::punctual::rt::Encode::encode(&result, reply)?;
                            ::punctual::rt::Encode::encode(&b, reply)?;
                            ::punctual::rt::Encode::encode(&c, reply)?;
                            Ok(())
                        })
                }
                Err(error) => upcall.fail(error),
            }
        }
        match upcall.operation() {
            "add" => serve_add(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}

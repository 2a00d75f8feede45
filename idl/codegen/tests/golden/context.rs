// Generated from IDL by Punctual; changes here are lost.

/// IDL `interface Bank`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Bank: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Bank::open`.
    fn open(
        &self,
        name: &str,
    ) -> ::core::result::Result<i32, ::punctual::rt::SystemException>;
}
/// A reference to an object that supports `Bank`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct BankRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl BankRef {
    /// IDL `Bank::open`.
    pub fn open(
        &self,
        name: &str,
    ) -> ::core::result::Result<i32, ::punctual::rt::SystemException> {
        let mut result: i32 = ::core::default::Default::default();
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "open",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&name, encoder)?;
                        ::punctual::rt::encode_context(
                            &self.0,
                            &["user", "app.*"],
                            encoder,
                        )?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut result, decoder)?;
                        Ok(())
                    }
                },
            )?;
        Ok(result)
    }
    /// Like [`open`](Self::open), without waiting: the request is sent, and the result is a future.
    pub fn open_async(
        &self,
        name: &str,
    ) -> ::punctual::rt::AsyncCall<i32, ::punctual::rt::SystemException> {
        self.0
            .call_async(
                "open",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&name, encoder)?;
                    ::punctual::rt::encode_context(
                        &self.0,
                        &["user", "app.*"],
                        encoder,
                    )?;
                    Ok(())
                },
                ::punctual::rt::one_result,
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for BankRef {
    const REPOSITORY_ID: &'static str = "IDL:Bank:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Bank:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for BankRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for BankRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for BankRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for BankRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for BankRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Bank:1.0", "Bank")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Bank> ::punctual::rt::Skeleton<S> for BankRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        fn serve_open<S: Bank>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            let name = upcall.argument::<&str>()?;
            let _context = upcall.context()?;
            match <S as Bank>::open(servant, name) {
                Ok(result) => {
                    upcall.reply(|reply| ::punctual::rt::Encode::encode(&result, reply))
                }
                Err(error) => upcall.fail(error),
            }
        }
        match upcall.operation() {
            "open" => serve_open(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}

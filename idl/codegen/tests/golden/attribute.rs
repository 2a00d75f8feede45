// Generated from IDL by Punctual; changes here are lost.

/// IDL `interface Counter`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Counter: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `attribute Counter::total`.
    fn total(&self) -> ::core::result::Result<i32, ::punctual::rt::SystemException>;
    /// IDL `attribute Counter::step`.
    fn step(&self) -> ::core::result::Result<i32, ::punctual::rt::SystemException>;
    /// IDL `attribute Counter::step`.
    fn set_step(
        &self,
        value: i32,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException>;
}
/// A reference to an object that supports `Counter`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct CounterRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl CounterRef {
    /// IDL `attribute Counter::total`.
    pub fn total(&self) -> ::core::result::Result<i32, ::punctual::rt::SystemException> {
        let mut result: i32 = ::core::default::Default::default();
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "_get_total",
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
    /// Like [`total`](Self::total), without waiting: the request is sent, and the result is a future.
    pub fn total_async(
        &self,
    ) -> ::punctual::rt::AsyncCall<i32, ::punctual::rt::SystemException> {
        self.0.call_async("_get_total", &mut |_| Ok(()), ::punctual::rt::one_result)
    }
    /// IDL `attribute Counter::step`.
    pub fn step(&self) -> ::core::result::Result<i32, ::punctual::rt::SystemException> {
        let mut result: i32 = ::core::default::Default::default();
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "_get_step",
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
    /// Like [`step`](Self::step), without waiting: the request is sent, and the result is a future.
    pub fn step_async(
        &self,
    ) -> ::punctual::rt::AsyncCall<i32, ::punctual::rt::SystemException> {
        self.0.call_async("_get_step", &mut |_| Ok(()), ::punctual::rt::one_result)
    }
    /// IDL `attribute Counter::step`.
    pub fn set_step(
        &self,
        value: i32,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "_set_step",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&value, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(_) => Ok(()),
                },
            )
    }
    /// Like [`set_step`](Self::set_step), without waiting: the request is sent, and the result is a future.
    pub fn set_step_async(
        &self,
        value: i32,
    ) -> ::punctual::rt::AsyncCall<(), ::punctual::rt::SystemException> {
        self.0
            .call_async(
                "_set_step",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&value, encoder)?;
                    Ok(())
                },
                |_| Ok(()),
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for CounterRef {
    const REPOSITORY_ID: &'static str = "IDL:Counter:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Counter:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for CounterRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for CounterRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for CounterRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for CounterRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for CounterRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Counter:1.0", "Counter")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Counter> ::punctual::rt::Skeleton<S> for CounterRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        fn serve_total<S: Counter>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            match <S as Counter>::total(servant) {
                Ok(result) => {
                    upcall.reply(|reply| ::punctual::rt::Encode::encode(&result, reply))
                }
                Err(error) => upcall.fail(error),
            }
        }
        fn serve_step<S: Counter>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            match <S as Counter>::step(servant) {
                Ok(result) => {
                    upcall.reply(|reply| ::punctual::rt::Encode::encode(&result, reply))
                }
                Err(error) => upcall.fail(error),
            }
        }
        fn serve_set_step<S: Counter>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            let value = upcall.argument::<i32>()?;
            match <S as Counter>::set_step(servant, value) {
                Ok(()) => upcall.reply(|_| Ok(())),
                Err(error) => upcall.fail(error),
            }
        }
        match upcall.operation() {
            "_get_total" => serve_total(servant, upcall),
            "_get_step" => serve_step(servant, upcall),
            "_set_step" => serve_set_step(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}

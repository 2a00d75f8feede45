// Generated from IDL by Punctual; changes here are lost.

/// IDL `struct Reading`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Reading {
    /// IDL `Reading::sensor`.
    pub sensor: ::std::string::String,
    /// IDL `Reading::value`.
    pub value: ::punctual::rt::Any,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Reading {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.sensor, encoder)?;
        ::punctual::rt::Encode::encode(&self.value, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Reading {
    const MIN_SIZE: usize = 8;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            sensor: ::punctual::rt::Decode::decode(decoder)?,
            value: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
    fn decode_into(
        &mut self,
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Decode::decode_into(&mut self.sensor, decoder)?;
        ::punctual::rt::Decode::decode_into(&mut self.value, decoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Reading {
    fn reset(&mut self) {
        ::punctual::rt::Reset::reset(&mut self.sensor);
        ::punctual::rt::Reset::reset(&mut self.value);
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Reading {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing
            .structure(
                "IDL:Reading:1.0",
                "Reading",
                &[
                    (
                        "sensor",
                        <::std::string::String as ::punctual::rt::Typed>::describe,
                    ),
                    ("value", <::punctual::rt::Any as ::punctual::rt::Typed>::describe),
                ],
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for ReadingView<'_> {
    fn type_code() -> ::punctual::rt::TypeCode {
        <Reading as ::punctual::rt::Typed>::type_code()
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        <Reading as ::punctual::rt::Typed>::describe(enclosing)
    }
}
/// [`Reading`] as lent to a servant for the time of an upcall.
#[derive(Clone, Debug)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct ReadingView<'a> {
    /// IDL `Reading::sensor`.
    pub sensor: &'a str,
    /// IDL `Reading::value`.
    pub value: ::punctual::rt::AnyView<'a>,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for ReadingView<'a> {
    const MIN_SIZE: usize = 8;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            sensor: ::punctual::rt::Decode::decode(decoder)?,
            value: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ReadingView<'_> {
    /// A copy that outlives the upcall.
    pub fn to_owned(&self) -> Reading {
        Reading {
            sensor: ::std::string::String::from(self.sensor),
            value: self.value.to_owned(),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::From<ReadingView<'_>> for Reading {
    fn from(view: ReadingView<'_>) -> Self {
        view.to_owned()
    }
}
/// IDL `interface Logger`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Logger: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Logger::log`.
    fn log(
        &self,
        entry: ::punctual::rt::AnyView<'_>,
        state: &mut ::punctual::rt::Any,
    ) -> ::core::result::Result<::punctual::rt::Any, ::punctual::rt::SystemException>;
    /// Like [`log`](Self::log), with results in memory that is kept from call to call; override it to allocate none.
    fn log_into(
        &self,
        entry: ::punctual::rt::AnyView<'_>,
        state: &mut ::punctual::rt::Any,
        result: &mut ::punctual::rt::Any,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        *result = <Self as Logger>::log(self, entry, state)?;
        Ok(())
    }
}
/// A reference to an object that supports `Logger`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct LoggerRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl LoggerRef {
    /// IDL `Logger::log`.
    pub fn log(
        &self,
        entry: &::punctual::rt::Any,
        state: &mut ::punctual::rt::Any,
    ) -> ::core::result::Result<::punctual::rt::Any, ::punctual::rt::SystemException> {
        let mut result: ::punctual::rt::Any = ::core::default::Default::default();
        self.log_into(entry, state, &mut result)?;
        Ok(result)
    }
    /// Like [`log`](Self::log), with results in memory that the caller keeps.
    pub fn log_into(
        &self,
        entry: &::punctual::rt::Any,
        state: &mut ::punctual::rt::Any,
        result: &mut ::punctual::rt::Any,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "log",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&entry, encoder)?;
                        ::punctual::rt::Encode::encode(&*state, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut *result, decoder)?;
                        ::punctual::rt::Decode::decode_into(&mut *state, decoder)?;
                        Ok(())
                    }
                },
            )
    }
    /// Like [`log`](Self::log), without waiting: the request is sent, and the result is a future.
    pub fn log_async(
        &self,
        entry: &::punctual::rt::Any,
        state: &::punctual::rt::Any,
    ) -> ::punctual::rt::AsyncCall<
        (::punctual::rt::Any, ::punctual::rt::Any),
        ::punctual::rt::SystemException,
    > {
        self.0
            .call_async(
                "log",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&entry, encoder)?;
                    ::punctual::rt::Encode::encode(&state, encoder)?;
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
impl ::punctual::rt::Interface for LoggerRef {
    const REPOSITORY_ID: &'static str = "IDL:Logger:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Logger:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for LoggerRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for LoggerRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for LoggerRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for LoggerRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for LoggerRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Logger:1.0", "Logger")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Logger> ::punctual::rt::Skeleton<S> for LoggerRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        fn serve_log<S: Logger>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            let mut result = upcall.reuse::<::punctual::rt::Any>();
            let mut state = upcall
                .recycle::<::punctual::rt::Any>(|| ::core::default::Default::default());
            let mut serve = || {
                let entry = upcall.argument::<::punctual::rt::AnyView<'_>>()?;
                upcall.argument_into(&mut *state)?;
                match <S as Logger>::log_into(
                    servant,
                    entry,
                    &mut *state,
                    &mut *result,
                ) {
                    Ok(()) => {
                        upcall
                            .reply(|reply| {
                                ::punctual::rt::Encode::encode(&*result, reply)?;
                                ::punctual::rt::Encode::encode(&*state, reply)?;
                                Ok(())
                            })
                    }
                    Err(error) => upcall.fail(error),
                }
            };
            let outcome = serve();
            upcall.keep(result);
            upcall.keep(state);
            outcome
        }
        match upcall.operation() {
            "log" => serve_log(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}

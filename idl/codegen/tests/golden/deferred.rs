// Generated from IDL by Punctual; changes here are lost.

/// IDL `exception Busy`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Busy {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Busy {
    fn encode(
        &self,
        _: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Busy {
    const MIN_SIZE: usize = 0;
    fn decode(
        _: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {})
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Busy {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing.exception("IDL:Busy:1.0", "Busy", &[])
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::UserException for Busy {
    const REPOSITORY_ID: &'static str = "IDL:Busy:1.0";
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::fmt::Display for Busy {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.debug_struct("Busy").finish()
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::error::Error for Busy {}
/// IDL `interface Thinker`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Thinker: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Thinker::think`.
    ///
    /// The reply may be sent later, from any thread, through `response`.
    fn think(
        &self,
        about: &str,
        depth: i32,
        response: ::punctual::rt::ResponseHandler<
            (::std::string::String, i32),
            thinker::ThinkError,
        >,
    );
    /// IDL `Thinker::now`.
    fn now(&self) -> ::core::result::Result<i32, ::punctual::rt::SystemException>;
}
/// A reference to an object that supports `Thinker`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct ThinkerRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ThinkerRef {
    /// IDL `Thinker::think`.
    pub fn think(
        &self,
        about: &str,
        depth: &mut i32,
    ) -> ::core::result::Result<::std::string::String, thinker::ThinkError> {
        let mut result: ::std::string::String = ::core::default::Default::default();
        self.think_into(about, depth, &mut result)?;
        Ok(result)
    }
    /// Like [`think`](Self::think), with results in memory that the caller keeps.
    pub fn think_into(
        &self,
        about: &str,
        depth: &mut i32,
        result: &mut ::std::string::String,
    ) -> ::core::result::Result<(), thinker::ThinkError> {
        self.0
            .call::<
                thinker::ThinkError,
            >(
                "think",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&about, encoder)?;
                        ::punctual::rt::Encode::encode(&*depth, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut *result, decoder)?;
                        ::punctual::rt::Decode::decode_into(&mut *depth, decoder)?;
                        Ok(())
                    }
                },
            )
    }
    /// Like [`think`](Self::think), without waiting: the request is sent, and the result is a future.
    pub fn think_async(
        &self,
        about: &str,
        depth: i32,
    ) -> ::punctual::rt::AsyncCall<(::std::string::String, i32), thinker::ThinkError> {
        self.0
            .call_async(
                "think",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&about, encoder)?;
                    ::punctual::rt::Encode::encode(&depth, encoder)?;
                    Ok(())
                },
                |decoder| Ok((
                    ::punctual::rt::Decode::decode(decoder)?,
                    ::punctual::rt::Decode::decode(decoder)?,
                )),
            )
    }
    /// IDL `Thinker::now`.
    pub fn now(&self) -> ::core::result::Result<i32, ::punctual::rt::SystemException> {
        let mut result: i32 = ::core::default::Default::default();
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "now",
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
    /// Like [`now`](Self::now), without waiting: the request is sent, and the result is a future.
    pub fn now_async(
        &self,
    ) -> ::punctual::rt::AsyncCall<i32, ::punctual::rt::SystemException> {
        self.0.call_async("now", &mut |_| Ok(()), ::punctual::rt::one_result)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for ThinkerRef {
    const REPOSITORY_ID: &'static str = "IDL:Thinker:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Thinker:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for ThinkerRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for ThinkerRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for ThinkerRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for ThinkerRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for ThinkerRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Thinker:1.0", "Thinker")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Thinker> ::punctual::rt::Skeleton<S> for ThinkerRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        fn serve_think<S: Thinker>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            let about = upcall.argument::<&str>()?;
            let depth = upcall.argument::<i32>()?;
            let response = upcall
                .defer::<
                    (::std::string::String, i32),
                    thinker::ThinkError,
                >(|results, reply| {
                    ::punctual::rt::Encode::encode(&results.0, reply)?;
                    ::punctual::rt::Encode::encode(&results.1, reply)?;
                    Ok(())
                })?;
            <S as Thinker>::think(servant, about, depth, response);
            Ok(())
        }
        fn serve_now<S: Thinker>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            match <S as Thinker>::now(servant) {
                Ok(result) => {
                    upcall.reply(|reply| ::punctual::rt::Encode::encode(&result, reply))
                }
                Err(error) => upcall.fail(error),
            }
        }
        match upcall.operation() {
            "think" => serve_think(servant, upcall),
            "now" => serve_now(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}
/// Declarations of the interface `Thinker`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub mod thinker {
    /// Errors of [`think`](super::Thinker::think).
    #[derive(Clone, PartialEq)]
    pub enum ThinkError {
        /// See [`super::Busy`].
        Busy(super::Busy),
        /// The call itself failed.
        System(::punctual::rt::SystemException),
    }
    impl ::core::convert::From<super::Busy> for ThinkError {
        fn from(exception: super::Busy) -> Self {
            Self::Busy(exception)
        }
    }
    impl ::core::convert::From<::punctual::rt::SystemException> for ThinkError {
        fn from(exception: ::punctual::rt::SystemException) -> Self {
            Self::System(exception)
        }
    }
    impl ::punctual::rt::OperationError for ThinkError {
        fn raise(
            self,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            match self {
                Self::Busy(exception) => upcall.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
        fn decode(
            repository_id: &str,
            decoder: &mut ::punctual::rt::Decoder<'_>,
        ) -> ::core::result::Result<
            ::core::option::Option<Self>,
            ::punctual::rt::CdrError,
        > {
            match repository_id {
                <super::Busy as ::punctual::rt::UserException>::REPOSITORY_ID => {
                    ::punctual::rt::Decode::decode(decoder)
                        .map(|exception| Some(Self::Busy(exception)))
                }
                _ => Ok(None),
            }
        }
    }
    impl ::core::fmt::Display for ThinkError {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            match self {
                Self::Busy(exception) => ::core::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::core::fmt::Display::fmt(exception, f),
            }
        }
    }
    /// `fn main() -> Result<…>` prints the message.
    impl ::core::fmt::Debug for ThinkError {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Display::fmt(self, f)
        }
    }
    impl ::core::error::Error for ThinkError {
        fn source(
            &self,
        ) -> ::core::option::Option<&(dyn ::core::error::Error + 'static)> {
            match self {
                Self::Busy(exception) => ::core::error::Error::source(exception),
                Self::System(exception) => ::core::error::Error::source(exception),
            }
        }
    }
}

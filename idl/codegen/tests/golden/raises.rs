// Generated from IDL by Punctual; changes here are lost.

/// IDL `exception Refused`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Refused {
    /// IDL `Refused::reason`.
    pub reason: ::std::string::String,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Refused {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.reason, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Refused {
    const MIN_SIZE: usize = 4;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            reason: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
    fn decode_into(
        &mut self,
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Decode::decode_into(&mut self.reason, decoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Refused {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing
            .exception(
                "IDL:Refused:1.0",
                "Refused",
                &[("reason", <::std::string::String as ::punctual::rt::Typed>::describe)],
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::UserException for Refused {
    const REPOSITORY_ID: &'static str = "IDL:Refused:1.0";
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::fmt::Display for Refused {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.debug_struct("Refused").field("reason", &self.reason).finish()
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::error::Error for Refused {}
/// IDL `interface Door`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Door: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Door::open`.
    fn open(&self) -> ::core::result::Result<(), door::OpenError>;
}
/// A reference to an object that supports `Door`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct DoorRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl DoorRef {
    /// IDL `Door::open`.
    pub fn open(&self) -> ::core::result::Result<(), door::OpenError> {
        self.0
            .call::<
                door::OpenError,
            >(
                "open",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(_) => Ok(()),
                    ::punctual::rt::Phase::Results(_) => Ok(()),
                },
            )
    }
    /// Like [`open`](Self::open), without waiting: the request is sent, and the result is a future.
    pub fn open_async(&self) -> ::punctual::rt::AsyncCall<(), door::OpenError> {
        self.0.call_async("open", &mut |_| Ok(()), |_| Ok(()))
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for DoorRef {
    const REPOSITORY_ID: &'static str = "IDL:Door:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Door:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for DoorRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for DoorRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for DoorRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for DoorRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for DoorRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Door:1.0", "Door")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Door> ::punctual::rt::Skeleton<S> for DoorRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        fn serve_open<S: Door>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            match <S as Door>::open(servant) {
                Ok(()) => upcall.reply(|_| Ok(())),
                Err(error) => upcall.fail(error),
            }
        }
        match upcall.operation() {
            "open" => serve_open(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}
/// Declarations of the interface `Door`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub mod door {
    /// Errors of [`open`](super::Door::open).
    #[derive(Clone, PartialEq)]
    pub enum OpenError {
        /// See [`super::Refused`].
        Refused(super::Refused),
        /// The call itself failed.
        System(::punctual::rt::SystemException),
    }
    impl ::core::convert::From<super::Refused> for OpenError {
        fn from(exception: super::Refused) -> Self {
            Self::Refused(exception)
        }
    }
    impl ::core::convert::From<::punctual::rt::SystemException> for OpenError {
        fn from(exception: ::punctual::rt::SystemException) -> Self {
            Self::System(exception)
        }
    }
    impl ::punctual::rt::OperationError for OpenError {
        fn raise(
            self,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            match self {
                Self::Refused(exception) => upcall.raise(&exception),
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
                <super::Refused as ::punctual::rt::UserException>::REPOSITORY_ID => {
                    ::punctual::rt::Decode::decode(decoder)
                        .map(|exception| Some(Self::Refused(exception)))
                }
                _ => Ok(None),
            }
        }
    }
    impl ::core::fmt::Display for OpenError {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            match self {
                Self::Refused(exception) => ::core::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::core::fmt::Display::fmt(exception, f),
            }
        }
    }
    /// `fn main() -> Result<…>` prints the message.
    impl ::core::fmt::Debug for OpenError {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Display::fmt(self, f)
        }
    }
    impl ::core::error::Error for OpenError {
        fn source(
            &self,
        ) -> ::core::option::Option<&(dyn ::core::error::Error + 'static)> {
            match self {
                Self::Refused(exception) => ::core::error::Error::source(exception),
                Self::System(exception) => ::core::error::Error::source(exception),
            }
        }
    }
}

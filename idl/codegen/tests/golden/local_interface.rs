// Generated from IDL by Punctual; changes here are lost.

/// Any value of the program.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub type Cookie = ::punctual::rt::NativeValue;
/// An interface of the shape of a policy.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Policy: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `attribute Policy::kind`.
    fn kind(&self) -> ::core::result::Result<i32, ::punctual::rt::SystemException>;
    /// IDL `Policy::copy`.
    fn copy(
        &self,
    ) -> ::core::result::Result<
        ::core::option::Option<::std::sync::Arc<dyn Policy>>,
        ::punctual::rt::SystemException,
    >;
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::fmt::Debug for dyn Policy {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.write_str("Policy")
    }
}
/// Whether both are the same object.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::cmp::PartialEq for dyn Policy {
    fn eq(&self, other: &Self) -> bool {
        ::core::ptr::addr_eq(self, other)
    }
}
/// IDL `typedef PolicyList`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub type PolicyList = ::std::vec::Vec<
    ::core::option::Option<::std::sync::Arc<dyn Policy>>,
>;
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
/// IDL `interface Maker`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Maker: Policy {
    /// IDL `Maker::create`.
    fn create(
        &self,
        bases: &[::core::option::Option<::std::sync::Arc<dyn Policy>>],
        name: &str,
    ) -> ::core::result::Result<
        (::core::option::Option<::std::sync::Arc<dyn Policy>>, i32),
        maker::CreateError,
    >;
    /// IDL `Maker::visit`.
    fn visit(
        &self,
        one: &mut ::core::option::Option<::std::sync::Arc<dyn Policy>>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException>;
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::fmt::Debug for dyn Maker {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.write_str("Maker")
    }
}
/// Whether both are the same object.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::cmp::PartialEq for dyn Maker {
    fn eq(&self, other: &Self) -> bool {
        ::core::ptr::addr_eq(self, other)
    }
}
/// Declarations of the interface `Maker`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub mod maker {
    /// Errors of [`create`](super::Maker::create).
    #[derive(Clone, PartialEq)]
    pub enum CreateError {
        /// See [`super::Refused`].
        Refused(super::Refused),
        /// The call itself failed.
        System(::punctual::rt::SystemException),
    }
    impl ::core::convert::From<super::Refused> for CreateError {
        fn from(exception: super::Refused) -> Self {
            Self::Refused(exception)
        }
    }
    impl ::core::convert::From<::punctual::rt::SystemException> for CreateError {
        fn from(exception: ::punctual::rt::SystemException) -> Self {
            Self::System(exception)
        }
    }
    impl ::punctual::rt::OperationError for CreateError {
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
    impl ::core::fmt::Display for CreateError {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            match self {
                Self::Refused(exception) => ::core::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::core::fmt::Display::fmt(exception, f),
            }
        }
    }
    /// `fn main() -> Result<…>` prints the message.
    impl ::core::fmt::Debug for CreateError {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Display::fmt(self, f)
        }
    }
    impl ::core::error::Error for CreateError {
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
/// IDL `struct Setting`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Setting {
    /// IDL `Setting::name`.
    pub name: ::std::string::String,
    /// IDL `Setting::value`.
    pub value: ::core::option::Option<::std::sync::Arc<dyn Policy>>,
}
/// IDL `exception Conflict`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Conflict {
    /// IDL `Conflict::among`.
    pub among: ::std::vec::Vec<Setting>,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::fmt::Display for Conflict {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.debug_struct("Conflict").field("among", &self.among).finish()
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::error::Error for Conflict {}
/// IDL `interface Registry`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Registry: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Registry::add`.
    fn add(&self, one: &Setting) -> ::core::result::Result<(), registry::AddError>;
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::fmt::Debug for dyn Registry {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.write_str("Registry")
    }
}
/// Whether both are the same object.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::cmp::PartialEq for dyn Registry {
    fn eq(&self, other: &Self) -> bool {
        ::core::ptr::addr_eq(self, other)
    }
}
/// Declarations of the interface `Registry`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub mod registry {
    /// Errors of [`add`](super::Registry::add).
    #[derive(Clone, PartialEq)]
    pub enum AddError {
        /// See [`super::Refused`].
        Refused(super::Refused),
        /// See [`super::Conflict`].
        Conflict(super::Conflict),
        /// The call itself failed.
        System(::punctual::rt::SystemException),
    }
    impl ::core::convert::From<super::Refused> for AddError {
        fn from(exception: super::Refused) -> Self {
            Self::Refused(exception)
        }
    }
    impl ::core::convert::From<super::Conflict> for AddError {
        fn from(exception: super::Conflict) -> Self {
            Self::Conflict(exception)
        }
    }
    impl ::core::convert::From<::punctual::rt::SystemException> for AddError {
        fn from(exception: ::punctual::rt::SystemException) -> Self {
            Self::System(exception)
        }
    }
    impl ::core::fmt::Display for AddError {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            match self {
                Self::Refused(exception) => ::core::fmt::Display::fmt(exception, f),
                Self::Conflict(exception) => ::core::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::core::fmt::Display::fmt(exception, f),
            }
        }
    }
    /// `fn main() -> Result<…>` prints the message.
    impl ::core::fmt::Debug for AddError {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Display::fmt(self, f)
        }
    }
    impl ::core::error::Error for AddError {
        fn source(
            &self,
        ) -> ::core::option::Option<&(dyn ::core::error::Error + 'static)> {
            match self {
                Self::Refused(exception) => ::core::error::Error::source(exception),
                Self::Conflict(exception) => ::core::error::Error::source(exception),
                Self::System(exception) => ::core::error::Error::source(exception),
            }
        }
    }
}

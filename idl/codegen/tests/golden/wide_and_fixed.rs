// Generated from IDL by Punctual; changes here are lost.

/// IDL `const SIGN`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub const SIGN: ::punctual::rt::WChar = ::punctual::rt::WChar('€');
/// IDL `const UNIT`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub const UNIT: &str = "m²";
/// IDL `const RATE`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub const RATE: ::punctual::rt::Fixed<3, 1> = match <::punctual::rt::Fixed<
    3,
    1,
>>::new(-125) {
    Ok(number) => number,
    Err(_) => panic!("too many digits"),
};
/// IDL `struct Price`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Price {
    /// IDL `Price::currency`.
    pub currency: ::punctual::rt::WString<8>,
    /// IDL `Price::total`.
    pub total: ::punctual::rt::Fixed<8, 2>,
    /// IDL `Price::sign`.
    pub sign: ::punctual::rt::WChar,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Price {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.currency, encoder)?;
        ::punctual::rt::Encode::encode(&self.total, encoder)?;
        ::punctual::rt::Encode::encode(&self.sign, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Price {
    const MIN_SIZE: usize = 10;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            currency: ::punctual::rt::Decode::decode(decoder)?,
            total: ::punctual::rt::Decode::decode(decoder)?,
            sign: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
    fn decode_into(
        &mut self,
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Decode::decode_into(&mut self.currency, decoder)?;
        ::punctual::rt::Decode::decode_into(&mut self.total, decoder)?;
        ::punctual::rt::Decode::decode_into(&mut self.sign, decoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Price {
    fn reset(&mut self) {
        ::punctual::rt::Reset::reset(&mut self.currency);
        ::punctual::rt::Reset::reset(&mut self.total);
        ::punctual::rt::Reset::reset(&mut self.sign);
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Price {
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
                "IDL:Price:1.0",
                "Price",
                &[
                    (
                        "currency",
                        <::punctual::rt::WString<8> as ::punctual::rt::Typed>::describe,
                    ),
                    (
                        "total",
                        <::punctual::rt::Fixed<8, 2> as ::punctual::rt::Typed>::describe,
                    ),
                    ("sign", <::punctual::rt::WChar as ::punctual::rt::Typed>::describe),
                ],
            )
    }
}
/// IDL `typedef Amount`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub type Amount = ::punctual::rt::Fixed<8, 2>;
/// IDL `interface Shop`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Shop: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Shop::describe`.
    fn describe(
        &self,
        name: &::punctual::rt::WString,
        sum: &mut Amount,
    ) -> ::core::result::Result<
        (::punctual::rt::WString, ::punctual::rt::WChar),
        ::punctual::rt::SystemException,
    >;
    /// Like [`describe`](Self::describe), with results in memory that is kept from call to call; override it to allocate none.
    fn describe_into(
        &self,
        name: &::punctual::rt::WString,
        sum: &mut Amount,
        result: &mut ::punctual::rt::WString,
        sign: &mut ::punctual::rt::WChar,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        (*result, *sign) = <Self as Shop>::describe(self, name, sum)?;
        Ok(())
    }
}
/// A reference to an object that supports `Shop`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct ShopRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ShopRef {
    /// IDL `Shop::describe`.
    pub fn describe(
        &self,
        name: &::punctual::rt::WString,
        sum: &mut Amount,
    ) -> ::core::result::Result<
        (::punctual::rt::WString, ::punctual::rt::WChar),
        ::punctual::rt::SystemException,
    > {
        let mut result: ::punctual::rt::WString = ::core::default::Default::default();
        let mut sign: ::punctual::rt::WChar = ::core::default::Default::default();
        self.describe_into(name, sum, &mut result, &mut sign)?;
        Ok((result, sign))
    }
    /// Like [`describe`](Self::describe), with results in memory that the caller keeps.
    pub fn describe_into(
        &self,
        name: &::punctual::rt::WString,
        sum: &mut Amount,
        result: &mut ::punctual::rt::WString,
        sign: &mut ::punctual::rt::WChar,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "describe",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&name, encoder)?;
                        ::punctual::rt::Encode::encode(&*sum, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut *result, decoder)?;
                        ::punctual::rt::Decode::decode_into(&mut *sum, decoder)?;
                        ::punctual::rt::Decode::decode_into(&mut *sign, decoder)?;
                        Ok(())
                    }
                },
            )
    }
    /// Like [`describe`](Self::describe), without waiting: the request is sent, and the result is a future.
    pub fn describe_async(
        &self,
        name: &::punctual::rt::WString,
        sum: Amount,
    ) -> ::punctual::rt::AsyncCall<
        (::punctual::rt::WString, Amount, ::punctual::rt::WChar),
        ::punctual::rt::SystemException,
    > {
        self.0
            .call_async(
                "describe",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&name, encoder)?;
                    ::punctual::rt::Encode::encode(&sum, encoder)?;
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
impl ::punctual::rt::Interface for ShopRef {
    const REPOSITORY_ID: &'static str = "IDL:Shop:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Shop:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for ShopRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for ShopRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for ShopRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for ShopRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for ShopRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Shop:1.0", "Shop")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Shop> ::punctual::rt::Skeleton<S> for ShopRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        fn serve_describe<S: Shop>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            let mut result: ::punctual::rt::WString = ::core::default::Default::default();
            let name = upcall.argument::<::punctual::rt::WString>()?;
            let mut sum = upcall.argument::<Amount>()?;
            let mut sign: ::punctual::rt::WChar = ::core::default::Default::default();
            match <S as Shop>::describe_into(
                servant,
                &name,
                &mut sum,
                &mut result,
                &mut sign,
            ) {
                Ok(()) => {
                    upcall
                        .reply(|reply| {
                            ::punctual::rt::Encode::encode(&result, reply)?;
                            ::punctual::rt::Encode::encode(&sum, reply)?;
                            ::punctual::rt::Encode::encode(&sign, reply)?;
                            Ok(())
                        })
                }
                Err(error) => upcall.fail(error),
            }
        }
        match upcall.operation() {
            "describe" => serve_describe(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}

// Generated from IDL by Punctual; changes here are lost.

/// IDL `struct Named`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Named {
    /// IDL `Named::name`.
    pub name: ::std::string::String,
    /// IDL `Named::data`.
    pub data: ::std::vec::Vec<u8>,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Named {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.name, encoder)?;
        ::punctual::rt::Encode::encode(&self.data, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Named {
    const MIN_SIZE: usize = 8;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            name: ::punctual::rt::Decode::decode(decoder)?,
            data: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
    fn decode_into(
        &mut self,
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Decode::decode_into(&mut self.name, decoder)?;
        ::punctual::rt::Decode::decode_into(&mut self.data, decoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Named {
    fn reset(&mut self) {
        ::punctual::rt::Reset::reset(&mut self.name);
        ::punctual::rt::Reset::reset(&mut self.data);
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Named {
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
                "IDL:Named:1.0",
                "Named",
                &[
                    ("name", <::std::string::String as ::punctual::rt::Typed>::describe),
                    ("data", <::std::vec::Vec<u8> as ::punctual::rt::Typed>::describe),
                ],
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for NamedView<'_> {
    fn type_code() -> ::punctual::rt::TypeCode {
        <Named as ::punctual::rt::Typed>::type_code()
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        <Named as ::punctual::rt::Typed>::describe(enclosing)
    }
}
/// [`Named`] as lent to a servant for the time of an upcall.
#[derive(Clone, Debug)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct NamedView<'a> {
    /// IDL `Named::name`.
    pub name: &'a str,
    /// IDL `Named::data`.
    pub data: &'a [u8],
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for NamedView<'a> {
    const MIN_SIZE: usize = 8;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            name: ::punctual::rt::Decode::decode(decoder)?,
            data: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl NamedView<'_> {
    /// A copy that outlives the upcall.
    pub fn to_owned(&self) -> Named {
        Named {
            name: ::std::string::String::from(self.name),
            data: self.data.to_vec(),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::From<NamedView<'_>> for Named {
    fn from(view: NamedView<'_>) -> Self {
        view.to_owned()
    }
}

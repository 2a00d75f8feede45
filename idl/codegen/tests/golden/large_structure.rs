// Generated from IDL by Punctual; changes here are lost.

/// IDL `struct Detail`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Detail {
    /// IDL `Detail::raw`.
    pub raw: [u8; 1000],
    /// IDL `Detail::name`.
    pub name: ::std::string::String,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::default::Default for Detail {
    fn default() -> Self {
        Self {
            raw: ::core::array::from_fn(|_| ::core::default::Default::default()),
            name: ::core::default::Default::default(),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Detail {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.raw, encoder)?;
        ::punctual::rt::Encode::encode(&self.name, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Detail {
    const MIN_SIZE: usize = 1004;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            raw: ::punctual::rt::Decode::decode(decoder)?,
            name: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
    fn decode_into(
        &mut self,
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Decode::decode_into(&mut self.raw, decoder)?;
        ::punctual::rt::Decode::decode_into(&mut self.name, decoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Detail {
    fn reset(&mut self) {
        ::punctual::rt::Reset::reset(&mut self.raw);
        ::punctual::rt::Reset::reset(&mut self.name);
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Detail {
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
                "IDL:Detail:1.0",
                "Detail",
                &[
                    ("raw", <[u8; 1000] as ::punctual::rt::Typed>::describe),
                    ("name", <::std::string::String as ::punctual::rt::Typed>::describe),
                ],
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for DetailView<'_> {
    fn type_code() -> ::punctual::rt::TypeCode {
        <Detail as ::punctual::rt::Typed>::type_code()
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        <Detail as ::punctual::rt::Typed>::describe(enclosing)
    }
}
/// [`Detail`] as lent to a servant for the time of an upcall.
#[derive(Clone, Debug)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct DetailView<'a> {
    /// IDL `Detail::raw`.
    pub raw: [u8; 1000],
    /// IDL `Detail::name`.
    pub name: &'a str,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for DetailView<'a> {
    const MIN_SIZE: usize = 1004;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            raw: ::punctual::rt::Decode::decode(decoder)?,
            name: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl DetailView<'_> {
    /// A copy that outlives the upcall.
    pub fn to_owned(&self) -> Detail {
        Detail {
            raw: ::core::clone::Clone::clone(&self.raw),
            name: ::std::string::String::from(self.name),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::From<DetailView<'_>> for Detail {
    fn from(view: DetailView<'_>) -> Self {
        view.to_owned()
    }
}
/// IDL `struct Machine`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Machine {
    /// IDL `Machine::code`.
    pub code: ::std::boxed::Box<[u8; 4000]>,
    /// IDL `Machine::labels`.
    pub labels: ::std::boxed::Box<[::std::string::String; 20]>,
    /// IDL `Machine::inside`.
    pub inside: ::std::boxed::Box<Detail>,
    /// IDL `Machine::id`.
    pub id: i32,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::default::Default for Machine {
    fn default() -> Self {
        Self {
            code: ::punctual::rt::boxed(|| ::core::array::from_fn(|_| ::core::default::Default::default())),
            labels: ::punctual::rt::boxed(|| ::core::default::Default::default()),
            inside: ::punctual::rt::boxed(|| ::core::default::Default::default()),
            id: ::core::default::Default::default(),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Machine {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.code, encoder)?;
        ::punctual::rt::Encode::encode(&self.labels, encoder)?;
        ::punctual::rt::Encode::encode(&self.inside, encoder)?;
        ::punctual::rt::Encode::encode(&self.id, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Machine {
    const MIN_SIZE: usize = 5088;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            code: ::punctual::rt::Decode::decode(decoder)?,
            labels: ::punctual::rt::Decode::decode(decoder)?,
            inside: ::punctual::rt::Decode::decode(decoder)?,
            id: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
    fn decode_into(
        &mut self,
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Decode::decode_into(&mut self.code, decoder)?;
        ::punctual::rt::Decode::decode_into(&mut self.labels, decoder)?;
        ::punctual::rt::Decode::decode_into(&mut self.inside, decoder)?;
        ::punctual::rt::Decode::decode_into(&mut self.id, decoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Machine {
    fn reset(&mut self) {
        ::punctual::rt::Reset::reset(&mut self.code);
        ::punctual::rt::Reset::reset(&mut self.labels);
        ::punctual::rt::Reset::reset(&mut self.inside);
        ::punctual::rt::Reset::reset(&mut self.id);
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Machine {
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
                "IDL:Machine:1.0",
                "Machine",
                &[
                    ("code", <[u8; 4000] as ::punctual::rt::Typed>::describe),
                    (
                        "labels",
                        <[::std::string::String; 20] as ::punctual::rt::Typed>::describe,
                    ),
                    ("inside", <Detail as ::punctual::rt::Typed>::describe),
                    ("id", <i32 as ::punctual::rt::Typed>::describe),
                ],
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for MachineView<'_> {
    fn type_code() -> ::punctual::rt::TypeCode {
        <Machine as ::punctual::rt::Typed>::type_code()
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        <Machine as ::punctual::rt::Typed>::describe(enclosing)
    }
}
/// [`Machine`] as lent to a servant for the time of an upcall.
#[derive(Clone, Debug)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct MachineView<'a> {
    /// IDL `Machine::code`.
    pub code: &'a [u8; 4000],
    /// IDL `Machine::labels`.
    pub labels: &'a [&'a str; 20],
    /// IDL `Machine::inside`.
    pub inside: &'a DetailView<'a>,
    /// IDL `Machine::id`.
    pub id: i32,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for MachineView<'a> {
    const MIN_SIZE: usize = 5088;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            code: ::punctual::rt::Decode::decode(decoder)?,
            labels: ::punctual::rt::Decode::decode(decoder)?,
            inside: ::punctual::rt::Decode::decode(decoder)?,
            id: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl MachineView<'_> {
    /// A copy that outlives the upcall.
    pub fn to_owned(&self) -> Machine {
        Machine {
            code: ::punctual::rt::boxed(|| ::core::clone::Clone::clone(self.code)),
            labels: ::punctual::rt::boxed(|| {
                self
                    .labels
                    .each_ref()
                    .map(|element| ::std::string::String::from(*element))
            }),
            inside: ::punctual::rt::boxed(|| self.inside.to_owned()),
            id: ::core::clone::Clone::clone(&self.id),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::From<MachineView<'_>> for Machine {
    fn from(view: MachineView<'_>) -> Self {
        view.to_owned()
    }
}

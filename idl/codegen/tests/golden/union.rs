// Generated from IDL by Punctual; changes here are lost.

/// IDL `union Choice`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub enum Choice {
    /// IDL `Choice::number`.
    Number(i16, i32),
    /// IDL `Choice::text`.
    Text(::std::string::String),
    /// IDL `Choice::flag`.
    Flag(i16, bool),
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::default::Default for Choice {
    fn default() -> Self {
        Self::Number(1, ::core::default::Default::default())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Choice {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        match self {
            Self::Number(discriminator, member) => {
                if !matches!(discriminator, 1 | 2) {
                    return Err(
                        encoder.error(::punctual::rt::CdrErrorKind::UnionLabelMismatch),
                    );
                }
                ::punctual::rt::Encode::encode(discriminator, encoder)?;
                ::punctual::rt::Encode::encode(member, encoder)
            }
            Self::Text(member) => {
                let discriminator: i16 = 3;
                ::punctual::rt::Encode::encode(&discriminator, encoder)?;
                ::punctual::rt::Encode::encode(member, encoder)
            }
            Self::Flag(discriminator, member) => {
                if matches!(discriminator, 1 | 2 | 3) {
                    return Err(
                        encoder.error(::punctual::rt::CdrErrorKind::UnionLabelMismatch),
                    );
                }
                ::punctual::rt::Encode::encode(discriminator, encoder)?;
                ::punctual::rt::Encode::encode(member, encoder)
            }
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Choice {
    const MIN_SIZE: usize = 3;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        let discriminator = <i16 as ::punctual::rt::Decode>::decode(decoder)?;
        Self::decode_member(discriminator, decoder)
    }
    fn decode_into(
        &mut self,
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        let discriminator = <i16 as ::punctual::rt::Decode>::decode(decoder)?;
        match (discriminator, &mut *self) {
            (3, Self::Text(member)) => {
                ::punctual::rt::Decode::decode_into(member, decoder)
            }
            (_, other) => {
                *other = Self::decode_member(discriminator, decoder)?;
                Ok(())
            }
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl Choice {
    fn decode_member(
        discriminator: i16,
        decoder: &mut ::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        match discriminator {
            1 | 2 => {
                Ok(Self::Number(discriminator, ::punctual::rt::Decode::decode(decoder)?))
            }
            3 => Ok(Self::Text(::punctual::rt::Decode::decode(decoder)?)),
            _ => Ok(Self::Flag(discriminator, ::punctual::rt::Decode::decode(decoder)?)),
        }
    }
}
/// Keeps the member that is set, so that its memory can be used again.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Choice {
    fn reset(&mut self) {
        match self {
            Self::Number(_, member) => ::punctual::rt::Reset::reset(member),
            Self::Text(member) => ::punctual::rt::Reset::reset(member),
            Self::Flag(_, member) => ::punctual::rt::Reset::reset(member),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Choice {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing
            .union(
                "IDL:Choice:1.0",
                "Choice",
                <i16 as ::punctual::rt::Typed>::describe,
                ::core::option::Option::Some(3),
                &[
                    (1, "number", <i32 as ::punctual::rt::Typed>::describe),
                    (2, "number", <i32 as ::punctual::rt::Typed>::describe),
                    (
                        3,
                        "text",
                        <::std::string::String as ::punctual::rt::Typed>::describe,
                    ),
                    (0, "flag", <bool as ::punctual::rt::Typed>::describe),
                ],
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for ChoiceView<'_> {
    fn type_code() -> ::punctual::rt::TypeCode {
        <Choice as ::punctual::rt::Typed>::type_code()
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        <Choice as ::punctual::rt::Typed>::describe(enclosing)
    }
}
/// [`Choice`] as lent to a servant for the time of an upcall.
#[derive(Clone, Debug)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub enum ChoiceView<'a> {
    /// IDL `Choice::number`.
    Number(i16, i32),
    /// IDL `Choice::text`.
    Text(&'a str),
    /// IDL `Choice::flag`.
    Flag(i16, bool),
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for ChoiceView<'a> {
    const MIN_SIZE: usize = 3;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        let discriminator = <i16 as ::punctual::rt::Decode>::decode(decoder)?;
        Self::decode_member(discriminator, decoder)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ChoiceView<'a> {
    /// A copy that outlives the upcall.
    pub fn to_owned(&self) -> Choice {
        match self {
            Self::Number(discriminator, member) => {
                Choice::Number(*discriminator, ::core::clone::Clone::clone(member))
            }
            Self::Text(member) => Choice::Text(::std::string::String::from(*member)),
            Self::Flag(discriminator, member) => {
                Choice::Flag(*discriminator, ::core::clone::Clone::clone(member))
            }
        }
    }
    fn decode_member(
        discriminator: i16,
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        match discriminator {
            1 | 2 => {
                Ok(Self::Number(discriminator, ::punctual::rt::Decode::decode(decoder)?))
            }
            3 => Ok(Self::Text(::punctual::rt::Decode::decode(decoder)?)),
            _ => Ok(Self::Flag(discriminator, ::punctual::rt::Decode::decode(decoder)?)),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::From<ChoiceView<'_>> for Choice {
    fn from(view: ChoiceView<'_>) -> Self {
        view.to_owned()
    }
}
/// IDL `union Step`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub enum Step {
    /// IDL `Step::back`.
    Back(i32),
    /// IDL `Step::forth`.
    Forth(i8, ::std::string::String),
    /// No member: the discriminator, which selects none.
    NoMember(i8),
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::default::Default for Step {
    fn default() -> Self {
        Self::Back(::core::default::Default::default())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Step {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        match self {
            Self::Back(member) => {
                let discriminator: i8 = -1;
                ::punctual::rt::Encode::encode(&discriminator, encoder)?;
                ::punctual::rt::Encode::encode(member, encoder)
            }
            Self::Forth(discriminator, member) => {
                if !matches!(discriminator, 0 | 1) {
                    return Err(
                        encoder.error(::punctual::rt::CdrErrorKind::UnionLabelMismatch),
                    );
                }
                ::punctual::rt::Encode::encode(discriminator, encoder)?;
                ::punctual::rt::Encode::encode(member, encoder)
            }
            Self::NoMember(discriminator) => {
                if matches!(discriminator, - 1 | 0 | 1) {
                    return Err(
                        encoder.error(::punctual::rt::CdrErrorKind::UnionLabelMismatch),
                    );
                }
                ::punctual::rt::Encode::encode(discriminator, encoder)
            }
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Step {
    const MIN_SIZE: usize = 1;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        let discriminator = <i8 as ::punctual::rt::Decode>::decode(decoder)?;
        Self::decode_member(discriminator, decoder)
    }
    fn decode_into(
        &mut self,
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        let discriminator = <i8 as ::punctual::rt::Decode>::decode(decoder)?;
        match (discriminator, &mut *self) {
            (0 | 1, Self::Forth(kept, member)) => {
                *kept = discriminator;
                ::punctual::rt::Decode::decode_into(member, decoder)
            }
            (_, other) => {
                *other = Self::decode_member(discriminator, decoder)?;
                Ok(())
            }
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl Step {
    fn decode_member(
        discriminator: i8,
        decoder: &mut ::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        match discriminator {
            -1 => Ok(Self::Back(::punctual::rt::Decode::decode(decoder)?)),
            0 | 1 => {
                Ok(Self::Forth(discriminator, ::punctual::rt::Decode::decode(decoder)?))
            }
            _ => Ok(Self::NoMember(discriminator)),
        }
    }
}
/// Keeps the member that is set, so that its memory can be used again.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Step {
    fn reset(&mut self) {
        match self {
            Self::Back(member) => ::punctual::rt::Reset::reset(member),
            Self::Forth(_, member) => ::punctual::rt::Reset::reset(member),
            Self::NoMember(_) => {}
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Step {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing
            .union(
                "IDL:Step:1.0",
                "Step",
                <i8 as ::punctual::rt::Typed>::describe,
                ::core::option::Option::None,
                &[
                    (-1, "back", <i32 as ::punctual::rt::Typed>::describe),
                    (
                        0,
                        "forth",
                        <::std::string::String as ::punctual::rt::Typed>::describe,
                    ),
                    (
                        1,
                        "forth",
                        <::std::string::String as ::punctual::rt::Typed>::describe,
                    ),
                ],
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for StepView<'_> {
    fn type_code() -> ::punctual::rt::TypeCode {
        <Step as ::punctual::rt::Typed>::type_code()
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        <Step as ::punctual::rt::Typed>::describe(enclosing)
    }
}
/// [`Step`] as lent to a servant for the time of an upcall.
#[derive(Clone, Debug)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub enum StepView<'a> {
    /// IDL `Step::back`.
    Back(i32),
    /// IDL `Step::forth`.
    Forth(i8, &'a str),
    /// No member: the discriminator, which selects none.
    NoMember(i8),
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for StepView<'a> {
    const MIN_SIZE: usize = 1;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        let discriminator = <i8 as ::punctual::rt::Decode>::decode(decoder)?;
        Self::decode_member(discriminator, decoder)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> StepView<'a> {
    /// A copy that outlives the upcall.
    pub fn to_owned(&self) -> Step {
        match self {
            Self::Back(member) => Step::Back(::core::clone::Clone::clone(member)),
            Self::Forth(discriminator, member) => {
                Step::Forth(*discriminator, ::std::string::String::from(*member))
            }
            Self::NoMember(discriminator) => Step::NoMember(*discriminator),
        }
    }
    fn decode_member(
        discriminator: i8,
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        match discriminator {
            -1 => Ok(Self::Back(::punctual::rt::Decode::decode(decoder)?)),
            0 | 1 => {
                Ok(Self::Forth(discriminator, ::punctual::rt::Decode::decode(decoder)?))
            }
            _ => Ok(Self::NoMember(discriminator)),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::From<StepView<'_>> for Step {
    fn from(view: StepView<'_>) -> Self {
        view.to_owned()
    }
}

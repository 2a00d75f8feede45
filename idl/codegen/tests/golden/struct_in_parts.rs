// Generated from IDL by Punctual; changes here are lost.

/// IDL `struct Field`.
#[derive(Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Field {
    rest: ::std::boxed::Box<FieldPart1>,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for Field {
    type Target = FieldPart1;
    fn deref(&self) -> &FieldPart1 {
        &self.rest
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::DerefMut for Field {
    fn deref_mut(&mut self) -> &mut FieldPart1 {
        &mut self.rest
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::clone::Clone for Field {
    fn clone(&self) -> Self {
        let part1 = &*self.rest;
        let part2 = &*part1.rest;
        let part3 = &*part2.rest;
        let part4 = &*part3.rest;
        let part5 = &*part4.rest;
        let rest = ::punctual::rt::boxed(|| FieldPart5 {
            m512: ::core::clone::Clone::clone(&part5.m512),
            m599: ::core::clone::Clone::clone(&part5.m599),
        });
        let rest = ::punctual::rt::boxed(|| FieldPart4 {
            m384: ::core::clone::Clone::clone(&part4.m384),
            m511: ::core::clone::Clone::clone(&part4.m511),
            rest,
        });
        let rest = ::punctual::rt::boxed(|| FieldPart3 {
            m256: ::core::clone::Clone::clone(&part3.m256),
            m383: ::core::clone::Clone::clone(&part3.m383),
            rest,
        });
        let rest = ::punctual::rt::boxed(|| FieldPart2 {
            m128: ::core::clone::Clone::clone(&part2.m128),
            m255: ::core::clone::Clone::clone(&part2.m255),
            rest,
        });
        let rest = ::punctual::rt::boxed(|| FieldPart1 {
            m000: ::core::clone::Clone::clone(&part1.m000),
            m127: ::core::clone::Clone::clone(&part1.m127),
            rest,
        });
        Self { rest }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::default::Default for Field {
    fn default() -> Self {
        let rest = ::punctual::rt::boxed(|| FieldPart5 {
            m512: ::core::default::Default::default(),
            m599: ::core::default::Default::default(),
        });
        let rest = ::punctual::rt::boxed(|| FieldPart4 {
            m384: ::core::default::Default::default(),
            m511: ::core::default::Default::default(),
            rest,
        });
        let rest = ::punctual::rt::boxed(|| FieldPart3 {
            m256: ::core::default::Default::default(),
            m383: ::core::default::Default::default(),
            rest,
        });
        let rest = ::punctual::rt::boxed(|| FieldPart2 {
            m128: ::core::default::Default::default(),
            m255: ::core::default::Default::default(),
            rest,
        });
        let rest = ::punctual::rt::boxed(|| FieldPart1 {
            m000: ::core::default::Default::default(),
            m127: ::core::default::Default::default(),
            rest,
        });
        Self { rest }
    }
}
/// Members of [`Field`], which dereferences to them: one part of its memory.
#[derive(Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct FieldPart1 {
    /// IDL `Field::m000`.
    pub m000: f64,
    /// IDL `Field::m127`.
    pub m127: f64,
    rest: ::std::boxed::Box<FieldPart2>,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for FieldPart1 {
    type Target = FieldPart2;
    fn deref(&self) -> &FieldPart2 {
        &self.rest
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::DerefMut for FieldPart1 {
    fn deref_mut(&mut self) -> &mut FieldPart2 {
        &mut self.rest
    }
}
/// Members of [`Field`], which dereferences to them: one part of its memory.
#[derive(Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct FieldPart2 {
    /// IDL `Field::m128`.
    pub m128: f64,
    /// IDL `Field::m255`.
    pub m255: f64,
    rest: ::std::boxed::Box<FieldPart3>,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for FieldPart2 {
    type Target = FieldPart3;
    fn deref(&self) -> &FieldPart3 {
        &self.rest
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::DerefMut for FieldPart2 {
    fn deref_mut(&mut self) -> &mut FieldPart3 {
        &mut self.rest
    }
}
/// Members of [`Field`], which dereferences to them: one part of its memory.
#[derive(Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct FieldPart3 {
    /// IDL `Field::m256`.
    pub m256: f64,
    /// IDL `Field::m383`.
    pub m383: f64,
    rest: ::std::boxed::Box<FieldPart4>,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for FieldPart3 {
    type Target = FieldPart4;
    fn deref(&self) -> &FieldPart4 {
        &self.rest
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::DerefMut for FieldPart3 {
    fn deref_mut(&mut self) -> &mut FieldPart4 {
        &mut self.rest
    }
}
/// Members of [`Field`], which dereferences to them: one part of its memory.
#[derive(Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct FieldPart4 {
    /// IDL `Field::m384`.
    pub m384: f64,
    /// IDL `Field::m511`.
    pub m511: f64,
    rest: ::std::boxed::Box<FieldPart5>,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for FieldPart4 {
    type Target = FieldPart5;
    fn deref(&self) -> &FieldPart5 {
        &self.rest
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::DerefMut for FieldPart4 {
    fn deref_mut(&mut self) -> &mut FieldPart5 {
        &mut self.rest
    }
}
/// Members of [`Field`], which dereferences to them: one part of its memory.
#[derive(Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct FieldPart5 {
    /// IDL `Field::m512`.
    pub m512: f64,
    /// IDL `Field::m599`.
    pub m599: f64,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Field {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        let value = &*self.rest;
        let group = |
            value: &FieldPart1,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&value.m000, encoder)?;
            Ok(())
        };
        group(value, encoder)?;
        let group = |
            value: &FieldPart1,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, encoder)?;
        let group = |
            value: &FieldPart1,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, encoder)?;
        let group = |
            value: &FieldPart1,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&value.m127, encoder)?;
            Ok(())
        };
        group(value, encoder)?;
        let value = &*value.rest;
        let group = |
            value: &FieldPart2,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&value.m128, encoder)?;
            Ok(())
        };
        group(value, encoder)?;
        let group = |
            value: &FieldPart2,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, encoder)?;
        let group = |
            value: &FieldPart2,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, encoder)?;
        let group = |
            value: &FieldPart2,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&value.m255, encoder)?;
            Ok(())
        };
        group(value, encoder)?;
        let value = &*value.rest;
        let group = |
            value: &FieldPart3,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&value.m256, encoder)?;
            Ok(())
        };
        group(value, encoder)?;
        let group = |
            value: &FieldPart3,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, encoder)?;
        let group = |
            value: &FieldPart3,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, encoder)?;
        let group = |
            value: &FieldPart3,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&value.m383, encoder)?;
            Ok(())
        };
        group(value, encoder)?;
        let value = &*value.rest;
        let group = |
            value: &FieldPart4,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&value.m384, encoder)?;
            Ok(())
        };
        group(value, encoder)?;
        let group = |
            value: &FieldPart4,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, encoder)?;
        let group = |
            value: &FieldPart4,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, encoder)?;
        let group = |
            value: &FieldPart4,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&value.m511, encoder)?;
            Ok(())
        };
        group(value, encoder)?;
        let value = &*value.rest;
        let group = |
            value: &FieldPart5,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&value.m512, encoder)?;
            Ok(())
        };
        group(value, encoder)?;
        let group = |
            value: &FieldPart5,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, encoder)?;
        let group = |
            value: &FieldPart5,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&value.m599, encoder)?;
            Ok(())
        };
        group(value, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Field {
    const MIN_SIZE: usize = 4800;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        decoder
            .reserve(
                ::core::mem::size_of::<FieldPart1>()
                    + ::core::mem::size_of::<FieldPart2>()
                    + ::core::mem::size_of::<FieldPart3>()
                    + ::core::mem::size_of::<FieldPart4>()
                    + ::core::mem::size_of::<FieldPart5>(),
            )?;
        let mut new = Self::default();
        let made = &mut new;
        let value = &mut *made.rest;
        let group = |
            value: &mut FieldPart1,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            value.m000 = ::punctual::rt::Decode::decode(decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart1,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart1,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart1,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            value.m127 = ::punctual::rt::Decode::decode(decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let value = &mut *value.rest;
        let group = |
            value: &mut FieldPart2,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            value.m128 = ::punctual::rt::Decode::decode(decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart2,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart2,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart2,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            value.m255 = ::punctual::rt::Decode::decode(decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let value = &mut *value.rest;
        let group = |
            value: &mut FieldPart3,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            value.m256 = ::punctual::rt::Decode::decode(decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart3,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart3,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart3,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            value.m383 = ::punctual::rt::Decode::decode(decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let value = &mut *value.rest;
        let group = |
            value: &mut FieldPart4,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            value.m384 = ::punctual::rt::Decode::decode(decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart4,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart4,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart4,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            value.m511 = ::punctual::rt::Decode::decode(decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let value = &mut *value.rest;
        let group = |
            value: &mut FieldPart5,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            value.m512 = ::punctual::rt::Decode::decode(decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart5,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart5,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            value.m599 = ::punctual::rt::Decode::decode(decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        Ok(new)
    }
    fn decode_into(
        &mut self,
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        let value = &mut *self.rest;
        let group = |
            value: &mut FieldPart1,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Decode::decode_into(&mut value.m000, decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart1,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart1,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart1,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Decode::decode_into(&mut value.m127, decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let value = &mut *value.rest;
        let group = |
            value: &mut FieldPart2,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Decode::decode_into(&mut value.m128, decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart2,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart2,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart2,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Decode::decode_into(&mut value.m255, decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let value = &mut *value.rest;
        let group = |
            value: &mut FieldPart3,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Decode::decode_into(&mut value.m256, decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart3,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart3,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart3,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Decode::decode_into(&mut value.m383, decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let value = &mut *value.rest;
        let group = |
            value: &mut FieldPart4,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Decode::decode_into(&mut value.m384, decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart4,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart4,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart4,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Decode::decode_into(&mut value.m511, decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let value = &mut *value.rest;
        let group = |
            value: &mut FieldPart5,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Decode::decode_into(&mut value.m512, decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart5,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            Ok(())
        };
        group(value, decoder)?;
        let group = |
            value: &mut FieldPart5,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        | -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Decode::decode_into(&mut value.m599, decoder)?;
            Ok(())
        };
        group(value, decoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Field {
    fn reset(&mut self) {
        let value = &mut *self.rest;
        ::punctual::rt::Reset::reset(&mut value.m000);
        ::punctual::rt::Reset::reset(&mut value.m127);
        let value = &mut *value.rest;
        ::punctual::rt::Reset::reset(&mut value.m128);
        ::punctual::rt::Reset::reset(&mut value.m255);
        let value = &mut *value.rest;
        ::punctual::rt::Reset::reset(&mut value.m256);
        ::punctual::rt::Reset::reset(&mut value.m383);
        let value = &mut *value.rest;
        ::punctual::rt::Reset::reset(&mut value.m384);
        ::punctual::rt::Reset::reset(&mut value.m511);
        let value = &mut *value.rest;
        ::punctual::rt::Reset::reset(&mut value.m512);
        ::punctual::rt::Reset::reset(&mut value.m599);
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Field {
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
                "IDL:Field:1.0",
                "Field",
                &[
                    ("m000", <f64 as ::punctual::rt::Typed>::describe),
                    ("m127", <f64 as ::punctual::rt::Typed>::describe),
                    ("m128", <f64 as ::punctual::rt::Typed>::describe),
                    ("m255", <f64 as ::punctual::rt::Typed>::describe),
                    ("m256", <f64 as ::punctual::rt::Typed>::describe),
                    ("m383", <f64 as ::punctual::rt::Typed>::describe),
                    ("m384", <f64 as ::punctual::rt::Typed>::describe),
                    ("m511", <f64 as ::punctual::rt::Typed>::describe),
                    ("m512", <f64 as ::punctual::rt::Typed>::describe),
                    ("m599", <f64 as ::punctual::rt::Typed>::describe),
                ],
            )
    }
}
/// IDL `interface Solver`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Solver: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Solver::solve`.
    fn solve(
        &self,
        given: &Field,
    ) -> ::core::result::Result<Field, ::punctual::rt::SystemException>;
    /// Like [`solve`](Self::solve), with results in memory that is kept from call to call; override it to allocate none.
    fn solve_into(
        &self,
        given: &Field,
        result: &mut Field,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        *result = <Self as Solver>::solve(self, given)?;
        Ok(())
    }
}
/// A reference to an object that supports `Solver`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct SolverRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl SolverRef {
    /// IDL `Solver::solve`.
    pub fn solve(
        &self,
        given: &Field,
    ) -> ::core::result::Result<Field, ::punctual::rt::SystemException> {
        let mut result: Field = ::core::default::Default::default();
        self.solve_into(given, &mut result)?;
        Ok(result)
    }
    /// Like [`solve`](Self::solve), with results in memory that the caller keeps.
    pub fn solve_into(
        &self,
        given: &Field,
        result: &mut Field,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "solve",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&given, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut *result, decoder)?;
                        Ok(())
                    }
                },
            )
    }
    /// Like [`solve`](Self::solve), without waiting: the request is sent, and the result is a future.
    pub fn solve_async(
        &self,
        given: &Field,
    ) -> ::punctual::rt::AsyncCall<Field, ::punctual::rt::SystemException> {
        self.0
            .call_async(
                "solve",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&given, encoder)?;
                    Ok(())
                },
                ::punctual::rt::one_result,
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for SolverRef {
    const REPOSITORY_ID: &'static str = "IDL:Solver:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Solver:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for SolverRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for SolverRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for SolverRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for SolverRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for SolverRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Solver:1.0", "Solver")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Solver> ::punctual::rt::Skeleton<S> for SolverRef {
    const VALUES_ON_STACK: usize = ::punctual::rt::largest(&[1032]);
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        #[inline(never)]
        fn serve_solve<S: Solver>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            let mut result = upcall.reuse::<Field>();
            let mut given = upcall
                .recycle::<Field>(|| ::core::default::Default::default());
            let mut serve = || {
                upcall.argument_into(&mut *given)?;
                match <S as Solver>::solve_into(servant, &*given, &mut *result) {
                    Ok(()) => {
                        upcall
                            .reply(|reply| ::punctual::rt::Encode::encode(
                                &*result,
                                reply,
                            ))
                    }
                    Err(error) => upcall.fail(error),
                }
            };
            let outcome = serve();
            upcall.keep(result);
            upcall.keep(given);
            outcome
        }
        match upcall.operation() {
            "solve" => serve_solve(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}

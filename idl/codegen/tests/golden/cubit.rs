// Generated from IDL by Punctual; changes here are lost.

/// The benchmark interface of TAO's Cubit test, without its operations on `any`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Cubit: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Cubit::cube_void`.
    fn cube_void(&self) -> ::core::result::Result<(), ::punctual::rt::SystemException>;
    /// IDL `Cubit::cube_octet`.
    fn cube_octet(
        &self,
        o: u8,
    ) -> ::core::result::Result<u8, ::punctual::rt::SystemException>;
    /// IDL `Cubit::cube_short`.
    fn cube_short(
        &self,
        s: i16,
    ) -> ::core::result::Result<i16, ::punctual::rt::SystemException>;
    /// IDL `Cubit::cube_long`.
    fn cube_long(
        &self,
        l: i32,
    ) -> ::core::result::Result<i32, ::punctual::rt::SystemException>;
    /// IDL `Cubit::cube_struct`.
    fn cube_struct(
        &self,
        values: &cubit::Many,
    ) -> ::core::result::Result<cubit::Many, ::punctual::rt::SystemException>;
    /// IDL `Cubit::cube_union`.
    fn cube_union(
        &self,
        values: &cubit::Oneof,
    ) -> ::core::result::Result<cubit::Oneof, ::punctual::rt::SystemException>;
    /// IDL `Cubit::cube_long_sequence`.
    fn cube_long_sequence(
        &self,
        input: &[i32],
    ) -> ::core::result::Result<cubit::LongSeq, ::punctual::rt::SystemException>;
    /// As [`cube_long_sequence`](Self::cube_long_sequence), with results in memory that is kept from call to call; override it to allocate none.
    fn cube_long_sequence_into(
        &self,
        input: &[i32],
        output: &mut cubit::LongSeq,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        *output = <Self as Cubit>::cube_long_sequence(self, input)?;
        Ok(())
    }
    /// IDL `Cubit::cube_octet_sequence`.
    fn cube_octet_sequence(
        &self,
        input: &[u8],
    ) -> ::core::result::Result<cubit::OctetSeq, ::punctual::rt::SystemException>;
    /// As [`cube_octet_sequence`](Self::cube_octet_sequence), with results in memory that is kept from call to call; override it to allocate none.
    fn cube_octet_sequence_into(
        &self,
        input: &[u8],
        output: &mut cubit::OctetSeq,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        *output = <Self as Cubit>::cube_octet_sequence(self, input)?;
        Ok(())
    }
    /// IDL `Cubit::cube_many_sequence`.
    fn cube_many_sequence(
        &self,
        input: &[cubit::Many],
    ) -> ::core::result::Result<cubit::ManySeq, ::punctual::rt::SystemException>;
    /// As [`cube_many_sequence`](Self::cube_many_sequence), with results in memory that is kept from call to call; override it to allocate none.
    fn cube_many_sequence_into(
        &self,
        input: &[cubit::Many],
        output: &mut cubit::ManySeq,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        *output = <Self as Cubit>::cube_many_sequence(self, input)?;
        Ok(())
    }
    /// IDL `Cubit::cube_rti_data`.
    fn cube_rti_data(
        &self,
        input: cubit::RtiPacketView<'_>,
    ) -> ::core::result::Result<cubit::RtiPacket, ::punctual::rt::SystemException>;
    /// As [`cube_rti_data`](Self::cube_rti_data), with results in memory that is kept from call to call; override it to allocate none.
    fn cube_rti_data_into(
        &self,
        input: cubit::RtiPacketView<'_>,
        output: &mut cubit::RtiPacket,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        *output = <Self as Cubit>::cube_rti_data(self, input)?;
        Ok(())
    }
    /// IDL `Cubit::ping`.
    fn ping(&self) -> ::core::result::Result<(), ::punctual::rt::SystemException>;
    /// IDL `Cubit::cube_oneway`.
    fn cube_oneway(&self) -> ::core::result::Result<(), ::punctual::rt::SystemException>;
    /// IDL `Cubit::shutdown`.
    fn shutdown(&self) -> ::core::result::Result<(), ::punctual::rt::SystemException>;
}
/// A reference to an object that supports `Cubit`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct CubitRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl CubitRef {
    /// IDL `Cubit::cube_void`.
    pub fn cube_void(
        &self,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "cube_void",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(_) => Ok(()),
                    ::punctual::rt::Phase::Results(_) => Ok(()),
                },
            )
    }
    /// As [`cube_void`](Self::cube_void), without waiting: the request is sent, and the result is a future.
    pub fn cube_void_async(
        &self,
    ) -> ::punctual::rt::AsyncCall<(), ::punctual::rt::SystemException> {
        self.0.call_async("cube_void", &mut |_| Ok(()), |_| Ok(()))
    }
    /// IDL `Cubit::cube_octet`.
    pub fn cube_octet(
        &self,
        o: u8,
    ) -> ::core::result::Result<u8, ::punctual::rt::SystemException> {
        let mut result: u8 = ::core::default::Default::default();
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "cube_octet",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&o, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut result, decoder)?;
                        Ok(())
                    }
                },
            )?;
        Ok(result)
    }
    /// As [`cube_octet`](Self::cube_octet), without waiting: the request is sent, and the result is a future.
    pub fn cube_octet_async(
        &self,
        o: u8,
    ) -> ::punctual::rt::AsyncCall<u8, ::punctual::rt::SystemException> {
        self.0
            .call_async(
                "cube_octet",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&o, encoder)?;
                    Ok(())
                },
                ::punctual::rt::one_result,
            )
    }
    /// IDL `Cubit::cube_short`.
    pub fn cube_short(
        &self,
        s: i16,
    ) -> ::core::result::Result<i16, ::punctual::rt::SystemException> {
        let mut result: i16 = ::core::default::Default::default();
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "cube_short",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&s, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut result, decoder)?;
                        Ok(())
                    }
                },
            )?;
        Ok(result)
    }
    /// As [`cube_short`](Self::cube_short), without waiting: the request is sent, and the result is a future.
    pub fn cube_short_async(
        &self,
        s: i16,
    ) -> ::punctual::rt::AsyncCall<i16, ::punctual::rt::SystemException> {
        self.0
            .call_async(
                "cube_short",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&s, encoder)?;
                    Ok(())
                },
                ::punctual::rt::one_result,
            )
    }
    /// IDL `Cubit::cube_long`.
    pub fn cube_long(
        &self,
        l: i32,
    ) -> ::core::result::Result<i32, ::punctual::rt::SystemException> {
        let mut result: i32 = ::core::default::Default::default();
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "cube_long",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&l, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut result, decoder)?;
                        Ok(())
                    }
                },
            )?;
        Ok(result)
    }
    /// As [`cube_long`](Self::cube_long), without waiting: the request is sent, and the result is a future.
    pub fn cube_long_async(
        &self,
        l: i32,
    ) -> ::punctual::rt::AsyncCall<i32, ::punctual::rt::SystemException> {
        self.0
            .call_async(
                "cube_long",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&l, encoder)?;
                    Ok(())
                },
                ::punctual::rt::one_result,
            )
    }
    /// IDL `Cubit::cube_struct`.
    pub fn cube_struct(
        &self,
        values: &cubit::Many,
    ) -> ::core::result::Result<cubit::Many, ::punctual::rt::SystemException> {
        let mut result: cubit::Many = ::core::default::Default::default();
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "cube_struct",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&values, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut result, decoder)?;
                        Ok(())
                    }
                },
            )?;
        Ok(result)
    }
    /// As [`cube_struct`](Self::cube_struct), without waiting: the request is sent, and the result is a future.
    pub fn cube_struct_async(
        &self,
        values: &cubit::Many,
    ) -> ::punctual::rt::AsyncCall<cubit::Many, ::punctual::rt::SystemException> {
        self.0
            .call_async(
                "cube_struct",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&values, encoder)?;
                    Ok(())
                },
                ::punctual::rt::one_result,
            )
    }
    /// IDL `Cubit::cube_union`.
    pub fn cube_union(
        &self,
        values: &cubit::Oneof,
    ) -> ::core::result::Result<cubit::Oneof, ::punctual::rt::SystemException> {
        let mut result: cubit::Oneof = ::core::default::Default::default();
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "cube_union",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&values, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut result, decoder)?;
                        Ok(())
                    }
                },
            )?;
        Ok(result)
    }
    /// As [`cube_union`](Self::cube_union), without waiting: the request is sent, and the result is a future.
    pub fn cube_union_async(
        &self,
        values: &cubit::Oneof,
    ) -> ::punctual::rt::AsyncCall<cubit::Oneof, ::punctual::rt::SystemException> {
        self.0
            .call_async(
                "cube_union",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&values, encoder)?;
                    Ok(())
                },
                ::punctual::rt::one_result,
            )
    }
    /// IDL `Cubit::cube_long_sequence`.
    pub fn cube_long_sequence(
        &self,
        input: &[i32],
    ) -> ::core::result::Result<cubit::LongSeq, ::punctual::rt::SystemException> {
        let mut output: cubit::LongSeq = ::core::default::Default::default();
        self.cube_long_sequence_into(input, &mut output)?;
        Ok(output)
    }
    /// As [`cube_long_sequence`](Self::cube_long_sequence), with results in memory that the caller keeps.
    pub fn cube_long_sequence_into(
        &self,
        input: &[i32],
        output: &mut cubit::LongSeq,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "cube_long_sequence",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&input, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut *output, decoder)?;
                        Ok(())
                    }
                },
            )
    }
    /// As [`cube_long_sequence`](Self::cube_long_sequence), without waiting: the request is sent, and the result is a future.
    pub fn cube_long_sequence_async(
        &self,
        input: &[i32],
    ) -> ::punctual::rt::AsyncCall<cubit::LongSeq, ::punctual::rt::SystemException> {
        self.0
            .call_async(
                "cube_long_sequence",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&input, encoder)?;
                    Ok(())
                },
                ::punctual::rt::one_result,
            )
    }
    /// IDL `Cubit::cube_octet_sequence`.
    pub fn cube_octet_sequence(
        &self,
        input: &[u8],
    ) -> ::core::result::Result<cubit::OctetSeq, ::punctual::rt::SystemException> {
        let mut output: cubit::OctetSeq = ::core::default::Default::default();
        self.cube_octet_sequence_into(input, &mut output)?;
        Ok(output)
    }
    /// As [`cube_octet_sequence`](Self::cube_octet_sequence), with results in memory that the caller keeps.
    pub fn cube_octet_sequence_into(
        &self,
        input: &[u8],
        output: &mut cubit::OctetSeq,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "cube_octet_sequence",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&input, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut *output, decoder)?;
                        Ok(())
                    }
                },
            )
    }
    /// As [`cube_octet_sequence`](Self::cube_octet_sequence), without waiting: the request is sent, and the result is a future.
    pub fn cube_octet_sequence_async(
        &self,
        input: &[u8],
    ) -> ::punctual::rt::AsyncCall<cubit::OctetSeq, ::punctual::rt::SystemException> {
        self.0
            .call_async(
                "cube_octet_sequence",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&input, encoder)?;
                    Ok(())
                },
                ::punctual::rt::one_result,
            )
    }
    /// IDL `Cubit::cube_many_sequence`.
    pub fn cube_many_sequence(
        &self,
        input: &[cubit::Many],
    ) -> ::core::result::Result<cubit::ManySeq, ::punctual::rt::SystemException> {
        let mut output: cubit::ManySeq = ::core::default::Default::default();
        self.cube_many_sequence_into(input, &mut output)?;
        Ok(output)
    }
    /// As [`cube_many_sequence`](Self::cube_many_sequence), with results in memory that the caller keeps.
    pub fn cube_many_sequence_into(
        &self,
        input: &[cubit::Many],
        output: &mut cubit::ManySeq,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "cube_many_sequence",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&input, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut *output, decoder)?;
                        Ok(())
                    }
                },
            )
    }
    /// As [`cube_many_sequence`](Self::cube_many_sequence), without waiting: the request is sent, and the result is a future.
    pub fn cube_many_sequence_async(
        &self,
        input: &[cubit::Many],
    ) -> ::punctual::rt::AsyncCall<cubit::ManySeq, ::punctual::rt::SystemException> {
        self.0
            .call_async(
                "cube_many_sequence",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&input, encoder)?;
                    Ok(())
                },
                ::punctual::rt::one_result,
            )
    }
    /// IDL `Cubit::cube_rti_data`.
    pub fn cube_rti_data(
        &self,
        input: &cubit::RtiPacket,
    ) -> ::core::result::Result<cubit::RtiPacket, ::punctual::rt::SystemException> {
        let mut output: cubit::RtiPacket = ::core::default::Default::default();
        self.cube_rti_data_into(input, &mut output)?;
        Ok(output)
    }
    /// As [`cube_rti_data`](Self::cube_rti_data), with results in memory that the caller keeps.
    pub fn cube_rti_data_into(
        &self,
        input: &cubit::RtiPacket,
        output: &mut cubit::RtiPacket,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "cube_rti_data",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&input, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut *output, decoder)?;
                        Ok(())
                    }
                },
            )
    }
    /// As [`cube_rti_data`](Self::cube_rti_data), without waiting: the request is sent, and the result is a future.
    pub fn cube_rti_data_async(
        &self,
        input: &cubit::RtiPacket,
    ) -> ::punctual::rt::AsyncCall<cubit::RtiPacket, ::punctual::rt::SystemException> {
        self.0
            .call_async(
                "cube_rti_data",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&input, encoder)?;
                    Ok(())
                },
                ::punctual::rt::one_result,
            )
    }
    /// IDL `Cubit::ping`.
    pub fn ping(&self) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "ping",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(_) => Ok(()),
                    ::punctual::rt::Phase::Results(_) => Ok(()),
                },
            )
    }
    /// As [`ping`](Self::ping), without waiting: the request is sent, and the result is a future.
    pub fn ping_async(
        &self,
    ) -> ::punctual::rt::AsyncCall<(), ::punctual::rt::SystemException> {
        self.0.call_async("ping", &mut |_| Ok(()), |_| Ok(()))
    }
    /// IDL `Cubit::cube_oneway`.
    pub fn cube_oneway(
        &self,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .oneway(
                "cube_oneway",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(_) => Ok(()),
                    ::punctual::rt::Phase::Results(_) => Ok(()),
                },
            )
    }
    /// IDL `Cubit::shutdown`.
    pub fn shutdown(
        &self,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .oneway(
                "shutdown",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(_) => Ok(()),
                    ::punctual::rt::Phase::Results(_) => Ok(()),
                },
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for CubitRef {
    const REPOSITORY_ID: &'static str = "IDL:Cubit:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Cubit:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for CubitRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for CubitRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for CubitRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for CubitRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Cubit> ::punctual::rt::Skeleton<S> for CubitRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        match upcall.operation() {
            "cube_void" => {
                match <S as Cubit>::cube_void(servant) {
                    Ok(()) => upcall.reply(|_| Ok(())),
                    Err(error) => upcall.fail(error),
                }
            }
            "cube_octet" => {
                let o = upcall.argument::<u8>()?;
                match <S as Cubit>::cube_octet(servant, o) {
                    Ok(result) => {
                        upcall
                            .reply(|reply| ::punctual::rt::Encode::encode(
                                &result,
                                reply,
                            ))
                    }
                    Err(error) => upcall.fail(error),
                }
            }
            "cube_short" => {
                let s = upcall.argument::<i16>()?;
                match <S as Cubit>::cube_short(servant, s) {
                    Ok(result) => {
                        upcall
                            .reply(|reply| ::punctual::rt::Encode::encode(
                                &result,
                                reply,
                            ))
                    }
                    Err(error) => upcall.fail(error),
                }
            }
            "cube_long" => {
                let l = upcall.argument::<i32>()?;
                match <S as Cubit>::cube_long(servant, l) {
                    Ok(result) => {
                        upcall
                            .reply(|reply| ::punctual::rt::Encode::encode(
                                &result,
                                reply,
                            ))
                    }
                    Err(error) => upcall.fail(error),
                }
            }
            "cube_struct" => {
                let values = upcall.argument::<cubit::Many>()?;
                match <S as Cubit>::cube_struct(servant, &values) {
                    Ok(result) => {
                        upcall
                            .reply(|reply| ::punctual::rt::Encode::encode(
                                &result,
                                reply,
                            ))
                    }
                    Err(error) => upcall.fail(error),
                }
            }
            "cube_union" => {
                let values = upcall.argument::<cubit::Oneof>()?;
                match <S as Cubit>::cube_union(servant, &values) {
                    Ok(result) => {
                        upcall
                            .reply(|reply| ::punctual::rt::Encode::encode(
                                &result,
                                reply,
                            ))
                    }
                    Err(error) => upcall.fail(error),
                }
            }
            "cube_long_sequence" => {
                let mut output = upcall.reuse::<cubit::LongSeq>();
                let mut serve = || {
                    let input = upcall.argument::<&[i32]>()?;
                    match <S as Cubit>::cube_long_sequence_into(
                        servant,
                        input,
                        &mut *output,
                    ) {
                        Ok(()) => {
                            upcall
                                .reply(|reply| ::punctual::rt::Encode::encode(
                                    &*output,
                                    reply,
                                ))
                        }
                        Err(error) => upcall.fail(error),
                    }
                };
                let outcome = serve();
                upcall.keep(output);
                outcome
            }
            "cube_octet_sequence" => {
                let mut output = upcall.reuse::<cubit::OctetSeq>();
                let mut serve = || {
                    let input = upcall.argument::<&[u8]>()?;
                    match <S as Cubit>::cube_octet_sequence_into(
                        servant,
                        input,
                        &mut *output,
                    ) {
                        Ok(()) => {
                            upcall
                                .reply(|reply| ::punctual::rt::Encode::encode(
                                    &*output,
                                    reply,
                                ))
                        }
                        Err(error) => upcall.fail(error),
                    }
                };
                let outcome = serve();
                upcall.keep(output);
                outcome
            }
            "cube_many_sequence" => {
                let mut output = upcall.reuse::<cubit::ManySeq>();
                let mut serve = || {
                    let input = upcall.argument::<&[cubit::Many]>()?;
                    match <S as Cubit>::cube_many_sequence_into(
                        servant,
                        input,
                        &mut *output,
                    ) {
                        Ok(()) => {
                            upcall
                                .reply(|reply| ::punctual::rt::Encode::encode(
                                    &*output,
                                    reply,
                                ))
                        }
                        Err(error) => upcall.fail(error),
                    }
                };
                let outcome = serve();
                upcall.keep(output);
                outcome
            }
            "cube_rti_data" => {
                let mut output = upcall.reuse::<cubit::RtiPacket>();
                let mut serve = || {
                    let input = upcall.argument::<cubit::RtiPacketView<'_>>()?;
                    match <S as Cubit>::cube_rti_data_into(
                        servant,
                        input,
                        &mut *output,
                    ) {
                        Ok(()) => {
                            upcall
                                .reply(|reply| ::punctual::rt::Encode::encode(
                                    &*output,
                                    reply,
                                ))
                        }
                        Err(error) => upcall.fail(error),
                    }
                };
                let outcome = serve();
                upcall.keep(output);
                outcome
            }
            "ping" => {
                match <S as Cubit>::ping(servant) {
                    Ok(()) => upcall.reply(|_| Ok(())),
                    Err(error) => upcall.fail(error),
                }
            }
            "cube_oneway" => {
                match <S as Cubit>::cube_oneway(servant) {
                    Ok(()) => upcall.reply(|_| Ok(())),
                    Err(error) => upcall.fail(error),
                }
            }
            "shutdown" => {
                match <S as Cubit>::shutdown(servant) {
                    Ok(()) => upcall.reply(|_| Ok(())),
                    Err(error) => upcall.fail(error),
                }
            }
            _ => Err(upcall.unknown_operation()),
        }
    }
}
/// What belongs to the interface `Cubit`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub mod cubit {
    /// IDL `struct Cubit::Many`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Many {
        /// IDL `Cubit::Many::o`.
        pub o: u8,
        /// IDL `Cubit::Many::l`.
        pub l: i32,
        /// IDL `Cubit::Many::s`.
        pub s: i16,
    }
    impl ::punctual::rt::Encode for Many {
        fn encode(
            &self,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&self.o, encoder)?;
            ::punctual::rt::Encode::encode(&self.l, encoder)?;
            ::punctual::rt::Encode::encode(&self.s, encoder)?;
            Ok(())
        }
    }
    impl<'a> ::punctual::rt::Decode<'a> for Many {
        const MIN_SIZE: usize = 7;
        fn decode(
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            Ok(Self {
                o: ::punctual::rt::Decode::decode(decoder)?,
                l: ::punctual::rt::Decode::decode(decoder)?,
                s: ::punctual::rt::Decode::decode(decoder)?,
            })
        }
    }
    impl ::punctual::rt::Reset for Many {
        fn reset(&mut self) {
            ::punctual::rt::Reset::reset(&mut self.o);
            ::punctual::rt::Reset::reset(&mut self.l);
            ::punctual::rt::Reset::reset(&mut self.s);
        }
    }
    /// IDL `enum Cubit::discrim`.
    #[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
    #[repr(u32)]
    pub enum Discrim {
        /// IDL `e_0th`.
        #[default]
        E0th,
        /// IDL `e_1st`.
        E1st,
        /// IDL `e_2nd`.
        E2nd,
        /// IDL `e_3rd`.
        E3rd,
    }
    impl ::punctual::rt::Encode for Discrim {
        fn encode(
            &self,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&(*self as u32), encoder)
        }
    }
    impl<'a> ::punctual::rt::Decode<'a> for Discrim {
        const MIN_SIZE: usize = 4;
        fn decode(
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            match <u32 as ::punctual::rt::Decode>::decode(decoder)? {
                0 => Ok(Self::E0th),
                1 => Ok(Self::E1st),
                2 => Ok(Self::E2nd),
                3 => Ok(Self::E3rd),
                _ => Err(decoder.error(::punctual::rt::CdrErrorKind::EnumOutOfRange)),
            }
        }
    }
    impl ::punctual::rt::Reset for Discrim {
        fn reset(&mut self) {
            *self = ::core::default::Default::default();
        }
    }
    /// IDL `union Cubit::oneof`.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Oneof {
        /// IDL `Cubit::oneof::o`.
        O(u8),
        /// IDL `Cubit::oneof::s`.
        S(i16),
        /// IDL `Cubit::oneof::l`.
        L(i32),
        /// IDL `Cubit::oneof::cm`.
        Cm(Many),
    }
    impl ::core::default::Default for Oneof {
        fn default() -> Self {
            Self::O(::core::default::Default::default())
        }
    }
    impl ::punctual::rt::Encode for Oneof {
        fn encode(
            &self,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            match self {
                Self::O(member) => {
                    let discriminator: Discrim = Discrim::E0th;
                    ::punctual::rt::Encode::encode(&discriminator, encoder)?;
                    ::punctual::rt::Encode::encode(member, encoder)
                }
                Self::S(member) => {
                    let discriminator: Discrim = Discrim::E1st;
                    ::punctual::rt::Encode::encode(&discriminator, encoder)?;
                    ::punctual::rt::Encode::encode(member, encoder)
                }
                Self::L(member) => {
                    let discriminator: Discrim = Discrim::E2nd;
                    ::punctual::rt::Encode::encode(&discriminator, encoder)?;
                    ::punctual::rt::Encode::encode(member, encoder)
                }
                Self::Cm(member) => {
                    let discriminator: Discrim = Discrim::E3rd;
                    ::punctual::rt::Encode::encode(&discriminator, encoder)?;
                    ::punctual::rt::Encode::encode(member, encoder)
                }
            }
        }
    }
    impl<'a> ::punctual::rt::Decode<'a> for Oneof {
        const MIN_SIZE: usize = 5;
        fn decode(
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            let discriminator = <Discrim as ::punctual::rt::Decode>::decode(decoder)?;
            Self::decode_member(discriminator, decoder)
        }
    }
    impl Oneof {
        fn decode_member(
            discriminator: Discrim,
            decoder: &mut ::punctual::rt::Decoder<'_>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            match discriminator {
                Discrim::E0th => Ok(Self::O(::punctual::rt::Decode::decode(decoder)?)),
                Discrim::E1st => Ok(Self::S(::punctual::rt::Decode::decode(decoder)?)),
                Discrim::E2nd => Ok(Self::L(::punctual::rt::Decode::decode(decoder)?)),
                Discrim::E3rd => Ok(Self::Cm(::punctual::rt::Decode::decode(decoder)?)),
            }
        }
    }
    /// Keeps the member that is set, so that its memory can be used again.
    impl ::punctual::rt::Reset for Oneof {
        fn reset(&mut self) {
            match self {
                Self::O(member) => ::punctual::rt::Reset::reset(member),
                Self::S(member) => ::punctual::rt::Reset::reset(member),
                Self::L(member) => ::punctual::rt::Reset::reset(member),
                Self::Cm(member) => ::punctual::rt::Reset::reset(member),
            }
        }
    }
    /// IDL `typedef Cubit::long_seq`.
    pub type LongSeq = ::std::vec::Vec<i32>;
    /// IDL `typedef Cubit::octet_seq`.
    pub type OctetSeq = ::std::vec::Vec<u8>;
    /// IDL `typedef Cubit::many_seq`.
    pub type ManySeq = ::std::vec::Vec<Many>;
    /// IDL `struct Cubit::RtiPacketHeader`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct RtiPacketHeader {
        /// IDL `Cubit::RtiPacketHeader::packetLength`.
        pub packet_length: u32,
        /// IDL `Cubit::RtiPacketHeader::federationHandle`.
        pub federation_handle: u16,
        /// IDL `Cubit::RtiPacketHeader::channelHandle`.
        pub channel_handle: u32,
        /// IDL `Cubit::RtiPacketHeader::packetColor`.
        pub packet_color: u32,
    }
    impl ::punctual::rt::Encode for RtiPacketHeader {
        fn encode(
            &self,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&self.packet_length, encoder)?;
            ::punctual::rt::Encode::encode(&self.federation_handle, encoder)?;
            ::punctual::rt::Encode::encode(&self.channel_handle, encoder)?;
            ::punctual::rt::Encode::encode(&self.packet_color, encoder)?;
            Ok(())
        }
    }
    impl<'a> ::punctual::rt::Decode<'a> for RtiPacketHeader {
        const MIN_SIZE: usize = 14;
        fn decode(
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            Ok(Self {
                packet_length: ::punctual::rt::Decode::decode(decoder)?,
                federation_handle: ::punctual::rt::Decode::decode(decoder)?,
                channel_handle: ::punctual::rt::Decode::decode(decoder)?,
                packet_color: ::punctual::rt::Decode::decode(decoder)?,
            })
        }
    }
    impl ::punctual::rt::Reset for RtiPacketHeader {
        fn reset(&mut self) {
            ::punctual::rt::Reset::reset(&mut self.packet_length);
            ::punctual::rt::Reset::reset(&mut self.federation_handle);
            ::punctual::rt::Reset::reset(&mut self.channel_handle);
            ::punctual::rt::Reset::reset(&mut self.packet_color);
        }
    }
    /// IDL `struct Cubit::HandleValuePair`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct HandleValuePair {
        /// IDL `Cubit::HandleValuePair::handle`.
        pub handle: u16,
        /// IDL `Cubit::HandleValuePair::data`.
        pub data: OctetSeq,
    }
    impl ::punctual::rt::Encode for HandleValuePair {
        fn encode(
            &self,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&self.handle, encoder)?;
            ::punctual::rt::Encode::encode(&self.data, encoder)?;
            Ok(())
        }
    }
    impl<'a> ::punctual::rt::Decode<'a> for HandleValuePair {
        const MIN_SIZE: usize = 6;
        fn decode(
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            Ok(Self {
                handle: ::punctual::rt::Decode::decode(decoder)?,
                data: ::punctual::rt::Decode::decode(decoder)?,
            })
        }
        fn decode_into(
            &mut self,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Decode::decode_into(&mut self.handle, decoder)?;
            ::punctual::rt::Decode::decode_into(&mut self.data, decoder)?;
            Ok(())
        }
    }
    impl ::punctual::rt::Reset for HandleValuePair {
        fn reset(&mut self) {
            ::punctual::rt::Reset::reset(&mut self.handle);
            ::punctual::rt::Reset::reset(&mut self.data);
        }
    }
    /// [`HandleValuePair`] as lent to a servant for the time of an upcall.
    #[derive(Clone, Debug)]
    pub struct HandleValuePairView<'a> {
        /// IDL `Cubit::HandleValuePair::handle`.
        pub handle: u16,
        /// IDL `Cubit::HandleValuePair::data`.
        pub data: &'a [u8],
    }
    impl<'a> ::punctual::rt::Decode<'a> for HandleValuePairView<'a> {
        const MIN_SIZE: usize = 6;
        fn decode(
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            Ok(Self {
                handle: ::punctual::rt::Decode::decode(decoder)?,
                data: ::punctual::rt::Decode::decode(decoder)?,
            })
        }
    }
    impl HandleValuePairView<'_> {
        /// A copy that outlives the upcall.
        pub fn to_owned(&self) -> HandleValuePair {
            HandleValuePair {
                handle: ::core::clone::Clone::clone(&self.handle),
                data: self.data.to_vec(),
            }
        }
    }
    impl ::core::convert::From<HandleValuePairView<'_>> for HandleValuePair {
        fn from(view: HandleValuePairView<'_>) -> Self {
            view.to_owned()
        }
    }
    /// IDL `typedef Cubit::HandleValuePairSeq`.
    pub type HandleValuePairSeq = ::std::vec::Vec<HandleValuePair>;
    /// IDL `enum Cubit::MessageHeaderTypes`.
    #[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
    #[repr(u32)]
    pub enum MessageHeaderTypes {
        /// IDL `objectUpdate`.
        #[default]
        ObjectUpdate,
        /// IDL `interaction`.
        Interaction,
    }
    impl ::punctual::rt::Encode for MessageHeaderTypes {
        fn encode(
            &self,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&(*self as u32), encoder)
        }
    }
    impl<'a> ::punctual::rt::Decode<'a> for MessageHeaderTypes {
        const MIN_SIZE: usize = 4;
        fn decode(
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            match <u32 as ::punctual::rt::Decode>::decode(decoder)? {
                0 => Ok(Self::ObjectUpdate),
                1 => Ok(Self::Interaction),
                _ => Err(decoder.error(::punctual::rt::CdrErrorKind::EnumOutOfRange)),
            }
        }
    }
    impl ::punctual::rt::Reset for MessageHeaderTypes {
        fn reset(&mut self) {
            *self = ::core::default::Default::default();
        }
    }
    /// IDL `struct Cubit::RtiObjectUpdateMessageHeader`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct RtiObjectUpdateMessageHeader {
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::updateLength`.
        pub update_length: u32,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::updateTag`.
        pub update_tag: u32,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::objectHandle`.
        pub object_handle: u32,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::timestamp`.
        pub timestamp: f64,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::eventRetractionHandle`.
        pub event_retraction_handle: u64,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::classHandle`.
        pub class_handle: u16,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::sendingFederateHandle`.
        pub sending_federate_handle: u16,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::userTag`.
        pub user_tag: ::std::string::String,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::regionData`.
        pub region_data: OctetSeq,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::transportationHandle`.
        pub transportation_handle: u8,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::orderingHandle`.
        pub ordering_handle: u8,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::messagePayload`.
        pub message_payload: HandleValuePairSeq,
    }
    impl ::punctual::rt::Encode for RtiObjectUpdateMessageHeader {
        fn encode(
            &self,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&self.update_length, encoder)?;
            ::punctual::rt::Encode::encode(&self.update_tag, encoder)?;
            ::punctual::rt::Encode::encode(&self.object_handle, encoder)?;
            ::punctual::rt::Encode::encode(&self.timestamp, encoder)?;
            ::punctual::rt::Encode::encode(&self.event_retraction_handle, encoder)?;
            ::punctual::rt::Encode::encode(&self.class_handle, encoder)?;
            ::punctual::rt::Encode::encode(&self.sending_federate_handle, encoder)?;
            ::punctual::rt::Encode::encode(&self.user_tag, encoder)?;
            ::punctual::rt::Encode::encode(&self.region_data, encoder)?;
            ::punctual::rt::Encode::encode(&self.transportation_handle, encoder)?;
            ::punctual::rt::Encode::encode(&self.ordering_handle, encoder)?;
            ::punctual::rt::Encode::encode(&self.message_payload, encoder)?;
            Ok(())
        }
    }
    impl<'a> ::punctual::rt::Decode<'a> for RtiObjectUpdateMessageHeader {
        const MIN_SIZE: usize = 46;
        fn decode(
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            Ok(Self {
                update_length: ::punctual::rt::Decode::decode(decoder)?,
                update_tag: ::punctual::rt::Decode::decode(decoder)?,
                object_handle: ::punctual::rt::Decode::decode(decoder)?,
                timestamp: ::punctual::rt::Decode::decode(decoder)?,
                event_retraction_handle: ::punctual::rt::Decode::decode(decoder)?,
                class_handle: ::punctual::rt::Decode::decode(decoder)?,
                sending_federate_handle: ::punctual::rt::Decode::decode(decoder)?,
                user_tag: ::punctual::rt::Decode::decode(decoder)?,
                region_data: ::punctual::rt::Decode::decode(decoder)?,
                transportation_handle: ::punctual::rt::Decode::decode(decoder)?,
                ordering_handle: ::punctual::rt::Decode::decode(decoder)?,
                message_payload: ::punctual::rt::Decode::decode(decoder)?,
            })
        }
        fn decode_into(
            &mut self,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Decode::decode_into(&mut self.update_length, decoder)?;
            ::punctual::rt::Decode::decode_into(&mut self.update_tag, decoder)?;
            ::punctual::rt::Decode::decode_into(&mut self.object_handle, decoder)?;
            ::punctual::rt::Decode::decode_into(&mut self.timestamp, decoder)?;
            ::punctual::rt::Decode::decode_into(
                &mut self.event_retraction_handle,
                decoder,
            )?;
            ::punctual::rt::Decode::decode_into(&mut self.class_handle, decoder)?;
            ::punctual::rt::Decode::decode_into(
                &mut self.sending_federate_handle,
                decoder,
            )?;
            ::punctual::rt::Decode::decode_into(&mut self.user_tag, decoder)?;
            ::punctual::rt::Decode::decode_into(&mut self.region_data, decoder)?;
            ::punctual::rt::Decode::decode_into(
                &mut self.transportation_handle,
                decoder,
            )?;
            ::punctual::rt::Decode::decode_into(&mut self.ordering_handle, decoder)?;
            ::punctual::rt::Decode::decode_into(&mut self.message_payload, decoder)?;
            Ok(())
        }
    }
    impl ::punctual::rt::Reset for RtiObjectUpdateMessageHeader {
        fn reset(&mut self) {
            ::punctual::rt::Reset::reset(&mut self.update_length);
            ::punctual::rt::Reset::reset(&mut self.update_tag);
            ::punctual::rt::Reset::reset(&mut self.object_handle);
            ::punctual::rt::Reset::reset(&mut self.timestamp);
            ::punctual::rt::Reset::reset(&mut self.event_retraction_handle);
            ::punctual::rt::Reset::reset(&mut self.class_handle);
            ::punctual::rt::Reset::reset(&mut self.sending_federate_handle);
            ::punctual::rt::Reset::reset(&mut self.user_tag);
            ::punctual::rt::Reset::reset(&mut self.region_data);
            ::punctual::rt::Reset::reset(&mut self.transportation_handle);
            ::punctual::rt::Reset::reset(&mut self.ordering_handle);
            ::punctual::rt::Reset::reset(&mut self.message_payload);
        }
    }
    /// [`RtiObjectUpdateMessageHeader`] as lent to a servant for the time of an upcall.
    #[derive(Clone, Debug)]
    pub struct RtiObjectUpdateMessageHeaderView<'a> {
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::updateLength`.
        pub update_length: u32,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::updateTag`.
        pub update_tag: u32,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::objectHandle`.
        pub object_handle: u32,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::timestamp`.
        pub timestamp: f64,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::eventRetractionHandle`.
        pub event_retraction_handle: u64,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::classHandle`.
        pub class_handle: u16,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::sendingFederateHandle`.
        pub sending_federate_handle: u16,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::userTag`.
        pub user_tag: &'a str,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::regionData`.
        pub region_data: &'a [u8],
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::transportationHandle`.
        pub transportation_handle: u8,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::orderingHandle`.
        pub ordering_handle: u8,
        /// IDL `Cubit::RtiObjectUpdateMessageHeader::messagePayload`.
        pub message_payload: &'a [HandleValuePairView<'a>],
    }
    impl<'a> ::punctual::rt::Decode<'a> for RtiObjectUpdateMessageHeaderView<'a> {
        const MIN_SIZE: usize = 46;
        fn decode(
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            Ok(Self {
                update_length: ::punctual::rt::Decode::decode(decoder)?,
                update_tag: ::punctual::rt::Decode::decode(decoder)?,
                object_handle: ::punctual::rt::Decode::decode(decoder)?,
                timestamp: ::punctual::rt::Decode::decode(decoder)?,
                event_retraction_handle: ::punctual::rt::Decode::decode(decoder)?,
                class_handle: ::punctual::rt::Decode::decode(decoder)?,
                sending_federate_handle: ::punctual::rt::Decode::decode(decoder)?,
                user_tag: ::punctual::rt::Decode::decode(decoder)?,
                region_data: ::punctual::rt::Decode::decode(decoder)?,
                transportation_handle: ::punctual::rt::Decode::decode(decoder)?,
                ordering_handle: ::punctual::rt::Decode::decode(decoder)?,
                message_payload: ::punctual::rt::Decode::decode(decoder)?,
            })
        }
    }
    impl RtiObjectUpdateMessageHeaderView<'_> {
        /// A copy that outlives the upcall.
        pub fn to_owned(&self) -> RtiObjectUpdateMessageHeader {
            RtiObjectUpdateMessageHeader {
                update_length: ::core::clone::Clone::clone(&self.update_length),
                update_tag: ::core::clone::Clone::clone(&self.update_tag),
                object_handle: ::core::clone::Clone::clone(&self.object_handle),
                timestamp: ::core::clone::Clone::clone(&self.timestamp),
                event_retraction_handle: ::core::clone::Clone::clone(
                    &self.event_retraction_handle,
                ),
                class_handle: ::core::clone::Clone::clone(&self.class_handle),
                sending_federate_handle: ::core::clone::Clone::clone(
                    &self.sending_federate_handle,
                ),
                user_tag: ::std::string::String::from(self.user_tag),
                region_data: self.region_data.to_vec(),
                transportation_handle: ::core::clone::Clone::clone(
                    &self.transportation_handle,
                ),
                ordering_handle: ::core::clone::Clone::clone(&self.ordering_handle),
                message_payload: ::core::iter::Iterator::collect(
                    ::core::iter::Iterator::map(
                        self.message_payload.iter(),
                        |element| element.to_owned(),
                    ),
                ),
            }
        }
    }
    impl ::core::convert::From<RtiObjectUpdateMessageHeaderView<'_>>
    for RtiObjectUpdateMessageHeader {
        fn from(view: RtiObjectUpdateMessageHeaderView<'_>) -> Self {
            view.to_owned()
        }
    }
    /// IDL `struct Cubit::RtiInteractionMessageHeader`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct RtiInteractionMessageHeader {
        /// IDL `Cubit::RtiInteractionMessageHeader::updateLength`.
        pub update_length: u32,
    }
    impl ::punctual::rt::Encode for RtiInteractionMessageHeader {
        fn encode(
            &self,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&self.update_length, encoder)?;
            Ok(())
        }
    }
    impl<'a> ::punctual::rt::Decode<'a> for RtiInteractionMessageHeader {
        const MIN_SIZE: usize = 4;
        fn decode(
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            Ok(Self {
                update_length: ::punctual::rt::Decode::decode(decoder)?,
            })
        }
    }
    impl ::punctual::rt::Reset for RtiInteractionMessageHeader {
        fn reset(&mut self) {
            ::punctual::rt::Reset::reset(&mut self.update_length);
        }
    }
    /// IDL `union Cubit::MessageUnion`.
    #[derive(Clone, Debug, PartialEq)]
    pub enum MessageUnion {
        /// IDL `Cubit::MessageUnion::oumh`.
        Oumh(RtiObjectUpdateMessageHeader),
        /// IDL `Cubit::MessageUnion::imh`.
        Imh(RtiInteractionMessageHeader),
    }
    impl ::core::default::Default for MessageUnion {
        fn default() -> Self {
            Self::Oumh(::core::default::Default::default())
        }
    }
    impl ::punctual::rt::Encode for MessageUnion {
        fn encode(
            &self,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            match self {
                Self::Oumh(member) => {
                    let discriminator: MessageHeaderTypes = MessageHeaderTypes::ObjectUpdate;
                    ::punctual::rt::Encode::encode(&discriminator, encoder)?;
                    ::punctual::rt::Encode::encode(member, encoder)
                }
                Self::Imh(member) => {
                    let discriminator: MessageHeaderTypes = MessageHeaderTypes::Interaction;
                    ::punctual::rt::Encode::encode(&discriminator, encoder)?;
                    ::punctual::rt::Encode::encode(member, encoder)
                }
            }
        }
    }
    impl<'a> ::punctual::rt::Decode<'a> for MessageUnion {
        const MIN_SIZE: usize = 8;
        fn decode(
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            let discriminator = <MessageHeaderTypes as ::punctual::rt::Decode>::decode(
                decoder,
            )?;
            Self::decode_member(discriminator, decoder)
        }
        fn decode_into(
            &mut self,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            let discriminator = <MessageHeaderTypes as ::punctual::rt::Decode>::decode(
                decoder,
            )?;
            match (discriminator, &mut *self) {
                (MessageHeaderTypes::ObjectUpdate, Self::Oumh(member)) => {
                    ::punctual::rt::Decode::decode_into(member, decoder)
                }
                (_, other) => {
                    *other = Self::decode_member(discriminator, decoder)?;
                    Ok(())
                }
            }
        }
    }
    impl MessageUnion {
        fn decode_member(
            discriminator: MessageHeaderTypes,
            decoder: &mut ::punctual::rt::Decoder<'_>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            match discriminator {
                MessageHeaderTypes::ObjectUpdate => {
                    Ok(Self::Oumh(::punctual::rt::Decode::decode(decoder)?))
                }
                MessageHeaderTypes::Interaction => {
                    Ok(Self::Imh(::punctual::rt::Decode::decode(decoder)?))
                }
            }
        }
    }
    /// Keeps the member that is set, so that its memory can be used again.
    impl ::punctual::rt::Reset for MessageUnion {
        fn reset(&mut self) {
            match self {
                Self::Oumh(member) => ::punctual::rt::Reset::reset(member),
                Self::Imh(member) => ::punctual::rt::Reset::reset(member),
            }
        }
    }
    /// [`MessageUnion`] as lent to a servant for the time of an upcall.
    #[derive(Clone, Debug)]
    pub enum MessageUnionView<'a> {
        /// IDL `Cubit::MessageUnion::oumh`.
        Oumh(RtiObjectUpdateMessageHeaderView<'a>),
        /// IDL `Cubit::MessageUnion::imh`.
        Imh(RtiInteractionMessageHeader),
    }
    impl<'a> ::punctual::rt::Decode<'a> for MessageUnionView<'a> {
        const MIN_SIZE: usize = 8;
        fn decode(
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            let discriminator = <MessageHeaderTypes as ::punctual::rt::Decode>::decode(
                decoder,
            )?;
            Self::decode_member(discriminator, decoder)
        }
    }
    impl<'a> MessageUnionView<'a> {
        /// A copy that outlives the upcall.
        pub fn to_owned(&self) -> MessageUnion {
            match self {
                Self::Oumh(member) => MessageUnion::Oumh(member.to_owned()),
                Self::Imh(member) => {
                    MessageUnion::Imh(::core::clone::Clone::clone(member))
                }
            }
        }
        fn decode_member(
            discriminator: MessageHeaderTypes,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            match discriminator {
                MessageHeaderTypes::ObjectUpdate => {
                    Ok(Self::Oumh(::punctual::rt::Decode::decode(decoder)?))
                }
                MessageHeaderTypes::Interaction => {
                    Ok(Self::Imh(::punctual::rt::Decode::decode(decoder)?))
                }
            }
        }
    }
    impl ::core::convert::From<MessageUnionView<'_>> for MessageUnion {
        fn from(view: MessageUnionView<'_>) -> Self {
            view.to_owned()
        }
    }
    /// IDL `typedef Cubit::MessageUnionSeq`.
    pub type MessageUnionSeq = ::std::vec::Vec<MessageUnion>;
    /// IDL `struct Cubit::RtiPacket`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct RtiPacket {
        /// IDL `Cubit::RtiPacket::packetHeader`.
        pub packet_header: RtiPacketHeader,
        /// IDL `Cubit::RtiPacket::msgs`.
        pub msgs: MessageUnionSeq,
    }
    impl ::punctual::rt::Encode for RtiPacket {
        fn encode(
            &self,
            encoder: &mut ::punctual::rt::Encoder<'_>,
        ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Encode::encode(&self.packet_header, encoder)?;
            ::punctual::rt::Encode::encode(&self.msgs, encoder)?;
            Ok(())
        }
    }
    impl<'a> ::punctual::rt::Decode<'a> for RtiPacket {
        const MIN_SIZE: usize = 18;
        fn decode(
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            Ok(Self {
                packet_header: ::punctual::rt::Decode::decode(decoder)?,
                msgs: ::punctual::rt::Decode::decode(decoder)?,
            })
        }
        fn decode_into(
            &mut self,
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
            ::punctual::rt::Decode::decode_into(&mut self.packet_header, decoder)?;
            ::punctual::rt::Decode::decode_into(&mut self.msgs, decoder)?;
            Ok(())
        }
    }
    impl ::punctual::rt::Reset for RtiPacket {
        fn reset(&mut self) {
            ::punctual::rt::Reset::reset(&mut self.packet_header);
            ::punctual::rt::Reset::reset(&mut self.msgs);
        }
    }
    /// [`RtiPacket`] as lent to a servant for the time of an upcall.
    #[derive(Clone, Debug)]
    pub struct RtiPacketView<'a> {
        /// IDL `Cubit::RtiPacket::packetHeader`.
        pub packet_header: RtiPacketHeader,
        /// IDL `Cubit::RtiPacket::msgs`.
        pub msgs: &'a [MessageUnionView<'a>],
    }
    impl<'a> ::punctual::rt::Decode<'a> for RtiPacketView<'a> {
        const MIN_SIZE: usize = 18;
        fn decode(
            decoder: &mut ::punctual::rt::Decoder<'a>,
        ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
            Ok(Self {
                packet_header: ::punctual::rt::Decode::decode(decoder)?,
                msgs: ::punctual::rt::Decode::decode(decoder)?,
            })
        }
    }
    impl RtiPacketView<'_> {
        /// A copy that outlives the upcall.
        pub fn to_owned(&self) -> RtiPacket {
            RtiPacket {
                packet_header: ::core::clone::Clone::clone(&self.packet_header),
                msgs: ::core::iter::Iterator::collect(
                    ::core::iter::Iterator::map(
                        self.msgs.iter(),
                        |element| element.to_owned(),
                    ),
                ),
            }
        }
    }
    impl ::core::convert::From<RtiPacketView<'_>> for RtiPacket {
        fn from(view: RtiPacketView<'_>) -> Self {
            view.to_owned()
        }
    }
}
/// IDL `interface Cubit_Factory`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait CubitFactory: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Cubit_Factory::make_cubit`.
    fn make_cubit(
        &self,
    ) -> ::core::result::Result<
        ::core::option::Option<CubitRef>,
        ::punctual::rt::SystemException,
    >;
}
/// A reference to an object that supports `Cubit_Factory`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct CubitFactoryRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl CubitFactoryRef {
    /// IDL `Cubit_Factory::make_cubit`.
    pub fn make_cubit(
        &self,
    ) -> ::core::result::Result<
        ::core::option::Option<CubitRef>,
        ::punctual::rt::SystemException,
    > {
        let mut result: ::core::option::Option<CubitRef> = ::core::default::Default::default();
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "make_cubit",
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
    /// As [`make_cubit`](Self::make_cubit), without waiting: the request is sent, and the result is a future.
    pub fn make_cubit_async(
        &self,
    ) -> ::punctual::rt::AsyncCall<
        ::core::option::Option<CubitRef>,
        ::punctual::rt::SystemException,
    > {
        self.0.call_async("make_cubit", &mut |_| Ok(()), ::punctual::rt::one_result)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for CubitFactoryRef {
    const REPOSITORY_ID: &'static str = "IDL:Cubit_Factory:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Cubit_Factory:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for CubitFactoryRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for CubitFactoryRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for CubitFactoryRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for CubitFactoryRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: CubitFactory> ::punctual::rt::Skeleton<S> for CubitFactoryRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        match upcall.operation() {
            "make_cubit" => {
                match <S as CubitFactory>::make_cubit(servant) {
                    Ok(result) => {
                        upcall
                            .reply(|reply| ::punctual::rt::Encode::encode(
                                &result,
                                reply,
                            ))
                    }
                    Err(error) => upcall.fail(error),
                }
            }
            _ => Err(upcall.unknown_operation()),
        }
    }
}

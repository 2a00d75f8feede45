// Generated from IDL by Punctual; changes here are lost.

/// IDL `typedef Frame`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub type Frame = [u8; 1000000];
/// IDL `struct Image`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Image {
    /// IDL `Image::pixels`.
    pub pixels: ::std::boxed::Box<Frame>,
    /// IDL `Image::id`.
    pub id: i32,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::default::Default for Image {
    fn default() -> Self {
        Self {
            pixels: ::punctual::rt::filled_array(::core::default::Default::default()),
            id: ::core::default::Default::default(),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Image {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.pixels, encoder)?;
        ::punctual::rt::Encode::encode(&self.id, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Image {
    const MIN_SIZE: usize = 1000004;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            pixels: ::punctual::rt::Decode::decode(decoder)?,
            id: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
    fn decode_into(
        &mut self,
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Decode::decode_into(&mut self.pixels, decoder)?;
        ::punctual::rt::Decode::decode_into(&mut self.id, decoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Reset for Image {
    fn reset(&mut self) {
        ::punctual::rt::Reset::reset(&mut self.pixels);
        ::punctual::rt::Reset::reset(&mut self.id);
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Image {
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
                "IDL:Image:1.0",
                "Image",
                &[
                    (
                        "pixels",
                        <::std::boxed::Box<Frame> as ::punctual::rt::Typed>::describe,
                    ),
                    ("id", <i32 as ::punctual::rt::Typed>::describe),
                ],
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for ImageView<'_> {
    fn type_code() -> ::punctual::rt::TypeCode {
        <Image as ::punctual::rt::Typed>::type_code()
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        <Image as ::punctual::rt::Typed>::describe(enclosing)
    }
}
/// [`Image`] as lent to a servant for the time of an upcall.
#[derive(Clone, Debug)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct ImageView<'a> {
    /// IDL `Image::pixels`.
    pub pixels: &'a Frame,
    /// IDL `Image::id`.
    pub id: i32,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for ImageView<'a> {
    const MIN_SIZE: usize = 1000004;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            pixels: ::punctual::rt::Decode::decode(decoder)?,
            id: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ImageView<'_> {
    /// A copy that outlives the upcall.
    pub fn to_owned(&self) -> Image {
        Image {
            pixels: ::punctual::rt::boxed_array(
                ::core::iter::Iterator::map(
                    self.pixels.iter(),
                    |element| ::core::clone::Clone::clone(element),
                ),
            ),
            id: ::core::clone::Clone::clone(&self.id),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::From<ImageView<'_>> for Image {
    fn from(view: ImageView<'_>) -> Self {
        view.to_owned()
    }
}
/// IDL `interface Camera`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Camera: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Camera::put`.
    fn put(
        &self,
        shot: &Frame,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException>;
    /// IDL `Camera::get`.
    fn get(
        &self,
        other: &mut Frame,
    ) -> ::core::result::Result<
        (::std::boxed::Box<Frame>, i32),
        ::punctual::rt::SystemException,
    >;
    /// Like [`get`](Self::get), with results in memory that is kept from call to call; override it to allocate none.
    fn get_into(
        &self,
        other: &mut Frame,
        result: &mut Frame,
        id: &mut i32,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        let (mut new_result, new_id) = <Self as Camera>::get(self, other)?;
        result.swap_with_slice(&mut *new_result);
        *id = new_id;
        Ok(())
    }
    /// IDL `Camera::ping`.
    fn ping(&self) -> ::core::result::Result<(), ::punctual::rt::SystemException>;
}
/// A reference to an object that supports `Camera`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct CameraRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl CameraRef {
    /// IDL `Camera::put`.
    pub fn put(
        &self,
        shot: &Frame,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "put",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&shot, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(_) => Ok(()),
                },
            )
    }
    /// Like [`put`](Self::put), without waiting: the request is sent, and the result is a future.
    pub fn put_async(
        &self,
        shot: &Frame,
    ) -> ::punctual::rt::AsyncCall<(), ::punctual::rt::SystemException> {
        self.0
            .call_async(
                "put",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&shot, encoder)?;
                    Ok(())
                },
                |_| Ok(()),
            )
    }
    /// IDL `Camera::get`.
    pub fn get(
        &self,
        other: &mut Frame,
    ) -> ::core::result::Result<
        (::std::boxed::Box<Frame>, i32),
        ::punctual::rt::SystemException,
    > {
        let mut result: ::std::boxed::Box<Frame> = ::punctual::rt::filled_array(
            ::core::default::Default::default(),
        );
        let mut id: i32 = ::core::default::Default::default();
        self.get_into(other, &mut result, &mut id)?;
        Ok((result, id))
    }
    /// Like [`get`](Self::get), with results in memory that the caller keeps.
    pub fn get_into(
        &self,
        other: &mut Frame,
        result: &mut Frame,
        id: &mut i32,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "get",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&*other, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut *result, decoder)?;
                        ::punctual::rt::Decode::decode_into(&mut *other, decoder)?;
                        ::punctual::rt::Decode::decode_into(&mut *id, decoder)?;
                        Ok(())
                    }
                },
            )
    }
    /// Like [`get`](Self::get), without waiting: the request is sent, and the result is a future.
    pub fn get_async(
        &self,
        other: &Frame,
    ) -> ::punctual::rt::AsyncCall<
        (::std::boxed::Box<Frame>, ::std::boxed::Box<Frame>, i32),
        ::punctual::rt::SystemException,
    > {
        self.0
            .call_async(
                "get",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&other, encoder)?;
                    Ok(())
                },
                |decoder| Ok((
                    ::punctual::rt::Decode::decode(decoder)?,
                    ::punctual::rt::Decode::decode(decoder)?,
                    ::punctual::rt::Decode::decode(decoder)?,
                )),
            )
    }
    /// IDL `Camera::ping`.
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
    /// Like [`ping`](Self::ping), without waiting: the request is sent, and the result is a future.
    pub fn ping_async(
        &self,
    ) -> ::punctual::rt::AsyncCall<(), ::punctual::rt::SystemException> {
        self.0.call_async("ping", &mut |_| Ok(()), |_| Ok(()))
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for CameraRef {
    const REPOSITORY_ID: &'static str = "IDL:Camera:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Camera:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for CameraRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for CameraRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for CameraRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for CameraRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for CameraRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Camera:1.0", "Camera")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Camera> ::punctual::rt::Skeleton<S> for CameraRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        fn serve_put<S: Camera>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            let shot = upcall.argument::<&Frame>()?;
            match <S as Camera>::put(servant, shot) {
                Ok(()) => upcall.reply(|_| Ok(())),
                Err(error) => upcall.fail(error),
            }
        }
        fn serve_get<S: Camera>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            let mut result = upcall
                .recycle::<
                    ::std::boxed::Box<Frame>,
                >(|| ::punctual::rt::filled_array(::core::default::Default::default()));
            ::punctual::rt::Reset::reset(&mut *result);
            let mut other = upcall
                .recycle::<
                    ::std::boxed::Box<Frame>,
                >(|| ::punctual::rt::filled_array(::core::default::Default::default()));
            let mut serve = || {
                upcall.argument_into(&mut *other)?;
                let mut id: i32 = ::core::default::Default::default();
                match <S as Camera>::get_into(
                    servant,
                    &mut *other,
                    &mut *result,
                    &mut id,
                ) {
                    Ok(()) => {
                        upcall
                            .reply(|reply| {
                                ::punctual::rt::Encode::encode(&*result, reply)?;
                                ::punctual::rt::Encode::encode(&*other, reply)?;
                                ::punctual::rt::Encode::encode(&id, reply)?;
                                Ok(())
                            })
                    }
                    Err(error) => upcall.fail(error),
                }
            };
            let outcome = serve();
            upcall.keep(result);
            upcall.keep(other);
            outcome
        }
        fn serve_ping<S: Camera>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            match <S as Camera>::ping(servant) {
                Ok(()) => upcall.reply(|_| Ok(())),
                Err(error) => upcall.fail(error),
            }
        }
        match upcall.operation() {
            "put" => serve_put(servant, upcall),
            "get" => serve_get(servant, upcall),
            "ping" => serve_ping(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}

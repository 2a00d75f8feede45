// Generated from IDL by Punctual; changes here are lost.

/// IDL `interface Node`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Node: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Node::join`.
    fn join(
        &self,
        other: ::core::option::Option<NodeRef>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException>;
}
/// A reference to an object that supports `Node`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct NodeRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl NodeRef {
    /// IDL `Node::join`.
    pub fn join(
        &self,
        other: ::core::option::Option<&NodeRef>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "join",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&other, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(_) => Ok(()),
                },
            )
    }
    /// Like [`join`](Self::join), without waiting: the request is sent, and the result is a future.
    pub fn join_async(
        &self,
        other: ::core::option::Option<&NodeRef>,
    ) -> ::punctual::rt::AsyncCall<(), ::punctual::rt::SystemException> {
        self.0
            .call_async(
                "join",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&other, encoder)?;
                    Ok(())
                },
                |_| Ok(()),
            )
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Interface for NodeRef {
    const REPOSITORY_ID: &'static str = "IDL:Node:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Node:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for NodeRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for NodeRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for NodeRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for NodeRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for NodeRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Node:1.0", "Node")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Node> ::punctual::rt::Skeleton<S> for NodeRef {
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        fn serve_join<S: Node>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            let other = upcall.argument::<::core::option::Option<NodeRef>>()?;
            match <S as Node>::join(servant, other) {
                Ok(()) => upcall.reply(|_| Ok(())),
                Err(error) => upcall.fail(error),
            }
        }
        match upcall.operation() {
            "join" => serve_join(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}

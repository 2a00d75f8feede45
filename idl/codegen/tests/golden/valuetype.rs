// Generated from IDL by Punctual; changes here are lost.

/// IDL `valuetype Label`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Label(pub ::std::string::String);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Label {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.0, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Label {
    const MIN_SIZE: usize = 0;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            0: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueObject for Label {
    fn ids(&self) -> &'static [&'static str] {
        const { &["IDL:Label:1.0"] }
    }
    fn bases(&self) -> &'static [&'static str] {
        <Self as ::punctual::rt::ValueType>::BASES
    }
    fn is_chunked(&self) -> bool {
        false
    }
    fn is_box(&self) -> bool {
        true
    }
    fn encode_state(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(self, encoder)
    }
    fn part(
        &self,
        wanted: ::core::any::TypeId,
    ) -> ::core::option::Option<&dyn ::core::any::Any> {
        if wanted == ::core::any::TypeId::of::<Self>() {
            return ::core::option::Option::Some(self);
        }
        ::core::option::Option::None
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueType for Label {
    const REPOSITORY_ID: &'static str = "IDL:Label:1.0";
    const BASES: &'static [&'static str] = &[];
    fn factories() -> &'static [::punctual::rt::ValueFactory] {
        static FACTORIES: &[::punctual::rt::ValueFactory] = &[
            ::punctual::rt::ValueFactory {
                id: "IDL:Label:1.0",
                bases: <Label as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Label>(decoder),
            },
        ];
        FACTORIES
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Inherits<ValueBase> for Label {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Label {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing
            .value_box(
                "IDL:Label:1.0",
                "Label",
                <::std::string::String as ::punctual::rt::Typed>::describe,
            )
    }
}
/// IDL `valuetype Named`.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub enum Named {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueType for Named {
    const REPOSITORY_ID: &'static str = "IDL:Named:1.0";
    const BASES: &'static [&'static str] = &[];
    const CIRCULAR: bool = true;
    fn factories() -> &'static [::punctual::rt::ValueFactory] {
        static FACTORIES: &[::punctual::rt::ValueFactory] = &[
            ::punctual::rt::ValueFactory {
                id: "IDL:Node:1.0",
                bases: <Node as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Node>(decoder),
            },
            ::punctual::rt::ValueFactory {
                id: "IDL:Special:1.0",
                bases: <Special as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<
                    Special,
                >(decoder),
            },
        ];
        FACTORIES
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Inherits<ValueBase> for Named {}
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
            .value(
                "IDL:Named:1.0",
                "Named",
                ::punctual::rt::ValueModifier::Abstract,
                ::core::option::Option::None,
                &[],
            )
    }
}
/// IDL `Operations and attributes of `Named`.`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait NamedOperations: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Named::title`.
    fn title(
        &self,
    ) -> ::core::result::Result<::std::string::String, ::punctual::rt::SystemException>;
    /// Like [`title`](Self::title), with results in memory that is kept from call to call; override it to allocate none.
    fn title_into(
        &self,
        result: &mut ::std::string::String,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        *result = <Self as NamedOperations>::title(self)?;
        Ok(())
    }
}
/// A node of a list.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Node {
    /// IDL `Node::id`.
    pub id: i32,
    /// IDL `Node::next`.
    pub(crate) next: ::core::option::Option<::punctual::rt::Shared<Node>>,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::default::Default for Node {
    fn default() -> Self {
        Self {
            id: ::core::default::Default::default(),
            next: ::core::default::Default::default(),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Node {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.id, encoder)?;
        ::punctual::rt::Encode::encode(&self.next, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Node {
    const MIN_SIZE: usize = 0;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            id: ::punctual::rt::Decode::decode(decoder)?,
            next: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueObject for Node {
    fn ids(&self) -> &'static [&'static str] {
        const { &["IDL:Node:1.0"] }
    }
    fn bases(&self) -> &'static [&'static str] {
        <Self as ::punctual::rt::ValueType>::BASES
    }
    fn is_chunked(&self) -> bool {
        false
    }
    fn encode_state(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(self, encoder)
    }
    fn part(
        &self,
        wanted: ::core::any::TypeId,
    ) -> ::core::option::Option<&dyn ::core::any::Any> {
        if wanted == ::core::any::TypeId::of::<Self>() {
            return ::core::option::Option::Some(self);
        }
        ::core::option::Option::None
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueType for Node {
    const REPOSITORY_ID: &'static str = "IDL:Node:1.0";
    const BASES: &'static [&'static str] = &["IDL:Named:1.0"];
    fn factories() -> &'static [::punctual::rt::ValueFactory] {
        static FACTORIES: &[::punctual::rt::ValueFactory] = &[
            ::punctual::rt::ValueFactory {
                id: "IDL:Node:1.0",
                bases: <Node as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Node>(decoder),
            },
            ::punctual::rt::ValueFactory {
                id: "IDL:Special:1.0",
                bases: <Special as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<
                    Special,
                >(decoder),
            },
        ];
        FACTORIES
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Inherits<Named> for Node {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Inherits<ValueBase> for Node {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Node {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing
            .value(
                "IDL:Node:1.0",
                "Node",
                ::punctual::rt::ValueModifier::None,
                ::core::option::Option::None,
                &[
                    ("id", <i32 as ::punctual::rt::Typed>::describe, true),
                    (
                        "next",
                        <::core::option::Option<
                            ::punctual::rt::Shared<Node>,
                        > as ::punctual::rt::Typed>::describe,
                        false,
                    ),
                ],
            )
    }
}
/// IDL `Operations and attributes of `Node`.`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait NodeOperations: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Node::weight`.
    fn weight(
        &self,
        factor: i32,
    ) -> ::core::result::Result<i32, ::punctual::rt::SystemException>;
}
/// Initializers of `Node`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait NodeFactory: ::core::marker::Sized {
    /// IDL `Node::make`.
    fn make(id: i32) -> ::core::result::Result<Self, ::punctual::rt::SystemException>;
}
/// IDL `valuetype Special`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Special {
    /// The state of the base.
    pub base: Node,
    /// IDL `Special::text`.
    pub text: ::std::string::String,
    /// IDL `Special::tag`.
    pub tag: ::core::option::Option<::punctual::rt::Shared<Label>>,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::default::Default for Special {
    fn default() -> Self {
        Self {
            base: ::core::default::Default::default(),
            text: ::core::default::Default::default(),
            tag: ::core::default::Default::default(),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Special {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(&self.base, encoder)?;
        ::punctual::rt::Encode::encode(&self.text, encoder)?;
        ::punctual::rt::Encode::encode(&self.tag, encoder)?;
        Ok(())
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Special {
    const MIN_SIZE: usize = 0;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        Ok(Self {
            base: ::punctual::rt::Decode::decode(decoder)?,
            text: ::punctual::rt::Decode::decode(decoder)?,
            tag: ::punctual::rt::Decode::decode(decoder)?,
        })
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueObject for Special {
    fn ids(&self) -> &'static [&'static str] {
        const { &["IDL:Special:1.0", "IDL:Node:1.0"] }
    }
    fn bases(&self) -> &'static [&'static str] {
        <Self as ::punctual::rt::ValueType>::BASES
    }
    fn is_chunked(&self) -> bool {
        true
    }
    fn encode_state(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(self, encoder)
    }
    fn part(
        &self,
        wanted: ::core::any::TypeId,
    ) -> ::core::option::Option<&dyn ::core::any::Any> {
        if wanted == ::core::any::TypeId::of::<Self>() {
            return ::core::option::Option::Some(self);
        }
        ::punctual::rt::ValueObject::part(&self.base, wanted)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueType for Special {
    const REPOSITORY_ID: &'static str = "IDL:Special:1.0";
    const BASES: &'static [&'static str] = &["IDL:Node:1.0", "IDL:Named:1.0"];
    fn factories() -> &'static [::punctual::rt::ValueFactory] {
        static FACTORIES: &[::punctual::rt::ValueFactory] = &[
            ::punctual::rt::ValueFactory {
                id: "IDL:Special:1.0",
                bases: <Special as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<
                    Special,
                >(decoder),
            },
        ];
        FACTORIES
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Inherits<Node> for Special {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Inherits<Named> for Special {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Inherits<ValueBase> for Special {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Special {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing
            .value(
                "IDL:Special:1.0",
                "Special",
                ::punctual::rt::ValueModifier::Truncatable,
                ::core::option::Option::Some(<Node as ::punctual::rt::Typed>::describe),
                &[
                    (
                        "text",
                        <::std::string::String as ::punctual::rt::Typed>::describe,
                        true,
                    ),
                    (
                        "tag",
                        <::core::option::Option<
                            ::punctual::rt::Shared<Label>,
                        > as ::punctual::rt::Typed>::describe,
                        true,
                    ),
                ],
            )
    }
}
/// IDL `valuetype Sparse`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct Sparse {
    /// IDL `Sparse::numbers`.
    pub numbers: ::std::vec::Vec<f64>,
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::default::Default for Sparse {
    fn default() -> Self {
        Self {
            numbers: ::core::default::Default::default(),
        }
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Encode for Sparse {
    fn encode(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::CustomMarshal::marshal(self, encoder)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<'a> ::punctual::rt::Decode<'a> for Sparse {
    const MIN_SIZE: usize = 0;
    fn decode(
        decoder: &mut ::punctual::rt::Decoder<'a>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        ::punctual::rt::CustomMarshal::unmarshal(decoder)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueObject for Sparse {
    fn ids(&self) -> &'static [&'static str] {
        const { &["IDL:Sparse:1.0"] }
    }
    fn bases(&self) -> &'static [&'static str] {
        <Self as ::punctual::rt::ValueType>::BASES
    }
    fn is_chunked(&self) -> bool {
        true
    }
    fn encode_state(
        &self,
        encoder: &mut ::punctual::rt::Encoder<'_>,
    ) -> ::core::result::Result<(), ::punctual::rt::CdrError> {
        ::punctual::rt::Encode::encode(self, encoder)
    }
    fn part(
        &self,
        wanted: ::core::any::TypeId,
    ) -> ::core::option::Option<&dyn ::core::any::Any> {
        if wanted == ::core::any::TypeId::of::<Self>() {
            return ::core::option::Option::Some(self);
        }
        ::core::option::Option::None
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueType for Sparse {
    const REPOSITORY_ID: &'static str = "IDL:Sparse:1.0";
    const BASES: &'static [&'static str] = &[];
    fn factories() -> &'static [::punctual::rt::ValueFactory] {
        static FACTORIES: &[::punctual::rt::ValueFactory] = &[
            ::punctual::rt::ValueFactory {
                id: "IDL:Sparse:1.0",
                bases: <Sparse as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Sparse>(decoder),
            },
        ];
        FACTORIES
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Inherits<ValueBase> for Sparse {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Sparse {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing
            .value(
                "IDL:Sparse:1.0",
                "Sparse",
                ::punctual::rt::ValueModifier::Custom,
                ::core::option::Option::None,
                &[
                    (
                        "numbers",
                        <::std::vec::Vec<f64> as ::punctual::rt::Typed>::describe,
                        true,
                    ),
                ],
            )
    }
}
/// IDL `interface Store`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub trait Store: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// IDL `Store::keep`.
    fn keep(
        &self,
        value: ::core::option::Option<::punctual::rt::Shared<Node>>,
        numbers: &mut ::core::option::Option<::punctual::rt::Shared<Sparse>>,
    ) -> ::core::result::Result<
        (
            ::core::option::Option<::punctual::rt::Shared<Node>>,
            ::core::option::Option<::punctual::rt::Shared<ValueBase>>,
        ),
        ::punctual::rt::SystemException,
    >;
}
/// A reference to an object that supports `Store`.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub struct StoreRef(::punctual::rt::ObjectRef);
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl StoreRef {
    /// IDL `Store::keep`.
    pub fn keep(
        &self,
        value: ::core::option::Option<&::punctual::rt::Shared<Node>>,
        numbers: &mut ::core::option::Option<::punctual::rt::Shared<Sparse>>,
    ) -> ::core::result::Result<
        (
            ::core::option::Option<::punctual::rt::Shared<Node>>,
            ::core::option::Option<::punctual::rt::Shared<ValueBase>>,
        ),
        ::punctual::rt::SystemException,
    > {
        let mut result: ::core::option::Option<::punctual::rt::Shared<Node>> = ::core::default::Default::default();
        let mut other: ::core::option::Option<::punctual::rt::Shared<ValueBase>> = ::core::default::Default::default();
        self.0
            .call::<
                ::punctual::rt::SystemException,
            >(
                "keep",
                |phase| match phase {
                    ::punctual::rt::Phase::Arguments(encoder) => {
                        ::punctual::rt::Encode::encode(&value, encoder)?;
                        ::punctual::rt::Encode::encode(&*numbers, encoder)?;
                        Ok(())
                    }
                    ::punctual::rt::Phase::Results(decoder) => {
                        ::punctual::rt::Decode::decode_into(&mut result, decoder)?;
                        ::punctual::rt::Decode::decode_into(&mut *numbers, decoder)?;
                        ::punctual::rt::Decode::decode_into(&mut other, decoder)?;
                        Ok(())
                    }
                },
            )?;
        Ok((result, other))
    }
    /// Like [`keep`](Self::keep), without waiting: the request is sent, and the result is a future.
    pub fn keep_async(
        &self,
        value: ::core::option::Option<&::punctual::rt::Shared<Node>>,
        numbers: ::core::option::Option<&::punctual::rt::Shared<Sparse>>,
    ) -> ::punctual::rt::AsyncCall<
        (
            ::core::option::Option<::punctual::rt::Shared<Node>>,
            ::core::option::Option<::punctual::rt::Shared<Sparse>>,
            ::core::option::Option<::punctual::rt::Shared<ValueBase>>,
        ),
        ::punctual::rt::SystemException,
    > {
        self.0
            .call_async(
                "keep",
                &mut |encoder| {
                    ::punctual::rt::Encode::encode(&value, encoder)?;
                    ::punctual::rt::Encode::encode(&numbers, encoder)?;
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
impl ::punctual::rt::Interface for StoreRef {
    const REPOSITORY_ID: &'static str = "IDL:Store:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Store:1.0"];
    fn from_object(object: ::punctual::rt::ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::ops::Deref for StoreRef {
    type Target = ::punctual::rt::ObjectRef;
    fn deref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::core::convert::AsRef<::punctual::rt::ObjectRef> for StoreRef {
    fn as_ref(&self) -> &::punctual::rt::ObjectRef {
        &self.0
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::HasIor for StoreRef {
    fn ior(&self) -> &::punctual::rt::Ior {
        <::punctual::rt::ObjectRef as ::punctual::rt::HasIor>::ior(&self.0)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::FromIor for StoreRef {
    fn from_ior(
        ior: ::punctual::rt::Ior,
        decoder: &::punctual::rt::Decoder<'_>,
    ) -> ::core::result::Result<Self, ::punctual::rt::CdrError> {
        <::punctual::rt::ObjectRef as ::punctual::rt::FromIor>::from_ior(ior, decoder)
            .map(Self)
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::TypedReference for StoreRef {
    fn type_code() -> ::punctual::rt::TypeCode {
        ::punctual::rt::TypeCode::interface("IDL:Store:1.0", "Store")
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl<S: Store> ::punctual::rt::Skeleton<S> for StoreRef {
    const VALUES_ON_STACK: usize = ::punctual::rt::largest(
        &[
            ::core::mem::size_of::<
                ::core::option::Option<::punctual::rt::Shared<Node>>,
            >()
                + ::core::mem::size_of::<
                    ::core::option::Option<::punctual::rt::Shared<Node>>,
                >()
                + ::core::mem::size_of::<
                    ::core::option::Option<::punctual::rt::Shared<Sparse>>,
                >()
                + ::core::mem::size_of::<
                    ::core::option::Option<::punctual::rt::Shared<ValueBase>>,
                >() + 11520,
        ],
    );
    fn dispatch(
        servant: &S,
        upcall: &mut ::punctual::rt::Upcall<'_, '_>,
    ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
        #[inline(never)]
        fn serve_keep<S: Store>(
            servant: &S,
            upcall: &mut ::punctual::rt::Upcall<'_, '_>,
        ) -> ::core::result::Result<(), ::punctual::rt::SystemException> {
            let value = upcall
                .argument::<::core::option::Option<::punctual::rt::Shared<Node>>>()?;
            let mut numbers = upcall
                .argument::<::core::option::Option<::punctual::rt::Shared<Sparse>>>()?;
            match <S as Store>::keep(servant, value, &mut numbers) {
                Ok((result, other)) => {
                    upcall
                        .reply(|reply| {
                            ::punctual::rt::Encode::encode(&result, reply)?;
                            ::punctual::rt::Encode::encode(&numbers, reply)?;
                            ::punctual::rt::Encode::encode(&other, reply)?;
                            Ok(())
                        })
                }
                Err(error) => upcall.fail(error),
            }
        }
        match upcall.operation() {
            "keep" => serve_keep(servant, upcall),
            _ => Err(upcall.unknown_operation()),
        }
    }
}
/// Declared only.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub enum Unseen {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueType for Unseen {
    const REPOSITORY_ID: &'static str = "IDL:Unseen:1.0";
    const BASES: &'static [&'static str] = &[];
    const CIRCULAR: bool = true;
    fn factories() -> &'static [::punctual::rt::ValueFactory] {
        static FACTORIES: &[::punctual::rt::ValueFactory] = &[];
        FACTORIES
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Inherits<ValueBase> for Unseen {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for Unseen {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing
            .value(
                "IDL:Unseen:1.0",
                "Unseen",
                ::punctual::rt::ValueModifier::Abstract,
                ::core::option::Option::None,
                &[],
            )
    }
}
/// IDL `ValueBase`.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub enum ValueBase {}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::ValueType for ValueBase {
    const REPOSITORY_ID: &'static str = "IDL:omg.org/CORBA/ValueBase:1.0";
    const BASES: &'static [&'static str] = &[];
    const CIRCULAR: bool = true;
    fn factories() -> &'static [::punctual::rt::ValueFactory] {
        static FACTORIES: &[::punctual::rt::ValueFactory] = &[
            ::punctual::rt::ValueFactory {
                id: "IDL:Label:1.0",
                bases: <Label as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Label>(decoder),
            },
            ::punctual::rt::ValueFactory {
                id: "IDL:Node:1.0",
                bases: <Node as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Node>(decoder),
            },
            ::punctual::rt::ValueFactory {
                id: "IDL:Special:1.0",
                bases: <Special as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<
                    Special,
                >(decoder),
            },
            ::punctual::rt::ValueFactory {
                id: "IDL:Sparse:1.0",
                bases: <Sparse as ::punctual::rt::ValueType>::BASES,
                decode: |decoder| ::punctual::rt::ValueFactory::decode::<Sparse>(decoder),
            },
        ];
        FACTORIES
    }
}
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
impl ::punctual::rt::Typed for ValueBase {
    fn type_code() -> ::punctual::rt::TypeCode {
        static CODE: ::std::sync::OnceLock<::punctual::rt::TypeCode> = ::std::sync::OnceLock::new();
        let build = || <Self as ::punctual::rt::Typed>::describe(
            &mut ::core::default::Default::default(),
        );
        ::punctual::rt::TypeCode::shared(CODE.get_or_init(build))
    }
    fn describe(enclosing: &mut ::punctual::rt::Enclosing) -> ::punctual::rt::TypeCode {
        enclosing
            .value(
                "IDL:omg.org/CORBA/ValueBase:1.0",
                "ValueBase",
                ::punctual::rt::ValueModifier::Abstract,
                ::core::option::Option::None,
                &[],
            )
    }
}

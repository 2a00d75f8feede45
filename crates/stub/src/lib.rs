//! The base of generated code: typed calls on object references, and skeletons that decode requests for
//! servants.
//!
//! The runtime (`punctual-orb`) implements [`Target`] and [`Orb`] and creates [`Upcall`]s; generated code
//! implements [`Interface`], [`Skeleton`] and [`OperationError`]. They do not depend on each other.

mod asynchronous;
mod client_policies;
mod connection_mode;
mod context_properties;
pub mod dynamic;
mod exception;
mod interface;
mod native_value;
mod object_ref;
mod operation_context;
mod response_handler;
mod reuse_pool;
mod sync_scope;
mod target;
mod upcall;
mod user_policies;
mod wait_strategy;

pub use asynchronous::{AsyncCall, DecodeReply, Results, one_result};
pub use client_policies::{ExposedPolicies, PoliciesInForce, PolicyConflict, PolicyOverrides};
pub use connection_mode::ConnectionMode;
pub use context_properties::ContextProperties;
pub use exception::{OperationError, UserException};
pub use interface::{Interface, Servant, Skeleton, largest, servant};
pub use native_value::NativeValue;
pub use object_ref::ObjectRef;
pub use operation_context::{ContextScope, encode_context};
pub use response_handler::{ResponseHandler, WriteResults};
pub use reuse_pool::{Reset, ReusePool};
pub use sync_scope::SyncScope;
pub use target::{Call, Orb, OrbContext, PendingCall, Phase, Response, Target, WaitMode};
pub use upcall::{Outcome, PendingResponse, ReplyOrigin, RequestOrigin, Upcall, WriteReply};
pub use user_policies::UserPolicies;
pub use wait_strategy::WaitStrategy;

/// Names for generated code, under one path.
pub mod rt {
    pub use punctual_any::{Any, AnyView, Enclosing, TypeCode, Typed, TypedReference, ValueModifier};
    pub use punctual_cdr::{
        Abstract, AbstractInterface, BoundedMap, BoundedSeq, BoundedSlice, BoundedStr, BoundedString,
        CdrError, CdrErrorKind, CustomMarshal, Decode, Decoder, Encode, Encoder, Fixed, FromIor, HasIor,
        Inherits, Ior, LongDouble, Reserved, Shared, ValueFactory, ValueGraph, ValueObject, ValueState,
        ValueType, WChar, WString, boxed, boxed_array, filled_array, pack_bits, unpack_bits,
    };
    pub use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

    pub use crate::{
        AsyncCall, Interface, NativeValue, ObjectRef, OperationError, Phase, Reset, ResponseHandler, Servant,
        Skeleton, Upcall, UserException, encode_context, largest, one_result,
    };
}

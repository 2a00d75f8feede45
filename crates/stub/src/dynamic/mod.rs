//! Calls and servants without generated code: the dynamic invocation interface (DII) and the dynamic skeleton
//! interface (DSI).
//!
//! | Task | Type |
//! |---|---|
//! | Call an operation that is known at run time only | [`Request`], from [`ObjectRef::request`](crate::ObjectRef::request) |
//! | Serve operations that are known at run time only | [`DynamicServant`] |
//! | Query an interface repository for the operations of an object | [`ObjectRef::interface`](crate::ObjectRef::interface), [`InterfaceDescription`] |
//!
//! Both use the path of generated code: priorities, policies, timeouts, interceptors and limits are the same,
//! and the other side of a call cannot tell the difference. Values are [`Any`](punctual_any::Any)s. Unlike
//! generated code, they allocate memory for each call.
//!
//! Source: CORBA 3.3 part 1, 11 "Dynamic Invocation Interface" and 12 "Dynamic Skeleton Interface".

mod error;
mod reply;
mod repository;
mod request;
mod servant;

pub use error::RequestError;
pub use reply::{Reply, Signature};
pub use repository::{
    AttributeDescription, InterfaceDescription, OperationDescription, ParameterDescription, ParameterMode,
};
pub use request::{DeferredReply, Request};
pub use servant::DynamicServant;
